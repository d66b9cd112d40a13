"""What `simsuite bench linear` measures: products by each kernel beside the device's library, and steps a second.

`shapes` lists what is measured, `products`, `steps`, `crossover` and `lattices` measure and check that the timed
results are right, `library` is what they are compared with, `measurements` collects everything, and `report` prints it.
"""

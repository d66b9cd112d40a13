"""What `simsuite bench linear` measures: products by each kernel beside the device's library, and steps a second.

`shapes` says of what, `products` and `steps` measure and make sure that what is timed is right, `library` is what they
are compared with, `measurements` puts it together, `report` shows it.
"""

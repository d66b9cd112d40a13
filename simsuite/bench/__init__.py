"""What `simsuite bench` measures: rates beside the device's limits, time to solution, and peers.

For heat, `plates` and `machine` describe what is measured on, `rates`, `solution` and `peers` measure, `checking`
ensures that the timed computations are right, `heat` collects everything, and `report` prints it. For Monte Carlo, all
of this is in `gbm`. Both use `timing`, `findings`, `installed` and `table`.
"""

"""What `simsuite bench` measures: rates beside what the device can do, time to solution, and peers.

Of heat: `plates` and `machine` say on what, `rates`, `solution` and `peers` measure, `checking` makes sure that what is
timed is right, `heat` puts it together, `report` shows it. Of Monte Carlo: all that is in `gbm`. Both take `timing`,
`findings`, `installed` and `table`.
"""

"""What `simsuite bench` measures: rates beside what the device can do, time to solution, and peers.

`plates` and `machine` say on what, `rates`, `solution` and `peers` measure, `checking` makes sure that what is timed is
right, `heat` puts it together, `report` shows it.
"""

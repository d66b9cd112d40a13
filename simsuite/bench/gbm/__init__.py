"""What `simsuite bench gbm` measures: rates beside what the device can do, time to a standard error, and peers.

`cases` says of what, `needs` and `units` what the device allows, `rates`, `accuracy`, `comparison` and `peers` measure,
`pricing` runs and makes sure that what is timed is right, `measurements` puts it together, `report` shows it.
"""

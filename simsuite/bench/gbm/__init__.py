"""Measurements of `simsuite bench gbm`: rates beside what the device can do, time to a standard error, and peers.

`cases` has the scenarios, `needs` and `units` find what the device allows; `rates`, `accuracy`, `comparison` and
`peers` measure; `pricing` runs and makes sure that what is timed is right; `measurements` puts it together, `report`
shows it.
"""

"""Sweeps: many runs of one scenario that differ in the values of some keys.

`plan` says which, `directory` what their directory holds, `workers` are the processes that run them, `table` what comes
out, `results_file` writes it, and `sweep` does all of that.
"""

"""The results of a run: rows of the result file, totals, and results in words and numbers."""

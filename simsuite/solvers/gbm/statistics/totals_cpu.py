"""Totals over all paths on the CPU: exact sums (exact_sums.py) and counts."""

from __future__ import annotations

from simsuite.parallel_for import procedure
from simsuite.solvers.gbm.statistics.statistics_scalars import digits


@procedure
def add_exactly(parts, owners, sums):
    """sums[owners[g], q] += parts[g, q] for all g and q, without rounding. owners: int64[group]; sums: [owner, q,
    limb]."""
    for g in range(parts.shape[0]):
        for q in range(parts.shape[1]):
            k, d0, d1, d2 = digits(parts[g, q])
            sums[owners[g], q, k] += d0
            sums[owners[g], q, k + 1] += d1
            sums[owners[g], q, k + 2] += d2


@procedure
def count(bins, n, counts, row):
    """counts[row, bin] += the number of times that bins[:n] has it; negative numbers stand for no bin."""
    for i in range(n):
        if bins[i] >= 0:
            counts[row, bins[i]] += 1

"""What is added up of all paths on the CPU: exact sums (exactsum.py) and counts."""

from __future__ import annotations

from numba import njit

from simsuite.solvers.gbm.scalars import digits


@njit(nogil=True, cache=True, error_model="numpy")
def add_exactly(parts, owners, sums):
    """sums[owners[g], q] += parts[g, q] for all g and q, without rounding. owners: int64[group]; sums[owner, q, limb]."""
    for g in range(parts.shape[0]):
        for q in range(parts.shape[1]):
            k, d0, d1, d2 = digits(parts[g, q])
            sums[owners[g], q, k] += d0
            sums[owners[g], q, k + 1] += d1
            sums[owners[g], q, k + 2] += d2


@njit(nogil=True, cache=True, error_model="numpy")
def count(first, last, bins, counts):
    """counts[row, bin] += how often bins[row] has it, for rows first .. last - 1. bins: int32; negative ones are none."""
    for row in range(first, last):
        for i in range(bins.shape[1]):
            if bins[row, i] >= 0:
                counts[row, bins[row, i]] += 1

"""Folding of a ledger on a GPU: one thread an entry. See `ledger`."""

from __future__ import annotations

from numba import cuda


@cuda.jit(cache=True)
def fold(partial, total):
    i = cuda.grid(1)
    if i < partial.size:
        y = partial[i] - total[1, i]
        t = total[0, i] + y
        total[1, i] = (t - total[0, i]) - y
        total[0, i] = t
        partial[i] = 0

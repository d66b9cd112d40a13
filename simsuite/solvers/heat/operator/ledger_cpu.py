"""Folding of a ledger on the CPU. See `ledger`."""

from __future__ import annotations

from simsuite.parallel_for import kernel


@kernel
def fold(partial, total):
    for i in range(partial.size):
        y = partial[i] - total[1, i]
        t = total[0, i] + y
        total[1, i] = (t - total[0, i]) - y
        total[0, i] = t
        partial[i] = 0

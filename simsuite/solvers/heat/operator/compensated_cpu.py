"""The end of a compensated step on the CPU. See `compensated` for the scheme."""

from __future__ import annotations

from simsuite.parallel_for import part


@part
def settle(T, out, y):
    """The step of row y, for which out[0] has what is to be added."""
    for x in range(T.shape[2]):
        c = T[0, y, x]
        rise = T[1, y, x] + out[0, y, x]
        v = c + rise
        out[0, y, x] = v
        out[1, y, x] = rise - (v - c)

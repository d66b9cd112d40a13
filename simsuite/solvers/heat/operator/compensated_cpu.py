"""The end of a compensated step on the CPU. See `compensated` for the scheme."""

from __future__ import annotations

from simsuite.parallel_for import part


@part
def settle(T, out, y):
    """Finishes the step of row y. out[0] contains the increments that are to be added to the temperatures."""
    for x in range(T.shape[2]):
        c = T[0, y, x]
        rise = T[1, y, x] + out[0, y, x]
        v = c + rise
        out[0, y, x] = v
        out[1, y, x] = rise - (v - c)

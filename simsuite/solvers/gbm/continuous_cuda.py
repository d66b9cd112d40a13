"""What a price does between the ends of a time step, see `continuous.py`, for a path on a GPU."""

from __future__ import annotations

from typing import Any

from numba import float32, njit

from simsuite.solvers.gbm.bridges import highest, lowest, survival32, survival64
from simsuite.solvers.gbm.functionals import Kind


def make_keep_between(real: Any) -> Any:
    """For paths in float32 or float64."""
    LOWEST, HIGHEST, SURVIVAL = map(int, (Kind.LOWEST, Kind.HIGHEST, Kind.SURVIVAL))
    survival = survival32 if real is float32 else survival64

    @njit(error_model="numpy", forceinline=True)
    def keep_between(kind, kept, x0, x1, after, variance, sharpness, level, radius):
        """What is kept after a step from x0 to x1, and by a dividend to `after`."""
        if kind == SURVIVAL:
            d = x1 - level
            kept *= survival(x0 - level, d, sharpness)
            if d * (after - level) <= real(0):
                kept = real(0)
        if kind == LOWEST:
            kept = min(kept, min(lowest(x0, x1, variance, radius), after))
        if kind == HIGHEST:
            kept = max(kept, highest(x0, x1, variance, radius))
        return kept

    return keep_between

"""What a price does between the ends of a time step, see `continuous.py`, for a path on a GPU."""

from __future__ import annotations

from typing import Any

from numba import float32, njit

from simsuite.solvers.gbm.paths.kernels.bridge_extremes import highest, lowest, reached32, reached64, share, steepness
from simsuite.solvers.gbm.payoffs.functionals import Kind


def make_between(real: Any) -> Any:
    """The functions keep_between, slope_after and weight_at_extreme, for paths in float32 or float64."""
    LOWEST, HIGHEST, SURVIVAL = map(int, (Kind.LOWEST, Kind.HIGHEST, Kind.SURVIVAL))
    AT_LOWEST = int(Kind.AT_LOWEST)
    reached = reached32 if real is float32 else reached64

    @njit(error_model="numpy", forceinline=True)
    def keep_between(kind, kept, x0, x1, after, variance, sharpness, level, radius):
        """The value kept after a step from x0 to x1, and then a dividend that takes the price to `after`."""
        if kind == SURVIVAL:
            d = x1 - level
            kept *= real(1) - reached(x0 - level, d, sharpness)
            if d * (after - level) <= real(0):
                kept = real(0)
        if kind == LOWEST:
            kept = min(kept, min(lowest(x0, x1, variance, radius), after))
        if kind == HIGHEST:
            kept = max(kept, highest(x0, x1, variance, radius))
        return kept

    @njit(error_model="numpy", forceinline=True)
    def slope_after(kept, survival, x0, x1, after, sharpness, level, w0, w1):
        """The value kept of a SLOPE after a step; survival: that of the SURVIVAL before the step."""
        d0, d1 = x0 - level, x1 - level
        q = reached(d0, d1, sharpness)
        kept = kept * (real(1) - q) + survival * steepness(d0, d1, w0, w1, sharpness, q)
        return real(0) if d0 * d1 <= real(0) or d1 * (after - level) <= real(0) else kept

    @njit(error_model="numpy", forceinline=True)
    def weight_at_extreme(kind, kept, extreme, x0, x1, after, variance, radius, w0, w1):
        """The value kept of AT_LOWEST or AT_HIGHEST, after the step has been taken into the extreme."""
        if kind == AT_LOWEST:
            found = lowest(x0, x1, variance, radius)
            at = w0 + share(x0, x1, variance, radius, real(-1)) * (w1 - w0)
            if after < found:
                found, at = after, w1
        else:
            found = highest(x0, x1, variance, radius)
            at = w0 + share(x0, x1, variance, radius, real(1)) * (w1 - w0)
        return at if extreme == found else kept

    return keep_between, slope_after, weight_at_extreme

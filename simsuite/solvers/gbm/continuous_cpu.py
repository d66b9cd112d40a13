"""What prices do between the ends of time steps, see `continuous.py`, for chunks of paths on the CPU."""

from __future__ import annotations

from numba import njit

from simsuite.rng import radius32, radius64
from simsuite.solvers.gbm.bridges import highest, lowest, survival32, survival64
from simsuite.solvers.gbm.functionals import Kind

_LOWEST, _HIGHEST, _SURVIVAL = map(int, (Kind.LOWEST, Kind.HIGHEST, Kind.SURVIVAL))


@njit(cache=True, error_model="numpy")
def reach(radii, bits, w, antithetic):
    """radii[:, :w] = sqrt(-2 log U) for the steps of a block, U made of random words, bits[:, :w], or, if antithetic,
    of bits[:, : w // 2]: the second of a pair has 1 - U."""
    if antithetic:
        for h in range(4):
            for p in range(w // 2 - 1, -1, -1):
                bits[h, 2 * p + 1] = ~bits[h, p]
                bits[h, 2 * p] = bits[h, p]
    if radii.shape[0] == 4:
        for j in range(4):
            for p in range(w):
                radii[j, p] = radius32(bits[j, p])
    else:
        for j in range(2):
            for p in range(w):
                radii[j, p] = radius64(bits[2 * j, p], bits[2 * j + 1, p])


@njit(cache=True, error_model="numpy")
def keep_between(kind, kept, past, y, radii, start, centre, fall, variance, sharpness, level):
    """A step from `past` to y, of paths of which this is `kept`; start, centre: of the prices before and after it."""
    if kind == _SURVIVAL:
        near, far = start - level, centre + fall - level
        if y.itemsize == 4:
            for p in range(y.size):
                kept[p] *= survival32(past[p] + near, y[p] + far, sharpness)
        else:
            for p in range(y.size):
                kept[p] *= survival64(past[p] + near, y[p] + far, sharpness)
        if fall > 0:
            for p in range(y.size):
                kept[p] = kept[p] if (y[p] + far) * (y[p] + (centre - level)) > 0 else 0 * kept[p]
    elif kind == _LOWEST:
        for p in range(y.size):
            least = lowest(past[p] + start, y[p] + (centre + fall), variance, radii[p])
            kept[p] = min(kept[p], min(least, y[p] + centre))
    else:
        for p in range(y.size):
            kept[p] = max(kept[p], highest(past[p] + start, y[p] + (centre + fall), variance, radii[p]))

"""What prices do between the ends of time steps, see `continuous.py`, for chunks of paths on the CPU."""

from __future__ import annotations

from numba import njit, uint64

from simsuite.rng import radius32, radius64, words
from simsuite.solvers.gbm.continuous import highest, lowest, survival32, survival64
from simsuite.solvers.gbm.functionals import Kind

_LOWEST, _HIGHEST, _SURVIVAL = map(int, (Kind.LOWEST, Kind.HIGHEST, Kind.SURVIVAL))


@njit(cache=True, error_model="numpy")
def draw(radii, bits, w, first_path, block, stream, seed, antithetic):
    """radii[:, :w] = sqrt(-2 log U) for the steps of this block; the second of a pair has 1 - U."""
    twins = 1 if antithetic else 0
    for p in range(w):
        path = first_path + p
        flip = uint64(0) - uint64(path & twins)
        a, b, c, d = words(block, stream, path >> twins, seed)
        bits[0, p], bits[1, p], bits[2, p], bits[3, p] = a ^ flip, b ^ flip, c ^ flip, d ^ flip
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

"""What prices do between the ends of time steps, see `continuous.py`, for chunks of paths on the CPU."""

from __future__ import annotations

import numpy as np
from numba import njit

from simsuite.rng import radius32, radius64
from simsuite.solvers.gbm.bridges import highest, lowest, reached32, reached64, share, steepness
from simsuite.solvers.gbm.functionals import Kind

_LOWEST, _AT_LOWEST = map(int, (Kind.LOWEST, Kind.AT_LOWEST))
_ONE, _NOTHING = np.float32(1.0), np.float32(0.0)  # do not widen what they are multiplied by


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
def reach_level(q, past, y, start, centre, fall, sharpness, level):
    """q[:w] = probability that a step from `past` to y reached a level; start, centre: of the prices before and after
    it."""
    near, far = start - level, centre + fall - level
    if y.itemsize == 4:
        for p in range(y.size):
            q[p] = reached32(past[p] + near, y[p] + far, sharpness)
    else:
        for p in range(y.size):
            q[p] = reached64(past[p] + near, y[p] + far, sharpness)
    if fall > 0:
        for p in range(y.size):
            q[p] = q[p] if (y[p] + far) * (y[p] + (centre - level)) > 0 else _ONE


@njit(cache=True, error_model="numpy")
def survive(kept, q):
    for p in range(kept.size):
        kept[p] *= _ONE - q[p]


@njit(cache=True, error_model="numpy")
def bend(kept, survival, q, past, y, start, centre, fall, sharpness, level, w0, w1):
    """SLOPE, whose weights are w0 before the step and w1 after it. survival: before it."""
    near, far = start - level, centre + fall - level
    for p in range(y.size):
        steep = steepness(past[p] + near, y[p] + far, w0, w1, sharpness, q[p])
        kept[p] = kept[p] * (_ONE - q[p]) + (survival[p] * steep if q[p] < _ONE else _NOTHING * steep)


@njit(cache=True, error_model="numpy")
def keep_extreme(kind, kept, past, y, radii, start, centre, fall, variance):
    if kind == _LOWEST:
        for p in range(y.size):
            least = lowest(past[p] + start, y[p] + (centre + fall), variance, radii[p])
            kept[p] = min(kept[p], min(least, y[p] + centre))
    else:
        for p in range(y.size):
            kept[p] = max(kept[p], highest(past[p] + start, y[p] + (centre + fall), variance, radii[p]))


@njit(cache=True, error_model="numpy")
def lean(kind, kept, extreme, past, y, radii, start, centre, fall, variance, w0, w1):
    """AT_LOWEST or AT_HIGHEST, after the step has been taken into the extreme."""
    for p in range(y.size):
        x0, x1 = past[p] + start, y[p] + (centre + fall)
        if kind == _AT_LOWEST:
            found = lowest(x0, x1, variance, radii[p])
            at = w0 + share(x0, x1, variance, radii[p], -_ONE) * (w1 - w0)
            if y[p] + centre < found:
                found, at = y[p] + centre, w1
        else:
            found = highest(x0, x1, variance, radii[p])
            at = w0 + share(x0, x1, variance, radii[p], _ONE) * (w1 - w0)
        kept[p] = at if extreme[p] == found else kept[p]

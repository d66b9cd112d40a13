"""What prices do between the ends of time steps, see `continuous.py`, for chunks of paths on the CPU.

y[asset, path] and past[asset, path] are the noise at the end of a step and at its beginning; kept[functional, path] is
what functionals have kept. Paths are numbered within the chunk. single_normal and single_state are the precisions of
normals and of y, see `normals_cpu.py`.
"""

from __future__ import annotations

import numpy as np

from simsuite.parallel_for import procedure
from simsuite.rng import radius32, radius64
from simsuite.solvers.gbm.paths.kernels.bridge_extremes import highest, lowest, reached32, reached64, share, steepness
from simsuite.solvers.gbm.payoffs.functionals import Kind
from simsuite.solvers.gbm.random_numbers.normals_cpu import fill_words

_LOWEST, _HIGHEST = int(Kind.LOWEST), int(Kind.HIGHEST)
_SURVIVAL, _SLOPE = int(Kind.SURVIVAL), int(Kind.SLOPE)
_AT_LOWEST, _AT_HIGHEST = int(Kind.AT_LOWEST), int(Kind.AT_HIGHEST)
_ONE, _NOTHING = np.float32(1.0), np.float32(0.0)  # these do not widen what they are multiplied by


@procedure
def keep_survivals(functionals, between, dated, kept, y, past, q, w, k, single_state):
    """Updates each SURVIVAL and SLOPE by a step. q: work space of one number for each path."""
    bridges, dividend_drops, levels = between.bridges, between.dividend_drops, between.levels
    centre, growth = dated.centre, dated.growth
    for n in range(functionals.shape[0]):
        f, kind, a = functionals[n, 0], functionals[n, 1], functionals[n, 2]
        if kind == _SURVIVAL:
            start = centre[a, k - 1] if k > 0 else _NOTHING
            fall, sharpness = dividend_drops[a, k % dividend_drops.shape[1]], bridges[1, a, k % bridges.shape[2]]
            near, far = start - levels[f], centre[a, k] + fall - levels[f]
            _reach_level(q, past, y, a, w, near, far, sharpness, single_state)
            if fall > 0:
                after = centre[a, k] - levels[f]
                for p in range(w):
                    q[p] = q[p] if (y[a, p] + far) * (y[a, p] + after) > 0 else _ONE
            for m in range(n + 1, functionals.shape[0]):
                if functionals[m, 1] == _SLOPE and functionals[m, 5] == f:
                    g, row = functionals[m, 0], centre.shape[0] + functionals[m, 4]
                    w0 = growth[row, k - 1] if k > 0 else levels[g]
                    _keep_slope(kept, g, f, q, past, y, a, w, (near, far, sharpness), w0, growth[row, k])
            for p in range(w):
                kept[f, p] *= _ONE - q[p]


@procedure
def _reach_level(q, past, y, a, w, near, far, sharpness, single_state):
    """q[:w] = probability that a step reached a level; near, far: how far beyond the level the logarithm of the price
    is without noise, before and after the step."""
    if single_state is None:
        for p in range(w):
            q[p] = reached64(past[a, p] + near, y[a, p] + far, sharpness)
    else:
        for p in range(w):
            q[p] = reached32(past[a, p] + near, y[a, p] + far, sharpness)


@procedure
def _keep_slope(kept, g, f, q, past, y, a, w, level, w0, w1):
    """Updates SLOPE number g by a step, before SURVIVAL number f is updated. w0, w1: the weights of the SLOPE before
    and after the step. level: (near, far, sharpness), see `_reach_level`."""
    near, far, sharpness = level
    for p in range(w):
        steep = steepness(past[a, p] + near, y[a, p] + far, w0, w1, sharpness, q[p])
        kept[g, p] = kept[g, p] * (_ONE - q[p]) + (kept[f, p] * steep if q[p] < _ONE else _NOTHING * steep)


@procedure
def draw_radii(streams, radii, bits, w, first_path, block, seed, antithetic, single_normal):
    """radii[functional, :, :w] = sqrt(-2 log U) for the steps of a block; the second path of an antithetic pair has 1 -
    U. streams[functional]: the stream of random numbers, 0 where none are taken."""
    for n in range(streams.shape[0]):
        if streams[n] > 0:
            if antithetic:
                fill_words(bits, w // 2, first_path // 2, block, streams[n], seed)
                for h in range(4):
                    for p in range(w // 2 - 1, -1, -1):
                        bits[h, 2 * p + 1] = ~bits[h, p]
                        bits[h, 2 * p] = bits[h, p]
            else:
                fill_words(bits, w, first_path, block, streams[n], seed)
            if single_normal is None:
                for j in range(2):
                    for p in range(w):
                        radii[n, j, p] = radius64(bits[2 * j, p], bits[2 * j + 1, p])
            else:
                for j in range(4):
                    for p in range(w):
                        radii[n, j, p] = radius32(bits[j, p])


@procedure
def keep_extremes_between(functionals, between, dated, kept, y, past, radii, w, j, k):
    """Updates each LOWEST and HIGHEST by a step, and after these each AT_LOWEST and AT_HIGHEST. radii: see
    `draw_radii`."""
    bridges, dividend_drops, centre, growth = between.bridges, between.dividend_drops, dated.centre, dated.growth
    for n in range(functionals.shape[0]):
        f, kind, a, partner = functionals[n, 0], functionals[n, 1], functionals[n, 2], functionals[n, 5]
        start, end, fall = (
            centre[a, k - 1] if k > 0 else _NOTHING,
            centre[a, k],
            dividend_drops[a, k % dividend_drops.shape[1]],
        )
        variance = bridges[0, a, k % bridges.shape[2]]
        if kind == _LOWEST:
            for p in range(w):
                least = lowest(past[a, p] + start, y[a, p] + (end + fall), variance, radii[n, j, p])
                kept[f, p] = min(kept[f, p], min(least, y[a, p] + end))
        elif kind == _HIGHEST:
            for p in range(w):
                most = highest(past[a, p] + start, y[a, p] + (end + fall), variance, radii[n, j, p])
                kept[f, p] = max(kept[f, p], most)
        else:
            row = centre.shape[0] + functionals[n, 4]
            w0, w1 = growth[row, k - 1] if k > 0 else _NOTHING, growth[row, k]
            for m in range(n):
                if functionals[m, 0] == partner:
                    ends, weights = (start, end, fall, variance), (w0, w1)
                    _keep_weight_at_extreme(kept, kind, f, partner, past, y, a, w, radii[m, j], ends, weights)


@procedure
def _keep_weight_at_extreme(kept, kind, f, partner, past, y, a, w, radii, ends, weights):
    """Updates AT_LOWEST or AT_HIGHEST, after the step has been taken into the extreme. radii: those of the step and of
    that extreme. weights: before the step and after it."""
    (start, end, fall, variance), (w0, w1) = ends, weights
    for p in range(w):
        x0, x1 = past[a, p] + start, y[a, p] + (end + fall)
        if kind == _AT_LOWEST:
            found = lowest(x0, x1, variance, radii[p])
            at = w0 + share(x0, x1, variance, radii[p], -_ONE) * (w1 - w0)
            if y[a, p] + end < found:
                found, at = y[a, p] + end, w1
        else:
            found = highest(x0, x1, variance, radii[p])
            at = w0 + share(x0, x1, variance, radii[p], _ONE) * (w1 - w0)
        kept[f, p] = at if kept[partner, p] == found else kept[f, p]

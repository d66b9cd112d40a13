"""Exact sampling on the CPU: threads share out chunks of paths; the innermost loops run along paths, vectorised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.elementary import exp32, exp64, fma
from simsuite.rng import direction32, direction64, radius32, radius64, words
from simsuite.scenario.gbm import GROUP
from simsuite.solvers.gbm.continuous import chances
from simsuite.solvers.gbm.continuous_cpu import bend, keep_extreme, lean, reach, reach_level, survive
from simsuite.solvers.gbm.dynamics import LN2
from simsuite.solvers.gbm.exercise import TERMS
from simsuite.solvers.gbm.functionals import CONTINUOUS, SAMPLED, Kind
from simsuite.solvers.gbm.moves import Moves
from simsuite.solvers.gbm.moves_cpu import discretise, jump, pay
from simsuite.solvers.gbm.places import runs
from simsuite.solvers.gbm.precision import NORMALS_PER_BLOCK
from simsuite.solvers.gbm.schemes import Scheme
from simsuite.solvers.gbm.sobol_cpu import follow, start

_CHUNK = 512  # paths: their normals and prices stay in the first two levels of cache
_LN2_SINGLE = np.float32(LN2)
_SUM, _LOGARITHMS, _LEAST, _LARGEST = map(int, (Kind.SUM, Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST))
_SURVIVAL, _SLOPE, _EXERCISED = map(int, (Kind.SURVIVAL, Kind.SLOPE, Kind.EXERCISED))
_AT_LOWEST, _AT_HIGHEST, _AT_EXERCISED = map(int, (Kind.AT_LOWEST, Kind.AT_HIGHEST, Kind.AT_EXERCISED))
_NOTHING = np.float32(0.0)
_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_SINGLE = np.float32(_ROOT_HALF)
_WEIGHTED, _NOISY, _SQUARES, _LATEST = map(int, (Kind.WEIGHTED, Kind.NOISY, Kind.SQUARES, Kind.LATEST))


def make_advance(
    n_assets: int,
    functionals: Sequence[tuple[int, int, int, int, int]],
    state: Any,
    normal: Any,
    moves: Moves,
    rights: Sequence[tuple[int, bool]] = (),
    stack: int = 0,
    summed: int = 1,
    matched: bool = False,
) -> Any:
    """The kernel for so many assets and functionals; see `exact.py` for its arguments."""
    per_block = NORMALS_PER_BLOCK[np.dtype(normal)]
    kinds = np.array(functionals, np.int64).reshape(-1, 5)
    between = np.array([kind in CONTINUOUS for kind, *_ in functionals], np.bool_)
    streams = np.array([chances(Kind(kind), asset) * (kind in SAMPLED) for kind, asset, *_ in functionals], np.int64)
    besides = (moves.scheme is not Scheme.EXACT, moves.scheme.half, np.array(moves.jumping), np.array(moves.paying))
    judged = np.array(rights, np.int64).reshape(-1, 2)

    def advance(x: Any, kept: Any, seen: Any, n: int, first_path: int, *others: Any) -> None:
        *usual, numbering, opened, weights, directions, shift, offset, match = others
        bridge = opened, weights, directions, shift, offset, stack  # of 0: random numbers, by the same compiled kernel
        pieces = runs(first_path, n, _CHUNK, numbering)
        drawn = (per_block, summed, matched)
        _advance(drawn, kinds, between, streams, besides, judged, pieces, bridge, match, x, kept, seen, *usual)

    return advance


@njit(parallel=True, cache=True, error_model="numpy")
def _advance(
    drawn, kinds, between, streams, besides, rights, pieces, bridge, match, x, kept, seen, begin, end, valid, watched,
    first_seen, seed, antithetic, mix, scale, centre, growth, due, bridges, falls, levels, drift, jumps, thresholds,
    cash, turn, rules
):  # fmt: skip
    discretised, half, jumping, paying = besides
    per_block, summed, matched = drawn
    stack, bridged = bridge[5], between.any()
    for piece in prange(pieces.shape[0]):
        i, beyond, replicate, point = pieces[piece]
        w = beyond - i
        if begin == 0:
            _start(x, kept, kinds, i, w)
        z = np.empty((x.shape[0], per_block, _CHUNK), mix.dtype)
        pairs = np.empty((per_block, _CHUNK // 2), mix.dtype)
        halves = np.empty((per_block, _CHUNK), mix.dtype)
        bits = np.empty((4, _CHUNK), np.uint32)
        dw = np.empty(_CHUNK, mix.dtype)
        past = np.empty((x.shape[0], _CHUNK), x.dtype)
        radii = np.empty((streams.size, per_block, _CHUNK), mix.dtype)
        prices = np.empty((x.shape[0], _CHUNK), x.dtype)
        q, now = np.empty(_CHUNK, x.dtype), np.empty(_CHUNK, np.bool_)
        walk = start(bridge, replicate, point, w if stack > 0 else 0, begin)
        for block in range(begin, end):
            if stack > 0:
                follow(bridge, walk, block, z)
            else:
                for a in range(x.shape[0]):
                    if antithetic:
                        _draw(pairs, halves, bits, w // 2, point // 2, block, a, seed, summed)
                        _mirror(z[a], pairs, w // 2)
                    else:
                        _draw(z[a], halves, bits, w, point, block, a, seed, summed)
                    if matched:
                        _match(z[a], w, match[i // GROUP, block - begin, a])
            for f in range(streams.size):
                if streams[f] > 0:
                    if antithetic:
                        _words(bits, w // 2, point // 2, block, streams[f], seed)
                    else:
                        _words(bits, w, point, block, streams[f], seed)
                    reach(radii[f], bits, w, antithetic)
            which = first_seen
            for j in range(per_block if block < end - 1 else valid):
                k = block * per_block + j
                for a in range(x.shape[0]):
                    y, own = x[a, i : i + w], scale[a, k if scale.shape[1] > 1 else 0]
                    if bridged:
                        for p in range(w):  # here and below: slices take ten times as long to compile
                            past[a, p] = y[p]
                    _increments(dw, w, z, j, mix, a)
                    if discretised:
                        column = k if drift.shape[1] > 1 else 0
                        discretise(y, dw, own, drift[a, column], drift[x.shape[0] + a, column], half)
                    else:
                        _add(y, dw, own)
                    if jumping[a]:
                        jump(y, bits, point, k, a, seed, antithetic, jumps, thresholds, dw)
                    if paying[a] and cash[a, k] > 0:
                        pay(y, cash[a, k], cash[x.shape[0] + a, k])
                right = -1
                for f in range(kinds.shape[0]):
                    kind, a, bit, row, partner = kinds[f]
                    if kind == _EXERCISED:
                        right += 1
                    if between[f]:
                        _keep_between(
                            kinds, f, j, k, i, w, kept, past[a, :w], x[a, i : i + w], radii, centre,
                            growth, bridges, falls, levels, q
                        )  # fmt: skip
                    elif bit < 0 or due[k] >> bit & 1:
                        if kind == _EXERCISED:
                            rule, (degree, call) = rules[turn[right, k]], rights[right]
                            _exercise(kept[f], x[a], i, w, rule, degree, call, now)
                            _note(kinds, f, k, i, w, kept, growth[x.shape[0] :], now)
                        elif kind == _AT_EXERCISED:
                            continue
                        elif kind <= _LARGEST:
                            _keep(kind, kept[f], x[a], i, w, centre, growth, a, k, prices[a])
                        else:
                            weight = growth[x.shape[0] + row, k]
                            _keep_besides(kind, kept[f], kept[partner], x[a], i, w, centre[a, k], weight, prices[a])
                if block == end - 1 and watched >> j & 1:
                    for a in range(x.shape[0]):
                        for p in range(i, i + w):
                            seen[which, a, p] = x[a, p]
                    which += 1


@njit(cache=True, error_model="numpy")
def _start(x, kept, kinds, i, w):
    for a in range(x.shape[0]):
        for p in range(i, i + w):
            x[a, p] = 0
    for f in range(kinds.shape[0]):
        kind = kinds[f, 0]
        begun = 1.0 if kind == _SURVIVAL else -1.0 if kind == _EXERCISED else 0.0
        begun = np.inf if kind == _LEAST else -np.inf if kind == _LARGEST else begun
        for p in range(i, i + w):
            kept[f, p] = begun


@njit(cache=True, error_model="numpy")
def _words(bits, w, first_path, block, stream, seed):
    """bits[:, :w] = the random words of this block for w paths from `first_path` on."""
    for p in range(w):
        bits[0, p], bits[1, p], bits[2, p], bits[3, p] = words(block, stream, first_path + p, seed)


@njit(cache=True, error_model="numpy")
def _draw(z, halves, bits, w, first_path, block, stream, seed, summed):
    """z[:, :w] = the normals of this block for w paths from `first_path` on; if `summed` is 2, of steps that are two of
    those drawn. halves: room for as many."""
    if summed == 1:
        normals(z, bits, w, first_path, block, stream, seed)
        return
    n = z.shape[0] // 2
    for h in range(2):
        normals(halves, bits, w, first_path, 2 * block + h, stream, seed)
        for j in range(n):
            if z.itemsize == 4:
                for p in range(w):
                    z[h * n + j, p] = _ROOT_HALF_SINGLE * (halves[2 * j, p] + halves[2 * j + 1, p])
            else:
                for p in range(w):
                    z[h * n + j, p] = _ROOT_HALF * (halves[2 * j, p] + halves[2 * j + 1, p])


@njit(cache=True, error_model="numpy")
def normals(z, bits, w, first_path, block, stream, seed):
    """z[:, :w] = the normals of a block as they are drawn."""
    _words(bits, w, first_path, block, stream, seed)
    if z.shape[0] == 4:
        for h in range(0, 4, 2):
            for p in range(w):
                r = radius32(bits[h, p])
                c, s = direction32(bits[h + 1, p])
                z[h, p] = r * c
                z[h + 1, p] = r * s
    else:
        for p in range(w):
            r = radius64(bits[0, p], bits[1, p])
            c, s = direction64(bits[2, p], bits[3, p])
            z[0, p] = r * c
            z[1, p] = r * s


@njit(cache=True, error_model="numpy")
def _match(z, w, found):
    """Shift and stretch the normals of a block. found: factors and shifts, see `matching.py`."""
    for j in range(z.shape[0]):
        for p in range(w):
            z[j, p] = fma(z[j, p], found[0, j], found[1, j])


@njit(cache=True, error_model="numpy")
def _mirror(z, pairs, m):
    """Antithetic paths: z[:, 2 p] = pairs[:, p], z[:, 2 p + 1] = -pairs[:, p] for m pairs."""
    for j in range(z.shape[0]):
        for p in range(m):
            z[j, 2 * p] = pairs[j, p]
            z[j, 2 * p + 1] = -pairs[j, p]


@njit(cache=True, error_model="numpy")
def _increments(dw, w, z, j, mix, a):
    """dw[:w] = step j of a block, of an asset, but for its scale."""
    for p in range(w):
        dw[p] = mix[a, 0] * z[0, j, p]
    for b in range(1, mix.shape[0]):
        if mix[a, b] == 0:  # of a Cholesky factor, half of them
            continue
        for p in range(w):
            dw[p] = fma(mix[a, b], z[b, j, p], dw[p])


@njit(cache=True, error_model="numpy")
def _add(y, dw, own):
    for p in range(y.shape[0]):
        y[p] += own * dw[p]


@njit(cache=True, error_model="numpy")
def _keep(kind, kept, x, i, w, centre, growth, a, k, prices):
    """A date: take what the price is there. prices: room for them; sums leave them there."""
    found, y = kept[i : i + w], x[i : i + w]
    if kind == _SUM:
        if x.itemsize == 4:
            for p in range(w):
                prices[p] = exp32(_LN2_SINGLE * y[p]) * growth[a, k]
                found[p] += prices[p]
        else:
            for p in range(w):
                prices[p] = exp64(LN2 * y[p]) * growth[a, k]
                found[p] += prices[p]
    elif kind == _LOGARITHMS:
        for p in range(w):
            found[p] += y[p]
    elif kind == _LEAST:
        for p in range(w):
            found[p] = min(found[p], y[p] + centre[a, k])
    else:
        for p in range(w):
            found[p] = max(found[p], y[p] + centre[a, k])


@njit(cache=True, error_model="numpy")
def _keep_between(kinds, f, j, k, i, w, kept, past, y, radii, centre, growth, bridges, falls, levels, q):
    """A step of a functional of all times, and of the slopes of one. q: room for a number of each path."""
    kind, a, _, row, partner = kinds[f]
    start, end, fall = centre[a, k - 1] if k > 0 else _NOTHING, centre[a, k], falls[a, k % falls.shape[1]]
    variance, sharpness = bridges[0, a, k % bridges.shape[2]], bridges[1, a, k % bridges.shape[2]]
    if kind == _SURVIVAL:
        reach_level(q, past, y, start, end, fall, sharpness, levels[f])
        for g in range(f + 1, kinds.shape[0]):
            if kinds[g, 0] == _SLOPE and kinds[g, 4] == f:
                weights = growth[centre.shape[0] + kinds[g, 3]]
                w0 = weights[k - 1] if k > 0 else levels[g]
                slope, survival = kept[g, i : i + w], kept[f, i : i + w]
                bend(slope, survival, q, past, y, start, end, fall, sharpness, levels[f], w0, weights[k])
        survive(kept[f, i : i + w], q)
    elif kind in (_AT_LOWEST, _AT_HIGHEST):
        weights = growth[centre.shape[0] + row]
        w0 = weights[k - 1] if k > 0 else _NOTHING
        at, extreme = kept[f, i : i + w], kept[partner, i : i + w]
        lean(kind, at, extreme, past, y, radii[partner, j], start, end, fall, variance, w0, weights[k])
    elif kind != _SLOPE:
        keep_extreme(kind, kept[f, i : i + w], past, y, radii[f, j], start, end, fall, variance)


@njit(cache=True, error_model="numpy")
def _keep_besides(kind, kept, partner, x, i, w, centre, weight, prices):
    """Of the kinds that go with another, which has taken its own already, all but SQUARES."""
    found, other, y = kept[i : i + w], partner[i : i + w], x[i : i + w]
    if kind == _WEIGHTED:
        for p in range(w):
            found[p] += weight * prices[p]
    elif kind == _NOISY:
        for p in range(w):
            found[p] += y[p] * prices[p]
    elif kind == _SQUARES:
        for p in range(w):
            found[p] += weight * (y[p] - other[p]) ** 2
    elif kind == _LATEST:
        for p in range(w):
            found[p] = y[p]
    else:
        for p in range(w):
            found[p] = weight if other[p] == y[p] + centre else found[p]


@njit(cache=True, error_model="numpy")
def _exercise(kept, x, i, w, rule, degree, call, now):
    """A date of an American option: exercise where the rule says so, as `now` tells."""
    found, y = kept[i : i + w], x[i : i + w]
    price = np.empty(_CHUNK, x.dtype)
    if x.itemsize == 4:
        for p in range(w):
            price[p] = exp32(_LN2_SINGLE * y[p])
    else:
        for p in range(w):
            price[p] = exp64(LN2 * y[p])
    for p in range(w):
        value, now[p] = rule[0] * price[p] + rule[1], False
        if found[p] < 0 and value > 0:
            u = min(max(rule[2] * (1.0 / price[p] if call else price[p]) + rule[3], -1.0), 1.0)
            waits, later = np.float64(rule[TERMS + degree]), 0.0
            for k in range(degree - 1, 0, -1):
                waits, later = rule[TERMS + k] + 2.0 * u * waits - later, waits
            if rule[TERMS] + u * waits - later <= 0:
                found[p], now[p] = value, True


@njit(cache=True, error_model="numpy")
def _note(kinds, f, k, i, w, kept, weights, now):
    """What goes with functional number f, where it has been exercised."""
    for g in range(f + 1, kinds.shape[0]):
        if kinds[g, 0] == _AT_EXERCISED and kinds[g, 4] == f:
            found, weight = kept[g, i : i + w], weights[kinds[g, 3], k]
            for p in range(w):
                found[p] = weight if now[p] else found[p]

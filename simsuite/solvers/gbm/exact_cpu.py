"""Exact sampling on the CPU: threads share out chunks of paths; the innermost loops run along paths, vectorised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.rng import direction32, direction64, radius32, radius64, words
from simsuite.solvers.gbm.dynamics import LN2
from simsuite.solvers.gbm.functionals import Kind
from simsuite.solvers.gbm.precision import NORMALS_PER_BLOCK

_CHUNK = 512  # paths: their normals and prices stay in the first two levels of cache
_SUM, _LOGARITHMS, _LEAST, _LARGEST = map(int, (Kind.SUM, Kind.LOGARITHMS, Kind.LEAST, Kind.LARGEST))


def make_advance(n_assets: int, functionals: Sequence[tuple[int, int, int]], state: Any, normal: Any) -> Any:
    """The kernel for so many assets and (kind, asset, bit) functionals; see `exact.py` for its arguments."""
    per_block = NORMALS_PER_BLOCK[np.dtype(normal)]
    kinds = np.array(functionals, np.int64).reshape(-1, 3)

    def advance(*arguments: Any) -> None:
        _advance(per_block, kinds, *arguments)

    return advance


@njit(parallel=True, cache=True, error_model="numpy")
def _advance(
    per_block, kinds, x, kept, seen, n, first_path, begin, end, valid, watched, seed, antithetic, mix, scale, centre,
    growth, due
):  # fmt: skip
    for chunk in prange((n + _CHUNK - 1) // _CHUNK):
        i = chunk * _CHUNK
        w = min(_CHUNK, n - i)
        if begin == 0:
            _start(x, kept, kinds, i, w)
        z = np.empty((x.shape[0], per_block, _CHUNK), mix.dtype)
        bits = np.empty((4, _CHUNK), np.uint32)
        for block in range(begin, end):
            for a in range(x.shape[0]):
                _normals(z[a], bits, w, first_path + i, block, a, seed, antithetic)
            which = 0
            for j in range(per_block if block < end - 1 else valid):
                k = block * per_block + j
                _step(x, i, w, z, j, mix, scale, k)
                for f in range(kinds.shape[0]):
                    kind, a, bit = kinds[f]
                    if bit < 0 or due[k] >> bit & 1:
                        _keep(kind, kept[f], x[a], i, w, centre, growth, a, k)
                if block == end - 1 and watched >> j & 1:
                    seen[which, :, i : i + w] = x[:, i : i + w]
                    which += 1


@njit(cache=True, error_model="numpy")
def _start(x, kept, kinds, i, w):
    x[:, i : i + w] = 0
    for f in range(kinds.shape[0]):
        kind = kinds[f, 0]
        kept[f, i : i + w] = np.inf if kind == _LEAST else -np.inf if kind == _LARGEST else 0.0


@njit(cache=True, error_model="numpy")
def _normals(z, bits, w, first_path, block, stream, seed, antithetic):
    """z[:, :w] = the normals of this block for the paths from `first_path` on."""
    m = w // 2 if antithetic else w
    first = first_path // 2 if antithetic else first_path
    for p in range(m):
        bits[0, p], bits[1, p], bits[2, p], bits[3, p] = words(block, stream, first + p, seed)
    if z.shape[0] == 4:
        for h in range(0, 4, 2):
            for p in range(m):
                z[h, p] = radius32(bits[h, p])
            for p in range(m):
                c, s = direction32(bits[h + 1, p])
                z[h + 1, p] = z[h, p] * s
                z[h, p] *= c
    else:
        for p in range(m):
            z[0, p] = radius64(bits[0, p], bits[1, p])
        for p in range(m):
            c, s = direction64(bits[2, p], bits[3, p])
            z[1, p] = z[0, p] * s
            z[0, p] *= c
    if antithetic:
        for j in range(z.shape[0]):
            for p in range(m - 1, -1, -1):
                z[j, 2 * p + 1] = -z[j, p]
                z[j, 2 * p] = z[j, p]


@njit(cache=True, error_model="numpy")
def _step(x, i, w, z, j, mix, scale, k):
    """Step k of every asset of w paths."""
    dw = np.empty(w, mix.dtype)
    for a in range(x.shape[0]):
        own = scale[a, k] if scale.shape[1] > 1 else scale[a, 0]
        for p in range(w):
            dw[p] = mix[a, 0] * z[0, j, p]
        for b in range(1, a + 1):
            for p in range(w):
                dw[p] += mix[a, b] * z[b, j, p]
        for p in range(w):
            x[a, i + p] += own * dw[p]


@njit(cache=True, error_model="numpy")
def _keep(kind, kept, x, i, w, centre, growth, a, k):
    """A date: take what the price is there."""
    if kind == _SUM:
        for p in range(i, i + w):
            kept[p] += math.exp(LN2 * x[p]) * growth[a, k]
    elif kind == _LOGARITHMS:
        for p in range(i, i + w):
            kept[p] += x[p]
    elif kind == _LEAST:
        for p in range(i, i + w):
            kept[p] = min(kept[p], x[p] + centre[a, k])
    else:
        for p in range(i, i + w):
            kept[p] = max(kept[p], x[p] + centre[a, k])

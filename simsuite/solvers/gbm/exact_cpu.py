"""Exact sampling on the CPU: threads share out chunks of paths; the innermost loops run along paths, vectorised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.rng import NORMALS_PER_BLOCK, direction32, direction64, radius32, radius64, words

_CHUNK = 512  # paths: their normals and prices stay in the first two levels of cache


def make_advance(n_assets: int, functionals: tuple[tuple[int, bool], ...], dtype: Any) -> Any:
    """The kernel for so many assets and (asset, arithmetic) functionals; see `exact.py` for its arguments."""
    per_block = NORMALS_PER_BLOCK[np.dtype(dtype)]
    asset = np.array([a for a, _ in functionals], np.int64)
    arithmetic = np.array([arithmetic for _, arithmetic in functionals], np.bool_)

    def advance(*arguments: Any) -> None:
        _advance(per_block, asset, arithmetic, *arguments)

    return advance


@njit(parallel=True, cache=True, error_model="numpy")
def _advance(
    per_block, asset, arithmetic, x, sums, n, first_path, begin, end, seed, antithetic, drift, mix, due
):  # fmt: skip
    for chunk in prange((n + _CHUNK - 1) // _CHUNK):
        i = chunk * _CHUNK
        w = min(_CHUNK, n - i)
        if begin == 0:
            x[:, i : i + w] = 0
            if asset.size > 0:
                sums[:, i : i + w] = 0
        z = np.empty((x.shape[0], per_block, _CHUNK), x.dtype)
        bits = np.empty((4, _CHUNK), np.uint32)
        for block in range(begin // per_block, (end + per_block - 1) // per_block):
            for a in range(x.shape[0]):
                _normals(z[a], bits, w, first_path + i, block, a, seed, antithetic)
            for j in range(per_block):
                k = block * per_block + j
                if begin <= k < end:
                    _step(x, i, w, z, j, drift, mix)
                    for f in range(asset.size):
                        if due[k, f]:
                            _observe(sums[f], x[asset[f]], i, w, arithmetic[f])


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
def _step(x, i, w, z, j, drift, mix):
    """One step of every asset of w paths."""
    dw = np.empty(w, x.dtype)
    for a in range(x.shape[0]):
        for p in range(w):
            dw[p] = mix[a, 0] * z[0, j, p]
        for b in range(1, a + 1):
            for p in range(w):
                dw[p] += mix[a, b] * z[b, j, p]
        for p in range(w):
            x[a, i + p] += dw[p] + drift[a]


@njit(cache=True, error_model="numpy")
def _observe(sums, x, i, w, arithmetic):
    """A fixing date: add S/S0, or its logarithm, to the running sum."""
    if arithmetic:
        for p in range(i, i + w):
            sums[p] += math.exp(x[p])
    else:
        for p in range(i, i + w):
            sums[p] += x[p]

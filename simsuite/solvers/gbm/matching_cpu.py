"""Factors and shifts of moment matching on the CPU; arguments: see `matching.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.elementary import fma
from simsuite.solvers.gbm.exact_cpu import normals
from simsuite.solvers.gbm.matching import GROUP, LANES

THREADS = 1


def make_measure(normal: Any) -> Any:
    return _measure


@njit(parallel=True, cache=True, error_model="numpy")
def _measure(match, groups, first, draws, begin, end, seed):
    for group in prange(groups):
        z = np.empty((match.shape[4], draws), match.dtype)
        bits = np.empty((4, draws), np.uint32)
        sums, squares = np.empty(LANES, match.dtype), np.empty(LANES, match.dtype)
        for block in range(begin, end):
            for a in range(match.shape[2]):
                normals(z, bits, draws, first + group * draws, block, a, seed)
                for j in range(match.shape[4]):
                    _add_up(z[j], sums, squares)
                    factor, shift = _match(sums, squares, draws)
                    match[group, block - begin, a, 0, j] = factor
                    match[group, block - begin, a, 1, j] = shift


@njit(cache=True, error_model="numpy")
def _add_up(z, sums, squares):
    """sums[0], squares[0] = those of all z."""
    sums[:], squares[:] = 0, 0
    for k in range(0, z.size, LANES):
        for lane in range(LANES):
            sums[lane] += z[k + lane]
            squares[lane] = fma(z[k + lane], z[k + lane], squares[lane])
    half = LANES // 2
    while half:
        for lane in range(half):
            sums[lane] += sums[lane + half]
            squares[lane] += squares[lane + half]
        half //= 2


@njit(cache=True, error_model="numpy")
def _match(sums, squares, draws):
    one = sums.dtype.type(1)
    each = sums.dtype.type(1 / draws)
    mean = sums[0] * each if draws == GROUP else sums.dtype.type(0)
    factor = one / np.sqrt(fma(-mean, mean, squares[0] * each))
    return factor, -mean * factor

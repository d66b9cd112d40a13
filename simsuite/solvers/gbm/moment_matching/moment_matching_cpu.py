"""Factors and shifts of moment matching on the CPU; arguments: see `moment_matching.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.elementary import fma
from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.gbm.moment_matching.moment_matching import GROUP, LANES
from simsuite.solvers.gbm.random_numbers.normals_cpu import normals

THREADS = 1


def make_measure(normal: Any) -> Any:
    single = True if np.dtype(normal) == np.float32 else None

    def measure(match: Any, groups: int, first: int, draws: int, begin: int, end: int, seed: Any) -> None:
        _measure(groups, match, first, draws, begin, end, seed, single)

    return measure


@kernel
def _measure(groups, match, first, draws, begin, end, seed, single):
    _measure_groups(groups, (match, first, draws, begin, end, seed, single))


@parallel_for
def _measure_groups(first_group, last_group, match, first, draws, begin, end, seed, single):
    z = np.empty((1, match.shape[4], draws), match.dtype)
    bits = np.empty((4, draws), np.uint32)
    sums, squares = np.empty(LANES, match.dtype), np.empty(LANES, match.dtype)
    for group in range(first_group, last_group):
        for block in range(begin, end):
            for a in range(match.shape[2]):
                normals(z, 0, bits, draws, first + group * draws, block, a, seed, single)
                for j in range(match.shape[4]):
                    _add_up(z, j, sums, squares)
                    factor, shift = _match(sums, squares, draws)
                    match[group, block - begin, a, 0, j] = factor
                    match[group, block - begin, a, 1, j] = shift


@part
def _add_up(z, j, sums, squares):
    """sums[0], squares[0] = those of all z[0, j]."""
    for lane in range(LANES):
        sums[lane], squares[lane] = 0, 0
    for k in range(0, z.shape[2], LANES):
        for lane in range(LANES):
            sums[lane] += z[0, j, k + lane]
            squares[lane] = fma(z[0, j, k + lane], z[0, j, k + lane], squares[lane])
    half = LANES // 2
    while half:
        for lane in range(half):
            sums[lane] += sums[lane + half]
            squares[lane] += squares[lane + half]
        half //= 2


@part
def _match(sums, squares, draws):
    one = sums.dtype.type(1)
    each = sums.dtype.type(1 / draws)
    mean = sums[0] * each if draws == GROUP else sums.dtype.type(0)
    factor = one / np.sqrt(fma(-mean, mean, squares[0] * each))
    return factor, -mean * factor

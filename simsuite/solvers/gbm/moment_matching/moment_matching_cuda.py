"""Factors and shifts of moment matching on a GPU, readable: a block a group, whose threads are the lanes; arguments:
see `moment_matching.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float32, float64, uint64

from simsuite.rng import fill_normals32, fill_normals64
from simsuite.solvers.gbm.moment_matching.moment_matching import GROUP, LANES
from simsuite.solvers.gbm.random_numbers.precision import NORMALS_PER_BLOCK

THREADS = LANES


def make_measure(normal: Any) -> Any:
    single = np.dtype(normal) == np.float32
    drawn, fill = (float32, fill_normals32) if single else (float64, fill_normals64)
    PER_BLOCK = NORMALS_PER_BLOCK[np.dtype(normal)]
    SUMS = (2, PER_BLOCK, LANES)

    @cuda.jit
    def measure(match, groups, first, draws, begin, end, seed):
        lane, group, a = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
        sums = cuda.shared.array(SUMS, drawn)
        if group < groups:
            z = cuda.local.array((1, PER_BLOCK), drawn)
            for block in range(begin, end):
                for j in range(PER_BLOCK):
                    sums[0, j, lane] = drawn(0)
                    sums[1, j, lane] = drawn(0)
                for k in range(lane, draws, LANES):
                    fill(z, 0, block, a, first + group * draws + k, uint64(seed))
                    for j in range(PER_BLOCK):
                        sums[0, j, lane] += z[0, j]
                        sums[1, j, lane] += z[0, j] * z[0, j]
                cuda.syncthreads()
                half = LANES // 2
                while half > 0:
                    if lane < half:
                        for j in range(PER_BLOCK):
                            sums[0, j, lane] += sums[0, j, lane + half]
                            sums[1, j, lane] += sums[1, j, lane + half]
                    half //= 2
                    cuda.syncthreads()
                if lane < PER_BLOCK:
                    each = drawn(1) / drawn(draws)
                    mean = sums[0, lane, 0] * each if draws == GROUP else drawn(0)
                    factor = drawn(1) / math.sqrt(sums[1, lane, 0] * each - mean * mean)
                    match[group, block - begin, a, 0, lane] = factor
                    match[group, block - begin, a, 1, lane] = -mean * factor
                cuda.syncthreads()

    return measure

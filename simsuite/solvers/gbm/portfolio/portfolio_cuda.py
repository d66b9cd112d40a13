"""Kernels that measure a portfolio on a GPU, in a readable form. For their arguments see `portfolio_cpu.py`."""

from __future__ import annotations

import math

from numba import cuda, float64, int64

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.statistics.quantile_sketch import FURTHEST
from simsuite.solvers.gbm.statistics.statistics import GROUP, LARGEST
from simsuite.solvers.gbm.statistics.statistics_scalars import bin_of, digits

THREADS = 32  # threads of a block, which adds up a group
_PARTS = (4, THREADS)


@cuda.jit
def tally(values, n, table):
    i = cuda.grid(1)
    if i < n and abs(values[i]) < LARGEST:
        number, within = bin_of(values[i])
        cuda.atomic.add(table, (0, FURTHEST + number), int64(1))
        cuda.atomic.add(table, (1, FURTHEST + number), within)
        cuda.atomic.add(table, (2, FURTHEST + number), within * within)


@cuda.jit
def expose(y, n, frames, frame, weights, width, sums, counts):
    r, g = cuda.threadIdx.x, cuda.blockIdx.x
    parts = cuda.shared.array(_PARTS, float64)
    for q in range(4):
        parts[q, r] = float64(0.0)
    for i in range(g * GROUP + r * width, min(n, (g + 1) * GROUP), THREADS * width):
        above, below = float64(0.0), float64(0.0)
        for j in range(i, i + width):
            v = float64(0.0)
            for a in range(y.shape[0]):
                v += weights[a] * math.exp(LN2 * (float64(y[a, j]) + frames[frame, 2, a]))
            if abs(v) < LARGEST:
                above += max(v, float64(0.0))
                below += max(-v, float64(0.0))
                number, _ = bin_of(v)
                cuda.atomic.add(counts, max(number, int64(0)), int64(1))
        above /= float64(width)
        below /= float64(width)
        parts[0, r] += above
        parts[1, r] += above * above
        parts[2, r] += below
        parts[3, r] += below * below
    cuda.syncthreads()
    if r < 4:
        s = float64(0.0)
        for t in range(THREADS):
            s += parts[r, t]
        k, d0, d1, d2 = digits(s)
        cuda.atomic.add(sums, (frame, r, k), d0)
        cuda.atomic.add(sums, (frame, r, k + 1), d1)
        cuda.atomic.add(sums, (frame, r, k + 2), d2)

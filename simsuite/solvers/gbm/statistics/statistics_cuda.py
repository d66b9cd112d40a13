"""Statistics over paths on a GPU, in float64. Arguments: see `statistics.py`.

A block adds up one group in a fixed order, then adds to the exact sums by integer atomics, so that results depend
neither on the launch nor on the batches.
"""

from __future__ import annotations

import math

from numba import cuda, float64, int64

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.random_numbers.numbering_kernels import point_of
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import BINS_PER_UNIT, GROUP, LARGEST, LAST_BIN, LOG_LARGEST, Z_MAX
from simsuite.solvers.gbm.statistics.statistics_scalars import digits

THREADS = 32  # threads of a block
_PARTS = (3, THREADS)


@cuda.jit
def clear(sums, counts, slot, n):
    row = cuda.blockIdx.y
    if row < n:
        for b in range(cuda.threadIdx.x, counts.shape[2], THREADS):
            counts[slot, row, b] = 0
        for s in range(sums.shape[2]):
            for k in range(cuda.threadIdx.x, LIMBS, THREADS):
                sums[slot, row, s, k] = 0


@cuda.jit
def record(y, paths, frame, n):
    p, a = cuda.grid(2)
    if p < n and a < paths.shape[1]:
        paths[frame, a, p] = y[a, p]


@cuda.jit
def moments(y, n, first_path, frames, frame, slot, sums, histogram, fault):
    r, g, a = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    parts = cuda.shared.array(_PARTS, float64)
    s1, s2, s3 = float64(0.0), float64(0.0), float64(0.0)
    for i in range(g * GROUP + r, min(n, (g + 1) * GROUP), THREADS):
        noise = float64(y[a, i])
        d = math.expm1(LN2 * (noise + frames[frame, 0, a]))
        if abs(d) < LARGEST and noise + frames[frame, 2, a] < LOG_LARGEST:
            s1 += d
            s2 += d * d
            if sums.shape[2] > 2 and i & 1:
                twin = math.expm1(LN2 * (float64(y[a, i - 1]) + frames[frame, 0, a]))
                if abs(twin) < LARGEST:
                    s3 += d * twin
            z = noise * frames[frame, 1, a]
            bin_of = int64(math.floor((min(max(z, -2.0 * Z_MAX), 2.0 * Z_MAX) + Z_MAX) * BINS_PER_UNIT)) + 1
            cuda.atomic.add(histogram, (slot, a, min(max(bin_of, int64(0)), int64(LAST_BIN))), int64(1))
        else:
            cuda.atomic.min(fault, 0, (first_path + i) * y.shape[0] + a)
    parts[0, r] = s1
    parts[1, r] = s2
    parts[2, r] = s3
    cuda.syncthreads()
    if r < sums.shape[2]:
        k, d0, d1, d2 = digits(_total(parts, r))
        cuda.atomic.add(sums, (slot, a, r, k), d0)
        cuda.atomic.add(sums, (slot, a, r, k + 1), d1)
        cuda.atomic.add(sums, (slot, a, r, k + 2), d2)


@cuda.jit
def payoffs(values, n, first_path, width, numbering, shifts, assets, products, n_assets, sums, fault):
    r, g, row = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    parts = cuda.shared.array(_PARTS, float64)
    a, b = products[row, 0], products[row, 1]
    at, end = g * GROUP, min(n, (g + 1) * GROUP)
    while at < end:  # a group, or the part of it that is of one replicate
        replicate, _, left = point_of(first_path + at, numbering[0], numbering[1], numbering[2])
        beyond = min(end, at + left)
        s = float64(0.0)
        for i in range(at + r * width, beyond, THREADS * width):
            v, w = float64(0.0), float64(0.0)
            for j in range(i, i + width):
                v += values[a, j] - shifts[a]
                w += values[b, j] - shifts[b] if b >= 0 else float64(1.0)
                if b < 0 and not abs(values[a, j]) < LARGEST:
                    cuda.atomic.min(fault, 0, (first_path + j) * n_assets + assets[a])
            v /= float64(width)
            w /= float64(width)
            if abs(v) < LARGEST and abs(w) < LARGEST:
                s += v * w
        parts[0, r] = s
        cuda.syncthreads()
        if r == 0:
            k, d0, d1, d2 = digits(_total(parts, 0))
            cuda.atomic.add(sums, (replicate, row, k), d0)
            cuda.atomic.add(sums, (replicate, row, k + 1), d1)
            cuda.atomic.add(sums, (replicate, row, k + 2), d2)
        cuda.syncthreads()
        at = beyond


@cuda.jit(device=True)
def _total(parts, q):
    """The sum of what the threads of the block found, added up in their order."""
    s = float64(0.0)
    for r in range(THREADS):
        s += parts[q, r]
    return s

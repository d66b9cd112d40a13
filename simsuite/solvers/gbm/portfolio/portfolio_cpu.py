"""Kernels that measure a portfolio on the CPU: see `portfolio.py`, `quantile_sketch.py`.

- tally(values, n, table): sketches the first n numbers in units. table[what, FURTHEST + bin]: counts, then sums of the
  bits that follow and of their squares.
- expose(y, n, frames, frame, weights, width, sums, counts): sketches and adds up the value V at a frame, which is the
  sum of weights[asset] S_a / S_a(0), over the first n columns of the noise y[asset, path]. sums[frame, what, limb]: the
  sums of max(V, 0), of its square, of max(-V, 0) and of its square, each of them a mean over `width` paths.
  counts[bin]: the sketch of max(V, 0). frames: as in `statistics.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int64

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.statistics.quantile_sketch import FURTHEST
from simsuite.solvers.gbm.statistics.statistics import GROUP, LARGEST
from simsuite.solvers.gbm.statistics.statistics_scalars import bin_of
from simsuite.solvers.gbm.statistics.totals_cpu import add_exactly, count

THREADS = 1


@kernel
def tally(values, n, table):
    for i in range(n):
        if abs(values[i]) < LARGEST:
            number, within = bin_of(values[i])
            table[0, FURTHEST + number] += 1
            table[1, FURTHEST + number] += within
            table[2, FURTHEST + number] += within * within


def expose(
    y: Any, n: int, frames: Any, frame: int, weights: Any, width: int, sums: Any, counts: Any
) -> None:  # fmt: skip
    groups = -(-n // GROUP)
    parts, bins = np.zeros((groups, sums.shape[1])), np.empty(n, np.int32)
    _expose(
        parts, bins, y, n, frames[frame], weights, width, np.full(groups, frame, np.int64), sums, counts.reshape(1, -1)
    )


@kernel
def _expose(parts, bins, y, n, frame, weights, width, owners, sums, counts):
    _expose_groups(parts.shape[0], (parts, bins, y, n, frame, weights, width))
    add_exactly(parts, owners, sums)
    count(bins, bins.size, counts, 0)


@parallel_for
def _expose_groups(first, last, parts, bins, y, n, frame, weights, width):
    for g in range(first, last):
        s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
        for i in range(g * GROUP, min(n, (g + 1) * GROUP), width):
            above, below = 0.0, 0.0
            for j in range(i, i + width):
                v = 0.0
                for a in range(y.shape[0]):
                    v += weights[a] * math.exp(LN2 * (np.float64(y[a, j]) + frame[2, a]))
                bins[j] = -1
                if abs(v) < LARGEST:
                    above += max(v, 0.0)
                    below += max(-v, 0.0)
                    bins[j] = max(bin_of(v)[0], int64(0))
            above /= width
            below /= width
            s1 += above
            s2 += above * above
            s3 += below
            s4 += below * below
        parts[g, 0] = s1
        parts[g, 1] = s2
        parts[g, 2] = s3
        parts[g, 3] = s4

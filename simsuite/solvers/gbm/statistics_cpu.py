"""Statistics over paths on the CPU. Threads share out the groups; the sums of groups are added exactly by one of them.
Arguments: see `statistics.py`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import int64, njit, prange

from simsuite.solvers.gbm.dynamics import LN2
from simsuite.solvers.gbm.places import runs
from simsuite.solvers.gbm.scalars import digits
from simsuite.solvers.gbm.statistics import BINS_PER_UNIT, GROUP, LARGEST, LAST_BIN, LOG_LARGEST, Z_MAX

THREADS = 1


@njit(cache=True)
def clear(sums, counts, slot, n):
    sums[slot, :n] = 0
    counts[slot, :n] = 0


@njit(cache=True)
def record(y, paths, frame, n):
    for a in range(y.shape[0]):
        for i in range(n):
            paths[frame, a, i] = y[a, i]


@njit(parallel=True, cache=True, error_model="numpy")
def moments(y, n, first_path, width, frames, frame, slot, sums, histogram, fault):
    n_assets, n_groups = y.shape[0], (n + GROUP - 1) // GROUP
    n_sums = sums.shape[2]
    parts = np.zeros((n_groups, n_assets, n_sums))
    bad = np.full(n_groups + 1, fault[0])
    for g in prange(n_groups):
        for a in range(n_assets):
            shift, centre = frames[frame, 0, a], frames[frame, 2, a]
            s1, s2, s3, before = 0.0, 0.0, 0.0, 0.0
            for i in range(g * GROUP, min(n, (g + 1) * GROUP)):
                noise = np.float64(y[a, i])
                d = math.expm1(LN2 * (noise + shift))
                if abs(d) < LARGEST and noise + centre < LOG_LARGEST:
                    s1 += d
                    s2 += d * d
                    s3 += d * before if i & 1 else 0.0
                    before = d
                else:
                    before = 0.0
                    bad[g] = min(bad[g], (first_path + i) * n_assets + a)
            parts[g, a, 0] = s1
            parts[g, a, 1] = s2
            if n_sums > 2:
                parts[g, a, 2] = s3 if width == 2 else s1 * s1
    _add_exactly(parts, sums[slot])
    fault[0] = bad.min()
    for a in prange(n_assets):
        scale = frames[frame, 1, a]
        for i in range(n):
            z = np.float64(y[a, i]) * scale
            if math.isfinite(z):
                cell = int64(math.floor((min(max(z, -2.0 * Z_MAX), 2.0 * Z_MAX) + Z_MAX) * BINS_PER_UNIT)) + 1
                histogram[slot, a, min(max(cell, int64(0)), int64(LAST_BIN))] += 1


@njit(parallel=True, cache=True, error_model="numpy")
def payoffs(values, n, first_path, width, sharing, shifts, assets, products, n_assets, sums, fault):
    pieces, n_rows = runs(first_path, n, GROUP, sharing), products.shape[0]
    n_pieces = pieces.shape[0]
    parts = np.zeros((n_pieces, n_rows))
    bad = np.full(n_pieces + 1, fault[0])
    for g in prange(n_pieces):
        for row in range(n_rows):
            a, b = products[row]
            s = 0.0
            for i in range(pieces[g, 0], pieces[g, 1], width):
                v, w = 0.0, 0.0
                for j in range(i, i + width):
                    v += values[a, j] - shifts[a]
                    w += values[b, j] - shifts[b] if b >= 0 else 1.0
                    if b < 0 and not abs(values[a, j]) < LARGEST:
                        bad[g] = min(bad[g], (first_path + j) * n_assets + assets[a])
                v /= width
                w /= width
                if abs(v) < LARGEST and abs(w) < LARGEST:
                    s += v * w
            parts[g, row] = s
    for g in range(n_pieces):
        _add_exactly(parts[g : g + 1].reshape((1, n_rows, 1)), sums[pieces[g, 2]].reshape((n_rows, 1, sums.shape[2])))
    fault[0] = bad.min()


@njit(cache=True, error_model="numpy")
def _add_exactly(parts, sums):
    """sums[j, q] += parts[:, j, q], without rounding."""
    for g in range(parts.shape[0]):
        for j in range(parts.shape[1]):
            for q in range(parts.shape[2]):
                k, d0, d1, d2 = digits(parts[g, j, q])
                sums[j, q, k] += d0
                sums[j, q, k + 1] += d1
                sums[j, q, k + 2] += d2

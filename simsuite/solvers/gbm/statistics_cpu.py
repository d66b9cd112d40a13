"""Statistics over paths on the CPU. Threads share out the groups; the sums of groups are added exactly by one of them.
Arguments: see `statistics.py`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import int64, njit, prange

from simsuite.solvers.gbm.scalars import digits, observed_price, payoff
from simsuite.solvers.gbm.statistics import BINS_PER_UNIT, GROUP, LARGEST, LAST_BIN, LOG_LARGEST, Z_MAX

THREADS = 1


@njit(cache=True)
def clear(sums, histogram, slot, n_assets):
    sums[slot, :n_assets] = 0
    histogram[slot, :n_assets] = 0


@njit(cache=True)
def record(x, paths, frame, n):
    paths[frame, :, :n] = x[:, :n]


@njit(parallel=True, cache=True, error_model="numpy")
def moments(x, n, first_path, growth, drift, inverse_volatility, t, inverse_root_t, slot, sums, histogram, fault):
    n_assets, n_groups = x.shape[0], (n + GROUP - 1) // GROUP
    parts = np.zeros((n_groups, n_assets, 2))
    bad = np.full(n_groups + 1, fault[0])
    for g in prange(n_groups):
        for a in range(n_assets):
            s1, s2 = 0.0, 0.0
            for i in range(g * GROUP, min(n, (g + 1) * GROUP)):
                y = np.float64(x[a, i])
                d = math.expm1(y - growth[a] * t)
                if abs(d) < LARGEST and y < LOG_LARGEST:
                    s1 += d
                    s2 += d * d
                else:
                    bad[g] = min(bad[g], (first_path + i) * n_assets + a)
            parts[g, a, 0] = s1
            parts[g, a, 1] = s2
    _add_exactly(parts, sums[slot])
    fault[0] = bad.min()
    for a in prange(n_assets):
        scale = inverse_volatility[a] * inverse_root_t
        for i in range(n):
            z = (np.float64(x[a, i]) - drift[a] * t) * scale
            if math.isfinite(z):
                cell = int64(math.floor((min(max(z, -2.0 * Z_MAX), 2.0 * Z_MAX) + Z_MAX) * BINS_PER_UNIT)) + 1
                histogram[slot, a, min(max(cell, int64(0)), int64(LAST_BIN))] += 1


@njit(parallel=True, cache=True, error_model="numpy")
def payoffs(x, averages, n, first_path, width, kinds, terms, sums, fault):
    n_groups = (n + GROUP - 1) // GROUP
    parts = np.zeros((n_groups, kinds.shape[0], 2))
    bad = np.full(n_groups + 1, fault[0])
    for g in prange(n_groups):
        for o in range(kinds.shape[0]):
            asset, row, averaged, arithmetic = kinds[o]
            spot, weight, strike, sign, shift = terms[o]
            s1, s2 = 0.0, 0.0
            for i in range(g * GROUP, min(n, (g + 1) * GROUP), width):
                v = 0.0
                for j in range(i, i + width):
                    value = averages[row, j] if averaged else x[row, j]
                    price = observed_price(value, arithmetic, spot, weight)
                    v += payoff(price, strike, sign) - shift
                    if not price < LARGEST:
                        bad[g] = min(bad[g], (first_path + j) * x.shape[0] + asset)
                v /= width
                if abs(v) < LARGEST:
                    s1 += v
                    s2 += v * v
            parts[g, o, 0] = s1
            parts[g, o, 1] = s2
    _add_exactly(parts, sums)
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

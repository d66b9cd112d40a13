"""Statistics over paths on the CPU. Threads share out the groups; the sums of groups are added exactly by one of them.
Arguments: see `statistics.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int32

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.random_numbers.numbering_kernels import runs
from simsuite.solvers.gbm.statistics.statistics import BINS_PER_UNIT, GROUP, LARGEST, LOG_LARGEST, Z_MAX
from simsuite.solvers.gbm.statistics.totals_cpu import add_exactly, count

THREADS = 1


def clear(sums: np.ndarray, counts: np.ndarray, slot: int, n: int) -> None:
    sums[slot, :n] = 0
    counts[slot, :n] = 0


def record(y: np.ndarray, paths: np.ndarray, frame: int, n: int) -> None:
    paths[frame, :, :n] = y[:, :n]


def moments(
    y: Any, n: int, first_path: int, frames: Any, frame: int, slot: int, sums: Any, histogram: Any, fault: Any
) -> None:  # fmt: skip
    n_assets, groups, n_sums = len(y), -(-n // GROUP), sums.shape[2]
    parts, bad = np.zeros((groups, n_assets * n_sums)), np.full(groups, fault[0])
    owners, totals = np.zeros(groups, np.int64), sums[slot].reshape(1, n_assets * n_sums, -1)
    _moments(parts, bad, y, n, first_path, frames[frame], owners, totals, histogram[slot])
    fault[0] = bad.min(initial=fault[0])


@kernel
def _moments(parts, bad, y, n, first_path, frame, owners, sums, histogram):
    _moments_of_groups(parts.shape[0], (parts, bad, y, n, first_path, frame))
    add_exactly(parts, owners, sums)
    _histograms(y.shape[0], (y, n, frame, histogram))


@parallel_for
def _moments_of_groups(first, last, parts, bad, y, n, first_path, frame):
    n_assets = y.shape[0]
    n_sums = parts.shape[1] // n_assets
    for g in range(first, last):
        for a in range(n_assets):
            shift, centre = frame[0, a], frame[2, a]
            s1, s2, s3, before = 0.0, 0.0, 0.0, 0.0
            begin, end = g * GROUP, min(n, (g + 1) * GROUP)
            noise = y[a, begin:end]
            for i in range(end - begin):
                d = math.expm1(LN2 * (noise[i] + shift))
                if abs(d) < LARGEST and noise[i] + centre < LOG_LARGEST:
                    s1 += d
                    s2 += d * d
                    s3 += d * before if i & 1 else 0.0
                    before = d
                else:
                    before = 0.0
                    bad[g] = min(bad[g], (first_path + begin + i) * n_assets + a)
            parts[g, a * n_sums] = s1
            parts[g, a * n_sums + 1] = s2
            if n_sums > 2:
                parts[g, a * n_sums + 2] = s3


@parallel_for
def _histograms(first, last, y, n, frame, histogram):
    bins = np.empty(GROUP, np.int32)
    for a in range(first, last):
        scale = frame[1, a]
        for begin in range(0, n, GROUP):
            noise = y[a, begin : min(n, begin + GROUP)]
            for i in range(noise.size):
                z = noise[i] * scale
                bin_of = (min(max(z, -2.0 * Z_MAX), Z_MAX) + Z_MAX) * BINS_PER_UNIT
                bins[i] = -1 if not abs(z) < np.inf else int32(bin_of) + 1 if bin_of >= 0 else 0
            count(bins, noise.size, histogram, a)


def payoffs(
    values: Any, n: int, first_path: int, width: int, numbering: Any, shifts: Any, assets: Any, products: Any,
    n_assets: int, sums: Any, fault: Any,
) -> None:  # fmt: skip
    pieces = runs(first_path, n, GROUP, numbering)
    parts, bad = np.zeros((len(pieces), len(products))), np.full(len(pieces), fault[0])
    owners = np.ascontiguousarray(pieces[:, 2])
    _payoffs(parts, bad, pieces, values, first_path, width, shifts, assets, products, n_assets, owners, sums)
    fault[0] = bad.min(initial=fault[0])


@kernel
def _payoffs(parts, bad, pieces, values, first_path, width, shifts, assets, products, n_assets, owners, sums):
    _payoffs_of_pieces(
        parts.shape[0], (parts, bad, pieces, values, first_path, width, shifts, assets, products, n_assets)
    )  # fmt: skip
    add_exactly(parts, owners, sums)


@parallel_for
def _payoffs_of_pieces(first, last, parts, bad, pieces, values, first_path, width, shifts, assets, products, n_assets):
    for g in range(first, last):
        for row in range(products.shape[0]):
            a, b = products[row, 0], products[row, 1]
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

"""Kernels of the exact stepper on the CPU, in float64 whatever the precision of the run. See `exact`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simsuite.parallel_for import kernel, parallel_for

ROWS = 32  # the number of rows of modes that are summed by one thread
ROWS_ALIKE = True  # whether a row is transformed to the same bits however many are transformed together


def working_precision(dtype: Any) -> np.dtype:
    """The precision of the arithmetic in a run of precision `dtype`."""
    return np.dtype(np.float64)


def tiles_of(ny: int, nx: int) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """(parts, extent, block) of `propagate`: in how many parts rows and columns are summed, and its launch."""
    return (1, -(-ny // ROWS)), (nx, ny), (1, 1)


def sums_of(n: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of `total`."""
    return (n, 2), (1, 1)


@parallel_for
def _deviation(begin, end, T, level, out):
    for y in range(begin, end):
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] - level


@kernel
def deviation(T, level, out):
    """out = T - level"""
    _deviation(T.shape[0], (T, level, out))


@parallel_for
def _add(begin, end, change, T):
    for y in range(begin, end):
        for x in range(T.shape[1]):
            T[y, x] += change[y, x]


@kernel
def add(change, T):
    """T += change"""
    _add(T.shape[0], (change, T))


@kernel
def decay(rate, dt, one, terms, line, step):
    """line (3, n) = z, 1 - e⁻ᶻ and z - (1 - e⁻ᶻ) for z = rate · dt, all to a few ulps; step = dt.

    The last is z²/2! - z³/3! + .. where the difference would cancel."""
    step[0] = dt
    for k in range(rate.shape[0]):
        z = rate[k] * dt
        lost = -math.expm1(-z)
        line[0, k], line[1, k], line[2, k] = z, lost, z - lost
        if z + z < one:
            p, m = one, terms
            while m > one + one:
                p = one - p * z / m
                m -= one
            line[2, k] = p * z * z / (one + one)


@parallel_for
def _propagate(begin, end, modes, source, lines, step, one, least, ends, sums):
    (line_x, line_y), (ends_x, ends_y), (sums_x, sums_y) = lines, ends, sums
    ny, nx = modes.shape
    dt, half = step[0], one / (one + one)
    for part in range(begin, end):
        for side in range(2):
            for x in range(nx):
                sums_y[part, side, x] = one - one
        for y in range(part * ROWS, min(part * ROWS + ROWS, ny)):
            low, high = one - one, one - one
            for x in range(nx):
                z = line_x[0, x] + line_y[0, y]
                phi1, phi2 = one, half
                if z > least:
                    both, inverse = line_x[1, x] * line_y[1, y], one / z
                    phi1 = (line_x[1, x] + (line_y[1, y] - both)) * inverse
                    phi2 = (line_x[2, x] + line_y[2, y] + both) * inverse * inverse
                a, s = modes[y, x], dt * source[y, x]
                modes[y, x] = phi1 * (s - z * a)
                integral = dt * (phi1 * a + phi2 * s)
                low += ends_x[0, x] * integral
                high += ends_x[1, x] * integral
                sums_y[part, 0, x] += ends_y[0, y] * integral
                sums_y[part, 1, x] += ends_y[1, y] * integral
            sums_x[0, 0, y], sums_x[0, 1, y] = low, high


@kernel
def propagate(modes, source, line_x, line_y, step, one, least, ends_x, ends_y, sums_x, sums_y):
    """Replaces modes by their change. sums_x, sums_y (parts, 2, n): the integrals of the modes over the step,
    multiplied by the rows of ends_x and ends_y and summed along x and along y. least: z below which φ₁ and φ₂ are what
    they are at 0."""
    lines, ends, sums = (line_x, line_y), (ends_x, ends_y), (sums_x, sums_y)
    _propagate(sums_y.shape[0], (modes, source, lines, step, one, least, ends, sums))


@kernel
def total(sums, out):
    """out (2, n) = the sum of all parts"""
    for side in range(2):
        for k in range(sums.shape[2]):
            out[side, k] = sums[0, side, k]
        for part in range(1, sums.shape[0]):
            for k in range(sums.shape[2]):
                out[side, k] += sums[part, side, k]


@kernel
def book(at_sides, at_ends, edges, gx, gy, step, ledger):
    """ledger += g (γ dt - β ∫T dt) at all edge points. at_sides (ny, 2), at_ends (nx, 2): the integrals in the cells at
    left and right, at bottom and top; edges (2, points): β, γ; gx, gy: conductances of the edges, W/(m³ K)."""
    ny, nx, dt = at_sides.shape[0], at_ends.shape[0], step[0]
    for side in range(2):
        for y in range(ny):
            p = side * ny + y
            ledger[p] += gx * (edges[1, p] * dt - edges[0, p] * at_sides[y, side])
        for x in range(nx):
            p = 2 * ny + side * nx + x
            ledger[p] += gy * (edges[1, p] * dt - edges[0, p] * at_ends[x, side])

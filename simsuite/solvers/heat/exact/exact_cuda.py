"""Kernels of the exact stepper on a GPU, in the precision of the run. See `exact`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

TILE = 32
PITCH = TILE + 1  # one more than TILE, so that a column of a tile lies in different banks of shared memory
TALL = 8  # the number of threads of a tile in the slow direction
TILE_CELLS = TILE * PITCH
SHARE = TILE * TALL
ROWS_ALIKE = False  # see the CPU's: nothing is said of that in the documentation of cuFFT and cuBLAS


def working_precision(dtype: Any) -> np.dtype:
    """The precision of the arithmetic in a run of precision `dtype`."""
    return np.dtype(dtype)


def tiles_of(ny: int, nx: int) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """(parts, extent, block) of `propagate`: in how many parts rows and columns are summed, and its launch. Small
    fields have fewer threads."""
    parts = -(-nx // TILE), -(-ny // TILE)
    block = min(TILE, nx), min(TALL, ny)
    return parts, (parts[0] * block[0], parts[1] * block[1]), block


def sums_of(n: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of `total`."""
    return (n, 2 * TALL), (min(TILE, n), TALL)


@cuda.jit(cache=True)
def deviation(T, level, out):
    """out = T - level"""
    x, y = cuda.grid(2)
    if y < T.shape[0] and x < T.shape[1]:
        out[y, x] = T[y, x] - level


@cuda.jit(cache=True)
def add(change, T):
    """T += change"""
    x, y = cuda.grid(2)
    if y < T.shape[0] and x < T.shape[1]:
        T[y, x] += change[y, x]


@cuda.jit(cache=True)
def decay(rate, dt, one, terms, line, step):
    """line (3, n) = z, 1 - e⁻ᶻ and z - (1 - e⁻ᶻ) for z = rate · dt, all to a few ulps; step = dt.

    The last is z²/2! - z³/3! + .. where the difference would cancel."""
    k = cuda.grid(1)
    if k == 0:
        step[0] = dt
    if k < rate.shape[0]:
        z = rate[k] * dt
        lost = -math.expm1(-z)
        line[0, k], line[1, k], line[2, k] = z, lost, z - lost
        if z + z < one:
            p, m = one, terms
            while m > one + one:
                p = one - p * z / m
                m -= one
            line[2, k] = p * z * z / (one + one)


@cuda.jit(cache=True)
def propagate(modes, source, line_x, line_y, step, one, least, ends_x, ends_y, sums_x, sums_y):
    """Replaces modes by their change. sums_x, sums_y (parts, 2, n): the integrals of the modes over the step,
    multiplied by the rows of ends_x and ends_y and summed along x and along y. least: z below which φ₁ and φ₂ are what
    they are at 0."""
    integrals = cuda.shared.array(TILE_CELLS, modes.dtype)
    ny, nx = modes.shape
    x0, y0 = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    width, height = min(TILE, nx - x0), min(TILE, ny - y0)
    dt, half = step[0], one / (one + one)
    for i in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        x = x0 + i
        zx, lost_x, late_x = line_x[0, x], line_x[1, x], line_x[2, x]
        for j in range(cuda.threadIdx.y, height, cuda.blockDim.y):
            y = y0 + j
            z = zx + line_y[0, y]
            phi1, phi2 = one, half
            if z > least:
                both, inverse = lost_x * line_y[1, y], one / z
                phi1 = (lost_x + (line_y[1, y] - both)) * inverse
                phi2 = (late_x + line_y[2, y] + both) * inverse * inverse
            a, s = modes[y, x], dt * source[y, x]
            modes[y, x] = phi1 * (s - z * a)
            integrals[j * PITCH + i] = dt * (phi1 * a + phi2 * s)
    cuda.syncthreads()
    # There is a thread for each row and each end of it, and then one for each column and each end.
    own = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    for line in range(own, 4 * TILE, cuda.blockDim.x * cuda.blockDim.y):
        side, k = line // TILE % 2, line % TILE
        sum_ = one - one
        if line < 2 * TILE and k < height:
            for i in range(width):
                sum_ += ends_x[side, x0 + i] * integrals[k * PITCH + i]
            sums_x[cuda.blockIdx.x, side, y0 + k] = sum_
        if line >= 2 * TILE and k < width:
            for j in range(height):
                sum_ += ends_y[side, y0 + j] * integrals[j * PITCH + k]
            sums_y[cuda.blockIdx.y, side, x0 + k] = sum_


@cuda.jit(cache=True)
def total(sums, out):
    """out (2, n) = the sum of all parts"""
    share = cuda.shared.array(SHARE, sums.dtype)
    i, j, side = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    k = cuda.blockIdx.x * cuda.blockDim.x + i
    sum_ = sums.dtype.type(0)
    if k < sums.shape[2]:
        for part in range(j, sums.shape[0], TALL):
            sum_ += sums[part, side, k]
    share[j * TILE + i] = sum_
    cuda.syncthreads()
    if j == 0 and k < sums.shape[2]:
        for part in range(1, TALL):
            sum_ += share[part * TILE + i]
        out[side, k] = sum_


@cuda.jit(cache=True)
def book(at_sides, at_ends, edges, gx, gy, step, ledger):
    """ledger += g (γ dt - β ∫T dt) at all edge points. at_sides (ny, 2), at_ends (nx, 2): the integrals in the cells at
    left and right, at bottom and top; edges (2, points): β, γ; gx, gy: conductances of the edges, W/(m³ K)."""
    i, side = cuda.grid(2)
    ny, nx, dt = at_sides.shape[0], at_ends.shape[0], step[0]
    if i < ny:
        p = side * ny + i
        ledger[p] += gx * (edges[1, p] * dt - edges[0, p] * at_sides[i, side])
    if i < nx:
        p = 2 * ny + side * nx + i
        ledger[p] += gy * (edges[1, p] * dt - edges[0, p] * at_ends[i, side])

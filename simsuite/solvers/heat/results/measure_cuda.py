"""Measurements of a temperature field on a GPU, taken only when something is due. See `measure`."""

from __future__ import annotations

import math

from numba import cuda, float64, int64

from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS


@cuda.jit(device=True)
def _first(T, y, value, first, out):
    """Stores the first cell of row y that has a value; 0 where none has, as in a row with NaN. first: shared memory for
    a number of each thread of the block."""
    i = cuda.threadIdx.x
    nx = T.shape[1]
    f = nx
    for x in range(i, nx, THREADS):
        if float64(T[y, x]) == value and x < f:
            f = x
    first[i] = f
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half:
            first[i] = min(first[i], first[i + half])
        cuda.syncthreads()
        half //= 2
    if i == 0:
        out[y] = first[0] if first[0] < nx else 0
    cuda.syncthreads()


@cuda.jit(cache=True)
def rows(T, c, weighted, total, heat, low, high, bad, low_at, high_at):
    """Measures every row, with one block for each. The order of summation is fixed, so the result is the same at every
    call."""
    part = cuda.shared.array(THREADS, dtype=float64)
    warm = cuda.shared.array(THREADS, dtype=float64)
    least = cuda.shared.array(THREADS, dtype=float64)
    most = cuda.shared.array(THREADS, dtype=float64)
    first = cuda.shared.array(THREADS, dtype=int64)
    i = cuda.threadIdx.x
    y = cuda.blockIdx.x
    nx = T.shape[1]
    a = float64(0.0)
    h = float64(0.0)
    lowest = float64(T[y, 0])
    highest = lowest
    f = nx
    for x in range(i, nx, THREADS):
        v = float64(T[y, x])
        a += v
        if weighted and c[y, x] > 0:
            h += v / float64(c[y, x])
        lowest = min(lowest, v)
        highest = max(highest, v)
        if not math.isfinite(v) and x < f:
            f = x
    part[i] = a
    warm[i] = h
    least[i] = lowest
    most[i] = highest
    first[i] = f
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half:
            part[i] += part[i + half]
            warm[i] += warm[i + half]
            least[i] = min(least[i], least[i + half])
            most[i] = max(most[i], most[i + half])
            first[i] = min(first[i], first[i + half])
        cuda.syncthreads()
        half //= 2
    if i == 0:
        total[y] = part[0]
        heat[y] = warm[0]
        low[y] = least[0]
        high[y] = most[0]
        bad[y] = first[0]
    lowest = least[0]
    highest = most[0]
    cuda.syncthreads()
    _first(T, y, lowest, first, low_at)
    _first(T, y, highest, first, high_at)


@cuda.jit(device=True)
def _node(T, edges, at, wrap_x, wrap_y, x, y):
    """The value at a cell centre, or at the ghost centre one cell outside."""
    ny, nx = T.shape
    half = 2 * (ny + nx)
    i = x
    j = y
    if wrap_x:
        i = nx - 1 if x < 0 else (0 if x >= nx else x)
    if wrap_y:
        j = ny - 1 if y < 0 else (0 if y >= ny else y)
    k = min(max(i, 0), nx - 1)
    m = min(max(j, 0), ny - 1)
    c = T[m, k]
    v = float64(c)
    if i < 0:
        v += edges[at + half + m] - edges[at + m] * c
    if i >= nx:
        v += edges[at + half + ny + m] - edges[at + ny + m] * c
    if j < 0:
        v += edges[at + half + 2 * ny + k] - edges[at + 2 * ny + k] * c
    if j >= ny:
        v += edges[at + half + 2 * ny + nx + k] - edges[at + 2 * ny + nx + k] * c
    return v


@cuda.jit(cache=True)
def probe(T, edges, at, wrap_x, wrap_y, x, y, fx, fy, out):
    i = cuda.grid(1)
    if i < out.size:
        a = _node(T, edges, at, wrap_x, wrap_y, x[i], y[i])
        b = _node(T, edges, at, wrap_x, wrap_y, x[i] + 1, y[i])
        c = _node(T, edges, at, wrap_x, wrap_y, x[i], y[i] + 1)
        d = _node(T, edges, at, wrap_x, wrap_y, x[i] + 1, y[i] + 1)
        below = a + fx[i] * (b - a)
        above = c + fx[i] * (d - c)
        out[i] = below + fy[i] * (above - below)

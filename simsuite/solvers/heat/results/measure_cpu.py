"""Measurements of a temperature field on the CPU, taken only when something is due. See `measure`."""

from __future__ import annotations

import numpy as np

from simsuite.parallel_for import kernel, larger, lesser, parallel_for, part

THREADS = 128


@part
def _first(T, y, value):
    """The first cell of a row that has a value; 0 where none has, as in a row with NaN."""
    for x in range(T.shape[1]):
        if T[y, x] == value:
            return x
    return 0


@parallel_for
def _rows(begin, end, T, c, weighted, total, heat, low, high, bad, low_at, high_at):
    nx = T.shape[1]
    for y in range(begin, end):
        least, most = T[y, 0], T[y, 0]
        total[y] = 0.0
        heat[y] = 0.0
        bad[y] = nx
        # Rows are added up in short blocks, which keeps the rounding error of long rows near that of one addition.
        for start in range(0, nx, THREADS):
            a = 0.0
            b = 0.0
            for x in range(start, lesser(start + THREADS, nx)):
                a += T[y, x]
                if weighted and c[y, x] > 0:
                    b += float(T[y, x]) / float(c[y, x])
                if not np.isfinite(T[y, x]) and x < bad[y]:
                    bad[y] = x
                least = lesser(least, T[y, x])
                most = larger(most, T[y, x])
            total[y] += a
            heat[y] += b
        low[y], high[y] = least, most
        low_at[y] = _first(T, y, least)
        high_at[y] = _first(T, y, most)


@kernel
def rows(T, c, weighted, total, heat, low, high, bad, low_at, high_at):
    _rows(T.shape[0], (T, c, weighted, total, heat, low, high, bad, low_at, high_at))


@part
def _node(T, edges, at, wrap_x, wrap_y, x, y):
    """The value at a cell centre, or at the ghost centre one cell outside."""
    ny, nx = T.shape
    half = 2 * (ny + nx)
    i = x % nx if wrap_x else x
    j = y % ny if wrap_y else y
    k = lesser(larger(i, 0), nx - 1)
    m = lesser(larger(j, 0), ny - 1)
    c = T[m, k]
    v = float(c)
    if i < 0:
        v += edges[at + half + m] - edges[at + m] * c
    if i >= nx:
        v += edges[at + half + ny + m] - edges[at + ny + m] * c
    if j < 0:
        v += edges[at + half + 2 * ny + k] - edges[at + 2 * ny + k] * c
    if j >= ny:
        v += edges[at + half + 2 * ny + nx + k] - edges[at + 2 * ny + nx + k] * c
    return v


@kernel
def probe(T, edges, at, wrap_x, wrap_y, x, y, fx, fy, out):
    for i in range(out.size):
        a = _node(T, edges, at, wrap_x, wrap_y, x[i], y[i])
        b = _node(T, edges, at, wrap_x, wrap_y, x[i] + 1, y[i])
        c = _node(T, edges, at, wrap_x, wrap_y, x[i], y[i] + 1)
        d = _node(T, edges, at, wrap_x, wrap_y, x[i] + 1, y[i] + 1)
        below = a + fx[i] * (b - a)
        above = c + fx[i] * (d - c)
        out[i] = below + fy[i] * (above - below)

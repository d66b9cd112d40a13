"""The explicit step on the CPU, where each pass over the field takes one step. See `explicit` for the scheme and the
arguments.

`step` is for any grid, whose rows all threads share; `steps_short` is for grids so small that they are stepped before
another thread is awake. Grids that do not fit in a cache are for `blocked_cpu`. Both take compensated steps as well, of
fields made for them (see `compensated`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.parallel_for import inlined, kernel, parallel_for, part
from simsuite.solvers.heat.arguments import Mesh
from simsuite.solvers.heat.explicit.blocked_cpu import steps_blocked
from simsuite.solvers.heat.operator.compensated_cpu import settle
from simsuite.solvers.heat.operator.edges_cpu import difference
from simsuite.solvers.heat.operator.tiles_cpu import MANY_CELLS, depth_for, is_narrow
from simsuite.solvers.table import ROWS


def choose(ny: int, nx: int, compensated: bool = False) -> tuple[Any, tuple[int, int], tuple[int, int], int]:
    """(kernel, extent, block, steps a launch); a CPU kernel covers any extent by itself."""
    if ny * nx < MANY_CELLS:
        return steps_short, (nx, ny), (1, 1), ROWS
    if compensated or is_narrow(ny, nx):
        return step, (nx, ny), (1, 1), 1
    return steps_blocked, (nx, ny), (1, 1), depth_for(ny)


@inlined
def _dy(T, mesh, at, ry, x, y):
    """Sum of the differences to the cells (or ghosts) below and above."""
    edges, ledger = mesh.edges, mesh.ledger
    ny, nx = T.shape
    c = T[y, x]
    if y > 0:
        s = T[y - 1, x] - c
    elif mesh.wrap_y:
        s = T[ny - 1, x] - c
    else:
        s = difference(edges, at, ledger, 2 * ny + x, c, ry, True)
    if y < ny - 1:
        n = T[y + 1, x] - c
    elif mesh.wrap_y:
        n = T[0, x] - c
    else:
        n = difference(edges, at, ledger, 2 * ny + nx + x, c, ry, True)
    return s + n


@inlined
def _dx(T, mesh, at, rx, x, y):
    """Sum of the differences to the cells (or ghosts) on the left and right."""
    edges, ledger = mesh.edges, mesh.ledger
    ny, nx = T.shape
    c = T[y, x]
    if x > 0:
        w = T[y, x - 1] - c
    elif mesh.wrap_x:
        w = T[y, nx - 1] - c
    else:
        w = difference(edges, at, ledger, y, c, rx, True)
    if x < nx - 1:
        e = T[y, x + 1] - c
    elif mesh.wrap_x:
        e = T[y, 0] - c
    else:
        e = difference(edges, at, ledger, ny + y, c, rx, True)
    return w + e


@inlined
def _inner(T, out, rx, q, y):
    """Steps the inner cells of a row that is not at an edge."""
    for x in range(1, T.shape[1] - 1):
        c = T[y, x]
        dx = (T[y, x - 1] - c) + (T[y, x + 1] - c)
        dy = (T[y - 1, x] - c) + (T[y + 1, x] - c)
        out[y, x] = c + rx * (dx + q * dy)


@inlined
def _outer(T, out, mesh, at, rx, y):
    """Steps the cells of a row that lie at an edge."""
    q = mesh.q
    ny, nx = T.shape
    if y == 0 or y == ny - 1:
        for x in range(1, nx - 1):
            dx = (T[y, x - 1] - T[y, x]) + (T[y, x + 1] - T[y, x])
            dy = _dy(T, mesh, at, rx * q, x, y)
            out[y, x] = T[y, x] + rx * (dx + q * dy)
    for side in range(2 if nx > 1 else 1):
        x = side * (nx - 1)
        dx = _dx(T, mesh, at, rx, x, y)
        dy = _dy(T, mesh, at, rx * q, x, y)
        out[y, x] = T[y, x] + rx * (dx + q * dy)


@part
def _row_sums(T, out, mesh, at, rx, y):
    """Puts the sums of the differences of a row's cells to their neighbours into `out`; differences along y are
    multiplied by q."""
    q = mesh.q
    ny, nx = T.shape
    if 0 < y < ny - 1:
        for x in range(1, nx - 1):
            c = T[y, x]
            dx = (T[y, x - 1] - c) + (T[y, x + 1] - c)
            dy = (T[y - 1, x] - c) + (T[y + 1, x] - c)
            out[x] = dx + q * dy
    for x in range(0, nx, max(1, nx - 1) if 0 < y < ny - 1 else 1):
        dx = _dx(T, mesh, at, rx, x, y)
        out[x] = dx + q * _dy(T, mesh, at, rx * q, x, y)


@part
def _compensated_row(T, out, mesh, at, rx, y):
    _row_sums(T[0], out[0, y], mesh, at, rx, y)
    for x in range(T.shape[2]):
        out[0, y, x] *= rx
    settle(T, out, y)


@parallel_for
def _rows(begin, end, T, out, mesh, at, rx):
    for y in range(begin, end):
        if 0 < y < T.shape[0] - 1:
            _inner(T, out, rx, mesh.q, y)
        _outer(T, out, mesh, at, rx, y)


@parallel_for
def _compensated_rows(begin, end, T, out, mesh, at, rx):
    for y in range(begin, end):
        _compensated_row(T, out, mesh, at, rx, y)


@kernel
def step(T, out, mesh, at, rx):
    mesh = Mesh(*mesh)
    if T.ndim == 3:
        _compensated_rows(T.shape[1], (T, out, mesh, at, rx))
    else:
        _rows(T.shape[0], (T, out, mesh, at, rx))


@kernel
def steps_short(T, out, mesh, at, rx, stride, n):
    """Take n steps. The row of the edge table for each step is `stride` numbers after the row of the step before."""
    mesh = Mesh(*mesh)
    other = np.empty_like(T) if n > 1 else out
    now = T
    for k in range(n):
        after = out if (n - k) % 2 == 1 else other
        if T.ndim == 3:
            for y in range(T.shape[1]):
                _compensated_row(now, after, mesh, at + k * stride, rx, y)
        else:
            # This is a loop of its own, because its check that the fields do not overlap would include rows that it
            # does not reach.
            for y in range(1, T.shape[0] - 1):
                _inner(now, after, rx, mesh.q, y)
            for y in range(T.shape[0]):
                _outer(now, after, mesh, at + k * stride, rx, y)
        now = after

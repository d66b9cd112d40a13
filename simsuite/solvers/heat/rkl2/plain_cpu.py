"""Stages of the RKL2 step with constant coefficients on the CPU: rows in parallel. See `rkl2`."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.parallel_for import kernel, larger, parallel_for, part, procedure
from simsuite.solvers.heat.arguments import Factors, Mesh, TableRows


def choose(ny: int, nx: int) -> tuple[Any, tuple[int, int], tuple[int, int]]:
    """(kernel, extent, block); a CPU kernel covers any extent by itself."""
    return stage, (nx, ny), (1, 1)


@part
def _sum(T, mesh, at, x, y):
    """The sum of the differences of a cell to its neighbours (or ghosts); differences along y are multiplied by q."""
    edges, points = mesh.edges, mesh.ledger.size
    ny, nx = T.shape
    c = T[y, x]
    if x > 0:
        w = T[y, x - 1] - c
    elif mesh.wrap_x:
        w = T[y, nx - 1] - c
    else:
        w = edges[at + points + y] - edges[at + y] * c
    if x < nx - 1:
        e = T[y, x + 1] - c
    elif mesh.wrap_x:
        e = T[y, 0] - c
    else:
        e = edges[at + points + ny + y] - edges[at + ny + y] * c
    if y > 0:
        s = T[y - 1, x] - c
    elif mesh.wrap_y:
        s = T[ny - 1, x] - c
    else:
        s = edges[at + points + 2 * ny + x] - edges[at + 2 * ny + x] * c
    if y < ny - 1:
        n = T[y + 1, x] - c
    elif mesh.wrap_y:
        n = T[0, x] - c
    else:
        n = edges[at + points + 2 * ny + nx + x] - edges[at + 2 * ny + nx + x] * c
    return (w + e) + mesh.q * (s + n)


@procedure
def _book(T, mesh, at, b, y):
    """Adds to the ledger what comes in through the edge points of a row of cells."""
    edges, ledger = mesh.edges, mesh.ledger
    ny, nx = T.shape
    for side in range(2):
        if not mesh.wrap_x:
            p = side * ny + y
            ledger[p] += b * (edges[at + ledger.size + p] - edges[at + p] * T[y, side * (nx - 1)])
        if not mesh.wrap_y and y == side * (ny - 1):
            for x in range(nx):
                p = 2 * ny + side * nx + x
                ledger[p] += b * mesh.q * (edges[at + ledger.size + p] - edges[at + p] * T[y, x])


@part
def _cell(Y1, Y2, Y0, mesh, factors, table, x, y):
    c, c0 = Y1[y, x], Y0[y, x]
    rates = _sum(Y1, mesh, table.at, x, y) + factors.g * _sum(Y0, mesh, table.at0, x, y)
    return c0 + factors.mu * (((c - c0) + factors.nu * (Y2[y, x] - c0)) + factors.r * rates)


@parallel_for
def _stage(begin, end, Y1, Y2, Y0, out, mesh, factors, table):
    mu, nu, r, g, q = factors.mu, factors.nu, factors.r, factors.g, mesh.q
    ny, nx = Y1.shape
    # A row of its own is needed because `out` may be Y2: the compiler vectorises only loops over arrays that cannot
    # overlap.
    new = np.empty(nx, Y1.dtype)
    for y in range(begin, end):
        inner = 0 < y < ny - 1
        if inner:
            # this loop is vectorised, because the compiler can tell that x - 1 does not count from the end
            for x in range(1, nx - 1):
                c, c0 = Y1[y, x], Y0[y, x]
                dx = (Y1[y, x - 1] - c) + (Y1[y, x + 1] - c)
                dy = (Y1[y - 1, x] - c) + (Y1[y + 1, x] - c)
                dx0 = (Y0[y, x - 1] - c0) + (Y0[y, x + 1] - c0)
                dy0 = (Y0[y - 1, x] - c0) + (Y0[y + 1, x] - c0)
                rates = (dx + q * dy) + g * (dx0 + q * dy0)
                new[x] = c0 + mu * (((c - c0) + nu * (Y2[y, x] - c0)) + r * rates)
        # so the general code, which takes long to compile, is called at one place only
        for x in range(0, nx, larger(nx - 1, 1) if inner else 1):
            new[x] = _cell(Y1, Y2, Y0, mesh, factors, table, x, y)
        for x in range(nx):
            out[y, x] = new[x]
        _book(Y1, mesh, table.at, factors.b, y)


@kernel
def stage(Y1, Y2, Y0, out, mesh, factors, table):
    _stage(Y1.shape[0], (Y1, Y2, Y0, out, Mesh(*mesh), Factors(*factors), TableRows(*table)))

"""Stages of the RKL2 step with constant coefficients on a GPU. Kernels use `cuda.grid(2)` with x first. See `rkl2`.

Two kernels do the same arithmetic. `stage` has one thread for each cell. `stage_tall`, for large grids, has one thread
for ROWS inner cells of a column, which keeps cells and their neighbours below in registers, and separate rows of
threads for all other cells. It writes its results after it has read all it needs: the compiler cannot know that they do
not overlap, and would have every cell wait for the one before."""

from __future__ import annotations

from typing import Any

from numba import cuda

from simsuite.solvers.heat.arguments import Factors, Mesh, TableRows

ROWS = 4
MANY_CELLS = 1 << 20


def choose(ny: int, nx: int) -> tuple[Any, tuple[int, int], tuple[int, int]]:
    """(kernel, threads needed, block) for ny × nx cells; threads and block x first."""
    if ny * nx < MANY_CELLS or ny < ROWS + 2:
        return stage, (nx, ny), (min(nx, 32), min(ny, 8))
    width, strips = -(-nx // 64) * 64, (ny - 2) // ROWS
    singles = ny - strips * ROWS
    return stage_tall, (nx, strips + singles + -(-2 * strips * ROWS // width)), (64, 2)


@cuda.jit(device=True)
def _difference(edges, at, points, p, c):
    """The difference of the ghost behind edge point p to its cell, of value c."""
    return edges[at + points + p] - edges[at + p] * c


@cuda.jit(device=True)
def _cell(Y1, Y2, Y0, mesh, factors, table, x, y):
    """The stage of any one cell. All loads of fields come first, so that their latencies overlap."""
    edges, ledger, q, wrap_x, wrap_y = mesh.edges, mesh.ledger, mesh.q, mesh.wrap_x, mesh.wrap_y
    mu, nu, r, g, b = factors.mu, factors.nu, factors.r, factors.g, factors.b
    at, at0 = table.at, table.at0
    ny, nx = Y1.shape
    points = ledger.size
    west = x - 1 if x > 0 else (nx - 1 if wrap_x else 0)
    east = x + 1 if x < nx - 1 else (0 if wrap_x else x)
    south = y - 1 if y > 0 else (ny - 1 if wrap_y else 0)
    north = y + 1 if y < ny - 1 else (0 if wrap_y else y)
    c, c0, c2 = Y1[y, x], Y0[y, x], Y2[y, x]
    dx = (Y1[y, west] - c) + (Y1[y, east] - c)
    dy = (Y1[south, x] - c) + (Y1[north, x] - c)
    dx0 = (Y0[y, west] - c0) + (Y0[y, east] - c0)
    dy0 = (Y0[south, x] - c0) + (Y0[north, x] - c0)
    if not wrap_x:
        for side in range(2):
            if x == side * (nx - 1):
                p = side * ny + y
                d = _difference(edges, at, points, p, c)
                ledger[p] += b * d
                dx += d
                dx0 += _difference(edges, at0, points, p, c0)
    if not wrap_y:
        for side in range(2):
            if y == side * (ny - 1):
                p = 2 * ny + side * nx + x
                d = _difference(edges, at, points, p, c)
                ledger[p] += b * q * d
                dy += d
                dy0 += _difference(edges, at0, points, p, c0)
    return c0 + mu * (((c - c0) + nu * (c2 - c0)) + r * ((dx + q * dy) + g * (dx0 + q * dy0)))


@cuda.jit(cache=True)
def stage(Y1, Y2, Y0, out, mesh, factors, table):
    mesh, factors, table = Mesh(*mesh), Factors(*factors), TableRows(*table)
    x, y = cuda.grid(2)
    if x < Y1.shape[1] and y < Y1.shape[0]:
        out[y, x] = _cell(Y1, Y2, Y0, mesh, factors, table, x, y)


@cuda.jit(cache=True)
def stage_tall(Y1, Y2, Y0, out, mesh, factors, table):
    """Takes the stage of all cells. No cell is computed twice, as the second thread might find Y2 overwritten: rows
    that are left over from strips are done cell by cell, with the first and the last one, then the cells at the left
    and right ends of the strips."""
    mesh, factors, table = Mesh(*mesh), Factors(*factors), TableRows(*table)
    mu, nu, r, g, q = factors.mu, factors.nu, factors.r, factors.g, mesh.q
    x, j = cuda.grid(2)
    ny, nx = Y1.shape
    strips = (ny - 2) // ROWS
    rows = strips * ROWS
    if j < strips:
        if 0 < x < nx - 1:
            new = cuda.local.array(ROWS, Y1.dtype)
            first = 1 + j * ROWS
            c, c0 = Y1[first, x], Y0[first, x]
            s, s0 = Y1[first - 1, x] - c, Y0[first - 1, x] - c0
            for i in range(ROWS):
                y = first + i
                above, above0 = Y1[y + 1, x], Y0[y + 1, x]
                n, n0 = above - c, above0 - c0
                dx = (Y1[y, x - 1] - c) + (Y1[y, x + 1] - c)
                dx0 = (Y0[y, x - 1] - c0) + (Y0[y, x + 1] - c0)
                rates = (dx + q * (s + n)) + g * (dx0 + q * (s0 + n0))
                new[i] = c0 + mu * (((c - c0) + nu * (Y2[y, x] - c0)) + r * rates)
                s, s0, c, c0 = -n, -n0, above, above0
            for i in range(ROWS):
                out[first + i, x] = new[i]
    else:
        y = j - strips + (0 if j == strips else rows)
        if y >= ny:
            p = (y - ny) * cuda.gridDim.x * cuda.blockDim.x + x
            x = nx if p >= rows * min(nx, 2) else (0 if p < rows else nx - 1)
            y = 1 + (p if p < rows else p - rows)
        if x < nx:
            out[y, x] = _cell(Y1, Y2, Y0, mesh, factors, table, x, y)

"""Stages of the RKL2 step with constant coefficients on a GPU: one thread a cell. See `rkl2`."""

from __future__ import annotations

from typing import Any

from numba import cuda


def choose(ny: int, nx: int) -> tuple[Any, tuple[int, int], tuple[int, int]]:
    """(kernel, threads needed, block) for ny × nx cells; threads and block x first."""
    return stage, (nx, ny), (min(nx, 32), min(ny, 8))


@cuda.jit(device=True)
def _difference(edges, at, points, p, c):
    """To the ghost behind edge point p of a cell of value c."""
    return edges[at + points + p] - edges[at + p] * c


@cuda.jit(device=True)
def _cell(Y1, Y2, Y0, mu, nu, r, g, q, edges, at, at0, ledger, b, wrap_x, wrap_y, x, y):
    """The stage of any one cell. All loads of fields come first, so that their latencies overlap."""
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
def stage(Y1, Y2, Y0, out, mu, nu, r, g, q, edges, at, at0, ledger, b, wrap_x, wrap_y):
    x, y = cuda.grid(2)
    if x < Y1.shape[1] and y < Y1.shape[0]:
        out[y, x] = _cell(Y1, Y2, Y0, mu, nu, r, g, q, edges, at, at0, ledger, b, wrap_x, wrap_y, x, y)

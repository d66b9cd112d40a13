"""Stages of the RKL2 step on a GPU. See `rkl2`.

A thread takes ROWS cells of a column, one above the other, in all stages but the first: what it knows of one serves the
next, and finding the place of a number takes more instructions than what is done with it.
"""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.heat.operator_cuda import flux_between, neighbours, rate_of

ROWS = 4


@cuda.jit(cache=True)
def first_stage(T, out, first_rate, mt, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero):
    """Y_1 to `out`, M(Y_0) to `first_rate`."""
    x, y = cuda.grid(2)
    if x < T.shape[1] and y < T.shape[0]:
        rate = rate_of(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, x, y)
        first_rate[y, x] = rate
        out[y, x] = T[y, x] + mt * rate


@cuda.jit(cache=True)
def later_stage(
    Y1, Y2, Y0, first_rate, out, mu, nu, mt, gt, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero
):  # fmt: skip
    """Y_j from Y_{j-1} and Y_{j-2}, in whose place it may be."""
    x, strip = cuda.grid(2)
    ny, nx = Y1.shape
    first = strip * ROWS
    if x < nx and first < ny:
        west, east = neighbours(x, nx, wrap_x)
        south = Y1[neighbours(first, ny, wrap_y)[0], x]
        middle, conducts = Y1[first, x], gy[first, x]
        for y in range(first, min(first + ROWS, ny)):
            north, above = Y1[neighbours(y, ny, wrap_y)[1], x], gy[y + 1, x]
            around = Y1[y, west], Y1[y, east], south, north
            faces = gx[y, x], gx[y, x + 1], conducts, above
            along_x, along_y = flux_between(
                middle, *around, *faces, edges, at, wrap_x, wrap_y, zero, x, y, nx, ny
            )  # fmt: skip
            heat = along_x + along_y
            if heated:
                heat += q[y, x]
            rate = c[y, x] * heat
            base = Y0[y, x]
            changes = mu * (middle - base) + nu * (Y2[y, x] - base)
            out[y, x] = base + (changes + (mt * rate + gt * first_rate[y, x]))
            south, middle, conducts = middle, north, above

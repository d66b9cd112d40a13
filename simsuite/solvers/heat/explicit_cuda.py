"""The explicit step on a GPU: `cuda.grid(2)`, x first. See `explicit` for the scheme and the arguments.

Two kernels do the same arithmetic. `step_short` has one thread a cell: small grids need every thread they can get.
`step_tall` has one thread for ROWS inner cells of a column, which keeps the cell and the one below in registers, and
separate rows of threads for the edge cells: the inner path then carries no edge code, whose registers would halve the
occupancy. In both, a warp covers 32 neighbouring columns, so that loading a row is one coalesced access.
"""

from __future__ import annotations

from typing import Any

from numba import cuda

ROWS = 4
MANY_CELLS = 1 << 17


def choose(ny: int, nx: int) -> tuple[Any, tuple[int, int], tuple[int, int]]:
    """(kernel, threads needed, block) for a grid of ny × nx cells; threads and block x first."""
    if ny * nx < MANY_CELLS or ny < ROWS + 2:
        return step_short, (nx, ny), (64, 4)
    width = -(-nx // 64) * 64
    return step_tall, (nx, ((ny + 1) >> 2) + -(-2 * (ny + nx) // width)), (64, 2)


@cuda.jit(device=True)
def _edge(edges, at, ledger, p, c, r):
    """Difference to the ghost behind edge point p, booked in the ledger with Kahan's (1965) compensation."""
    half = ledger.size >> 1
    d = edges[at + half + p] - edges[at + p] * c
    old = ledger[p]
    y = r * d - ledger[half + p]
    total = old + y
    ledger[p] = total
    ledger[half + p] = (total - old) - y
    return d


@cuda.jit(device=True)
def _cell(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, x, y):
    """The step of any one cell."""
    ny, nx = T.shape
    c = T[y, x]
    if 0 < x < nx - 1:
        dx = (T[y, x - 1] - c) + (T[y, x + 1] - c)
    elif wrap_x:
        dx = (T[y, x - 1 if x > 0 else nx - 1] - c) + (T[y, x + 1 if x < nx - 1 else 0] - c)
    elif nx == 1:
        dx = _edge(edges, at, ledger, y, c, rx) + _edge(edges, at, ledger, ny + y, c, rx)
    else:
        inside = T[y, 1 if x == 0 else x - 1] - c
        dx = inside + _edge(edges, at, ledger, y if x == 0 else ny + y, c, rx)
    if 0 < y < ny - 1:
        dy = (T[y - 1, x] - c) + (T[y + 1, x] - c)
    elif wrap_y:
        dy = (T[y - 1 if y > 0 else ny - 1, x] - c) + (T[y + 1 if y < ny - 1 else 0, x] - c)
    elif ny == 1:
        dy = _edge(edges, at, ledger, 2 * ny + x, c, rx * q) + _edge(edges, at, ledger, 2 * ny + nx + x, c, rx * q)
    else:
        inside = T[1 if y == 0 else y - 1, x] - c
        dy = inside + _edge(edges, at, ledger, 2 * ny + x if y == 0 else 2 * ny + nx + x, c, rx * q)
    out[y, x] = c + rx * (dx + q * dy)


@cuda.jit(cache=True)
def step_short(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y):
    x, y = cuda.grid(2)
    if x < T.shape[1] and y < T.shape[0]:
        _cell(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, x, y)


@cuda.jit(cache=True)
def step_tall(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y):
    x, j = cuda.grid(2)
    ny, nx = T.shape
    strips = (ny + 1) >> 2
    if j < strips:
        if 0 < x < nx - 1:
            # The last strip may overlap the one below it: both compute the same values.
            first = min(1 + j * ROWS, ny - 1 - ROWS)
            c = T[first, x]
            s = T[first - 1, x] - c
            for i in range(ROWS):
                y = first + i
                above = T[y + 1, x]
                n = above - c
                out[y, x] = c + rx * (((T[y, x - 1] - c) + (T[y, x + 1] - c)) + q * (s + n))
                s = -n
                c = above
    else:
        p = (j - strips) * cuda.gridDim.x * cuda.blockDim.x + x
        if p < 2 * ny:
            if p < ny or nx > 1:
                _cell(
                    T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, 0 if p < ny else nx - 1, p if p < ny else p - ny
                )
        elif p < 2 * (ny + nx):
            p -= 2 * ny
            x = p if p < nx else p - nx
            if 0 < x < nx - 1:
                _cell(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, x, 0 if p < nx else ny - 1)

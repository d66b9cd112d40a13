"""The explicit step on the CPU: rows in parallel, inner cells vectorised. See `explicit` for scheme and arguments."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

_MANY_CELLS = 1 << 14  # below, waking the other threads takes longer than the step


def choose(ny: int, nx: int) -> tuple[Any, tuple[int, int], tuple[int, int], int]:
    """(kernel, extent, block, steps a launch); a CPU kernel covers any extent by itself."""
    return (step if ny * nx >= _MANY_CELLS else step_serial), (nx, ny), (1, 1), 1


@njit(inline="always")
def _edge(edges, at, ledger, p, c, r):
    """Difference to the ghost behind edge point p, booked in the ledger."""
    d = edges[at + ledger.size + p] - edges[at + p] * c
    ledger[p] += r * d
    return d


@njit(inline="always")
def _dy(T, edges, at, ledger, ry, wrap_y, x, y):
    """Sum of the differences to the cells (or ghosts) below and above."""
    ny, nx = T.shape
    c = T[y, x]
    if y > 0:
        s = T[y - 1, x] - c
    elif wrap_y:
        s = T[ny - 1, x] - c
    else:
        s = _edge(edges, at, ledger, 2 * ny + x, c, ry)
    if y < ny - 1:
        n = T[y + 1, x] - c
    elif wrap_y:
        n = T[0, x] - c
    else:
        n = _edge(edges, at, ledger, 2 * ny + nx + x, c, ry)
    return s + n


@njit(inline="always")
def _dx(T, edges, at, ledger, rx, wrap_x, x, y):
    """Sum of the differences to the cells (or ghosts) on the left and right."""
    ny, nx = T.shape
    c = T[y, x]
    if x > 0:
        w = T[y, x - 1] - c
    elif wrap_x:
        w = T[y, nx - 1] - c
    else:
        w = _edge(edges, at, ledger, y, c, rx)
    if x < nx - 1:
        e = T[y, x + 1] - c
    elif wrap_x:
        e = T[y, 0] - c
    else:
        e = _edge(edges, at, ledger, ny + y, c, rx)
    return w + e


@njit(inline="always")
def _row(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, y):
    ny, nx = T.shape
    if 0 < y < ny - 1:
        for x in range(1, nx - 1):
            c = T[y, x]
            dx = (T[y, x - 1] - c) + (T[y, x + 1] - c)
            dy = (T[y - 1, x] - c) + (T[y + 1, x] - c)
            out[y, x] = c + rx * (dx + q * dy)
    else:
        for x in range(1, nx - 1):
            dx = (T[y, x - 1] - T[y, x]) + (T[y, x + 1] - T[y, x])
            dy = _dy(T, edges, at, ledger, rx * q, wrap_y, x, y)
            out[y, x] = T[y, x] + rx * (dx + q * dy)
    for side in range(2 if nx > 1 else 1):
        x = side * (nx - 1)
        dx = _dx(T, edges, at, ledger, rx, wrap_x, x, y)
        dy = _dy(T, edges, at, ledger, rx * q, wrap_y, x, y)
        out[y, x] = T[y, x] + rx * (dx + q * dy)


@njit(parallel=True, cache=True)
def step(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y):
    for y in prange(T.shape[0]):
        _row(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, y)


# A function of its own: Numba's cache does not tell a parallel version of a function from a serial one.
@njit(cache=True)
def step_serial(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y):
    for y in range(T.shape[0]):
        _row(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, y)

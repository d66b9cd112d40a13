"""The spatial operator on the CPU: rows in parallel. See `operator` and `discretisation`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit, prange

from simsuite.expressions import Expression
from simsuite.solvers.heat.blocked_operator_cpu import steps_blocked
from simsuite.solvers.heat.compensated_cpu import settle
from simsuite.solvers.heat.edges import FLUX, TEMPERATURE
from simsuite.solvers.heat.tiles_cpu import MANY_CELLS, depth_for, is_narrow
from simsuite.solvers.table import KEPT, ROWS

THREADS = 1  # that a row of cells is launched with


def choose_constant(ny: int, nx: int, compensated: bool = False) -> tuple[Any, int]:
    """(kernel, steps a launch) for explicit steps with an operator that stays the same."""
    if compensated:
        return step, 1
    if ny * nx < MANY_CELLS:
        return steps_blocked, ROWS
    return (step, 1) if is_narrow(ny, nx) else (steps_blocked, depth_for(ny))


@njit(inline="always")
def flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, x, y):
    """Heat that comes into a cell through its faces along x and along y, W/m³."""
    ny, nx = T.shape
    points = 2 * (ny + nx)
    c = T[y, x]
    if x > 0:
        w = T[y, x - 1] - c
    elif wrap_x:
        w = T[y, nx - 1] - c
    else:
        w = edges[at + points + y] - edges[at + y] * c
    if x < nx - 1:
        e = T[y, x + 1] - c
    elif wrap_x:
        e = T[y, 0] - c
    else:
        e = edges[at + points + ny + y] - edges[at + ny + y] * c
    if y > 0:
        s = T[y - 1, x] - c
    elif wrap_y:
        s = T[ny - 1, x] - c
    else:
        s = edges[at + points + 2 * ny + x] - edges[at + 2 * ny + x] * c
    if y < ny - 1:
        n = T[y + 1, x] - c
    elif wrap_y:
        n = T[0, x] - c
    else:
        n = edges[at + points + 2 * ny + nx + x] - edges[at + 2 * ny + nx + x] * c
    return gx[y, x] * w + gx[y, x + 1] * e, gy[y, x] * s + gy[y + 1, x] * n


@njit(inline="always")
def _heat(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, x, y):
    """Heat that comes into any cell, W/m³."""
    a, b = flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, x, y)
    return a + b + q[y, x] if heated else a + b


@njit(inline="always")
def _row_heats(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, y, heats):
    """Heat that comes into a row of cells, W/m³."""
    ny, nx = T.shape
    inner = 0 < y < ny - 1
    if inner:
        for x in range(1, nx - 1):
            v = T[y, x]
            along_x = gx[y, x] * (T[y, x - 1] - v) + gx[y, x + 1] * (T[y, x + 1] - v)
            s = along_x + (gy[y, x] * (T[y - 1, x] - v) + gy[y + 1, x] * (T[y + 1, x] - v))
            heats[x] = s + q[y, x] if heated else s
    for x in range(0, nx, max(nx - 1, 1) if inner else 1):  # one call of what takes long to compile
        heats[x] = _heat(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, x, y)


@njit(inline="always")
def row_rates(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, y, rates):
    """dT/dt of a row of cells, K/s."""
    _row_heats(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, y, rates)
    for x in range(T.shape[1]):
        rates[x] *= c[y, x]


@njit(parallel=True, cache=True)
def rate(T, out, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero):
    """dT/dt of every cell, K/s."""
    for y in prange(T.shape[0]):
        row_rates(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, y, out[y])


@njit(parallel=True, cache=True)
def step(T, out, gx, gy, c, q, heated, edges, at, dt, wrap_x, wrap_y, zero):
    """An explicit step of length dt, plain or compensated, as the fields say."""
    if T.ndim == 3:
        for y in prange(T.shape[1]):
            _row_heats(T[0], gx, gy, q, heated, edges, at, wrap_x, wrap_y, y, out[0, y])
            for x in range(T.shape[2]):
                out[0, y, x] *= dt * c[y, x]
            settle(T, out, y)
    else:
        for y in prange(T.shape[0]):
            _row_heats(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, y, out[y])
            for x in range(T.shape[1]):
                out[y, x] = T[y, x] + dt * c[y, x] * out[y, x]


@njit(parallel=True, cache=True)
def rate_rows(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, largest):
    """The largest |dT/dt| in every row, K/s."""
    for y in prange(T.shape[0]):
        rates = np.empty_like(T[y])
        row_rates(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, y, rates)
        largest[y] = np.max(np.abs(rates))


@njit(cache=True)
def book(T, gx, gy, edges, at, power, held, ledger, wx, wy, ws, wrap_x, wrap_y, zero):
    """Adds to the ledger what comes in through edges and sources and from held cells, times a weight, J/m³."""
    ny, nx = T.shape
    points = 2 * (ny + nx)
    for p in range(2 * ny if wrap_x else 0, 2 * ny if wrap_y else points):
        if p < 2 * ny:
            y, x, far = (p, 0, 0) if p < ny else (p - ny, nx - 1, nx)
            conducted = wx * gx[y, far]
        else:
            y, x, far = (0, p - 2 * ny, 0) if p < 2 * ny + nx else (ny - 1, p - 2 * ny - nx, ny)
            conducted = wy * gy[far, x]
        ledger[p] += conducted * (edges[at + points + p] - edges[at + p] * T[y, x])
    for i in range(power.size):
        ledger[points + i] += ws * power[i]
    for i in range(held.shape[0]):
        a, b = flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, held[i, 1], held[i, 0])
        ledger[points + power.size + i] -= wx * a + wy * b


@njit(forceinline=True)
def _between(a, b):
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


@lru_cache(KEPT)
def make_conduct(along_x: Expression, along_y: Expression) -> Any:
    """The kernel that evaluates conductivities in x, y, T, k, which, at the mean temperatures of faces."""
    names = ("x", "y", "T", "k", "which")
    fx, fy = (njit(error_model="numpy")(f.scalar_function(names)) for f in (along_x, along_y))

    @njit(forceinline=True)
    def face(f, xa, ya, xb, yb, Ta, Tb, ka, kb, wa, wb, held_a, held_b):
        if held_a and held_b:
            return 0.0
        T = 0.5 * (Ta + Tb)
        if held_a:
            return 2.0 * f(xb, yb, T, kb, wb)
        if held_b:
            return 2.0 * f(xa, ya, T, ka, wa)
        return _between(f(xa, ya, T, ka, wa), f(xb, yb, T, kb, wb))

    @njit(forceinline=True)
    def at_edge(f, x, y, T, k, which, p, kinds, data, row, edge_k):
        """Conductivity beside edge point p, which counts for an edge of fixed temperature at the mean of both."""
        kind = kinds[p]
        if kind == TEMPERATURE:
            T = 0.5 * (T + data[row, p])
        value = f(x, y, T, k, which)
        edge_k[p] = value if value > 0.0 else 1.0
        return edge_k[p] if value > 0.0 or kind == FLUX else 0.0

    @njit(error_model="numpy", parallel=True)
    def conduct(T, kx, ky, which, c, dx, dy, gx, gy, kinds, data, k, edge_k, wrap_x, wrap_y):
        ny, nx = T.shape
        row = min(k, data.shape[0] - 1)
        for y in prange(ny):
            for x in range(nx):
                px, py, t, w = (x + 0.5) * dx, (y + 0.5) * dy, float(T[y, x]), float(which[y, x])
                free = c[y, x] > 0
                if x < nx - 1 or wrap_x:
                    e = x + 1 if x < nx - 1 else 0
                    g = face(
                        fx,
                        px,
                        py,
                        (e + 0.5) * dx,
                        py,
                        t,
                        float(T[y, e]),
                        kx[y, x],
                        kx[y, e],
                        w,
                        float(which[y, e]),
                        not free,
                        not c[y, e] > 0,
                    ) / (dx * dx)
                    gx[y, x + 1] = g
                    if x == nx - 1:
                        gx[y, 0] = g
                if y < ny - 1 or wrap_y:
                    n = y + 1 if y < ny - 1 else 0
                    g = face(
                        fy,
                        px,
                        py,
                        px,
                        (n + 0.5) * dy,
                        t,
                        float(T[n, x]),
                        ky[y, x],
                        ky[n, x],
                        w,
                        float(which[n, x]),
                        not free,
                        not c[n, x] > 0,
                    ) / (dy * dy)
                    gy[y + 1, x] = g
                    if y == ny - 1:
                        gy[0, x] = g
                if not wrap_x:
                    for side in range(2):
                        if free and x == side * (nx - 1):
                            v = at_edge(fx, px, py, t, kx[y, x], w, side * ny + y, kinds, data, row, edge_k)
                            gx[y, side * nx] = v / (dx * dx)
                if not wrap_y:
                    for side in range(2):
                        if free and y == side * (ny - 1):
                            p = 2 * ny + side * nx + x
                            v = at_edge(fy, px, py, t, ky[y, x], w, p, kinds, data, row, edge_k)
                            gy[side * ny, x] = v / (dy * dy)

    return conduct

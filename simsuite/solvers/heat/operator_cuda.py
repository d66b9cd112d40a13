"""The spatial operator on a GPU: one thread a cell. See `operator` and `discretisation`.

Sums of two products are rounded after each product (`cuda.fma` with a zero that the compiler does not know), so that
they cannot be contracted in two ways: the operator is symmetric to the last bit where the problem is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import config, cuda, float64, uint32

from simsuite.expressions import Expression
from simsuite.solvers.heat.compensated_cuda import settle
from simsuite.solvers.heat.edges import FLUX, TEMPERATURE
from simsuite.solvers.heat.row_cuda import THREADS
from simsuite.solvers.table import KEPT


def choose_constant(ny: int, nx: int, compensated: bool = False) -> tuple[Any, int]:
    """(kernel, steps a launch) for explicit steps with an operator that stays the same."""
    return step, 1


@cuda.jit(device=True)
def cell():
    """Column and row of this thread's cell. They are unsigned, for numbers that cannot be negative are found with half
    the instructions, which is what a pass with so many arrays spends its time on."""
    x, y = cuda.grid(2)
    return uint32(x), uint32(y)


@cuda.jit(device=True)
def flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, zero, x, y):
    """Heat that comes into a cell through its faces along x and along y, W/m³."""
    none, one = uint32(0), uint32(1)
    x, y = uint32(x), uint32(y)
    ny, nx = uint32(T.shape[0]), uint32(T.shape[1])
    points = 2 * (ny + nx)
    west = x - one if x > none else (nx - one if wrap_x else none)
    east = x + one if x < nx - one else (none if wrap_x else x)
    south = y - one if y > none else (ny - one if wrap_y else none)
    north = y + one if y < ny - one else (none if wrap_y else y)
    # All loads come first, so that their latencies overlap.
    c, w, e, s, n = T[y, x], T[y, west], T[y, east], T[south, x], T[north, x]
    gw, ge, gs, gn = gx[y, x], gx[y, x + one], gy[y, x], gy[y + one, x]
    w -= c
    e -= c
    s -= c
    n -= c
    if not wrap_x:
        if x == 0:
            w = edges[at + points + y] - edges[at + y] * c
        if x == nx - 1:
            e = edges[at + points + ny + y] - edges[at + ny + y] * c
    if not wrap_y:
        if y == 0:
            s = edges[at + points + 2 * ny + x] - edges[at + 2 * ny + x] * c
        if y == ny - 1:
            n = edges[at + points + 2 * ny + nx + x] - edges[at + 2 * ny + nx + x] * c
    along_x = cuda.fma(gw, w, zero) + cuda.fma(ge, e, zero)
    along_y = cuda.fma(gs, s, zero) + cuda.fma(gn, n, zero)
    return along_x, along_y


@cuda.jit(device=True)
def _heat_into(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, zero, x, y):
    """Heat that comes into a cell, W/m³."""
    a, b = flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, zero, x, y)
    total = a + b
    if heated:
        total += q[y, x]
    return total


@cuda.jit(device=True)
def rate_of(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, x, y):
    """dT/dt of a cell, K/s."""
    return c[y, x] * _heat_into(T, gx, gy, q, heated, edges, at, wrap_x, wrap_y, zero, x, y)


@cuda.jit(cache=True)
def rate(T, out, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero):
    """dT/dt of every cell, K/s."""
    x, y = cell()
    if x < T.shape[1] and y < T.shape[0]:
        out[y, x] = rate_of(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, x, y)


@cuda.jit(cache=True)
def step(T, out, gx, gy, c, q, heated, edges, at, dt, wrap_x, wrap_y, zero):
    """An explicit step of length dt, plain or compensated, as the fields say."""
    x, y = cell()
    field = T[0] if T.ndim == 3 else T
    if x < field.shape[1] and y < field.shape[0]:
        heat = _heat_into(field, gx, gy, q, heated, edges, at, wrap_x, wrap_y, zero, x, y)
        settle(T, out, y, x, field[y, x], dt * c[y, x], heat)


@cuda.jit(cache=True)
def rate_rows(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, largest):
    """The largest |dT/dt| in every row, K/s: one block a row."""
    part = cuda.shared.array(THREADS, float64)
    i, y = cuda.threadIdx.x, cuda.blockIdx.x
    most = float64(0.0)
    for x in range(i, T.shape[1], THREADS):
        v = float64(abs(rate_of(T, gx, gy, c, q, heated, edges, at, wrap_x, wrap_y, zero, x, y)))
        if not v <= most:
            most = v
    part[i] = most
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half and not part[i + half] <= part[i]:
            part[i] = part[i + half]
        cuda.syncthreads()
        half //= 2
    if i == 0:
        largest[y] = part[0]


@cuda.jit(cache=True)
def book(T, gx, gy, edges, at, power, held, ledger, wx, wy, ws, wrap_x, wrap_y, zero):
    """Adds to the ledger what comes in through edges and sources and from held cells, times a weight, J/m³."""
    i = cuda.grid(1)
    ny, nx = T.shape
    points = 2 * (ny + nx)
    if i < 2 * ny:
        if not wrap_x:
            y = i if i < ny else i - ny
            x = 0 if i < ny else nx - 1
            conducted = wx * gx[y, 0 if i < ny else nx]
            ledger[i] += conducted * (edges[at + points + i] - edges[at + i] * T[y, x])
    elif i < points:
        if not wrap_y:
            x = i - 2 * ny if i < 2 * ny + nx else i - 2 * ny - nx
            y = 0 if i < 2 * ny + nx else ny - 1
            conducted = wy * gy[0 if i < 2 * ny + nx else ny, x]
            ledger[i] += conducted * (edges[at + points + i] - edges[at + i] * T[y, x])
    elif i < points + power.size:
        ledger[i] += ws * power[i - points]
    elif i < points + power.size + held.shape[0]:
        j = i - points - power.size
        a, b = flux_sums(T, gx, gy, edges, at, wrap_x, wrap_y, zero, held[j, 1], held[j, 0])
        ledger[i] -= wx * a + wy * b


def _device(expression: Expression, names: tuple[str, ...]) -> Any:
    function = expression.simulated_function if config.ENABLE_CUDASIM else expression.scalar_function
    return cuda.jit(device=True)(function(names))


@lru_cache(KEPT)
def make_conduct(along_x: Expression, along_y: Expression) -> Any:
    """The kernel that evaluates conductivities in x, y, T, k, which, at the mean temperatures of faces, in float64."""
    names = ("x", "y", "T", "k", "which")
    fx, fy = _device(along_x, names), _device(along_y, names)

    @cuda.jit(device=True)
    def between(a, b, held_a, held_b):
        if held_a:
            return 0.0 if held_b else 2.0 * b
        if held_b:
            return 2.0 * a
        return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0

    @cuda.jit(device=True)
    def wall(T, p, kinds, data, row):
        """At which temperature the conductivity beside edge point p counts: with a fixed one, at the mean of both."""
        return 0.5 * (T + data[row, p]) if kinds[p] == TEMPERATURE else T

    @cuda.jit(device=True)
    def at_edge(value, p, kinds, edge_k):
        edge_k[p] = value if value > 0.0 else 1.0
        return edge_k[p] if value > 0.0 or kinds[p] == FLUX else 0.0

    @cuda.jit
    def conduct(T, kx, ky, which, c, dx, dy, gx, gy, kinds, data, k, edge_k, wrap_x, wrap_y):
        x, y = cuda.grid(2)
        row = min(k, data.shape[0] - 1)
        ny, nx = T.shape
        if x < nx and y < ny:
            px, py, t, w = (x + 0.5) * dx, (y + 0.5) * dy, float64(T[y, x]), float64(which[y, x])
            held = not c[y, x] > 0
            if x < nx - 1 or wrap_x:
                e = x + 1 if x < nx - 1 else 0
                m = 0.5 * (t + float64(T[y, e]))
                a = fx(px, py, m, kx[y, x], w)
                b = fx((e + 0.5) * dx, py, m, kx[y, e], float64(which[y, e]))
                g = between(a, b, held, not c[y, e] > 0) / (dx * dx)
                gx[y, x + 1] = g
                if x == nx - 1:
                    gx[y, 0] = g
            if y < ny - 1 or wrap_y:
                n = y + 1 if y < ny - 1 else 0
                m = 0.5 * (t + float64(T[n, x]))
                a = fy(px, py, m, ky[y, x], w)
                b = fy(px, (n + 0.5) * dy, m, ky[n, x], float64(which[n, x]))
                g = between(a, b, held, not c[n, x] > 0) / (dy * dy)
                gy[y + 1, x] = g
                if y == ny - 1:
                    gy[0, x] = g
            if not wrap_x and not held:
                for side in range(2):
                    if x == side * (nx - 1):
                        p = side * ny + y
                        value = fx(px, py, wall(t, p, kinds, data, row), kx[y, x], w)
                        gx[y, side * nx] = at_edge(value, p, kinds, edge_k) / (dx * dx)
            if not wrap_y and not held:
                for side in range(2):
                    if y == side * (ny - 1):
                        p = 2 * ny + side * nx + x
                        value = fy(px, py, wall(t, p, kinds, data, row), ky[y, x], w)
                        gy[side * ny, x] = at_edge(value, p, kinds, edge_k) / (dy * dy)

    return conduct

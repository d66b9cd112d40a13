"""The spatial operator on a GPU: one thread for each cell. See `operator` and `discretisation`.

Sums of two products are rounded after each product (`cuda.fma` with a zero that the compiler does not know), so that
they cannot be contracted in two ways: the operator is symmetric to the last bit where the problem is."""

from __future__ import annotations

from typing import Any

from numba import cuda, float64, uint32

from simsuite.solvers.heat.arguments import Flows, Plate
from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS
from simsuite.solvers.heat.operator.compensated_cuda import settle


def choose_constant(ny: int, nx: int, compensated: bool = False) -> tuple[Any, int]:
    """(kernel, steps a launch) for explicit steps with an operator that stays the same."""
    return step, 1


@cuda.jit(device=True)
def cell():
    """Column and row of this thread's cell. They are unsigned, because addresses then take half as many instructions to
    compute, and a pass over so many arrays spends its time on these."""
    x, y = cuda.grid(2)
    return uint32(x), uint32(y)


@cuda.jit(device=True)
def flux_sums(T, plate, at, x, y):
    """Heat that comes into a cell through its faces along x and along y, W/m³."""
    gx, gy, edges, wrap_x, wrap_y, zero = plate.gx, plate.gy, plate.edges, plate.wrap_x, plate.wrap_y, plate.zero
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
def _heat_into(T, plate, at, x, y):
    """Heat that comes into a cell, W/m³."""
    a, b = flux_sums(T, plate, at, x, y)
    total = a + b
    if plate.heated:
        total += plate.q[y, x]
    return total


@cuda.jit(device=True)
def rate_of(T, plate, at, x, y):
    """dT/dt of a cell, K/s."""
    return plate.c[y, x] * _heat_into(T, plate, at, x, y)


@cuda.jit(cache=True)
def rate(T, out, plate, at):
    """dT/dt of every cell, K/s."""
    plate = Plate(*plate)
    x, y = cell()
    if x < T.shape[1] and y < T.shape[0]:
        out[y, x] = rate_of(T, plate, at, x, y)


@cuda.jit(cache=True)
def step(T, out, plate, at, dt):
    """An explicit step of length dt, plain or compensated, as the fields say."""
    plate = Plate(*plate)
    x, y = cell()
    field = T[0] if T.ndim == 3 else T
    if x < field.shape[1] and y < field.shape[0]:
        heat = _heat_into(field, plate, at, x, y)
        settle(T, out, y, x, field[y, x], dt * plate.c[y, x], heat)


@cuda.jit(cache=True)
def rate_rows(T, plate, at, largest):
    """The largest |dT/dt| in every row, K/s, with one block for each row."""
    plate = Plate(*plate)
    part = cuda.shared.array(THREADS, float64)
    i, y = cuda.threadIdx.x, cuda.blockIdx.x
    most = float64(0.0)
    for x in range(i, T.shape[1], THREADS):
        v = float64(abs(rate_of(T, plate, at, x, y)))
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
def book(T, plate, at, flows, wx, wy, ws):
    """Adds to the ledger what comes in through edges and sources and from held cells, times a weight, J/m³."""
    plate, flows = Plate(*plate), Flows(*flows)
    edges, power, ledger = plate.edges, flows.power, flows.ledger
    i = cuda.grid(1)
    ny, nx = T.shape
    points = 2 * (ny + nx)
    if i < 2 * ny:
        if not plate.wrap_x:
            y = i if i < ny else i - ny
            x = 0 if i < ny else nx - 1
            conducted = wx * plate.gx[y, 0 if i < ny else nx]
            ledger[i] += conducted * (edges[at + points + i] - edges[at + i] * T[y, x])
    elif i < points:
        if not plate.wrap_y:
            x = i - 2 * ny if i < 2 * ny + nx else i - 2 * ny - nx
            y = 0 if i < 2 * ny + nx else ny - 1
            conducted = wy * plate.gy[0 if i < 2 * ny + nx else ny, x]
            ledger[i] += conducted * (edges[at + points + i] - edges[at + i] * T[y, x])
    elif i < points + power.size:
        ledger[i] += ws * power[i - points]
    elif i < points + power.size + flows.held.shape[0]:
        j = i - points - power.size
        a, b = flux_sums(T, plate, at, flows.held[j, 1], flows.held[j, 0])
        ledger[i] -= wx * a + wy * b

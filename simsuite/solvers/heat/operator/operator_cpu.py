"""The spatial operator on the CPU: rows in parallel. See `operator` and `discretisation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.parallel_for import inlined, kernel, parallel_for, part
from simsuite.solvers.heat.arguments import Flows, Plate
from simsuite.solvers.heat.operator.blocked_operator_cpu import steps_blocked
from simsuite.solvers.heat.operator.compensated_cpu import settle
from simsuite.solvers.heat.operator.tiles_cpu import MANY_CELLS, depth_for, is_narrow
from simsuite.solvers.table import ROWS

THREADS = 1  # the number of threads that a row of cells is launched with


def choose_constant(ny: int, nx: int, compensated: bool = False) -> tuple[Any, int]:
    """(kernel, steps a launch) for explicit steps with an operator that stays the same."""
    if compensated:
        return step, 1
    if ny * nx < MANY_CELLS:
        return steps_blocked, ROWS
    return (step, 1) if is_narrow(ny, nx) else (steps_blocked, depth_for(ny))


@part
def flux_sums(T, plate, at, x, y):
    """Heat that comes into a cell through its faces along x and along y, W/m³."""
    gx, gy, edges, wrap_x, wrap_y = plate.gx, plate.gy, plate.edges, plate.wrap_x, plate.wrap_y
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


# an inlined version, which is faster where a row is gone through, and slower to compile
_inlined_flux_sums = inlined(flux_sums.py_func)


@inlined
def _heat(T, plate, at, x, y):
    """Heat that comes into any cell, W/m³."""
    a, b = _inlined_flux_sums(T, plate, at, x, y)
    return a + b + plate.q[y, x] if plate.heated else a + b


@inlined
def _row_heats(T, plate, at, y, heats):
    """Heat that comes into a row of cells, W/m³."""
    gx, gy, q, heated = plate.gx, plate.gy, plate.q, plate.heated
    ny, nx = T.shape
    inner = 0 < y < ny - 1
    if inner:
        for x in range(1, nx - 1):
            v = T[y, x]
            along_x = gx[y, x] * (T[y, x - 1] - v) + gx[y, x + 1] * (T[y, x + 1] - v)
            s = along_x + (gy[y, x] * (T[y - 1, x] - v) + gy[y + 1, x] * (T[y + 1, x] - v))
            heats[x] = s + q[y, x] if heated else s
    # so `_heat`, which takes long to compile, is called at one place only
    for x in range(0, nx, max(nx - 1, 1) if inner else 1):
        heats[x] = _heat(T, plate, at, x, y)


@inlined
def row_rates(T, plate, at, y, rates):
    """dT/dt of a row of cells, K/s."""
    c = plate.c
    _row_heats(T, plate, at, y, rates)
    for x in range(T.shape[1]):
        rates[x] *= c[y, x]


@parallel_for
def _rate(begin, end, T, out, plate, at):
    for y in range(begin, end):
        row_rates(T, plate, at, y, out[y])


@kernel
def rate(T, out, plate, at):
    """dT/dt of every cell, K/s."""
    _rate(T.shape[0], (T, out, Plate(*plate), at))


@parallel_for
def _step(begin, end, T, out, plate, at, dt):
    c = plate.c
    for y in range(begin, end):
        _row_heats(T, plate, at, y, out[y])
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] + dt * c[y, x] * out[y, x]


@parallel_for
def _compensated_step(begin, end, T, out, plate, at, dt):
    c = plate.c
    for y in range(begin, end):
        _row_heats(T[0], plate, at, y, out[0, y])
        for x in range(T.shape[2]):
            out[0, y, x] *= dt * c[y, x]
        settle(T, out, y)


@kernel
def step(T, out, plate, at, dt):
    """An explicit step of length dt, plain or compensated, as the fields say."""
    arguments = (T, out, Plate(*plate), at, dt)
    if T.ndim == 3:
        _compensated_step(T.shape[1], arguments)
    else:
        _step(T.shape[0], arguments)


@parallel_for
def _rate_rows(begin, end, T, plate, at, largest):
    rates = np.empty(T.shape[1], T.dtype)
    for y in range(begin, end):
        row_rates(T, plate, at, y, rates)
        most = abs(rates[0])
        for x in range(1, rates.size):
            most = np.maximum(most, abs(rates[x]))  # np.maximum gives NaN where one of its arguments is NaN
        largest[y] = most


@kernel
def rate_rows(T, plate, at, largest):
    """The largest |dT/dt| in every row, K/s."""
    _rate_rows(T.shape[0], (T, Plate(*plate), at, largest))


@kernel
def _book_edges(T, gx, gy, edges, at, power, ledger, wx, wy, ws, wrap_x, wrap_y):
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


@kernel
def _book_held(T, plate, at, flows, wx, wy):
    plate, flows = Plate(*plate), Flows(*flows)
    held, ledger = flows.held, flows.ledger
    first = ledger.size - held.shape[0]
    for i in range(held.shape[0]):
        a, b = flux_sums(T, plate, at, held[i, 1], held[i, 0])
        ledger[first + i] -= wx * a + wy * b


def book(T, plate, at, flows, wx, wy, ws):
    """Adds to the ledger what comes in through edges and sources and from held cells, times a weight, J/m³."""
    # the fields in the order of `Plate`; passing few arrays is faster than passing all
    gx, gy, _, _, _, edges, wrap_x, wrap_y, _ = plate
    power, held, ledger = flows
    _book_edges(T, gx, gy, edges, at, power, ledger, wx, wy, ws, wrap_x, wrap_y)
    if len(held):
        _book_held(T, plate, at, flows, wx, wy)

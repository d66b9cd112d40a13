"""Several explicit steps with coefficients that vary from cell to cell. See `tiles_cpu` for how they are taken, and
`operator` for the scheme and the arguments.

These steps are only for problems whose coefficients and sources stay the same from step to step, and in which no cell
is held. Then nothing but the edges changes between two steps, and only they book heat."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.heat.arguments import Plate
from simsuite.solvers.heat.operator.edges_cpu import difference
from simsuite.solvers.heat.operator.tiles_cpu import cut, make_tile_steps

ROW_BYTES = 1 << 13  # the bytes of a row of a tile; the rows of coefficients that its steps have reached count as well


class Steps(NamedTuple):
    """What the steps of a tile need of the plate. ledger: of its edge points. dt: length of a step, s."""

    plate: Any
    ledger: Any
    dt: Any


@njit(_nrt=False)
def _run(south, centre, north, gx, gy_s, gy_n, c, q, heated, dt):
    """Steps neighbouring cells of a row; `centre` begins one cell before them.

    The heat that comes into a cell from its western neighbour is minus the heat that comes into that neighbour from the
    cell, and is computed only once."""
    before = gx[0] * (centre[1] - centre[0])
    for i in range(c.size):
        v = centre[i + 1]
        e = gx[i + 1] * (centre[i + 2] - v)
        s = (e - before) + (gy_s[i] * (south[i] - v) + gy_n[i] * (north[i] - v))
        south[i] = v + dt * c[i] * (s + q[i] if heated else s)
        before = e


@njit(_nrt=False)
def _inner(rows, south, centre, north, steps, xa, cells, y):
    """Steps the inner cells of a row, in stretches in which the coefficients lie in order: beyond a periodic edge these
    go on at the other end of their row."""
    plate, dt = steps.plate, steps.dt
    gx, gy, c, q, heated = plate.gx, plate.gy, plate.c, plate.q, plate.heated
    nx = c.shape[1]
    j, x = 1, (xa + 1) % nx
    while j < cells:
        end = x + min(cells - j, nx - x)
        sources = q[y, x:end] if heated else q[0]
        _run(
            rows[south, j:],
            rows[centre, j - 1 :],
            rows[north, j:],
            gx[y, x:],
            gy[y, x:],
            gy[y + 1, x:],
            c[y, x:end],
            sources,
            heated,
            dt,
        )
        j, x = j + end - x, 0


@njit(_nrt=False)
def _cell(rows, south, centre, north, j, steps, at, x, y, book):
    plate, ledger, dt = steps.plate, steps.ledger, steps.dt
    gx, gy, c, edges, wrap_x, wrap_y = plate.gx, plate.gy, plate.c, plate.edges, plate.wrap_x, plate.wrap_y
    ny, nx = c.shape
    v = rows[centre, j]
    gw, ge, gs, gn = gx[y, x], gx[y, x + 1], gy[y, x], gy[y + 1, x]
    w = rows[centre, j - 1] - v if x > 0 or wrap_x else difference(edges, at, ledger, y, v, dt * gw, book)
    e = rows[centre, j + 1] - v if x < nx - 1 or wrap_x else difference(edges, at, ledger, ny + y, v, dt * ge, book)
    s = rows[south, j] - v if y > 0 or wrap_y else difference(edges, at, ledger, 2 * ny + x, v, dt * gs, book)
    p = 2 * ny + nx + x
    n = rows[north, j] - v if y < ny - 1 or wrap_y else difference(edges, at, ledger, p, v, dt * gn, book)
    heat = (gw * w + ge * e) + (gs * s + gn * n)
    return v + dt * c[y, x] * (heat + plate.q[y, x] if plate.heated else heat)


_tile_steps = make_tile_steps(_inner, _cell)


@parallel_for
def _some_tiles(begin, end, T, out, steps, at, stride, n, bands, strips):
    wrap_x, wrap_y = steps.plate.wrap_x, steps.plate.wrap_y
    for i in range(begin, end):
        _tile_steps(T, out, steps, at, wrap_x, wrap_y, stride, n, bands, strips, i)


@kernel
def _tiles(T, out, plate, at, dt, ledger, stride, n, bands, strips):
    steps = Steps(Plate(*plate), ledger, dt)
    _some_tiles(bands * strips, (T, out, steps, at, stride, n, bands, strips))


def steps_blocked(T: Any, out: Any, plate: tuple[Any, ...], at: int, dt: Any, ledger: Any, stride: int, n: int) -> None:
    """Take n steps of length dt. The row of the edge table for each step is `stride` numbers after the row of the step
    before."""
    ny, nx = T.shape
    bands, strips = cut(ny, nx, n, ROW_BYTES // T.itemsize)
    _tiles(T, out, plate, at, dt, ledger, stride, n, bands, strips)

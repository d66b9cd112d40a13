"""Several explicit steps with constant coefficients. See `tiles_cpu` for how they are taken, and `explicit` for the
scheme and the arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.heat.arguments import Mesh
from simsuite.solvers.heat.operator.edges_cpu import difference
from simsuite.solvers.heat.operator.tiles_cpu import LINE, cut, make_tile_steps

# the bytes of a row of a tile: 32 steps of it take half a megabyte, less than a core's second-level cache
ROW_BYTES = 1 << 13


class Steps(NamedTuple):
    """What the steps of a tile need of a mesh of ny × nx cells. rx: mesh ratio."""

    mesh: Any
    rx: Any
    ny: Any
    nx: Any


@njit(_nrt=False)
def _inner(rows, south, centre, north, steps, xa, cells, y):
    """Computes cells between others. A cell's difference to its western neighbour is minus the difference of that
    neighbour to the cell, and is computed only once."""
    rx, q = steps.rx, steps.mesh.q
    before = rows[centre, 1] - rows[centre, 0]
    for j in range(1, rows.shape[1] - LINE // rows.itemsize + 1):
        c = rows[centre, j]
        e = rows[centre, j + 1] - c
        dy = (rows[south, j] - c) + (rows[north, j] - c)
        rows[south, j] = c + rx * ((e - before) + q * dy)
        before = e


@njit(_nrt=False, inline="always")
def _cell(rows, south, centre, north, j, steps, at, x, y, book):
    mesh, rx, nx, ny = steps.mesh, steps.rx, steps.nx, steps.ny
    edges, ledger, q, wrap_x, wrap_y = mesh.edges, mesh.ledger, mesh.q, mesh.wrap_x, mesh.wrap_y
    c, ry = rows[centre, j], rx * q
    w = rows[centre, j - 1] - c if x > 0 or wrap_x else difference(edges, at, ledger, y, c, rx, book)
    e = rows[centre, j + 1] - c if x < nx - 1 or wrap_x else difference(edges, at, ledger, ny + y, c, rx, book)
    s = rows[south, j] - c if y > 0 or wrap_y else difference(edges, at, ledger, 2 * ny + x, c, ry, book)
    n = rows[north, j] - c if y < ny - 1 or wrap_y else difference(edges, at, ledger, 2 * ny + nx + x, c, ry, book)
    return c + rx * ((w + e) + q * (s + n))


_tile_steps = make_tile_steps(_inner, _cell)


@parallel_for
def _some_tiles(begin, end, T, out, mesh, at, rx, stride, n, bands, strips):
    steps = Steps(mesh, rx, T.shape[0], T.shape[1])
    for i in range(begin, end):
        _tile_steps(T, out, steps, at, mesh.wrap_x, mesh.wrap_y, stride, n, bands, strips, i)


@kernel
def _tiles(T, out, mesh, at, rx, stride, n, bands, strips):
    _some_tiles(bands * strips, (T, out, Mesh(*mesh), at, rx, stride, n, bands, strips))


def steps_blocked(T: Any, out: Any, mesh: tuple[Any, ...], at: int, rx: Any, stride: int, n: int) -> None:
    """Take n steps. The row of the edge table for each step is `stride` numbers after the row of the step before."""
    ny, nx = T.shape
    bands, strips = cut(ny, nx, n, ROW_BYTES // T.itemsize)
    _tiles(T, out, mesh, at, rx, stride, n, bands, strips)

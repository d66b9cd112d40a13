"""Several explicit steps of a tile of the field while it is in a core's cache.

With one step in each pass, the field is read from and written to main memory in each step, whose bandwidth all cores
share. Here a task streams down a tile of the field with `n` steps in flight, each a row behind the one before it
(Wellein, Hager, Zeiser, Wittmann & Fehske, Efficient temporal blocking for stencil computations by multicore-aware
wavefront parallelization, COMPSAC 2009), and the field passes through memory once in n steps. The rows of all steps are
in one ring: a row is written over the row south of it of the step before, whose last reader it is, so 2n + 1 rows are
all there is.

Tiles overlap by n cells, which the tasks on both sides compute with the same arithmetic: nobody waits for anybody, and
fields and ledgers equal those of single steps bit for bit, however the field is cut. An edge point is booked by the
task that owns its cell.

Which steps are taken is defined by two functions, which take a tuple `steps` of what they need:

    inner(rows, south, centre, north, steps, xa, cells, y): cells 1 .. cells-1 of a row between two others, written
        over the row south of it; the first of its cells is in column xa. Right for all but cells at an edge.
    cell(rows, south, centre, north, j, steps, at, x, y, book): the step of any cell; `at` is where the edge table's row
        begins, `book` whether what comes in through an edge is to be booked.

Functions that work on rows keep no reference counts (`_nrt=False`): counting costs as much as half a row of 200 cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit

MANY_CELLS = 1 << 14  # a grid of fewer cells is stepped before another thread is awake
LEAST_DEPTH, MOST_DEPTH = 4, 32  # the least and the most steps of a launch
LINE = 64  # bytes; rows begin and the longest vectors end at multiples of this; loops take four vectors at a time


class Tile(NamedTuple):
    """Which cells of a field of ny × nx are stepped. y0, y1, x0, x1: rows y0 .. y1 - 1 and columns x0 .. x1 - 1 are the
    tile's own. xa, xb: columns xa .. xb - 1 are computed, which may lie beyond a periodic edge. wrap_x, wrap_y: whether
    a direction is periodic."""

    ny: Any
    nx: Any
    wrap_x: Any
    wrap_y: Any
    y0: Any
    y1: Any
    x0: Any
    x1: Any
    xa: Any
    xb: Any


def is_narrow(ny: int, nx: int) -> bool:
    """Whether tiles would be mostly overlap and padding."""
    return min(ny, nx) < 32


def depth_for(ny: int) -> int:
    """The number of steps that a launch should take of ny rows. Where each core has few rows, overlaps must not be
    long."""
    return max(LEAST_DEPTH, min(MOST_DEPTH, ny // (4 * get_num_threads())))


def cut(ny: int, nx: int, n: int, widest: int) -> tuple[int, int]:
    """(bands, strips) that the field is cut into for n steps. Strips have `widest` cells at most, and there is a tile
    for each thread unless tiles would then be smaller than their overlap."""
    threads = get_num_threads()
    bands = max(1, min(threads, ny // n))
    return bands, max(-(-nx // widest), min(-(-threads // bands), nx // (2 * n)))


@njit(_nrt=False)
def _copy(source, target):
    for i in range(source.size):
        target[i] = source[i]


@njit(_nrt=False)
def _load(T, y, xa, cells, row):
    """Cells of row y from column xa on, which may lie beyond a periodic edge. Any numbers of the field's size will do
    as padding, because their effect stays within the overlap."""
    nx = T.shape[1]
    done, x = 0, xa % nx
    while done < cells:
        count = min(cells - done, nx - x)
        _copy(T[y, x : x + count], row[done:])
        done, x = done + count, 0
    for j in range(cells, row.size):
        row[j] = row[cells - 1]


@njit
def _ring(T, n, cells):
    """Memory for the rows of a tile. The second cell of each row begins a cache line, and rows are padded such that
    vector loops from there on have no remainder."""
    line = LINE // T.itemsize
    rows, pitch = 2 * n + 1, line - (-(cells - 1) // (4 * line)) * 4 * line
    memory = np.empty(rows * pitch + line, T.dtype)
    skip = (-np.intp(memory.ctypes.data) // T.itemsize - 1) % line
    return memory[skip : skip + rows * pitch].reshape((rows, pitch))


def make_tile_steps(inner: Any, cell: Any) -> Any:
    """The function that takes the steps of a tile."""

    @njit(_nrt=False, inline="always")
    def row_step(rows, south, centre, north, steps, at, tile, y, own):
        """Takes the step of a row. Its first cell is left out where it is not at an edge, because nothing needs it."""
        nx, ny, wrap_x, wrap_y = tile.nx, tile.ny, tile.wrap_x, tile.wrap_y
        x0, x1, xa, cells = tile.x0, tile.x1, tile.xa, tile.xb - tile.xa
        left, right = xa == 0 and not wrap_x, xa + cells == nx and nx > 1 and not wrap_x
        if wrap_y or 0 < y < ny - 1:
            last = rows[centre, 0]
            if left:
                rows[south, 0] = cell(rows, south, centre, north, 0, steps, at, 0, y, own and x0 == 0)
            if right:
                last = cell(rows, south, centre, north, cells - 1, steps, at, nx - 1, y, own and x1 == nx)
            inner(rows, south, centre, north, steps, xa, cells, y)
            if right:
                rows[south, cells - 1] = last
        else:
            for j in range(0 if left else 1, cells):
                book = own and x0 <= xa + j < x1
                rows[south, j] = cell(rows, south, centre, north, j, steps, at, (xa + j) % nx, y, book)

    @njit(_nrt=False)
    def descend(T, out, steps, at, stride, n, tile, rows):
        ny, wrap_y = tile.ny, tile.wrap_y
        x0, x1, y0, y1, xa, xb = tile.x0, tile.x1, tile.y0, tile.y1, tile.xa, tile.xb
        ring = rows.shape[0]  # row y after t steps is in slot y - t
        ya, yb = (y0 - n, y1 + n) if wrap_y else (max(y0 - n, 0), min(y1 + n, ny))
        for front in range(ya, y1 + n):
            if front < yb:
                _load(T, front % ny, xa, xb - xa, rows[front % ring])
            # Step t is at row front - t, if later steps still need that row.
            first, last = max(1, front - yb + 1), min(n, front - ya, (front - y0 + n) // 2)
            south = (front - 2 * (first - 1)) % ring
            for t in range(first, last + 1):
                north = south
                centre = north - 1 if north > 0 else ring - 1
                south = centre - 1 if centre > 0 else ring - 1
                y = (front - t) % ny if wrap_y else front - t
                own = y0 <= front - t < y1
                row_step(rows, south, centre, north, steps, at + (t - 1) * stride, tile, y, own)
            if front - n >= y0:
                _copy(rows[(front - 2 * n) % ring, x0 - xa : x1 - xa], out[front - n, x0:])

    @njit
    def tile_steps(T, out, steps, at, wrap_x, wrap_y, stride, n, bands, strips, i):
        """n steps of tile i of bands × strips, from T to `out`. stride: the distance between the rows of the edge table
        for two steps."""
        ny, nx = T.shape
        band, strip = i // strips, i % strips
        y0, y1 = band * ny // bands, (band + 1) * ny // bands
        x0, x1 = strip * nx // strips, (strip + 1) * nx // strips
        xa, xb = (x0 - n, x1 + n) if wrap_x else (max(x0 - n, 0), min(x1 + n, nx))
        rows = _ring(T, n, xb - xa)
        tile = Tile(ny, nx, wrap_x, wrap_y, y0, y1, x0, x1, xa, xb)
        descend(T, out, steps, at, stride, n, tile, rows)

    return tile_steps

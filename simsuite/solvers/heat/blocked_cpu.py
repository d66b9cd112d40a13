"""Several explicit steps of a tile while it is in a core's cache. See `explicit` for the scheme and the arguments.

One step a pass reads and writes the field in main memory, whose rate is that of all cores together. Here a task streams
down a tile of the field with `n` steps in flight, each a row behind the one before it (Wellein, Hager, Zeiser, Wittmann
& Fehske, Efficient temporal blocking for stencil computations by multicore-aware wavefront parallelization, COMPSAC
2009), and the field passes through memory once in n steps. The rows of all steps are in one ring: a row is written over
the row south of it of the step before, whose last reader it is, so 2n + 1 rows are all there is.

Tiles overlap by n cells, which the tasks on both sides compute with the same arithmetic: nobody waits for anybody, and
fields and ledgers equal those of single steps bit for bit, however the field is cut. An edge point is booked by the
task that owns its cell.

Functions that work on rows keep no reference counts (`_nrt=False`): counting costs as much as half a row of 200 cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from simsuite.solvers.heat.edges_cpu import difference

LEAST_DEPTH, MOST_DEPTH = 4, 32  # steps a launch
ROW_BYTES = 1 << 14  # of a tile: 2n + 1 rows are 1 MB at most, about a core's second cache
LINE = 64  # bytes, where rows begin and the longest vectors end; loops take four vectors at a time


def depth_for(ny: int) -> int:
    """How many steps a launch should take of ny rows: where few of them come to a core, overlaps must not be long."""
    return max(LEAST_DEPTH, min(MOST_DEPTH, ny // (4 * get_num_threads())))


@njit(_nrt=False)
def _inner(rows, south, centre, north, width, rx, q):
    """The step of a row between two others, over the row south of it, but for its first cell.

    A cell's difference to its western neighbour is minus that one's to its eastern: computed once.
    """
    before = rows[centre, 1] - rows[centre, 0]
    for j in range(1, width + 1):
        c = rows[centre, j]
        e = rows[centre, j + 1] - c
        dy = (rows[south, j] - c) + (rows[north, j] - c)
        rows[south, j] = c + rx * ((e - before) + q * dy)
        before = e


@njit(_nrt=False, inline="always")
def _cell(rows, south, centre, north, j, plate, at, x, y, book):
    """The step of any cell."""
    edges, ledger, rx, q, wrap_x, wrap_y, nx, ny = plate
    c, ry = rows[centre, j], rx * q
    w = rows[centre, j - 1] - c if x > 0 or wrap_x else difference(edges, at, ledger, y, c, rx, book)
    e = rows[centre, j + 1] - c if x < nx - 1 or wrap_x else difference(edges, at, ledger, ny + y, c, rx, book)
    s = rows[south, j] - c if y > 0 or wrap_y else difference(edges, at, ledger, 2 * ny + x, c, ry, book)
    n = rows[north, j] - c if y < ny - 1 or wrap_y else difference(edges, at, ledger, 2 * ny + nx + x, c, ry, book)
    return c + rx * ((w + e) + q * (s + n))


@njit(_nrt=False, inline="always")
def _row(rows, south, centre, north, plate, at, tile, y, own):
    """The step of a row, but for its first cell where that is not at an edge: nobody needs it."""
    rx, q, wrap_x, wrap_y, nx, ny = plate[2:]
    x0, x1, xa, cells, width = tile
    left, right = xa == 0 and not wrap_x, xa + cells == nx and nx > 1 and not wrap_x
    if wrap_y or 0 < y < ny - 1:
        last = rx
        if left:
            rows[south, 0] = _cell(rows, south, centre, north, 0, plate, at, 0, y, own and x0 == 0)
        if right:
            last = _cell(rows, south, centre, north, cells - 1, plate, at, nx - 1, y, own and x1 == nx)
        _inner(rows, south, centre, north, width, rx, q)
        if right:
            rows[south, cells - 1] = last
    else:
        for j in range(0 if left else 1, cells):
            book = own and x0 <= xa + j < x1
            rows[south, j] = _cell(rows, south, centre, north, j, plate, at, (xa + j) % nx, y, book)


@njit(_nrt=False)
def _copy(source, target):
    for i in range(source.size):
        target[i] = source[i]


@njit(_nrt=False)
def _load(T, y, xa, cells, row):
    """Cells of row y from column xa on, which may lie beyond a periodic edge. The padding only has to be numbers of
    the field's size: what comes of it stays within the overlap."""
    nx = T.shape[1]
    done, x = 0, xa % nx
    while done < cells:
        count = min(cells - done, nx - x)
        _copy(T[y, x : x + count], row[done:])
        done, x = done + count, 0
    for j in range(cells, row.size):
        row[j] = row[cells - 1]


@njit(_nrt=False)
def _tile(T, out, plate, at, stride, n, x0, x1, y0, y1, xa, xb, rows, width):
    """n steps of the cells x0 .. x1-1, y0 .. y1-1, from the columns xa .. xb-1."""
    wrap_y, ny = plate[5], plate[7]
    tile = (x0, x1, xa, xb - xa, width)
    ring = rows.shape[0]  # row y after t steps is in slot y - t
    ya, yb = (y0 - n, y1 + n) if wrap_y else (max(y0 - n, 0), min(y1 + n, ny))
    for front in range(ya, y1 + n):
        if front < yb:
            _load(T, front % ny, xa, xb - xa, rows[front % ring])
        # Step t is at row front - t, if that is one which later steps still need.
        first, last = max(1, front - yb + 1), min(n, front - ya, (front - y0 + n) // 2)
        south = (front - 2 * (first - 1)) % ring
        for t in range(first, last + 1):
            north = south
            centre = north - 1 if north > 0 else ring - 1
            south = centre - 1 if centre > 0 else ring - 1
            y = (front - t) % ny if wrap_y else front - t
            _row(rows, south, centre, north, plate, at + (t - 1) * stride, tile, y, y0 <= front - t < y1)
        if front - n >= y0:
            _copy(rows[(front - 2 * n) % ring, x0 - xa : x1 - xa], out[front - n, x0:])


@njit
def _ring(T, n, cells):
    """Rows of which the second cell begins a line, padded such that vector loops from there on leave no rest."""
    line = LINE // T.itemsize
    width = -(-(cells - 1) // (4 * line)) * 4 * line
    rows, pitch = 2 * n + 1, line + width
    memory = np.empty(rows * pitch + line, T.dtype)
    skip = (-np.intp(memory.ctypes.data) // T.itemsize - 1) % line
    return memory[skip : skip + rows * pitch].reshape((rows, pitch)), width


@njit(parallel=True, cache=True)
def _tiles(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, stride, n, bands, strips):
    ny, nx = T.shape
    for i in prange(bands * strips):
        band, strip = i // strips, i % strips
        y0, y1 = band * ny // bands, (band + 1) * ny // bands
        x0, x1 = strip * nx // strips, (strip + 1) * nx // strips
        xa, xb = (x0 - n, x1 + n) if wrap_x else (max(x0 - n, 0), min(x1 + n, nx))
        rows, width = _ring(T, n, xb - xa)
        plate = (edges, ledger, rx, q, wrap_x, wrap_y, nx, ny)
        _tile(T, out, plate, at, stride, n, x0, x1, y0, y1, xa, xb, rows, width)


def steps_blocked(
    T: Any, out: Any, edges: Any, at: int, ledger: Any, rx: Any, q: Any, wrap_x: bool, wrap_y: bool, stride: int, n: int
) -> None:
    """n steps; the edge table's row of each is `stride` after that of the step before."""
    ny, nx = T.shape
    threads = get_num_threads()
    bands = max(1, min(threads, ny // n))
    strips = max(-(-nx * T.itemsize // ROW_BYTES), min(-(-threads // bands), nx // (2 * n)))
    _tiles(T, out, edges, at, ledger, rx, q, wrap_x, wrap_y, stride, n, bands, strips)

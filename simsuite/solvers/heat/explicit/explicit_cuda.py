"""The explicit step on a GPU. Kernels use `cuda.grid(2)` with x first. See `explicit` for the scheme and the arguments.

Two kernels do the same arithmetic. `steps_short` is for small grids, whose time is that of launches and of one load
after another: a launch takes up to DEPTH steps of a tile that stays in shared memory, one thread a cell, and computes
the cells up to DEPTH - 1 around the tile as well, whose neighbours other blocks have. `step_tall` has one thread for
ROWS inner cells of a column, which keeps the cell and the one below in registers, and separate rows of threads for the
edge cells: the inner path then carries no edge code, whose registers would halve the occupancy. In both, a warp covers
neighbouring columns, so that loading a row is one coalesced access. Steps are plain or compensated, as the fields say
(see `compensated_cuda`)."""

from __future__ import annotations

from typing import Any

from numba import cuda

from simsuite.solvers.heat.arguments import Mesh
from simsuite.solvers.heat.operator.compensated_cuda import lost, settle, stepped, store

ROWS = 4
MANY_CELLS = 1 << 17
DEPTH = 4
HALO = DEPTH - 1
TILE = (32, 16)  # with its halo a tile has 38 x 22 threads
THREADS = 1024
LEVELS = 2 * THREADS


def choose(ny: int, nx: int, compensated: bool = False) -> tuple[Any, tuple[int, int], tuple[int, int], int]:
    """(kernel, threads needed, block, steps a launch) for ny × nx cells; threads and block x first."""
    if ny * nx < MANY_CELLS or ny < ROWS + 2:
        width, height = min(nx, TILE[0]), min(ny, TILE[1])
        block = (width + 2 * HALO, height + 2 * HALO)
        return steps_short, (-(-nx // width) * block[0], -(-ny // height) * block[1]), block, DEPTH
    width = -(-nx // 64) * 64
    return step_tall, (nx, ((ny + 1) >> 2) + -(-2 * (ny + nx) // width)), (64, 2), 1


@cuda.jit(device=True)
def _edge(mesh, at, p, c, r, book):
    """The difference between a cell of value c and the ghost behind its edge point p, which is booked in the ledger if
    `book`."""
    edges, ledger = mesh.edges, mesh.ledger
    d = edges[at + ledger.size + p] - edges[at + p] * c
    if book:
        ledger[p] += r * d
    return d


@cuda.jit(device=True)
def _sum(c, neighbours, mesh, at, rx, shape, x, y, book):
    """The sum of the differences of a cell of value c to its neighbours in the west, east, south and north; differences
    along y are multiplied by q. A neighbour that is a ghost is given as c. shape: cells along y and x."""
    w, e, s, n = neighbours
    ny, nx = shape
    q = mesh.q
    dx = (w - c) + (e - c)
    dy = (s - c) + (n - c)
    if not mesh.wrap_x:
        if x == 0:
            dx += _edge(mesh, at, y, c, rx, book)
        if x == nx - 1:
            dx += _edge(mesh, at, ny + y, c, rx, book)
    if not mesh.wrap_y:
        if y == 0:
            dy += _edge(mesh, at, 2 * ny + x, c, rx * q, book)
        if y == ny - 1:
            dy += _edge(mesh, at, 2 * ny + nx + x, c, rx * q, book)
    return dx + q * dy


@cuda.jit(device=True)
def _sum_at(T, mesh, at, rx, x, y, book):
    """The sum that `_sum` gives, for any cell. All loads come first, so that their latencies overlap."""
    ny, nx = T.shape
    w = x - 1 if x > 0 else (nx - 1 if mesh.wrap_x else 0)
    e = x + 1 if x < nx - 1 else (0 if mesh.wrap_x else x)
    s = y - 1 if y > 0 else (ny - 1 if mesh.wrap_y else 0)
    n = y + 1 if y < ny - 1 else (0 if mesh.wrap_y else y)
    c = T[y, x]
    neighbours = (T[y, w], T[y, e], T[s, x], T[n, x])
    return _sum(c, neighbours, mesh, at, rx, (ny, nx), x, y, book)


@cuda.jit(cache=True)
def steps_short(T, out, mesh, at, rx, stride, n):
    """Take n <= DEPTH steps. The row of the edge table for each step is `stride` numbers after the row of the step
    before."""
    mesh = Mesh(*mesh)
    wrap_x, wrap_y = mesh.wrap_x, mesh.wrap_y
    level = cuda.shared.array(LEVELS, T.dtype)
    field = T[0] if T.ndim == 3 else T
    ny, nx = field.shape
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    width, height = cuda.blockDim.x, cuda.blockDim.y
    x = cuda.blockIdx.x * (width - 2 * HALO) + i - HALO
    y = cuda.blockIdx.y * (height - 2 * HALO) + j - HALO
    own = HALO <= i < width - HALO and HALO <= j < height - HALO and x < nx and y < ny
    if wrap_x and not 0 <= x < nx:
        x = x % nx
    if wrap_y and not 0 <= y < ny:
        y = y % ny
    inside = 0 <= x < nx and 0 <= y < ny
    v = low = rx
    if inside:
        total = _sum_at(field, mesh, at, rx, x, y, own)
        v, low = stepped(T, field[y, x], lost(T, y, x), rx, total)
    for k in range(1, n):
        # Two levels are used in turn, so that a thread that is ahead of the others writes where none of them still
        # reads.
        here = (k & 1) * THREADS + j * width + i
        level[here] = v
        cuda.syncthreads()
        if inside and k <= i < width - k and k <= j < height - k:
            w = level[here - 1] if x > 0 or wrap_x else v
            e = level[here + 1] if x < nx - 1 or wrap_x else v
            s = level[here - width] if y > 0 or wrap_y else v
            north = level[here + width] if y < ny - 1 or wrap_y else v
            at += stride
            total = _sum(v, (w, e, s, north), mesh, at, rx, (ny, nx), x, y, own)
            v, low = stepped(T, v, low, rx, total)
    if own:
        store(out, y, x, v, low)


@cuda.jit(cache=True)
def step_tall(T, out, mesh, at, rx):
    mesh = Mesh(*mesh)
    x, j = cuda.grid(2)
    field = T[0] if T.ndim == 3 else T
    ny, nx = field.shape
    strips = (ny + 1) >> 2
    if j < strips:
        if 0 < x < nx - 1:
            # The last strip may overlap the one below it: both compute the same values.
            first = min(1 + j * ROWS, ny - 1 - ROWS)
            c = field[first, x]
            s = field[first - 1, x] - c
            for i in range(ROWS):
                y = first + i
                above = field[y + 1, x]
                n = above - c
                total = ((field[y, x - 1] - c) + (field[y, x + 1] - c)) + mesh.q * (s + n)
                settle(T, out, y, x, c, rx, total)
                s = -n
                c = above
    else:
        p = (j - strips) * cuda.gridDim.x * cuda.blockDim.x + x
        if p < 2 * ny:
            if p < ny or nx > 1:
                x = 0 if p < ny else nx - 1
                y = p if p < ny else p - ny
                total = _sum_at(field, mesh, at, rx, x, y, True)
                settle(T, out, y, x, field[y, x], rx, total)
        elif p < 2 * (ny + nx):
            p -= 2 * ny
            x = p if p < nx else p - nx
            if 0 < x < nx - 1:
                y = 0 if p < nx else ny - 1
                total = _sum_at(field, mesh, at, rx, x, y, True)
                settle(T, out, y, x, field[y, x], rx, total)

"""Kernels of the ADI step on a GPU, neighbouring threads on neighbouring memory throughout. See `adi`."""

from __future__ import annotations

from numba import config, cuda

from simsuite.solvers.heat.arguments import Plate
from simsuite.solvers.heat.operator.block_per_row_cuda import THREADS
from simsuite.solvers.heat.operator.edges_cuda import cell_at
from simsuite.solvers.heat.operator.operator_cuda import flux_sums

# The number of cells along a side of a tile, and of threads that a tile has in the slow direction. In the simulator
# these are Python's threads.
TILE, TALL = (4, 2) if config.ENABLE_CUDASIM else (32, 8)
PITCH = TILE + 1  # one more than TILE, so that a column of a tile lies in different banks of shared memory
TILE_CELLS = TILE * PITCH


def tiles_of(ny: int, nx: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch that takes a field in tiles."""
    return (-(-nx // TILE) * TILE, -(-ny // TILE) * TALL), (TILE, TALL)


@cuda.jit(device=True)
def _change(edges, points, before, after, half, T, p):
    """The mean of β at edge point p over the step, and the change of γ - βT over the step at a fixed T."""
    moved = edges[after + points + p] - edges[before + points + p]
    d = moved - (edges[after + p] - edges[before + p]) * cell_at(T, p)
    return half * (edges[before + p] + edges[after + p]), d


@cuda.jit(device=True)
def _corner(edges, points, before, after, half, T, p, inwards):
    """The mean of β and the change of γ - βT, as `_change` gives them, extrapolated to the corner beside point p: by a
    parabola through p and the next two points, or by a line through two points, as far as these have the same kind of
    condition."""
    nx = T.shape[1]
    beta, d = _change(edges, points, before, after, half, T, p)
    if nx > 1:
        beta_1, d_1 = _change(edges, points, before, after, half, T, p + inwards)
        if beta_1 == beta:
            slope = d - d_1
            d += half * slope
            if nx > 2:
                beta_2, d_2 = _change(edges, points, before, after, half, T, p + 2 * inwards)
                if beta_2 == beta:
                    d += (half + half * half) * half * (slope - (d_1 - d_2))
    return beta, d


@cuda.jit(device=True)
def _bent(edges, before, after, half, T, gy, c, wrap_y, far, j):
    """c·(A_y e + b_y) along the left or right edge, where e is the change of the edge's outer temperatures. It is 0
    beside a part of the edge that has no such temperatures.

    At the ends of an edge of given temperature, b_y comes from the values at the corner. Where e is the temperature of
    surroundings, b_y is not known for it, and the value of the next point is near enough."""
    ny, nx = T.shape
    points = 2 * (ny + nx)
    x = far * (nx - 1)
    zero, two = half - half, half + half + half + half
    beta, d = _change(edges, points, before, after, half, T, far * ny + j)
    if beta < two and not wrap_y:
        if ny < 3:
            return zero
        j = min(max(j, 1), ny - 2)
        beta, d = _change(edges, points, before, after, half, T, far * ny + j)
        if not beta > zero:
            return zero
    total = zero
    e = d / beta
    for side in range(2):
        i = j - 1 + 2 * side
        if 0 <= i < ny or wrap_y:
            i = (i if i >= 0 else ny - 1) if i < ny else 0
            beta, d = _change(edges, points, before, after, half, T, far * ny + i)
            if not beta > zero:
                return zero
            total += gy[j + side, x] * (d / beta - e)
        else:
            p = 2 * ny + side * nx + x
            beta, d = _corner(edges, points, before, after, half, T, p, 1 - 2 * far)
            total += gy[j + side, x] * (d - beta * e)
    return c[j, x] * total


@cuda.jit(cache=True)
def edge_data(T, gy, c, edges, before, after, half, a, start, change, wrap_y):
    """Computes the scratch rows of the edge table: row `start` for T, and row `change` for V and ΔT."""
    p = cuda.grid(1)
    ny, nx = T.shape
    points = 2 * (ny + nx)
    if p < points:
        beta, d = _change(edges, points, before, after, half, T, p)
        edges[start + p] = beta
        edges[start + points + p] = half * (edges[before + points + p] + edges[after + points + p] - d)
        edges[change + p] = beta
        if p < 2 * ny and beta > half - half:
            far = 0 if p < ny else 1
            d -= a * (beta * _bent(edges, before, after, half, T, gy, c, wrap_y, far, p - far * ny))
        edges[change + points + p] = d


@cuda.jit(device=True)
def _turn(tile, out):
    """Write a block's tile to its place in the transposed field."""
    cuda.syncthreads()
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    y = cuda.blockIdx.y * TILE + i
    for k in range(j, TILE, TALL):
        x = cuda.blockIdx.x * TILE + k
        if x < out.shape[0] and y < out.shape[1]:
            out[x, y] = tile[i * PITCH + k]


@cuda.jit(cache=True)
def right_side(T, plate, at, dt, out):
    plate = Plate(*plate)
    tile = cuda.shared.array(TILE_CELLS, T.dtype)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + i
    for k in range(j, TILE, TALL):
        y = cuda.blockIdx.y * TILE + k
        if x < T.shape[1] and y < T.shape[0]:
            along_x, along_y = flux_sums(T, plate, at, x, y)
            total = along_x + along_y
            if plate.heated:
                total += plate.q[y, x]
            tile[k * PITCH + i] = dt * (plate.c[y, x] * total)
    _turn(tile, out)


@cuda.jit(cache=True)
def transpose(field, out):
    tile = cuda.shared.array(TILE_CELLS, field.dtype)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + i
    for k in range(j, TILE, TALL):
        y = cuda.blockIdx.y * TILE + k
        if x < field.shape[1] and y < field.shape[0]:
            tile[k * PITCH + i] = field[y, x]
    _turn(tile, out)


@cuda.jit(cache=True)
def ahead(T, change, part, out):
    x, y = cuda.grid(2)
    if x < T.shape[1] and y < T.shape[0]:
        out[y, x] = T[y, x] + part * change[y, x]


@cuda.jit(device=True)
def _largest_of(part, i):
    """Puts the largest number in `part` to its first place, or NaN if `part` contains one. i: number of this thread."""
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if i < half and not part[i + half] <= part[i]:
            part[i] = part[i + half]
        cuda.syncthreads()
        half //= 2


@cuda.jit(cache=True)
def largest_rows(T, change, before, rows):
    """One block a row and number."""
    part = cuda.shared.array(THREADS, T.dtype)
    i, y, which = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    most = T[y, 0] - T[y, 0]
    for x in range(i, T.shape[1], THREADS):
        v = T[y, x] if which == 2 else change[y, x]
        if which == 0:
            v -= before[y, x]
        v = abs(v)
        if not v <= most:
            most = v
    part[i] = most
    _largest_of(part, i)
    if i == 0:
        rows[which, y] = part[0]


@cuda.jit(cache=True)
def largest(rows, least, out):
    """One block."""
    part = cuda.shared.array(THREADS, rows.dtype)
    i = cuda.threadIdx.x
    size, moved = least - least, least - least
    for which in range(2, -1, -1):
        most = least - least
        for y in range(i, rows.shape[1], THREADS):
            if not rows[which, y] <= most:
                most = rows[which, y]
        part[i] = most
        _largest_of(part, i)
        moved = least * part[0] if which == 2 else part[0]
        if which > 0 and not moved <= size:
            size = moved
        cuda.syncthreads()
    if i == 0 and not moved <= out[0] * size:
        out[0] = moved / size

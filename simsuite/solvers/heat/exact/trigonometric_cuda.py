"""Kernels around the Fourier transforms of `trigonometric` on a GPU, neighbouring threads on neighbouring memory.

Real arrays are (rows, n). Complex ones are (rows, h, 2), with real and imaginary part. Only some rows are worked on at
once: `first` is the number of row 0 in the whole array. A block takes a tile of TILE × TILE; what is stored transposed
goes through shared memory."""

from __future__ import annotations

from numba import cuda

# how many numbers are transformed together: with all intermediate results, they stay in the cache of an H100 or H200
CHUNK = 1 << 21
TILE = 32
PITCH = TILE + 1  # one more than TILE, so that a column of a tile lies in different banks of shared memory
TALL = 8  # the number of threads of a tile in the slow direction
TILE_CELLS = TILE * PITCH


def tiles_of(rows: int, columns: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(extent, block) of a launch that takes an array in tiles. Small arrays have fewer threads."""
    side = max(rows, columns)
    width, height = min(TILE, side), min(TALL, side)
    return (-(-columns // TILE) * width, -(-rows // TILE) * height), (width, height)


@cuda.jit(cache=True)
def move(field, first, places, factors, out):
    """out[r, places[x]] = factors[x] · field[first + r, x]"""
    x0, r0 = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    columns, rows = min(x0 + TILE, field.shape[1]), min(r0 + TILE, out.shape[0], field.shape[0] - first)
    for x in range(x0 + cuda.threadIdx.x, columns, cuda.blockDim.x):
        to, factor = places[x], factors[x]
        for r in range(r0 + cuda.threadIdx.y, rows, cuda.blockDim.y):
            out[r, to] = factor * field[first + r, x]


@cuda.jit(cache=True)
def pair(field, first, places, factors, out):
    """out[r, k] = complex numbers, each of two of field[first + r]; see `trigonometric.Paired`."""
    k0, r0 = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    columns, rows = min(k0 + TILE, out.shape[1]), min(r0 + TILE, out.shape[0], field.shape[0] - first)
    for k in range(k0 + cuda.threadIdx.x, columns, cuda.blockDim.x):
        p, q = places[0, k], places[1, k]
        f0, f1, f2, f3 = factors[0, k], factors[1, k], factors[2, k], factors[3, k]
        for r in range(r0 + cuda.threadIdx.y, rows, cuda.blockDim.y):
            a, b = field[first + r, p], field[first + r, q]
            out[r, k, 0] = f0 * a + f1 * b
            out[r, k, 1] = f2 * a + f3 * b


@cuda.jit(cache=True)
def turn(rows, places, factors, first, out):
    """out[places[x], first + r] = factors[x] · rows[r, x]"""
    tile = cuda.shared.array(TILE_CELLS, rows.dtype)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    x0, r0 = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    columns, count = min(TILE, rows.shape[1] - x0), min(TILE, rows.shape[0] - r0, out.shape[1] - first - r0)
    for x in range(i, columns, cuda.blockDim.x):
        for r in range(j, count, cuda.blockDim.y):
            tile[r * PITCH + x] = factors[x0 + x] * rows[r0 + r, x0 + x]
    cuda.syncthreads()
    for r in range(i, count, cuda.blockDim.x):
        for x in range(j, columns, cuda.blockDim.y):
            out[places[x0 + x], first + r0 + r] = tile[r * PITCH + x]


@cuda.jit(cache=True)
def unpair(spectrum, places, factors, first, out):
    """out[places[:, k], first + r] = the two numbers of spectrum[r, k]; see `trigonometric.Paired`."""
    one = cuda.shared.array(TILE_CELLS, spectrum.dtype)
    other = cuda.shared.array(TILE_CELLS, spectrum.dtype)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    k0, r0 = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
    columns, count = min(TILE, spectrum.shape[1] - k0), min(TILE, spectrum.shape[0] - r0, out.shape[1] - first - r0)
    for k in range(i, columns, cuda.blockDim.x):
        f0, f1, f2, f3 = factors[0, k0 + k], factors[1, k0 + k], factors[2, k0 + k], factors[3, k0 + k]
        for r in range(j, count, cuda.blockDim.y):
            a, b = spectrum[r0 + r, k0 + k, 0], spectrum[r0 + r, k0 + k, 1]
            one[r * PITCH + k] = f0 * a + f1 * b
            other[r * PITCH + k] = f2 * a + f3 * b
    cuda.syncthreads()
    for r in range(i, count, cuda.blockDim.x):
        for k in range(j, columns, cuda.blockDim.y):
            p, q = places[0, k0 + k], places[1, k0 + k]
            out[p, first + r0 + r] = one[r * PITCH + k]
            if q != p:
                out[q, first + r0 + r] = other[r * PITCH + k]

"""The product by Numba with tiles in shared memory, and 4 x 4 numbers of C a thread.

The kernel of Numba's documentation has one number of C a thread: each multiplication still takes two reads of shared
memory, and its loop over tiles runs over the blocks of the grid, which is wrong unless the matrices are square. Here a
block of 16 x 16 threads has a tile of 64 x 64; a thread reads 8 numbers for 16 multiplications. `cuda.local.array` with
constant indices, after the loops over them are unrolled, is a name for registers. Numbers beyond the edges are read as
0. Shapes of shared arrays have to be known when the kernel is compiled, and their type too: `make_kernel` makes one for
each type.
"""

from __future__ import annotations

import functools

from numba import cuda, float32, float64

from simsuite.routes.arrays import as_numba
from simsuite.routes.matmul.shapes import sizes

TILE, DEPTH, T = 64, 16, 16  # the tile is TILE x TILE, DEPTH products at a time, by T x T threads
PADDED = TILE + 1  # so that the threads of a warp write to different banks


@functools.cache
def make_kernel(real):
    """The kernel for matrices of type `real`, one of Numba's."""

    @cuda.jit(fastmath=True)
    def multiply(a, b, c):
        tile_a = cuda.shared.array((DEPTH, PADDED), real)
        tile_b = cuda.shared.array((DEPTH, TILE), real)
        sums = cuda.local.array((4, 4), real)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        m, n, depth = c.shape[0], c.shape[1], a.shape[1]
        for i in range(4):
            for j in range(4):
                sums[i, j] = real(0)
        for begin in range(0, depth, DEPTH):
            for e in range(y * T + x, TILE * DEPTH, T * T):
                i, d, f, j = e // DEPTH, e % DEPTH, e // TILE, e % TILE
                inside = row + i < m and begin + d < depth
                tile_a[d, i] = a[row + i, begin + d] if inside else real(0)
                inside = begin + f < depth and column + j < n
                tile_b[f, j] = b[begin + f, column + j] if inside else real(0)
            cuda.syncthreads()
            for d in range(DEPTH):
                for i in range(4):
                    for j in range(4):
                        sums[i, j] += tile_a[d, y + T * i] * tile_b[d, x + T * j]
            cuda.syncthreads()
        for i in range(4):
            for j in range(4):
                if row + y + T * i < m and column + x + T * j < n:
                    c[row + y + T * i, column + x + T * j] = sums[i, j]

    return multiply


def product(a, b):
    """C = A B, an array of Numba's; a and b may be arrays of any library on the device."""
    m, _, n = sizes(a, b)
    a, b = as_numba(a, 2), as_numba(b, 2)
    c = cuda.device_array((m, n), a.dtype)
    make_kernel(float32 if a.dtype.itemsize == 4 else float64)[(-(-n // TILE), -(-m // TILE)), (T, T)](a, b, c)
    return c

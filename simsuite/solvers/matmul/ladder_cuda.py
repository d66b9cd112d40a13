"""Matrix products on a GPU, from the simplest kernel to one that keeps most of its processors busy.

All of them have the same arguments, A (n, p), X (p, m), a row of `bias` (.., n) and out (n, m), take any shape, and sum
every entry in order of the inner index, from zero.

1. `naive`: each thread computes one entry, and neighbouring threads work on neighbouring columns. Each multiplication
waits for two numbers from the cache. 2. `shared`: a block of 16 x 16 threads loads 16 x 16 pieces of both factors into
shared memory, where each number serves 16 threads. Two numbers from shared memory for each multiplication are still too
many. 3. `registers`: each thread computes a patch of 4 x 4 entries, whose sums stay in registers: a number that is read
serves four multiplications. 4. `patches`: each thread computes a patch of 8 x 8, so that a number serves eight
multiplications, and loads the next slice into registers while it multiplies the present one; with two slices in shared
memory, a slice takes one barrier.

A patch consists of pieces of four rows and columns, as a thread reads 16 bytes at once. The kernels take their
precision from A; no literal appears in their arithmetic, so float32 stays float32. docs/notes/matmul_gpu.md tells their
speed.
"""

from __future__ import annotations

from numba import config, cuda, uint32

SHARED_BLOCK = (16, 16)
SIDE = 64  # A block of `registers` computes so many rows and columns.
PATCH = 4  # SIDE / 16
DEPTH = 16
# A slice is stored with its inner index first, so that a thread's four values are neighbours and load as one 16-byte
# word. Four more entries a row than are used keep a warp's stores apart in the memory banks.
SLICE = (16, 68)
LARGE_SIDE = 128  # A block of `patches` computes so many rows and columns.
LARGE_BLOCK = (256,)
LARGE_SLICES = (16, 132)  # the shape of two slices of eight rows each
ALIGNMENT = None if config.ENABLE_CUDASIM else 16  # bytes; the simulator knows no alignment
_TWO_A_MULTIPROCESSOR = {} if config.ENABLE_CUDASIM else {"launch_bounds": (256, 2)}


@cuda.jit(cache=True)
def naive(A, X, bias, row, out):
    """out = A X + b, where b is the given row of `bias`, added to every column."""
    j, i = cuda.grid(2)
    if i < A.shape[0] and j < X.shape[1]:
        total = A.dtype.type(0)
        for k in range(A.shape[1]):
            total += A[i, k] * X[k, j]
        out[i, j] = total + bias[row, i]


@cuda.jit(cache=True)
def shared(A, X, bias, row, out):
    """out = A X + b, as `naive`, with pieces of both factors in shared memory."""
    a_piece = cuda.shared.array((16, 16), A.dtype)
    x_piece = cuda.shared.array((16, 16), A.dtype)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    n, p = A.shape
    m = X.shape[1]
    zero = A.dtype.type(0)  # a plain 0 would make float64 of the choices below
    total = zero
    for start in range(0, p, 16):
        # No thread returns early: all of them are needed at the barriers.
        a_piece[ty, tx] = A[i, start + tx] if i < n and start + tx < p else zero
        x_piece[ty, tx] = X[start + ty, j] if j < m and start + ty < p else zero
        cuda.syncthreads()
        for k in range(16):
            total += a_piece[ty, k] * x_piece[k, tx]
        cuda.syncthreads()
    if i < n and j < m:
        out[i, j] = total + bias[row, i]


@cuda.jit(device=True)
def _outer(a_slice, x_slice, patch, k, row, column):
    for r in range(4):
        for c in range(4):
            patch[r, c] += a_slice[k, row + r] * x_slice[k, column + c]


@cuda.jit(device=True)
def _outer4(a_slice, x_slice, patch, k, row, column):
    """Four steps of the inner sum, unrolled: in a loop the compiler would wait for each load from shared memory."""
    _outer(a_slice, x_slice, patch, k, row, column)
    _outer(a_slice, x_slice, patch, k + 1, row, column)
    _outer(a_slice, x_slice, patch, k + 2, row, column)
    _outer(a_slice, x_slice, patch, k + 3, row, column)


@cuda.jit(cache=True)
def registers(A, X, bias, row, out):
    """out = A X + b, as `naive`, with a patch of 4 x 4 entries for each thread."""
    a_slice = cuda.shared.array(SLICE, A.dtype, alignment=ALIGNMENT)
    x_slice = cuda.shared.array(SLICE, A.dtype, alignment=ALIGNMENT)
    patch = cuda.local.array((4, 4), A.dtype)
    i_load = cuda.local.array(4, uint32)
    j_load = cuda.local.array(4, uint32)
    n, p = A.shape
    m = X.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i0, j0 = SIDE * cuda.blockIdx.y, SIDE * cuda.blockIdx.x
    for r in range(4):
        # Beyond the edge the last row or column is loaded again: it only reaches entries that are never stored.
        i_load[r] = min(i0 + ty + 16 * r, n - 1)
        j_load[r] = min(j0 + tx + 16 * r, m - 1)
        for c in range(4):
            patch[r, c] = 0

    for start in range(0, p, DEPTH):
        ka, kx = uint32(start + tx), uint32(start + ty)  # unsigned: no code for negative indices
        for r in range(4):
            if ka < p:
                a_slice[tx, ty + 16 * r] = A[i_load[r], ka]
            else:
                a_slice[tx, ty + 16 * r] = 0
            if kx < p:
                x_slice[ty, tx + 16 * r] = X[kx, j_load[r]]
            else:
                x_slice[ty, tx + 16 * r] = 0
        cuda.syncthreads()
        _outer4(a_slice, x_slice, patch, 0, 4 * ty, 4 * tx)
        _outer4(a_slice, x_slice, patch, 4, 4 * ty, 4 * tx)
        _outer4(a_slice, x_slice, patch, 8, 4 * ty, 4 * tx)
        _outer4(a_slice, x_slice, patch, 12, 4 * ty, 4 * tx)
        cuda.syncthreads()

    for r in range(4):
        for c in range(4):
            i, j = i0 + 4 * ty + r, j0 + 4 * tx + c
            if i < n and j < m:
                out[i, j] = patch[r, c] + bias[row, i]


@cuda.jit(device=True)
def _outer8(a_slice, x_slice, patch, k, row, column):
    for r in range(4):
        for c in range(4):
            patch[r, c] += a_slice[k, row + r] * x_slice[k, column + c]
            patch[r, c + 4] += a_slice[k, row + r] * x_slice[k, column + c + 64]
            patch[r + 4, c] += a_slice[k, row + r + 64] * x_slice[k, column + c]
            patch[r + 4, c + 4] += a_slice[k, row + r + 64] * x_slice[k, column + c + 64]


@cuda.jit(device=True)
def _outer8x8(a_slice, x_slice, patch, k, row, column):
    """Eight steps of the inner sum, unrolled."""
    _outer8(a_slice, x_slice, patch, k, row, column)
    _outer8(a_slice, x_slice, patch, k + 1, row, column)
    _outer8(a_slice, x_slice, patch, k + 2, row, column)
    _outer8(a_slice, x_slice, patch, k + 3, row, column)
    _outer8(a_slice, x_slice, patch, k + 4, row, column)
    _outer8(a_slice, x_slice, patch, k + 5, row, column)
    _outer8(a_slice, x_slice, patch, k + 6, row, column)
    _outer8(a_slice, x_slice, patch, k + 7, row, column)


@cuda.jit(cache=True, **_TWO_A_MULTIPROCESSOR)
def patches(A, X, bias, row, out):
    """out = A X + b, as `naive`, with a patch of 8 x 8 entries for each thread, by one-dimensional blocks of 256
    threads.
    """
    a_slice = cuda.shared.array(LARGE_SLICES, A.dtype, alignment=ALIGNMENT)
    x_slice = cuda.shared.array(LARGE_SLICES, A.dtype, alignment=ALIGNMENT)
    patch = cuda.local.array((8, 8), A.dtype)
    a_next = cuda.local.array(4, A.dtype)
    x_next = cuda.local.array(4, A.dtype)
    i_load = cuda.local.array(4, uint32)
    j_load = cuda.local.array(4, uint32)
    n, p = A.shape
    m = X.shape[1]
    zero = A.dtype.type(0)
    t = cuda.threadIdx.x
    tx, ty = t & 15, t >> 4  # the place of the thread's patch
    ka, ia = t & 7, t >> 3  # the places that a thread loads: neighbouring threads load neighbours in a row of A,
    kx, jx = t >> 5, t & 31  # and of X
    i0, j0 = LARGE_SIDE * cuda.blockIdx.y, LARGE_SIDE * cuda.blockIdx.x
    for r in range(4):
        i_load[r] = min(i0 + ia + 32 * r, n - 1)  # beyond the edge, as in `registers`
        j_load[r] = min(j0 + jx + 32 * r, m - 1)
    for r in range(8):
        for c in range(8):
            patch[r, c] = 0

    side = 0
    for r in range(4):
        a_slice[ka, ia + 32 * r] = A[i_load[r], ka] if ka < p else zero
        x_slice[kx, jx + 32 * r] = X[kx, j_load[r]] if kx < p else zero
    cuda.syncthreads()
    for start in range(8, p + 8, 8):
        if start < p:
            k1, k2 = uint32(start + ka), uint32(start + kx)
            for r in range(4):
                a_next[r] = A[i_load[r], k1] if k1 < p else zero
                x_next[r] = X[k2, j_load[r]] if k2 < p else zero
        _outer8x8(a_slice, x_slice, patch, side, 4 * ty, 4 * tx)
        side = 8 - side
        if start < p:
            for r in range(4):
                a_slice[side + ka, ia + 32 * r] = a_next[r]
                x_slice[side + kx, jx + 32 * r] = x_next[r]
        cuda.syncthreads()

    for r in range(8):
        for c in range(8):
            i = i0 + 4 * ty + r % 4 + r // 4 * 64
            j = j0 + 4 * tx + c % 4 + c // 4 * 64
            if i < n and j < m:
                out[i, j] = patch[r, c] + bias[row, i]


def by_registers(rows, columns):
    """(kernel, extent, block) of `registers` for a result of that size."""
    return registers, (-(-columns // PATCH), -(-rows // PATCH)), SHARED_BLOCK


def by_patches(rows, columns):
    """(kernel, extent, block) of `patches` for a result of that size."""
    return patches, (-(-columns // LARGE_SIDE) * LARGE_BLOCK[0], -(-rows // LARGE_SIDE)), (*LARGE_BLOCK, 1)

"""Matrix products on a GPU.

Three kernels with the same arguments, chosen by shape: `matmul`, shared-memory tiles, for wide matrices;
`matmul_flat`, one thread an entry, for systems so small that tiles would be mostly empty; `matvec`, one block a row,
for a single column.

`matmul` gives each block a square of SIDE x SIDE entries of the result and each of its 16 x 16 threads a 4 x 4 patch
of that square, kept in registers. The inner dimension is walked in slices of DEPTH: the block loads a slice of A and
of X into shared memory, then every thread adds DEPTH outer products of four values of A and four of X. Each value
loaded from shared memory serves four multiplications, which is what lifts the kernel above one entry a thread.

The kernels take their precision from A; no literal appears in their arithmetic, so float32 stays float32.
"""

from __future__ import annotations

from typing import Any

from numba import config, cuda, uint32

from simsuite.core import Backend

SIDE = 64
DEPTH = 16
BLOCK = (16, 16)
PATCH = 4  # SIDE / 16
# A slice is stored with its inner index first, so that a thread's four values are neighbours and load as one 16-byte
# word. Four more entries a row than are used keep a warp's stores apart in the memory banks.
SLICE = (16, 68)
ALIGNMENT = None if config.ENABLE_CUDASIM else 16  # bytes; the simulator knows no alignment

VECTOR_BLOCK = 128
FLAT_BLOCK = (128, 1)
FLAT_ROWS = 16  # up to so many rows a tile is at least three quarters empty


@cuda.jit(device=True)
def _outer(a_slice, x_slice, patch, k, row, column):
    for r in range(4):
        for c in range(4):
            patch[r, c] += a_slice[k, row + r] * x_slice[k, column + c]


@cuda.jit(device=True)
def _outer4(a_slice, x_slice, patch, k, row, column):
    """Four steps of the inner sum, written out: in a loop the compiler would wait for each load from shared memory."""
    _outer(a_slice, x_slice, patch, k, row, column)
    _outer(a_slice, x_slice, patch, k + 1, row, column)
    _outer(a_slice, x_slice, patch, k + 2, row, column)
    _outer(a_slice, x_slice, patch, k + 3, row, column)


@cuda.jit(cache=True)
def matmul(A, X, bias, row, out):
    """out = A X + b, with b the given row of `bias`, added to every column. A (n, p), X (p, m), out (n, m)."""
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


@cuda.jit(cache=True)
def matmul_flat(A, X, bias, row, out):
    """The same with one thread an entry: neighbouring threads read neighbouring columns of X."""
    j, i = cuda.grid(2)
    if i < A.shape[0] and j < X.shape[1]:
        total = A[i, 0] * X[0, j]
        for k in range(1, A.shape[1]):
            total += A[i, k] * X[k, j]
        out[i, j] = total + bias[row, i]


@cuda.jit(cache=True)
def matvec(A, X, bias, row, out):
    """The same for a single column, m = 1: a block sums a row of A, whose entries it reads side by side."""
    part = cuda.shared.array(128, A.dtype)
    i, lane = cuda.blockIdx.x, cuda.threadIdx.x
    part[lane] = 0
    for k in range(lane, A.shape[1], VECTOR_BLOCK):
        part[lane] += A[i, k] * X[k, 0]
    cuda.syncthreads()
    width = VECTOR_BLOCK // 2
    while width > 0:
        if lane < width:
            part[lane] += part[lane + width]
        cuda.syncthreads()
        width //= 2
    if lane == 0:
        out[i, 0] = part[0] + bias[row, i]


class Multiplier:
    """out = A X + b for X of so many columns. A: an array (n, p) of the backend, which is kept."""

    most_steps = 1

    def __init__(self, backend: Backend, A: Any, columns: int) -> None:
        rows, inner = A.shape
        self._array, self._A = A, backend.view(A)
        self._launch = backend.launcher(*_kernel(rows, inner, columns))

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """As that of `product_cpu`, for one step."""
        self._launch(self._A, X, bias, row, out)


def _kernel(rows: int, inner: int, columns: int) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """(kernel, extent, block) that suits a product (rows, inner) x (inner, columns)."""
    if columns == 1:
        return matvec, (rows * VECTOR_BLOCK,), (VECTOR_BLOCK,)
    if rows <= FLAT_ROWS:
        return matmul_flat, (columns, rows), FLAT_BLOCK
    return matmul, (-(-columns // PATCH), -(-rows // PATCH)), BLOCK

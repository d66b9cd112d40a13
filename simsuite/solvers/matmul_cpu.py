"""Matrix products on the CPU.

Every entry is summed in the order of the inner index, whatever the number of threads, so results are the same bit for
bit on one core and on many: the reason not to call BLAS here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

ROWS = 4  # rows of a tile: each value of X that is loaded serves this many rows of A
COLUMNS = 256  # columns of a tile: its partial sums stay in the nearest cache
SERIAL = 1 << 15  # multiplications, below which waking other threads takes longer than they save


@njit(cache=True)
def _tile(A, X, bias, row, out, tile):
    """One tile of ROWS x COLUMNS entries of `out`; they are numbered row by row of tiles."""
    n, p = A.shape
    m = X.shape[1]
    across = -(-m // COLUMNS)
    i0, j0 = tile // across * ROWS, tile % across * COLUMNS
    width = min(COLUMNS, m - j0)
    sums = np.zeros((ROWS, COLUMNS), A.dtype)
    # Rows beyond the last repeat it and are not stored.
    i1, i2, i3 = min(i0 + 1, n - 1), min(i0 + 2, n - 1), min(i0 + 3, n - 1)
    for k in range(p):
        a0, a1, a2, a3 = A[i0, k], A[i1, k], A[i2, k], A[i3, k]
        for j in range(width):
            x = X[k, j0 + j]
            sums[0, j] += a0 * x
            sums[1, j] += a1 * x
            sums[2, j] += a2 * x
            sums[3, j] += a3 * x
    for r in range(min(ROWS, n - i0)):
        for j in range(width):
            out[i0 + r, j0 + j] = sums[r, j] + bias[row, i0 + r]


@njit(cache=True)
def _rows(A, X, bias, row, out, tile):
    """ROWS entries of a single column at once, as each sum waits for its own last addition."""
    n, p = A.shape
    i0 = tile * ROWS
    i1, i2, i3 = min(i0 + 1, n - 1), min(i0 + 2, n - 1), min(i0 + 3, n - 1)
    zero = A.dtype.type(0)
    s0, s1, s2, s3 = zero, zero, zero, zero
    for k in range(p):
        x = X[k, 0]
        s0 += A[i0, k] * x
        s1 += A[i1, k] * x
        s2 += A[i2, k] * x
        s3 += A[i3, k] * x
    # The repeats of the last row write what it holds already.
    out[i3, 0] = s3 + bias[row, i3]
    out[i2, 0] = s2 + bias[row, i2]
    out[i1, 0] = s1 + bias[row, i1]
    out[i0, 0] = s0 + bias[row, i0]


@njit(parallel=True, cache=True)
def matmul(A, X, bias, row, out):
    """out = A X + b, with b the given row of `bias`, added to every column. A (n, p), X (p, m), out (n, m)."""
    for tile in prange(-(-A.shape[0] // ROWS) * -(-X.shape[1] // COLUMNS)):
        _tile(A, X, bias, row, out, tile)


@njit(cache=True)
def matmul_serial(A, X, bias, row, out):
    """The same bits from one thread. Its own `def`, as Numba's cache mixes up variants of one."""
    for tile in range(-(-A.shape[0] // ROWS) * -(-X.shape[1] // COLUMNS)):
        _tile(A, X, bias, row, out, tile)


@njit(parallel=True, cache=True)
def matvec(A, X, bias, row, out):
    """The same for a single column, m = 1."""
    for tile in prange(-(-A.shape[0] // ROWS)):
        _rows(A, X, bias, row, out, tile)


@njit(cache=True)
def matvec_serial(A, X, bias, row, out):
    """The same for a single column and from one thread."""
    for tile in range(-(-A.shape[0] // ROWS)):
        _rows(A, X, bias, row, out, tile)


def product_kernel(rows: int, inner: int, columns: int) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """(kernel, extent, block) that suits a product (rows, inner) x (inner, columns); the kernels cover the whole result
    themselves."""
    if rows * inner * columns < SERIAL:
        kernel = matvec_serial if columns == 1 else matmul_serial
    else:
        kernel = matvec if columns == 1 else matmul
    return kernel, (columns, rows), (columns, rows)

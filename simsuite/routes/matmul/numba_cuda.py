"""The product by Numba on the GPU, a number of C a thread: the first attempt of everyone.

`column, row = cuda.grid(2)`: threads of a warp have neighbouring columns, so that they read one number of A, which is
handed to all, and neighbouring numbers of B. Two numbers are fetched for each multiplication and addition, mostly from
the caches, which is the limit: a tenth of what the multipliers could do.
"""

from __future__ import annotations

from numba import cuda

from simsuite.routes.arrays import as_numba
from simsuite.routes.matmul.shapes import sizes

THREADS = (32, 8)


@cuda.jit
def multiply(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = a.dtype.type(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def product(a, b):
    """C = A B, an array of Numba's; a and b may be arrays of any library on the device."""
    m, _, n = sizes(a, b)
    a, b = as_numba(a, 2), as_numba(b, 2)
    c = cuda.device_array((m, n), a.dtype)
    multiply[(-(-n // THREADS[0]), -(-m // THREADS[1])), THREADS](a, b, c)
    return c

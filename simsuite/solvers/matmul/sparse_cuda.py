"""Products with a sparse matrix on a GPU. `sparse` explains how the matrix is stored.

`entries` takes a thread for each entry of the result; neighbouring threads work on neighbouring columns. `column` is
for a single column: a block takes as many rows as it has threads, loads their numbers, and those of X that belong to
them, into shared memory side by side, and then each thread sums a row. It follows J. L. Greathouse, M. Daga, Efficient
sparse matrix-vector multiplication on GPUs using the CSR storage format, Proc. Supercomputing (2014) 769-780, where
rows are summed in another order.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int64
from scipy.sparse import csr_array

from simsuite.core import Backend

BLOCK = 128
KEPT = 512  # So many numbers are in shared memory at a time.


@cuda.jit(cache=True)
def entries(values, columns, starts, X, bias, row, base, scale, out):
    """out = A X + b if scale is 0, else base + scale (A X + b), where b is the given row of `bias`."""
    n, m = out.shape
    at = int64(cuda.grid(1))
    i = at // m
    j = at - i * m
    if i < n:
        total = values.dtype.type(0)
        for k in range(starts[i], starts[i + 1]):
            total = cuda.fma(values[k], X[columns[k], j], total)
        total += bias[row, i]
        out[i, j] = total if scale == 0 else cuda.fma(scale, total, base[i, j])


@cuda.jit(cache=True)
def column(values, columns, starts, X, bias, row, base, scale, out):
    """out = A X + b, or base + scale (A X + b), as in `entries`, for a single column."""
    a = cuda.shared.array(512, values.dtype)
    x = cuda.shared.array(512, values.dtype)
    lane, first = cuda.threadIdx.x, cuda.blockIdx.x * BLOCK
    n = out.shape[0]
    last = min(first + BLOCK, n)
    i = first + lane
    mine, after = starts[min(i, n)], starts[min(i + 1, n)]
    begin, end = starts[first], starts[last]
    total = values.dtype.type(0)
    for piece in range(begin, end, KEPT):
        stop = min(piece + KEPT, end)
        for k in range(piece + lane, stop, BLOCK):
            a[k - piece] = values[k]
            x[k - piece] = X[columns[k], 0]
        cuda.syncthreads()
        for k in range(max(mine, piece), min(after, stop)):
            total = cuda.fma(a[k - piece], x[k - piece], total)
        cuda.syncthreads()
    if i < n:
        total += bias[row, i]
        out[i, 0] = total if scale == 0 else cuda.fma(scale, total, base[i, 0])


class Multiplier:
    """A `SparseProduct` on a GPU: out = A X + b for X of so many columns."""

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: csr_array, columns: int) -> None:
        self._arrays = [backend.array(a) for a in (A.data, A.indices, A.indptr)]
        self._A = [backend.view(a) for a in self._arrays]
        n, none = A.shape[0], A.data.dtype.type(0)
        kernel, extent = (column, n) if columns == 1 else (entries, n * columns)
        self._launch, self._none = backend.launcher(kernel, (extent,), (BLOCK,)), none

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        self._launch(*self._A, X, bias, row, out, self._none, out)

    def add(self, X: Any, bias: Any, row: int, base: Any, scale: Any, out: Any) -> None:
        self._launch(*self._A, X, bias, row, base, scale, out)

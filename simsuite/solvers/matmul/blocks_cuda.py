"""Products of blocks on a GPU, see `blocks`. A block of threads takes one state of one system through all steps: a
thread for each row, with the state in shared memory. Neighbouring threads read neighbouring numbers of A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from simsuite.core import Backend

_THREADS = 64  # as many as a block may have rows
_WARP = 32


@cuda.jit(cache=True)
def product(A, m, X, bias, row, stride, n_steps, out):
    """Compute `out`, X after n_steps steps. A (s, n, n): the transposes of the blocks; X and out (s n, m)."""
    now = cuda.shared.array(64, A.dtype)
    following = cuda.shared.array(64, A.dtype)
    n, i = A.shape[1], cuda.threadIdx.x
    s = cuda.blockIdx.x // m
    j = cuda.blockIdx.x - s * m
    at = s * n + i
    if i < n:
        now[i] = X[at, j]
    cuda.syncthreads()
    for step in range(n_steps):
        if i < n:
            total = A.dtype.type(0)
            for k in range(n):
                total = cuda.fma(A[s, k, i], now[k], total)
            following[i] = total + bias[row + step * stride, at]
        cuda.syncthreads()
        if i < n:
            now[i] = following[i]
        cuda.syncthreads()
    if i < n:
        out[at, j] = now[i]


class Multiplier:
    """A `Product` with blocks on a GPU. A (s, n, n): their transposes."""

    most_steps: int | None = None

    def __init__(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        self._array, self._columns = backend.array(A), columns
        self._A = backend.view(self._array)
        threads = _WARP if A.shape[1] <= _WARP else _THREADS
        self._launch = backend.launcher(product, (len(A) * columns * threads,), (threads,))

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        self._launch(self._A, self._columns, X, bias, row, stride, n_steps, out)

"""Products of blocks on a CPU, see `blocks`. Each core takes some blocks, one after the other through all steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uintp

from simsuite.core import Backend
from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.registers_cpu import multiply_add

_SERIAL = 1 << 16  # With fewer multiplications, waking other threads takes longer than they save.


@part
def _step(A, x, bias, y, m):
    """y = A x + bias. A (n, n) is the transpose of a block; x and y (n m,) have its states one after another."""
    n = uintp(len(bias))
    for j in range(uintp(m)):
        first = j * n
        for i in range(n):
            y[first + i] = 0
        for k in range(n):
            a, factor = A[k], x[first + k]
            for i in range(n):
                y[first + i] = multiply_add(a[i], factor, y[first + i])
        for i in range(n):
            y[first + i] += bias[i]


@parallel_for
def _blocks(begin, end, A, X, bias, row, stride, n_steps, out, work):
    n, m = A.shape[1], X.shape[1]
    for s in range(begin, end):
        top = s * n
        for i in range(n):
            for j in range(m):
                work[0, s, j * n + i] = X[top + i, j]
        for step in range(n_steps):
            now = step % 2
            _step(A[s], work[now, s], bias[row + step * stride, top : top + n], work[1 - now, s], m)
        for i in range(n):
            for j in range(m):
                out[top + i, j] = work[n_steps % 2, s, j * n + i]


@kernel
def product(A, work, alone, X, bias, row, stride, n_steps, out):
    """Compute `out`, X after n_steps steps. A (s, n, n): the transposes of the blocks; work (2, s, n m)."""
    _blocks(len(A), (A, X, bias, row, stride, n_steps, out, work), 1 if alone else len(A))


class Multiplier:
    """A `Product` with blocks on a CPU. A (s, n, n): their transposes."""

    most_steps: int | None = None

    def __init__(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        self._A, self._work = backend.array(A), backend.zeros((2, len(A), A.shape[1] * columns), A.dtype)
        self._size = A.size * columns

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        product(self._A, self._work, self._size * n_steps < _SERIAL, X, bias, row, stride, n_steps, out)

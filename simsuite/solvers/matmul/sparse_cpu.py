"""Products with a sparse matrix on a CPU. `sparse` explains how the matrix is stored.

Tasks of about equal work, of some rows and up to STRIP bytes of columns, are distributed over the cores. The sums of a
row stay in vector registers while its numbers are processed, for several vectors of columns at once; columns that do
not fill a vector take shorter ones, with the same order and rounding.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import uintp
from scipy.sparse import csr_array

from simsuite.core import Backend
from simsuite.parallel_for import kernel, parallel_for, part
from simsuite.solvers.matmul.cpu.registers_cpu import gathered_product, multiply_add
from simsuite.solvers.matmul.cpu.vectors_cpu import VECTOR

# So many bytes of a row of X are multiplied before the next ones: many such rows stay in the second cache.
STRIP = 2048
SERIAL = 1 << 16  # With fewer multiplications, waking other threads takes longer than they save.
_ONE, _TWO, _FOUR = uintp(1), uintp(2), uintp(4)
_SINGLE, _SEVERAL = (0,), (0,) * 4  # The lengths of these tuples say how many vectors are summed at once.
# The lengths of these tuples say how often vectors of 64 bytes are halved.
_WHOLE, _HALF, _QUARTER, _EIGHTH = (), (0,), (0,) * 2, (0,) * 3
_PARTS = 4  # a core's
_ROW = 4  # The other work for a row takes as long as so many multiplications.


@part
def _sum(values, columns, begin, end, X, m, j):
    total = values.dtype.type(0)
    for k in range(begin, end):
        total = multiply_add(values[k], X[uintp(columns[k]) * m + j], total)
    return total


@part
def _sums(values, columns, begin, end, X, m, j0, j1, out, at, lanes):
    """out[at + c] = the sum of the stored numbers of a row, times column j0 + c of X. The row must not be empty. X and
    out have rank 1; a row of X has m numbers.
    """
    j, to = j0, at
    while j + _FOUR * lanes <= j1:
        gathered_product(_SEVERAL, _WHOLE, values, columns, begin, end, X, m, j, out, to)
        j, to = j + _FOUR * lanes, to + _FOUR * lanes
    while j + lanes <= j1:
        gathered_product(_SINGLE, _WHOLE, values, columns, begin, end, X, m, j, out, to)
        j, to = j + lanes, to + lanes
    lanes //= _TWO
    if lanes > _ONE and j + lanes <= j1:
        gathered_product(_SINGLE, _HALF, values, columns, begin, end, X, m, j, out, to)
        j, to = j + lanes, to + lanes
    lanes //= _TWO
    if lanes > _ONE and j + lanes <= j1:
        gathered_product(_SINGLE, _QUARTER, values, columns, begin, end, X, m, j, out, to)
        j, to = j + lanes, to + lanes
    lanes //= _TWO
    if lanes > _ONE and j + lanes <= j1:
        gathered_product(_SINGLE, _EIGHTH, values, columns, begin, end, X, m, j, out, to)
        j, to = j + lanes, to + lanes
    while j < j1:
        out[to] = _sum(values, columns, begin, end, X, m, j)
        j, to = j + _ONE, to + _ONE


@part
def _column(values, columns, starts, x, shift, base, scale, out, i0, i1):
    """Compute rows i0 .. i1 of a single column; all arrays have rank 1."""
    begin = uintp(starts[i0])
    for i in range(uintp(i0), uintp(i1)):
        end, total = uintp(starts[i + _ONE]), values.dtype.type(0)
        for k in range(begin, end):
            total = multiply_add(values[k], x[uintp(columns[k])], total)
        begin, total = end, total + shift[i]
        out[i] = total if scale == 0 else multiply_add(scale, total, base[i])


@part
def _task(matrix, X, bias, row, base, scale, out, i0, i1, j0, j1, lanes):
    values, columns, starts = matrix
    # indices are unsigned, as each signed one would be tested for being negative
    m, width, lanes = uintp(out.shape[1]), uintp(j1 - j0), uintp(lanes)
    x, flat, above = X.reshape(-1), out.reshape(-1), base.reshape(-1)
    shift = bias[row]
    if m == _ONE:
        _column(values, columns, starts, x, shift, above, scale, flat, i0, i1)
        return
    for i in range(uintp(i0), uintp(i1)):
        begin, end, at = uintp(starts[i]), uintp(starts[i + uintp(1)]), i * m + uintp(j0)
        if begin < end:
            _sums(values, columns, begin, end, x, m, uintp(j0), uintp(j1), flat, at, lanes)
        else:
            for c in range(width):
                flat[at + c] = 0
        if scale == 0:
            for c in range(width):
                flat[at + c] += shift[i]
        else:
            for c in range(width):
                flat[at + c] = multiply_add(scale, flat[at + c] + shift[i], above[at + c])


@parallel_for
def _tasks(begin, end, matrix, X, bias, row, base, scale, out, parts, width, lanes):
    m = out.shape[1]
    across = -(-m // width)
    for number in range(begin, end):
        t, j = number // across, number % across * width
        i0, i1, j1 = parts[t], parts[t + 1], min(j + width, m)
        _task(matrix, X, bias, row, base, scale, out, i0, i1, j, j1, lanes)


@kernel
def product(values, columns, starts, X, bias, row, base, scale, out, parts, width, lanes):
    """out = A X + b if scale is 0, else base + scale (A X + b), where b is the given row of `bias`, added to every
    column. parts: the rows at which tasks begin, and at the end the number of rows; width: how many columns a task has.
    """
    across = -(-out.shape[1] // width)
    matrix = (values, columns, starts)
    _tasks((len(parts) - 1) * across, (matrix, X, bias, row, base, scale, out, parts, width, lanes))


@kernel
def product_serial(values, columns, starts, X, bias, row, base, scale, out, parts, width, lanes):
    """Compute the same bits as `product` does, in one thread."""
    m = out.shape[1]
    for j in range(0, m, width):
        _task((values, columns, starts), X, bias, row, base, scale, out, 0, len(out), j, min(j + width, m), lanes)


class Multiplier:
    """A `SparseProduct` on a CPU: out = A X + b for X of so many columns."""

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: csr_array, columns: int) -> None:
        self._A = tuple(backend.array(a) for a in (A.data, A.indices, A.indptr))
        self._kernel = product_serial if A.nnz * columns < SERIAL else product
        self._tasks = _parts(A.indptr), STRIP // A.data.itemsize, VECTOR // A.data.itemsize
        self._none = A.data.dtype.type(0)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        self._kernel(*self._A, X, bias, row, out, self._none, out, *self._tasks)

    def add(self, X: Any, bias: Any, row: int, base: Any, scale: Any, out: Any) -> None:
        self._kernel(*self._A, X, bias, row, base, scale, out, *self._tasks)


def _parts(starts: np.ndarray) -> np.ndarray:
    """The rows at which tasks begin, and the number of rows."""
    work = starts + _ROW * np.arange(len(starts), dtype=np.int64)
    count = min(_PARTS * numba.config.NUMBA_NUM_THREADS, len(starts) - 1)
    inner = np.searchsorted(work, np.arange(1, count) * (work[-1] / count))
    return np.concatenate([[0], inner, [len(starts) - 1]]).astype(np.int64)

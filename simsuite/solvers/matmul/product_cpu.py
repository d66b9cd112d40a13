"""Matrix products on a CPU: A stays, X and what is added come and go.

A is kept by panels of a few rows, A[k, r] of each in order, as the innermost loops (`registers_cpu`) read it. Tasks of
some rows and columns are shared out among the cores. Each copies some of X, KEPT rows of its columns, in the order in
which they are read, and multiplies; so what an innermost loop reads stays in the first cache, and what comes again in
the second: K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM Transactions on
Mathematical Software 34 (2008) 12.

Steps of small systems are taken at once: a task keeps some columns in the order in which they are read, which is that
in which they are written, and multiplies again and again.

Every entry is fma(A[i, k], X[k, j], sum) over k = 0, 1, .. from 0 on, and then the addition of bias: the same bits for
any number of cores, any number of columns beside it, and however many steps are taken at once. That is the reason not
to call BLAS here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from simsuite.core import Backend
from simsuite.solvers.matmul.column_cpu import column, column_serial
from simsuite.solvers.matmul.registers_cpu import COLUMN, VECTOR, tile_of, tile_product

KEPT = 384  # rows of X that are multiplied before the next ones
COLUMNS = 480  # of a task, about
ROWS = 96  # of A that are multiplied with all columns of a task before the next ones
SERIAL = 1 << 19  # multiplications, below which waking other threads takes longer than they save
FEW_ROWS = 512  # up to so many all rows of some columns stay in the second cache from step to step
_NEAR = 192 << 10  # bytes of columns that are loaded together for steps: half a second cache
_FEWEST = 48  # rows of a task
_PACKING = 16  # multiplications take as long as packing a number
_LINE = 64  # bytes


@njit(parallel=True, cache=True)
def pack(A, height, panels):
    """Panels of `height` rows, the last filled up with zeros."""
    n, p = A.shape
    for t in prange(-(-n // height)):
        for k in range(p):
            for r in range(height):
                i = t * height + r
                panels[(t * p + k) * height + r] = A[i, k] if i < n else 0


@njit(cache=True)
def _load(X, k0, kept, j0, width, columns, depth, into):
    """Rows k0 .. k0 + kept of `width` columns from j0 on, by groups of `columns`, the last filled up with zeros. Groups
    have room for `depth` rows."""
    for k in range(kept):
        for g in range(-(-width // columns)):
            own = min(columns, width - g * columns)
            source = X[k0 + k, j0 + g * columns : j0 + g * columns + own]
            target = into[(g * depth + k) * columns : (g * depth + k + 1) * columns]
            for j in range(own):
                target[j] = source[j]
            for j in range(own, columns):
                target[j] = 0


@njit(cache=True)
def _store(source, out, j0, width, columns, depth):
    """The other way round: all rows of some columns of `out`."""
    for i in range(len(out)):
        for g in range(-(-width // columns)):
            own = min(columns, width - g * columns)
            target = out[i, j0 + g * columns : j0 + g * columns + own]
            begin = source[(g * depth + i) * columns : (g * depth + i + 1) * columns]
            for j in range(own):
                target[j] = begin[j]


@njit(cache=True)
def _task(tile, height, columns, panels, p, X, bias, row, out, i0, i1, j0, j1, work):
    """Rows i0 .. i1, a multiple of the height of a tile but for the last, and columns j0 .. j1 of the result."""
    n, m = out.shape
    flat, size = out.reshape(-1), KEPT * -(-(j1 - j0) // columns) * columns
    shifts = work[size : size + i1 - i0 + height]
    edge = work[size + i1 - i0 + height :]
    for i in range(i0, i1):
        shifts[i - i0] = bias[row, i]
    for k0 in range(0, p, KEPT):
        kept = min(KEPT, p - k0)
        first, last = k0 == 0, k0 + kept == p
        _load(X, k0, kept, j0, j1 - j0, columns, kept, work)
        for i_some in range(i0, i1, ROWS):
            for g in range(-(-(j1 - j0) // columns)):
                j = j0 + g * columns
                for i in range(i_some, min(i_some + ROWS, i1), height):
                    a, x = (i * p) + k0 * height, g * kept * columns
                    if i + height <= n and j + columns <= m:
                        tile_product(tile, panels, a, work, x, flat, i * m + j, m, kept, first, shifts, i - i0, last)
                        continue
                    rows, width = min(height, n - i), min(columns, m - j)
                    for r in range(rows):
                        for c in range(width):
                            edge[r * columns + c] = out[i + r, j + c]
                    tile_product(tile, panels, a, work, x, edge, 0, columns, kept, first, shifts, i - i0, last)
                    for r in range(rows):
                        for c in range(width):
                            out[i + r, j + c] = edge[r * columns + c]


@njit(cache=True)
def _shared_task(tile, height, columns, panels, p, X, bias, row, out, rows, width, number, work):
    """One of the tasks of `rows` x `width` entries."""
    n, m = out.shape
    across = -(-m // width)
    i, j = number // across * rows, number % across * width
    _task(tile, height, columns, panels, p, X, bias, row, out, i, min(i + rows, n), j, min(j + width, m), work)


@njit(parallel=True, cache=True)
def product(tile, height, columns, panels, p, X, bias, row, out, rows, width, work):
    """out = A X + b, with b the given row of `bias`, added to every column. panels: of A (n, p); X (p, m); out (n, m).
    rows, width: of a task; work[core]: its own memory."""
    for number in prange(-(-out.shape[0] // rows) * -(-out.shape[1] // width)):
        _shared_task(
            tile, height, columns, panels, p, X, bias, row, out, rows, width, number, work[numba.get_thread_id()]
        )


@njit(cache=True)
def product_serial(tile, height, columns, panels, p, X, bias, row, out, rows, width, work):
    """The same bits from one thread. Its own `def`, as Numba's cache mixes up variants of one."""
    for number in range(-(-out.shape[0] // rows) * -(-out.shape[1] // width)):
        _shared_task(tile, height, columns, panels, p, X, bias, row, out, rows, width, number, work[0])


@njit(cache=True)
def _steps(tile, height, columns, panels, X, bias, row, stride, n_steps, out, j0, j1, work):
    """Steps of the columns j0 .. j1."""
    p, n, groups = len(X), len(out), -(-(j1 - j0) // columns)
    padded = -(-n // height) * height
    depth = max(padded, p)
    size = groups * depth * columns
    shifts = work[2 * size : 2 * size + padded]
    _load(X, 0, p, j0, j1 - j0, columns, depth, work)
    for g in range(groups):
        for s in range(n_steps):
            now, then = s % 2 * size + g * depth * columns, (s + 1) % 2 * size + g * depth * columns
            for i in range(n):
                shifts[i] = bias[row + s * stride, i]
            for i in range(0, padded, height):
                tile_product(
                    tile, panels, i * p, work, now, work, then + i * columns, columns, p, True, shifts, i, True
                )
    _store(work[n_steps % 2 * size :], out, j0, j1 - j0, columns, depth)


@njit(parallel=True, cache=True)
def march(tile, height, columns, panels, X, bias, row, stride, n_steps, out, width, work):
    """out = X after n_steps products with A, each plus a row of `bias`: rows row, row + stride .. A of several steps
    is square. width: of a task."""
    m = X.shape[1]
    for number in prange(-(-m // width)):
        j, own = number * width, work[numba.get_thread_id()]
        _steps(tile, height, columns, panels, X, bias, row, stride, n_steps, out, j, min(j + width, m), own)


@njit(cache=True)
def march_serial(tile, height, columns, panels, X, bias, row, stride, n_steps, out, width, work):
    """The same bits from one thread."""
    m = X.shape[1]
    for j in range(0, m, width):
        _steps(tile, height, columns, panels, X, bias, row, stride, n_steps, out, j, min(j + width, m), work[0])


class Multiplier:
    """out = A X + b for X of so many columns. A: an array (n, p) of the backend, of which panels are kept.

    most_steps: how many one call takes at once, None for any number.
    """

    def __init__(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        n, p = A.shape
        self.most_steps = None if columns == 1 or max(n, p) <= FEW_ROWS else 1
        self._cores, self._work = numba.config.NUMBA_NUM_THREADS, n * p * columns
        if columns == 1:
            self._bind_column(backend, A)
            return
        self._tile, self._height = tile_of(n, columns, A.itemsize)
        self._width = len(self._tile) * VECTOR // A.itemsize
        self._panels = _panels(backend, A, self._height)
        if self.most_steps is None:
            self._bind_steps(backend, A, columns)
        else:
            self._bind_product(backend, A, columns)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """out = X after n_steps of X -> A X + b_k. b_k: row `row` + k `stride` of `bias`."""
        self._launch(X, bias, row, stride, n_steps, out)

    def _bind_column(self, backend: Backend, A: np.ndarray) -> None:
        n, p = A.shape
        kernel = column_serial if self._work < SERIAL else column  # at each step threads wait for each other
        height = COLUMN * VECTOR // A.itemsize
        panels, room = _panels(backend, A, height), -(-max(n, p) // height) * height
        work = [_aligned(backend, (room,), A.dtype) for _ in range(3)]

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            kernel(height, panels, X, bias, row, stride, n_steps, out, *work)

        self._launch = launch

    def _bind_steps(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        (n, p), height = A.shape, self._height
        padded = -(-n // height) * height
        depth = max(padded, p)
        groups = max(_NEAR // (depth * self._width * A.itemsize), 1)
        width = min(groups, -(-columns // (self._cores * self._width))) * self._width
        work = _aligned(backend, (self._cores, 2 * depth * width + padded), A.dtype)
        tile, group, panels = self._tile, self._width, self._panels

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            kernel = march_serial if self._work * n_steps < SERIAL else march
            kernel(tile, height, group, panels, X, bias, row, stride, n_steps, out, width, work)

        self._launch = launch

    def _bind_product(self, backend: Backend, A: np.ndarray, columns: int) -> None:
        (n, p), height = A.shape, self._height
        kernel = product_serial if self._work < SERIAL else product
        across = -(-columns // COLUMNS)
        width = -(-columns // (across * self._width)) * self._width
        rows = self._rows_of_a_task(n, across)
        size = KEPT * width + rows + height + height * self._width
        work = _aligned(backend, (self._cores, size), A.dtype)
        tile, group, panels = self._tile, self._width, self._panels

        def launch(X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
            kernel(tile, height, group, panels, p, X, bias, row, out, rows, width, work)

        self._launch = launch

    def _rows_of_a_task(self, n: int, across: int) -> int:
        """Such that all cores are done at the same time, if there are so many tasks beside each other: they get equal
        numbers of tasks. A number of X is packed once for each task below the other."""

        def cost(parts: int) -> int:
            return -(-parts * across // self._cores) * (-(-n // (parts * self._height)) * self._height + _PACKING)

        parts = min(range(1, max(n // _FEWEST, 1) + 1), key=cost)
        return -(-n // (parts * self._height)) * self._height


def kinds(shape: tuple[int, int, int]) -> Iterator[tuple[str, type[Multiplier]]]:
    """(name, what makes it) of all kernels for (rows, inner) times (inner, columns)."""
    yield "vectors", Multiplier


def _panels(backend: Backend, A: np.ndarray, height: int) -> np.ndarray:
    n, p = A.shape
    panels = _aligned(backend, (-(-n // height) * height * p,), A.dtype)
    pack(A, height, panels)
    return panels


def _aligned(backend: Backend, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros; the last axis begins on a line of the cache."""
    size = np.dtype(dtype).itemsize
    *before, last = shape
    last = -(-last * size // _LINE) * _LINE // size
    raw = backend.zeros(int(np.prod(before)) * last + _LINE // size, dtype)
    begin = -raw.ctypes.data % _LINE // size
    return raw[begin : begin + raw.size - _LINE // size].reshape(*before, last)

"""Matrix products on a GPU: A stays, X and what is added come and go.

Kernels are chosen by shape: `matvec` for a single column; of the ladder (`ladder_cuda`) `naive` for systems so small
that tiles would be mostly empty, `patches` for large ones in float32, and `registers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from numba import cuda

from simsuite.core import Backend
from simsuite.solvers.matmul import ladder_cuda

Launch: TypeAlias = tuple[Any, tuple[int, ...], tuple[int, ...]]  # kernel, extent, block

PIECE = 32  # rows and columns of A that `matvec` has in shared memory
PADDED = (PIECE, PIECE + 1)  # which keeps its columns apart in the memory banks
VECTOR_BLOCK = (PIECE, 8)
FLAT_BLOCK = (128, 1)
FLAT_ROWS = 16  # up to so many rows a tile is at least three quarters empty
LARGE = 2048  # rows and columns from which tiles of 128 x 128 are enough for all multiprocessors


@cuda.jit(cache=True)
def matvec(A, X, bias, row, out):
    """out = A X + b for a single column: a block brings square pieces of A, along whose rows it reads, into shared
    memory, from where each of its first threads adds up a row in order."""
    piece = cuda.shared.array(PADDED, A.dtype)
    part = cuda.shared.array(PIECE, A.dtype)
    n, p = A.shape
    lane, first = cuda.threadIdx.x, cuda.threadIdx.y
    i0 = PIECE * cuda.blockIdx.y
    zero = A.dtype.type(0)
    total = zero
    for start in range(0, p, PIECE):
        k = start + lane
        for r in range(first, PIECE, VECTOR_BLOCK[1]):
            piece[r, lane] = A[min(i0 + r, n - 1), k] if k < p else zero
        if first == 0:
            part[lane] = X[k, 0] if k < p else zero
        cuda.syncthreads()
        if first == 0:
            for r in range(PIECE):
                total += piece[lane, r] * part[r]
        cuda.syncthreads()
    i = i0 + lane
    if first == 0 and i < n:
        out[i, 0] = total + bias[row, i]


@cuda.jit(cache=True)
def spread(bias, row, out):
    """out = a row of `bias` in every column, to which a library adds."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = bias[row, i]


class Multiplier:
    """out = A X + b for X of so many columns. A: an array (n, p) of the backend, which is kept. launch: of a kernel, if
    not the one that suits."""

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: Any, columns: int, launch: Launch | None = None) -> None:
        self._array, self._A = A, backend.view(A)
        self._launch = backend.launcher(*(launch or _kernel(len(A), columns, A.dtype.itemsize)))

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """As that of `product_cpu`, for one step."""
        self._launch(self._A, X, bias, row, out)


def kinds(shape: tuple[int, int, int]) -> Iterator[tuple[str, Callable[..., Multiplier]]]:
    """(name, what makes it) of all kernels for (rows, inner) times (inner, columns)."""
    rows, _, columns = shape
    if columns == 1:
        yield "matvec", Multiplier
        return
    for kernel in (ladder_cuda.naive, ladder_cuda.shared):
        yield kernel.py_func.__name__, partial(Multiplier, launch=(kernel, (columns, rows), ladder_cuda.SHARED_BLOCK))
    yield "registers", partial(Multiplier, launch=ladder_cuda.by_registers(rows, columns))
    yield "patches", partial(Multiplier, launch=ladder_cuda.by_patches(rows, columns))


def _kernel(rows: int, columns: int, itemsize: int) -> Launch:
    """(kernel, extent, block) that suits a result of that size."""
    if columns == 1:
        return matvec, (PIECE, -(-rows // PIECE) * VECTOR_BLOCK[1]), VECTOR_BLOCK
    if rows <= FLAT_ROWS:
        return ladder_cuda.naive, (columns, rows), FLAT_BLOCK
    if itemsize == 4 and min(rows, columns) >= LARGE:  # in float64 patches of 8 x 8 do not fit into registers
        return ladder_cuda.by_patches(rows, columns)
    return ladder_cuda.by_registers(rows, columns)

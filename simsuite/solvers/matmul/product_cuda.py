"""Matrix products on a GPU, with a constant A and varying X and bias.

Kernels are chosen by shape: `matvec` for a single column; from `ladder_cuda`, `naive` for systems so small that tiles
would be mostly empty, `patches` for large ones in float32, and `registers` for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from numba import cuda

from simsuite.core import Backend
from simsuite.solvers.matmul import ladder_cuda

Launch: TypeAlias = tuple[Any, tuple[int, ...], tuple[int, ...]]  # a kernel, its extent, and the size of a block

PIECE = 32  # `matvec` has a square of so many rows and columns of A in shared memory.
PADDED = (PIECE, PIECE + 1)  # One more column keeps the columns of a piece in different memory banks.
VECTOR_BLOCK = (PIECE, 8)
FLAT_BLOCK = (128, 1)
FLAT_ROWS = 16  # With up to so many rows, a tile would be at least three quarters empty.
LARGE = 2048  # From so many rows and columns on, tiles of 128 x 128 are enough to keep all multiprocessors busy.


@cuda.jit(cache=True)
def matvec(A, X, bias, row, out):
    """out = A X + b for a single column. A block loads square pieces of A, reading along its rows, into shared memory,
    where each of its first threads adds up a row in order.
    """
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
    """Write the given row of `bias` to every column of `out`, to which a library then adds the product."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = bias[row, i]


class Multiplier:
    """The product out = A X + b for X of so many columns. A: an array (n, p) of the backend, which is kept. launch: the
    kernel and its extent, if not those that suit the shape.
    """

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: Any, columns: int, launch: Launch | None = None) -> None:
        self._array, self._A = A, backend.view(A)
        self._launch = backend.launcher(*(launch or _kernel(len(A), columns, A.dtype.itemsize)))

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue one step; the arguments are those of `Multiplier` in `product_cpu`."""
        self._launch(self._A, X, bias, row, out)


def kinds(shape: tuple[int, int, int]) -> Iterator[tuple[str, Callable[..., Multiplier]]]:
    """(name, class or function that makes the product) for all kernels for (rows, inner) times (inner, columns)."""
    rows, _, columns = shape
    if columns == 1:
        yield "matvec", Multiplier
        return
    for kernel in (ladder_cuda.naive, ladder_cuda.shared):
        yield kernel.py_func.__name__, partial(Multiplier, launch=(kernel, (columns, rows), ladder_cuda.SHARED_BLOCK))
    yield "registers", partial(Multiplier, launch=ladder_cuda.by_registers(rows, columns))
    yield "patches", partial(Multiplier, launch=ladder_cuda.by_patches(rows, columns))


def _kernel(rows: int, columns: int, itemsize: int) -> Launch:
    """(kernel, extent, block) for a result of that size."""
    if columns == 1:
        return matvec, (PIECE, -(-rows // PIECE) * VECTOR_BLOCK[1]), VECTOR_BLOCK
    if rows <= FLAT_ROWS:
        return ladder_cuda.naive, (columns, rows), FLAT_BLOCK
    if itemsize == 4 and min(rows, columns) >= LARGE:  # In float64 patches of 8 x 8 do not fit into registers.
        return ladder_cuda.by_patches(rows, columns)
    return ladder_cuda.by_registers(rows, columns)

"""Matrix products on a GPU: A stays, X and what is added come and go.

Kernels are chosen by shape: `matvec`, one block a row, for a single column; of the ladder (`ladder_cuda`) `naive` for
systems so small that tiles would be mostly empty, and `registers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from numba import cuda

from simsuite.core import Backend
from simsuite.solvers.matmul import ladder_cuda

Launch: TypeAlias = tuple[Any, tuple[int, ...], tuple[int, ...]]  # kernel, extent, block

VECTOR_BLOCK = 128
FLAT_BLOCK = (128, 1)
FLAT_ROWS = 16  # up to so many rows a tile is at least three quarters empty


@cuda.jit(cache=True)
def matvec(A, X, bias, row, out):
    """out = A X + b for a single column: a block sums a row of A, whose entries it reads side by side."""
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
    """out = A X + b for X of so many columns. A: an array (n, p) of the backend, which is kept. launch: of a kernel, if
    not the one that suits."""

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: Any, columns: int, launch: Launch | None = None) -> None:
        self._array, self._A = A, backend.view(A)
        self._launch = backend.launcher(*(launch or _kernel(len(A), columns)))

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


def _kernel(rows: int, columns: int) -> Launch:
    """(kernel, extent, block) that suits a result of that size."""
    if columns == 1:
        return matvec, (rows * VECTOR_BLOCK,), (VECTOR_BLOCK,)
    if rows <= FLAT_ROWS:
        return ladder_cuda.naive, (columns, rows), FLAT_BLOCK
    return ladder_cuda.by_registers(rows, columns)

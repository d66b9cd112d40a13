"""Which product suits a device, a choice of kernels and a shape.

All of them give the same bits: every entry is one chain of fused multiply-adds in order of the inner index, from zero,
and what is added last is a row of `bias`. So neither the device nor the kernel nor what is beside a column changes it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.kernel_choice import kernel_of, made_or_not
from simsuite.solvers.matmul import small, tiles
from simsuite.solvers.matmul.column import column
from simsuite.solvers.matmul.program import ProgramProduct
from simsuite.solvers.matmul.recipe import Recipe


class Product(Protocol):
    """A X + b for a matrix A that it keeps, and X with as many columns as it was made for."""

    most_steps: int | None  # that one call takes at once; None for any number

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = X after n_steps of X -> A X + b_k, b_k row `row` + k `stride` of `bias`, added to every column.

        Views of arrays of the backend: X (p, m); bias (.., n); out (n, m), another one than X. A of several steps is
        square.
        """


Make: TypeAlias = Callable[[Backend, Any, int], Product]


def product(backend: Backend, A: Any, columns: int, choice: str = "auto") -> tuple[Product, str]:
    """(a product with A, an array (n, p) of the backend, for X of so many columns; the kernels it is made of).

    choice: "numba", "nvrtc", or "auto", which takes programs where the device has them.
    Raises DeviceError where programs are asked for and cannot be had.
    """
    if kernel_of(choice, backend) == "nvrtc":
        shape, itemsize = (*A.shape, columns), np.dtype(A.dtype).itemsize
        recipes = suitable(shape, itemsize, backend.processors)
        made, chosen = made_or_not(
            functools.partial(ProgramProduct, backend, A, columns, recipes), choice, {"kernel": "nvrtc"}
        )
        if made is not None:
            return made, chosen["kernel"]
    return backend.kernels("simsuite.solvers.matmul.product").Multiplier(backend, A, columns), "numba"


def suitable(shape: tuple[int, int, int], itemsize: int, processors: int) -> list[Recipe]:
    """The programs that can be fastest for (rows, inner) times (inner, columns)."""
    n, p, m = shape
    if n == p <= small.MOST_ROWS:
        return list(small.suitable(n, m, itemsize, processors))
    if m == 1:
        return [column(n, itemsize, processors)]
    return [tile.recipe(shape, itemsize) for tile in tiles.suitable(shape, itemsize, processors)]


def kernels_for(backend: Backend, shape: tuple[int, int, int], itemsize: int) -> Iterator[tuple[str, Make]]:
    """(name, what makes it of a backend, A and a number of columns) of all that can multiply (rows, inner) with
    (inner, columns), in `suitable` ways."""
    yield from backend.kernels("simsuite.solvers.matmul.product").kinds(shape)
    if backend.compiles:
        for recipe in suitable(shape, itemsize, backend.processors):
            yield recipe.title, functools.partial(ProgramProduct, recipes=[recipe])

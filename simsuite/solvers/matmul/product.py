"""Which product suits a device, a choice of kernels and a shape.

All of them but the device's library give the same bits: every entry is one chain of fused multiply-adds in order of the
inner index, from zero, and what is added last is a row of `bias`. So neither the device nor the kernel nor what stands
beside a column changes it. The library is taken where it is faster and its bits are these.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.kernel_choice import kernel_of, made_or_not
from simsuite.solvers.matmul import small, tiles
from simsuite.solvers.matmul.column import column
from simsuite.solvers.matmul.library import LibraryProduct
from simsuite.solvers.matmul.program import ProgramProduct, Stored
from simsuite.solvers.matmul.recipe import Recipe
from simsuite.solvers.matmul.trial import Trial


class Product(Protocol):
    """A X + b for a matrix A that it keeps, and X with as many columns as it was made for."""

    most_steps: int | None  # that one call takes at once; None for any number

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = X after n_steps of X -> A X + b_k, b_k row `row` + k `stride` of `bias`, added to every column.

        Views of arrays of the backend: X (p, m); bias (.., n); out (n, m), another one than X. A of several steps is
        square.
        """


Make: TypeAlias = Callable[[Backend, Any, int], Product]


def product(backend: Backend, A: Any, columns: int, choice: str = "auto", biased: bool = True) -> tuple[Product, str]:
    """(a product with A, an array (n, p) of the backend, for X of so many columns; the kernels it is made of).

    choice: "numba", "nvrtc" for programs, "cublas", or "auto", which takes the fastest, none of Numba's if there is
    another. biased: False if what will be added is zero.
    Raises DeviceError where what is asked for cannot be had.
    """
    if choice == "cublas":
        return LibraryProduct(backend, A, columns, biased), choice
    if kernel_of(choice, backend) == "nvrtc":
        make = functools.partial(_fastest, backend, A, columns, biased, with_library=choice == "auto")
        made, _ = made_or_not(make, choice, {"kernel": "nvrtc"})
        if made is not None:
            return made, made.name
    return backend.kernels("simsuite.solvers.matmul.product").Multiplier(backend, A, columns), "numba"


def _fastest(
    backend: Backend, A: Any, columns: int, biased: bool, with_library: bool
) -> ProgramProduct | LibraryProduct:
    """Of what is suitable."""
    shape, stored = (*A.shape, columns), Stored()
    recipes = suitable(shape, A.dtype.itemsize, backend.processors)
    programs = [ProgramProduct(backend, A, columns, recipe, stored) for recipe in recipes]
    if len(programs) == 1 or not Trial.fits(backend, shape, A.dtype):
        return programs[0]
    trial = Trial(backend, shape, A.dtype)
    candidates: list[ProgramProduct | LibraryProduct] = [*programs]
    if with_library and not recipes[0].many:
        with contextlib.suppress(DeviceError):
            library = LibraryProduct(backend, A, columns, biased)
            if trial.same_bits(programs[0], library):
                candidates.append(library)
    return trial.fastest(candidates)


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
            yield recipe.title, functools.partial(ProgramProduct, recipe=recipe)

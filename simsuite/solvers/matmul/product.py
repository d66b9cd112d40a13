"""The choice of a product for a device, a choice of kernels and a shape.

All kernels but the device's library give the same bits: every entry is one chain of fused multiply-adds in order of the
inner index, from zero, to which a row of `bias` is added last. So the result depends neither on the device nor on the
kernel nor on the other columns. The library is taken where it is faster and gives these bits.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.kernel_choice import kernel_of, made_or_not
from simsuite.solvers.matmul.library import LibraryProduct
from simsuite.solvers.matmul.product_protocol import Product
from simsuite.solvers.matmul.programs import small_systems, tiles
from simsuite.solvers.matmul.programs.column import column
from simsuite.solvers.matmul.programs.program import Handed, ProgramProduct, Stored
from simsuite.solvers.matmul.programs.recipe import Recipe
from simsuite.solvers.matmul.programs.steps_of_a_column import steps_of_a_column
from simsuite.solvers.matmul.trial import Trial

_LAID_OUT = 1.25  # A program's copy of A is at most so many times as large as A, unless A is small.
MOST_ROOM = 227 << 10  # The shared memory of a block on an H100 and an H200, in bytes.
Make: TypeAlias = Callable[[Backend, Any, int], Product]


class Products:
    """Products with matrices of one shape and precision, all by the kernels that suit the first of them.

    columns: those of X. choice: "numba", "nvrtc" for programs in CUDA C++, "cublas", or "auto", which takes the
    fastest, and none of Numba's if there is another. biased: False if the bias will always be zero. many_steps: whether
    calls ask for many steps at once, where a kernel can take them.
    """

    def __init__(
        self, backend: Backend, columns: int, choice: str = "auto", biased: bool = True, many_steps: bool = False
    ) -> None:
        self._backend, self._columns, self._choice, self._biased = backend, columns, choice, biased
        self._many_steps = many_steps
        self._make: Callable[[Any], Product] | None = None
        self._handed: Handed = {}

    def __call__(self, A: Any) -> tuple[Product, str]:
        """(a product with A, an array (n, p) of the backend; the names of its kernels).

        Raises DeviceError where the kernels that `choice` asks for cannot be had.
        """
        made = self._first(A) if self._make is None else self._make(A)
        return made, getattr(made, "name", "numba")

    def _first(self, A: Any) -> Product:
        if self._choice == "cublas":
            self._make = self._by_library
        elif kernel_of(self._choice, self._backend) == "nvrtc":
            made, _ = made_or_not(functools.partial(self._fastest, A), self._choice, {"kernel": "nvrtc"})
            if made is not None:
                self._make = functools.partial(self._by_program, made.recipe) if made.recipe else self._by_library
                return made
        if self._make is None:
            kernels = self._backend.kernels("simsuite.solvers.matmul.product")
            self._make = lambda A: kernels.Multiplier(self._backend, A, self._columns)
        return self._make(A)

    def _by_library(self, A: Any) -> LibraryProduct:
        return LibraryProduct(self._backend, A, self._columns, self._biased)

    def _by_program(self, recipe: Recipe, A: Any, stored: Stored | None = None) -> ProgramProduct:
        return ProgramProduct(self._backend, A, self._columns, recipe, stored, self._handed)

    def _fastest(self, A: Any) -> ProgramProduct | LibraryProduct:
        """The fastest of the suitable programs and, with "auto", of the library if its bits are the same."""
        backend, shape, stored = self._backend, (*A.shape, self._columns), Stored()
        recipes = suitable(shape, A.dtype.itemsize, backend.processors, backend.block_memory, self._many_steps)
        copies = max(1, int(backend.memory_free() / (_LAID_OUT * A.nbytes)) - 1)
        affordable = list(dict.fromkeys(recipe.layout for recipe in recipes))[:copies]
        recipes = [recipe for recipe in recipes if recipe.layout in affordable]
        for recipe in recipes:
            backend.program(recipe.source, recipe.macros)  # All programs start compiling, at the same time.
        programs = [self._by_program(recipe, A, stored) for recipe in recipes]
        if len(programs) == 1 or not Trial.fits(backend, shape, A.dtype):
            return programs[0]
        trial = Trial(backend, shape, A.dtype)
        candidates: list[ProgramProduct | LibraryProduct] = [*programs]
        if self._choice == "auto" and not recipes[0].many:
            with contextlib.suppress(DeviceError):
                library = self._by_library(A)
                if trial.same_bits(programs[0], library):
                    # The library is timed first: a device gets warm, and slower, for those that come later.
                    candidates.insert(0, library)
        return trial.fastest(candidates)


def product(
    backend: Backend, A: Any, columns: int, choice: str = "auto", biased: bool = True, many_steps: bool = False
) -> tuple[Product, str]:
    """A product with a single matrix A; the arguments are those of `Products`."""
    return Products(backend, columns, choice, biased, many_steps)(A)


def suitable(
    shape: tuple[int, int, int], itemsize: int, processors: int, room: int = MOST_ROOM, many_steps: bool = False
) -> list[Recipe]:
    """The recipes of programs that may be the fastest for (rows, inner) times (inner, columns). room: the bytes of
    shared memory that a block may take. many_steps: whether a call takes many steps.
    """
    n, p, m = shape
    found: list[Recipe] = []
    if many_steps and n == p <= small_systems.MOST_ROWS:
        found = [*small_systems.suitable(n, m, itemsize, processors)]
    elif m == 1:
        steps = steps_of_a_column(n, itemsize, processors, room) if many_steps and n == p else None
        found = [steps or column(n, itemsize, processors)]
    fitting = [recipe for recipe in found if recipe.shared <= room]
    return fitting or tiles.suitable(shape, itemsize, processors, room)


def kernels_for(backend: Backend, shape: tuple[int, int, int], itemsize: int) -> Iterator[tuple[str, Make]]:
    """(name, function that makes a product from a backend, A and a number of columns) for all kernels that can multiply
    (rows, inner) with (inner, columns), programs among them as `suitable` gives them.
    """
    yield from backend.kernels("simsuite.solvers.matmul.product").kinds(shape)
    if backend.compiles:
        for recipe in suitable(shape, itemsize, backend.processors, backend.block_memory):
            yield recipe.title, functools.partial(ProgramProduct, recipe=recipe)

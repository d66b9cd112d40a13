"""Which product suits a device, a choice of kernels and a shape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from simsuite.core import Backend
from simsuite.solvers.kernel_choice import kernel_of
from simsuite.solvers.matmul.march import MOST_ROWS, MarchProduct
from simsuite.solvers.matmul.tile import TILES, TileProduct


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

    choice: "numba", "nvrtc", or "auto", which takes Numba's. A single column is for Numba's: it waits for memory alone.
    Raises DeviceError where programs are asked for and cannot be had.
    """
    if choice == "nvrtc" and kernel_of(choice, backend) == "nvrtc" and columns > 1:
        n, p = A.shape
        small = n == p <= MOST_ROWS
        return (MarchProduct(backend, A, columns) if small else TileProduct(backend, A, columns)), "nvrtc"
    return backend.kernels("simsuite.solvers.matmul.product").Multiplier(backend, A, columns), "numba"


def kernels_for(backend: Backend, shape: tuple[int, int, int], itemsize: int) -> Iterator[tuple[str, Make]]:
    """(name, what makes it of a backend, A and a number of columns) of all that can multiply (rows, inner) with
    (inner, columns)."""
    yield from backend.kernels("simsuite.solvers.matmul.product").kinds(shape)
    if backend.compiles and shape[2] > 1:
        for tile in TILES[itemsize]:
            yield str(tile), functools.partial(TileProduct, tiles=[tile])

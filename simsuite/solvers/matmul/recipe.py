"""What a program in CUDA C++ needs to be told to multiply by a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsuite.core import Backend


@dataclass(frozen=True)
class Recipe:
    """A kernel of the file NAME.cu, where NAME is `program`, as it is compiled and launched for a product.

    filled: the program reads the transpose of A, filled up with zeros to multiples of so many rows and columns; None: A
    as it is. many: whether it takes any number of steps at once.

    All kernels have the arguments (A, X, bias, out, n, p, m, pitch, row, stride, steps), with the sizes of A (n, p) and
    X (p, m), the numbers in a row of A as it is stored, and the rest as in `Product`.
    """

    title: str
    program: str
    kernel: str
    macros: Mapping[str, str | int]
    blocks: int
    threads: int
    shared: int  # bytes
    filled: tuple[int, int] | None
    many: bool

    @property
    def source(self) -> Path:
        return Path(__file__).with_name(f"{self.program}.cu")

    def stored(self, backend: Backend, A: Any) -> Any:
        """A, an array (n, p) of the backend, as the program reads it."""
        if self.filled is None:
            return A
        n, p = A.shape
        rows, columns = (-(-size // of) * of for size, of in zip((p, n), self.filled))
        found = backend.zeros((rows, columns), A.dtype)
        with backend.arithmetic():
            found[:p, :n] = A.T
        return found

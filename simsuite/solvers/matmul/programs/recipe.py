"""How a program in CUDA C++ is compiled and launched to multiply by a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from simsuite.solvers.matmul.programs.layout import Layout


@dataclass(frozen=True)
class Recipe:
    """A kernel of the file NAME.cu, where NAME is `program`, and how it is compiled and launched for a product.

    layout: how A is stored. many: whether it takes any number of steps at once. handed: how many bytes its blocks need
    to pass numbers to each other. waits_for: as in `Program.launcher`.

    All kernels have the arguments (A, X, bias, out, n, p, m, pitch, row, stride, steps): the sizes of A (n, p) and X
    (p, m), the numbers in a row of A as it is stored (pitch), and the rest as in `Product`; then the bytes to pass
    numbers through, if any.
    """

    title: str
    program: str
    kernel: str
    macros: Mapping[str, str | int]
    blocks: int
    threads: int
    shared: int  # bytes
    layout: Layout
    many: bool
    handed: int = 0
    waits_for: str = ""

    @property
    def source(self) -> Path:
        return Path(__file__).with_name(f"{self.program}.cu")

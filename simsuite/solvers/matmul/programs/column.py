"""The program in CUDA C++ for a single column (`column.cu`)."""

from __future__ import annotations

from simsuite.solvers.matmul.programs.layout import RowSums
from simsuite.solvers.matmul.programs.recipe import Recipe

_SLICE = 32768  # bytes
_STAGES = 3
_THREADS = 128
_MOST_ROWS = 128


def column(n: int, itemsize: int, processors: int) -> Recipe:
    """The recipe for a matrix of n rows. A block has so few of them that all multiprocessors have work."""
    rows = 16
    while rows < _MOST_ROWS and n > rows * processors:
        rows *= 2
    threads = max(_THREADS, 2 * rows)  # Tensor cores add 16 rows a warp.
    depth = _SLICE // (rows * itemsize)
    macros = {"DOUBLE": int(itemsize == 8), "ROWS": rows, "DEPTH": depth, "STAGES": _STAGES, "THREADS": threads}
    shared = _STAGES * depth * (rows + 1) * itemsize
    layout = RowSums(depth, rows)
    return Recipe("column", "column", "column", macros, -(-n // rows), threads, shared, layout, False)

"""Many steps of small systems in one launch of a program in CUDA C++ (`march.cu`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul.tile import Tile, transposed

SOURCE = Path(__file__).with_name("march.cu")

# With as few rows as a system has at least. Depth: rows that are written out.
TILES = {
    4: (
        Tile(16, 256, 16, 1, 16, 64, 4, tall=4, wide=8),
        Tile(32, 256, 16, 1, 32, 64, 2, tall=8, wide=8),
        Tile(64, 128, 16, 1, 64, 32, 3, tall=8, wide=8),
        Tile(96, 128, 16, 1, 32, 64, 1, tall=8, wide=8),
        Tile(128, 128, 16, 1, 64, 32, 1, tall=8, wide=8),
    ),
    8: (
        Tile(16, 64, 16, 1, 16, 16, 4, at_once=8),
        Tile(32, 64, 16, 1, 32, 16, 4, at_once=8),
        Tile(48, 64, 16, 1, 48, 16, 2, at_once=8),
        Tile(64, 64, 16, 1, 32, 32, 2, at_once=8),
        Tile(96, 64, 16, 1, 32, 32, 1, at_once=8),
        Tile(128, 64, 16, 1, 64, 16, 1, at_once=8),
    ),
}
MOST_ROWS = 128


class MarchProduct:
    """As `Product` for a square A of at most MOST_ROWS rows, with any number of steps at once. A: an array (n, n) of
    the backend, of which the transpose is kept.

    Raises DeviceError if the program cannot be compiled for the device.
    """

    most_steps: int | None = None

    def __init__(self, backend: Backend, A: Any, columns: int) -> None:
        n, size = len(A), np.dtype(A.dtype).itemsize
        tile = next(t for t in TILES[size] if n <= t.rows)
        self._transpose = transposed(backend, A, tile.rows, tile.rows)
        self._sizes = np.int32(n), np.int32(columns)
        macros = tile.own_macros(size) | {"PART": tile.depth}
        pitches = tile.pitches(size)
        program, blocks = backend.program(SOURCE, macros), -(-columns // tile.columns)
        self._launch = program.launcher("march", blocks, tile.threads, tile.rows * sum(pitches) * size)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        self._launch(self._transpose, X, bias, out, *self._sizes, *map(np.int32, (row, stride, n_steps)))

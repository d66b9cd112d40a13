"""Matrix products by a program in CUDA C++ (`tile.cu`): which tiles there are, and what the program wants of A."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend

SOURCE = Path(__file__).with_name("tile.cu")
_PIECE = 16  # bytes that are copied at once
_PAD = 4  # numbers, of rows in shared memory in float64


@dataclass(frozen=True)
class Tile:
    """What a program is compiled for. A block makes rows x columns entries by slices of `depth`, `stages` of them in
    shared memory; a warp makes warp_rows x warp_columns, a lane tall x wide. In float64 tensor cores take `at_once`
    columns of A. blocks: that share a multiprocessor."""

    rows: int
    columns: int
    depth: int
    stages: int
    warp_rows: int
    warp_columns: int
    blocks: int
    tall: int = 0
    wide: int = 0
    at_once: int = 0

    def __str__(self) -> str:
        inner = f"by {self.at_once}" if self.at_once else f"of {self.tall} x {self.wide}"
        return f"tile {self.rows} x {self.columns} {inner}"

    @property
    def threads(self) -> int:
        return 32 * (self.rows // self.warp_rows) * (self.columns // self.warp_columns)

    def pitches(self, itemsize: int) -> tuple[int, int]:
        """Of rows of A, transposed, and of X in shared memory, in numbers."""
        pad = _PAD if itemsize == 8 else 0
        return self.rows + pad, self.columns + pad

    def own_macros(self, itemsize: int) -> dict[str, str | int]:
        """What `sums.cuh` wants, and BLOCKS."""
        inner = {"AT_ONCE": self.at_once} if itemsize == 8 else {"TALL": self.tall, "WIDE": self.wide}
        return {
            "DOUBLE": int(itemsize == 8),
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "WARP_ROWS": self.warp_rows,
            "WARP_COLUMNS": self.warp_columns,
            "BLOCKS": self.blocks,
            **inner,
        }


TILES = {
    4: (
        Tile(128, 128, 16, 4, 64, 32, 2, tall=8, wide=8),
        Tile(128, 256, 16, 3, 64, 64, 1, tall=8, wide=16),
        Tile(64, 128, 16, 4, 32, 32, 2, tall=8, wide=4),
    ),
    8: (
        Tile(128, 128, 16, 3, 64, 32, 1, at_once=16),
        Tile(128, 128, 16, 3, 64, 32, 1, at_once=8),
        Tile(128, 64, 16, 3, 64, 32, 2, at_once=8),
    ),
}  # by the size of a number


def transposed(backend: Backend, A: Any, deep: int, wide: int) -> Any:
    """The transpose of A, an array (n, p) of the backend, filled up with zeros to multiples of deep and wide."""
    n, p = A.shape
    found = backend.zeros((-(-p // deep) * deep, -(-n // wide) * wide), A.dtype)
    with backend.arithmetic():
        found[:p, :n] = A.T
    return found


class TileProduct:
    """As `Product`, by the fastest of some tiles, which the first call finds. A: an array (n, p) of the backend, of
    which the transpose is kept, filled up with zeros.

    Raises DeviceError if the program cannot be compiled for the device.
    """

    most_steps: int | None = 1

    def __init__(self, backend: Backend, A: Any, columns: int, tiles: Sequence[Tile] = ()) -> None:
        (n, p), self._dtype = A.shape, np.dtype(A.dtype)
        tiles = tiles or TILES[self._dtype.itemsize]
        deep, wide = (math.lcm(*(getattr(t, of) for t in tiles)) for of in ("depth", "rows"))
        self._transpose = transposed(backend, A, deep, wide)
        self._sizes = tuple(map(np.int32, (n, p, columns, self._transpose.shape[1])))
        self._launches = [self._launcher(backend, t) for t in tiles]
        self._backend = backend
        self._fastest: Callable[..., None] | None = None

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        arguments = self._transpose, X, bias, out, *self._sizes, np.int32(row)
        if self._fastest is None:
            n, p, m, _ = map(int, self._sizes)
            question = f"{n} x {p} times {p} x {m} {self._dtype.name} matrices by {len(self._launches)} tiles"
            trials = [functools.partial(launch, *arguments) for launch in self._launches]
            self._fastest = self._launches[self._backend.fastest(question, trials)]
        self._fastest(*arguments)

    def _launcher(self, backend: Backend, tile: Tile) -> Callable[..., None]:
        n, _, m, _ = map(int, self._sizes)
        size = self._dtype.itemsize
        chunk = _PIECE if m * size % _PIECE == 0 else size
        macros = tile.own_macros(size) | {"DEPTH": tile.depth, "STAGES": tile.stages, "CHUNK": chunk}
        shared = tile.stages * tile.depth * sum(tile.pitches(size)) * size
        blocks = -(-n // tile.rows) * -(-m // tile.columns)
        return backend.program(SOURCE, macros).launcher("tile_product", blocks, tile.threads, shared)

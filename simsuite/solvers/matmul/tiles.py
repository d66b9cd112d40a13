"""Tiles of programs in CUDA C++ (`tile.cu`): which there are, and which of them suit a product."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simsuite.solvers.matmul.layout import Transposed
from simsuite.solvers.matmul.recipe import Recipe

_PIECE = 16  # bytes that are copied at once
_PAD = 4  # numbers, of rows in shared memory in float64
_FEW = 5  # tiles that are tried for a product


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
    def warps(self) -> int:
        return self.rows // self.warp_rows * (self.columns // self.warp_columns)

    @property
    def threads(self) -> int:
        return 32 * self.warps

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

    def recipe(self, shape: tuple[int, int, int], itemsize: int) -> Recipe:
        """For (rows, inner) times (inner, columns)."""
        n, _, m = shape
        chunk = _PIECE if m * itemsize % _PIECE == 0 else itemsize
        shared = self.stages * self.depth * sum(self.pitches(itemsize)) * itemsize
        macros = self.own_macros(itemsize) | {"DEPTH": self.depth, "STAGES": self.stages, "CHUNK": chunk}
        blocks = -(-n // self.rows) * -(-m // self.columns)
        layout = Transposed(_DEEPEST, _TALLEST[itemsize])  # for all tiles, so that they share a copy of A
        return Recipe(str(self), "tile", "tile_product", macros, blocks, self.threads, shared, layout, False)


TILES = {
    4: (
        Tile(128, 256, 32, 2, 64, 64, 1, tall=8, wide=16),
        Tile(256, 128, 16, 3, 64, 64, 1, tall=16, wide=8),
        Tile(128, 128, 32, 2, 64, 32, 2, tall=8, wide=8),
        Tile(64, 128, 16, 4, 32, 32, 2, tall=8, wide=4),
        Tile(64, 64, 16, 4, 32, 32, 4, tall=8, wide=4),
        Tile(64, 64, 32, 5, 32, 32, 2, tall=8, wide=4),
        Tile(64, 64, 32, 4, 16, 32, 2, tall=4, wide=4),
        Tile(64, 32, 32, 4, 32, 16, 4, tall=4, wide=4),
        Tile(32, 32, 32, 4, 16, 32, 4, tall=4, wide=4),
        Tile(64, 16, 32, 4, 32, 16, 4, tall=4, wide=4),
        Tile(64, 8, 32, 5, 64, 8, 4, tall=4, wide=4),
    ),
    8: (
        Tile(128, 128, 16, 3, 64, 32, 1, at_once=8),
        Tile(128, 128, 32, 3, 64, 32, 1, at_once=16),
        Tile(128, 128, 16, 4, 32, 32, 1, at_once=4),
        Tile(128, 64, 16, 3, 64, 32, 2, at_once=8),
        Tile(128, 64, 16, 4, 32, 32, 2, at_once=4),
        Tile(64, 64, 16, 4, 32, 32, 3, at_once=4),
        Tile(64, 64, 32, 5, 32, 32, 1, at_once=4),
        Tile(64, 64, 32, 4, 16, 32, 1, at_once=8),
        Tile(64, 128, 16, 3, 32, 32, 2, at_once=4),
        Tile(64, 32, 16, 4, 32, 16, 4, at_once=8),
        Tile(32, 32, 32, 3, 16, 16, 4, at_once=8),
        Tile(64, 16, 32, 3, 16, 16, 3, at_once=8),
    ),
}  # by the size of a number
_DEEPEST = 32
_TALLEST = {size: math.lcm(*(tile.rows for tile in tiles)) for size, tiles in TILES.items()}


def suitable(shape: tuple[int, int, int], itemsize: int, processors: int) -> list[Tile]:
    """A few tiles, one of which is fastest: those whose blocks leave the fewest multiprocessors waiting at the end, of
    which the large ones read less for each product."""
    n, _, m = shape

    def cost(tile: Tile) -> float:
        blocks = -(-n // tile.rows) * -(-m // tile.columns)
        rounds = -(-blocks // processors)
        return rounds * tile.rows * tile.columns * (1 + 16 / tile.rows + 16 / tile.columns)

    return sorted(TILES[itemsize], key=cost)[:_FEW]

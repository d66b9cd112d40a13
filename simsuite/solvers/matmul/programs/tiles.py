"""Tiles of programs in CUDA C++ (`tile.cu`, `parts.cu`): which there are, and which of them suit a product."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simsuite.solvers.matmul.programs.layout import Panels
from simsuite.solvers.matmul.programs.recipe import Recipe

_PIECE = 16  # bytes that are copied at once
_WRITTEN = 32  # rows of a slice that are written out one after the other for tensor cores, at most
_OF_A_BLOCK = 1024  # bytes of shared memory that each block takes besides
_SHARED = 8192  # entries of tiles that are shared on a multiprocessor, at most
_FEW = 8  # that are tried for a product
_WAITING = 1.05  # times as long as with all multiprocessors at work: from there on tiles are shared


@dataclass(frozen=True)
class Tile:
    """What a program is compiled for. A block makes rows x columns entries by slices of `depth`, `stages` of them in
    shared memory; a warp makes warp_rows x warp_columns. In float32 a lane makes tall x wide, and reads `at_once`
    columns of A before it multiplies them; in float64 tensor cores take so many. blocks: that share a
    multiprocessor."""

    rows: int
    columns: int
    depth: int
    stages: int
    warp_rows: int
    warp_columns: int
    blocks: int
    at_once: int
    tall: int = 0
    wide: int = 0

    def __str__(self) -> str:
        inner = f"of {self.tall} x {self.wide}, by {self.at_once}" if self.tall else f"by {self.at_once}"
        return f"tile {self.rows} x {self.columns} x {self.depth}, {self.stages} stages, {inner}"

    @property
    def warps(self) -> int:
        return self.rows // self.warp_rows * (self.columns // self.warp_columns)

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def slice_bytes(self, itemsize: int) -> int:
        return self.depth * (self.rows + self.columns) * itemsize

    def own_macros(self, itemsize: int) -> dict[str, str | int]:
        """What `sums.cuh` wants, and BLOCKS."""
        inner = {"TALL": self.tall, "WIDE": self.wide} if itemsize == 4 else {}
        return {
            "DOUBLE": int(itemsize == 8),
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "WARP_ROWS": self.warp_rows,
            "WARP_COLUMNS": self.warp_columns,
            "BLOCKS": self.blocks,
            "AT_ONCE": self.at_once,
            **inner,
        }

    def recipe(
        self, shape: tuple[int, int, int], itemsize: int, beside: int = 0, processors: int = 1, room: int = 0
    ) -> Recipe:
        """For (rows, inner) times (inner, columns). beside: so many blocks on each multiprocessor share all tiles.
        room: bytes that the threads of a block can share."""
        chunk = _PIECE if shape[2] * itemsize % _PIECE == 0 else itemsize
        blocks = beside * processors or self.number(shape)
        macros = self.own_macros(itemsize) | {
            "DEPTH": self.depth,
            "PART": min(self.depth, _WRITTEN) if itemsize == 8 else self.depth,
            "STAGES": self.stages,
            "CHUNK": chunk,
        }
        most = -(-blocks // processors)  # of a multiprocessor, if blocks are spread evenly; those of the next launch
        alone = (room + _OF_A_BLOCK) // (most + 1) - _OF_A_BLOCK + _PIECE  # must not come where there is room for more
        if beside:
            macros["BLOCKS"] = beside
        return Recipe(
            title=f"{self} in parts, {beside} beside" if beside else str(self),
            program="parts" if beside else "tile",
            kernel="parts" if beside else "tile_product",
            macros=macros,
            blocks=blocks,
            threads=self.threads,
            shared=max(self.stages * self.slice_bytes(itemsize), alone),
            layout=Panels(_DEEPEST, self.rows),
            many=False,
            handed=8 + 8 * blocks + blocks * self.rows * self.columns * itemsize if beside else 0,
            waits_for="launches",
        )

    @property
    def beside(self) -> int:
        """How many of its blocks on a multiprocessor can share tiles, which takes some more registers."""
        return min(self.blocks, _SHARED // (self.rows * self.columns))

    def number(self, shape: tuple[int, int, int]) -> int:
        return -(-shape[0] // self.rows) * -(-shape[2] // self.columns)


TILES = {
    4: (
        Tile(128, 256, 32, 2, 64, 64, 1, 1, tall=8, wide=16),
        Tile(256, 128, 16, 3, 64, 64, 1, 1, tall=16, wide=8),
        Tile(128, 128, 32, 2, 64, 32, 2, 1, tall=8, wide=8),
        Tile(64, 128, 16, 4, 32, 32, 2, 1, tall=8, wide=4),
        Tile(64, 64, 16, 4, 32, 32, 4, 1, tall=8, wide=4),
        Tile(64, 64, 32, 3, 32, 32, 2, 2, tall=8, wide=4),
        Tile(64, 64, 32, 5, 32, 32, 1, 1, tall=4, wide=8),
        Tile(64, 32, 32, 4, 32, 16, 4, 1, tall=4, wide=4),
        Tile(32, 32, 32, 4, 16, 32, 4, 2, tall=4, wide=4),
        Tile(64, 16, 32, 4, 32, 16, 4, 1, tall=4, wide=4),
        Tile(64, 16, 96, 4, 16, 16, 1, 4, tall=4, wide=2),
        Tile(32, 16, 64, 3, 32, 4, 4, 4, tall=2, wide=2),
        Tile(64, 8, 32, 5, 64, 8, 4, 1, tall=4, wide=4),
        Tile(32, 8, 32, 3, 32, 4, 8, 4, tall=2, wide=2),
    ),
    8: (
        Tile(128, 128, 16, 3, 64, 32, 1, 4),
        Tile(128, 64, 16, 3, 64, 32, 2, 4),
        Tile(64, 128, 16, 3, 32, 32, 1, 4),
        Tile(64, 64, 16, 4, 32, 32, 2, 8),
        Tile(64, 64, 32, 3, 32, 32, 2, 8),
        Tile(64, 64, 32, 4, 32, 16, 1, 8),
        Tile(64, 64, 32, 6, 32, 16, 1, 16),
        Tile(48, 48, 32, 3, 16, 48, 2, 16),
        Tile(64, 32, 16, 4, 32, 16, 4, 8),
        Tile(64, 32, 32, 3, 16, 16, 2, 16),
        Tile(32, 32, 32, 3, 16, 16, 2, 16),
        Tile(64, 16, 32, 5, 16, 16, 2, 16),
        Tile(48, 16, 32, 6, 16, 16, 1, 16),
        Tile(32, 16, 64, 3, 16, 16, 3, 16),
    ),
}  # by the size of a number
_DEEPEST = 192  # columns to which A is filled up: whole slices of any tile


def suitable(shape: tuple[int, int, int], itemsize: int, processors: int, room: int) -> list[Recipe]:
    """Some ways, one of which is fastest: those whose blocks leave the fewest multiprocessors waiting at the end, of
    which those of large tiles read less for each product. room: bytes that the threads of a block can share."""
    found: list[tuple[float, Recipe]] = []
    for tile in TILES[itemsize]:
        size = tile.rows * tile.columns * (1 + 16 / tile.rows + 16 / tile.columns)
        rounds = tile.number(shape) / processors
        found.append((math.ceil(rounds) * size, tile.recipe(shape, itemsize, 0, processors, room)))
        beside = min(int(rounds), tile.beside)
        if beside and math.ceil(rounds) > _WAITING * rounds:
            found.append((rounds * _WAITING * size, tile.recipe(shape, itemsize, beside, processors, room)))
    fitting = [one for one in found if one[1].shared <= room]
    return [recipe for _, recipe in sorted(fitting, key=lambda one: one[0])[:_FEW]]

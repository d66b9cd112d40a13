"""The tiles of the programs `tile.cu` and `split_tiles.cu`, and the choice among them for a product."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simsuite.solvers.matmul.programs.layout import Panels
from simsuite.solvers.matmul.programs.recipe import Recipe

_PIECE = 16  # So many bytes are copied at once.
_WRITTEN = 32  # For tensor cores, at most so many rows of a slice are unrolled.
_OF_A_BLOCK = 1024  # Each block takes so many bytes of shared memory besides its own.
_SHARED = 8192  # Tiles of at most so many entries are shared by the blocks of a multiprocessor.
_FEW = 8  # At most so many tiles are tried for a product.
# Tiles are shared if without it a product takes so many times as long as with all multiprocessors busy.
_WAITING = 1.05


@dataclass(frozen=True)
class Tile:
    """The sizes that a program is compiled for.

    A block computes rows x columns entries by slices of `depth`, of which `stages` are in shared memory; a warp
    computes warp_rows x warp_columns. In float32 a lane computes tall x wide, and reads `at_once` columns of A before
    it multiplies them; in float64 `at_once` is how many columns tensor cores take. blocks: how many run on a
    multiprocessor.
    """

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
        """The macros that `sums.cuh` needs, and BLOCKS."""
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
        """The recipe for (rows, inner) times (inner, columns). beside: how many blocks on each multiprocessor share all
        tiles, or 0. room: the bytes of shared memory that a block may take.
        """
        chunk = _PIECE if shape[2] * itemsize % _PIECE == 0 else itemsize
        blocks = beside * processors or self.number(shape)
        macros = self.own_macros(itemsize) | {
            "DEPTH": self.depth,
            "PART": min(self.depth, _WRITTEN) if itemsize == 8 else self.depth,
            "STAGES": self.stages,
            "CHUNK": chunk,
        }
        most = -(-blocks // processors)  # of a multiprocessor, if blocks are spread evenly
        # so much memory that blocks of the next launch do not come while this one leaves multiprocessors room
        alone = (room + _OF_A_BLOCK) // (most + 1) - _OF_A_BLOCK + _PIECE
        if beside:
            macros["BLOCKS"] = beside
        return Recipe(
            title=f"{self} in parts, {beside} beside" if beside else str(self),
            program="split_tiles" if beside else "tile",
            kernel="split_tiles" if beside else "tile_product",
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
        """How many of its blocks on a multiprocessor can share tiles; sharing takes some more registers."""
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
_DEEPEST = 192  # The columns of A are filled up to a multiple of this, which is whole slices of any tile.


def suitable(shape: tuple[int, int, int], itemsize: int, processors: int, room: int) -> list[Recipe]:
    """Some recipes, one of which is the fastest: those whose blocks leave the fewest multiprocessors idle at the end,
    and among these large tiles, which read less for each product. room: the bytes of shared memory that a block may
    take.
    """
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

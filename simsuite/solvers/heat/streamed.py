"""Explicit steps of a large grid, several in one pass over it (`streamed.cu`).

A warp walks up a tile of 32·lane columns and keeps one row of every level in time in registers, so that `depth` steps
cost one read and one write. What that takes is recomputing the cells up to `depth` around each tile. (Overlapped tiling
with register streaming; the ideas are those of Matsumura et al., AN5D, CGO 2020, and Zhang et al., EBISU, ICS 2023,
which leave the edges out.)

Tiles are of two kinds. Inner ones never see an edge of the domain, and their loop has no code for it. Edge tiles make
a frame around them: bands at bottom and top, sides at left and right, each only where the domain is not periodic. They
may be narrower, which leaves registers for ghosts and ledger. On grids too small for inner tiles, bands cover all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simsuite.solvers.heat.blocked import Variant, loaded_together

SOURCE = Path(__file__).with_name("streamed.cu")
_SIDE_ROWS = 128  # at most, of a tile at a side
_WRAPPED_SLOTS = 8  # at most, where columns are periodic
_HIGH = 0.85  # of the inner rows are in high tiles
_WAVES = (1, 2, 3, 4, 6, 8)  # how many high tiles each warp has to do, one after another


@dataclass(frozen=True)
class Shape:
    """What a program is compiled for. depth: steps a pass. lane, side_lane, band_lane: cells a lane holds, of inner
    tiles and of those at edges. unroll: rows a turn of the inner loop; together: of which so many are computed at once;
    slots: rows on their way, a multiple of unroll. warps: a block; blocks: a multiprocessor, at least."""

    depth: int
    lane: int
    side_lane: int
    band_lane: int
    unroll: int
    together: int
    slots: int
    warps: int
    blocks: int

    def macros(self, dtype: np.dtype, nx: int, wrap_x: bool, wrap_y: bool) -> dict[str, str | int]:
        """For rows of nx numbers."""
        return {
            "REAL": "float" if dtype == np.float32 else "double",
            "DEPTH": self.depth,
            "LANE": self.lane,
            "SIDE_LANE": self.side_lane,
            "BAND_LANE": self.band_lane,
            "WIDTH": loaded_together(self.lane, dtype, nx),
            "SIDE_WIDTH": loaded_together(self.side_lane, dtype, nx),
            "BAND_WIDTH": loaded_together(self.band_lane, dtype, nx),
            "WRAP_X": int(wrap_x),
            "WRAP_Y": int(wrap_y),
            "UNROLL": self.unroll,
            "TOGETHER": self.together,
            "SLOTS": self.slots,
            "WARPS": self.warps,
            "BLOCKS": self.blocks,
        }

    def outcome(self, lane: int, dtype: np.dtype, nx: int) -> int:
        """Columns that a tile has results for."""
        width = loaded_together(lane, dtype, nx)
        return 32 * lane - 2 * (-(-self.depth // width) * width)

    def shared_bytes(self, itemsize: int) -> int:
        """Of a block."""
        return self.warps * (self.slots * 32 * self.lane + 6 * self.depth) * itemsize


SHAPES = {  # on an H200 one of these is the fastest
    "float64": ((8, 4, 2, 2, 4, 1, 16, 1, 8), (8, 4, 2, 2, 4, 2, 8, 1, 8), (8, 4, 2, 2, 4, 1, 8, 2, 4)),
    "float32": ((8, 4, 4, 2, 4, 1, 8, 1, 12), (8, 6, 4, 2, 2, 1, 8, 1, 8), (8, 4, 4, 2, 4, 2, 8, 1, 12)),
}


@dataclass(frozen=True)
class Tiling:
    """Which tiles cover a grid; see `Tiles` in the source for the numbers."""

    numbers: tuple[int, ...]
    tiles: int


def _edges_only(shape: Shape, dtype: np.dtype, ny: int, nx: int, processors: int) -> Tiling:
    """Bands for everything."""
    columns = -(-nx // shape.outcome(shape.band_lane, dtype, nx))
    rows = max(shape.depth, -(-ny * columns // (8 * processors)))
    low = -(-ny // rows)
    return Tiling((columns, rows, low, ny, ny, 0, 1, 0, 0, 1, 1, 1), columns * low)


def tiling(
    shape: Shape, dtype: np.dtype, ny: int, nx: int, wrap_x: bool, wrap_y: bool, processors: int, waves: int
) -> Tiling:
    """A frame of edge tiles and inner ones: so many high ones that every warp that the device holds has `waves` of them
    to do, and lower ones above them, for those that are done first."""
    band = 0 if wrap_y else shape.depth
    side = 0 if wrap_x else shape.outcome(shape.side_lane, dtype, nx)
    inner_x, inner_y = nx - 2 * side, ny - 2 * band
    outcome = shape.outcome(shape.lane, dtype, nx)
    if inner_y < 1 or (inner_x < outcome and not wrap_x):
        return _edges_only(shape, dtype, ny, nx, processors)
    strips = -(-inner_x // outcome)
    chunks = max(1, processors * shape.blocks * shape.warps * waves // strips)
    rows = max(shape.depth, int(_HIGH * inner_y / chunks))
    chunks = min(chunks, inner_y // rows)
    short_rows = max(2 * shape.depth, rows // 4)
    short = -(-(inner_y - chunks * rows) // short_rows)
    columns = -(-nx // shape.outcome(shape.band_lane, dtype, nx)) if band else 0
    side_rows = min(_SIDE_ROWS, max(shape.depth, rows // 2))
    sides = -(-inner_y // side_rows) if side else 0
    low = 1 if band else 0
    numbers = (columns, max(band, 1), low, band, ny - band, sides, side_rows, side, strips, chunks, rows, short_rows)
    return Tiling(numbers, columns * 2 * low + 2 * sides + strips * (chunks + short))


def streamed_variants(
    extent: tuple[int, int], dtype: np.dtype, wrap_x: bool, wrap_y: bool, processors: int
) -> list[Variant]:
    """Ways to step (ny, nx) cells."""
    ny, nx = extent
    found: dict[tuple[Shape, Tiling], Variant] = {}
    for shape in (Shape(*numbers) for numbers in SHAPES[dtype.name]):
        if wrap_x:  # the places of columns take registers
            if shape.slots > _WRAPPED_SLOTS:
                continue
            shape = replace(shape, blocks=min(shape.blocks, 8))
        macros = shape.macros(dtype, nx, wrap_x, wrap_y)
        shared = shape.shared_bytes(dtype.itemsize)
        for waves in _WAVES:
            made = tiling(shape, dtype, ny, nx, wrap_x, wrap_y, processors, waves)
            blocks = -(-made.tiles // shape.warps)
            found[shape, made] = Variant(
                SOURCE, macros, blocks, 32 * shape.warps, shared, shape.depth, False, made.numbers
            )
    return list(found.values())

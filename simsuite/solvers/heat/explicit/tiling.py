"""Which tiles cover a grid in a pass of several steps (`tiles.cuh`).

Tiles are of two kinds. Inner ones never see an edge of the domain, and their loop has no code for it. Edge tiles make a
frame around them: bands at bottom and top, sides at left and right, each only where the domain is not periodic. They
may be narrower, which leaves registers for ghosts and ledger. On grids that are too small for inner tiles, bands cover
all cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simsuite.solvers.heat.explicit.arguments import Tiles
from simsuite.solvers.heat.explicit.launches_nvrtc import loaded_together

_SIDE_ROWS = 128  # the most rows of a tile at a side
# A tile in a corner has 3 · depth rows to compute, and code for two edges. Where inner tiles have fewer rows than this
# many times the depth, no tile takes longer, and an H100 steps grids up to 25 % faster if every corner has code
# without the other edges. That takes NVRTC half as long again to compile, and larger grids are 2 % slower by it.
_CORNER_ROWS = 4
# Ways to divide inner rows: how many high tiles each warp that the device holds has to do, one after another; the share
# of the rows that is in high tiles; and the most rows of other inner tiles, which are for the warps that are done
# first.
_DIVISIONS = (
    *((0.95, 1.0, 96), (1.0, 0.96, 96), (1.0, 0.9, 128), (1.0, 0.85, 192)),
    *((2.0, 0.95, 96), (2.0, 0.85, 256), (3.0, 0.85, 192)),
)


class Tiled(Protocol):
    """The parameters that a program is compiled for. depth: steps of a pass. lane, side_lane, band_lane: cells that a
    lane holds, in inner tiles, in tiles at the sides and in bands. unroll: rows of a turn of the inner loop. warps: of
    a block. blocks: the least number on a multiprocessor. team: how many warps work on an inner tile together, 1 or all
    of a block."""

    @property
    def depth(self) -> int: ...

    @property
    def lane(self) -> int: ...

    @property
    def side_lane(self) -> int: ...

    @property
    def band_lane(self) -> int: ...

    @property
    def unroll(self) -> int: ...

    @property
    def warps(self) -> int: ...

    @property
    def blocks(self) -> int: ...

    @property
    def team(self) -> int: ...


def tile_macros(
    shape: Tiled, dtype: np.dtype, nx: int, wrap_x: bool, wrap_y: bool, corners: bool = False
) -> dict[str, str | int]:
    """The macros that a program is compiled with for rows of nx numbers. corners: see `Tiling`, only where there are
    inner tiles."""
    return {
        "REAL": "float" if dtype == np.float32 else "double",
        "DEPTH": shape.depth,
        "LANE": shape.lane,
        "SIDE_LANE": shape.side_lane,
        "BAND_LANE": shape.band_lane,
        "WIDTH": loaded_together(shape.lane, dtype, nx),
        "SIDE_WIDTH": loaded_together(shape.side_lane, dtype, nx),
        "BAND_WIDTH": loaded_together(shape.band_lane, dtype, nx),
        "WRAP_X": int(wrap_x),
        "WRAP_Y": int(wrap_y),
        "UNROLL": shape.unroll,
        "WARPS": shape.warps,
        "BLOCKS": shape.blocks,
        "CORNERS": int(corners),
    }


def outcome(shape: Tiled, lane: int, dtype: np.dtype, nx: int) -> int:
    """The number of columns that a tile has results for."""
    width = loaded_together(lane, dtype, nx)
    return 32 * lane - 2 * (-(-shape.depth // width) * width)


@dataclass(frozen=True)
class Tiling:
    """The tiles that cover a grid. inner, edges: the numbers of inner tiles and of edge tiles. corners: whether code of
    its own for each corner is worth compiling."""

    tiles: Tiles
    inner: int
    edges: int
    corners: bool = False

    def blocks(self, shape: Tiled) -> int:
        """The number of blocks. Each warp does a tile; if the warps of a block are a team, they do an inner tile
        together."""
        if shape.team == 1:
            return -(-(self.inner + self.edges) // shape.warps)
        return self.inner + -(-self.edges // shape.team)


def _edges_only(shape: Tiled, dtype: np.dtype, ny: int, nx: int, processors: int) -> Tiling:
    """A tiling that covers the whole grid with bands."""
    columns = -(-nx // outcome(shape, shape.band_lane, dtype, nx))
    rows = max(shape.depth, -(-ny * columns // (8 * processors)))
    low = -(-ny // rows)
    bands = {"columns": columns, "band_rows": rows, "low": low, "low_end": ny, "high": ny}
    none = {"sides": 0, "side_rows": 1, "side": 0, "strips": 0, "chunks": 1, "rows": 1, "short_rows": 1}
    return Tiling(Tiles(**bands, **none), 0, columns * low)


def tiling(
    shape: Tiled,
    dtype: np.dtype,
    ny: int,
    nx: int,
    wrap_x: bool,
    wrap_y: bool,
    processors: int,
    division: tuple[float, float, int],
) -> Tiling:
    """A tiling of a frame of edge tiles and the inner tiles inside. High inner tiles come first because they take the
    longest; edge tiles follow, and then the other inner tiles."""
    waves, share, most_rows = division
    band = 0 if wrap_y else shape.depth
    side = 0 if wrap_x else outcome(shape, shape.side_lane, dtype, nx)
    inner_x, inner_y = nx - 2 * side, ny - 2 * band
    inner = outcome(shape, shape.lane, dtype, nx)
    if inner_y < 1 or (inner_x < inner and not wrap_x):
        return _edges_only(shape, dtype, ny, nx, processors)
    strips = -(-inner_x // inner)
    at_once = processors * shape.blocks * (shape.warps // shape.team)
    chunks = max(1, int(at_once * waves) // strips)
    rows = max(shape.depth, int(share * inner_y / chunks))
    chunks = min(chunks, inner_y // rows)
    short_rows = max(2 * shape.depth, min(most_rows, rows // 4))
    short = -(-(inner_y - chunks * rows) // short_rows)
    columns = -(-nx // outcome(shape, shape.band_lane, dtype, nx)) if band else 0
    side_rows = min(_SIDE_ROWS, max(shape.depth, rows // 2))
    sides = -(-inner_y // side_rows) if side else 0
    low = 1 if band else 0
    bands = {"columns": columns, "band_rows": max(band, 1), "low": low, "low_end": band, "high": ny - band}
    at_sides = {"sides": sides, "side_rows": side_rows, "side": side}
    within = {"strips": strips, "chunks": chunks, "rows": rows, "short_rows": short_rows}
    corners = low > 0 and sides > 0 and inner_y * strips < _CORNER_ROWS * shape.depth * at_once
    edges = columns * 2 * low + 2 * sides
    return Tiling(Tiles(**bands, **at_sides, **within), strips * (chunks + short), edges, corners)


def tilings(
    shape: Tiled, dtype: np.dtype, ny: int, nx: int, wrap_x: bool, wrap_y: bool, processors: int
) -> Iterator[Tiling]:
    """The different tilings that are worth a trial."""
    made = (tiling(shape, dtype, ny, nx, wrap_x, wrap_y, processors, division) for division in _DIVISIONS)
    yield from dict.fromkeys(made)

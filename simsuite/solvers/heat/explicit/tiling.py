"""Which tiles cover a grid in a pass of several steps (`tiles.cuh`).

Tiles are of two kinds. Inner ones never see an edge of the domain, and their loop has no code for it. Edge tiles make
a frame around them: bands at bottom and top, sides at left and right, each only where the domain is not periodic. They
may be narrower, which leaves registers for ghosts and ledger. On grids too small for inner tiles, bands cover all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simsuite.solvers.heat.explicit.arguments import Tiles
from simsuite.solvers.heat.explicit.blocked import loaded_together

_SIDE_ROWS = 128  # at most, of a tile at a side
# How inner rows are divided: how many high tiles each warp that the device holds has to do, one after another; how much
# of the rows is in those; rows of a tile of the rest at most, for the warps that are done first.
_DIVISIONS = (
    *((0.95, 1.0, 96), (1.0, 0.96, 96), (1.0, 0.9, 128), (1.0, 0.85, 192)),
    *((2.0, 0.95, 96), (2.0, 0.85, 256), (3.0, 0.85, 192)),
)


class Tiled(Protocol):
    """What a program is compiled for. depth: steps a pass. lane, side_lane, band_lane: cells a lane holds, of inner
    tiles and of those at edges. unroll: rows a turn of the inner loop. warps: a block; blocks: a multiprocessor, at
    least. team: warps that work on an inner tile together, 1 or all of a block."""

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


def tile_macros(shape: Tiled, dtype: np.dtype, nx: int, wrap_x: bool, wrap_y: bool) -> dict[str, str | int]:
    """For rows of nx numbers."""
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
    }


def outcome(shape: Tiled, lane: int, dtype: np.dtype, nx: int) -> int:
    """Columns that a tile has results for."""
    width = loaded_together(lane, dtype, nx)
    return 32 * lane - 2 * (-(-shape.depth // width) * width)


@dataclass(frozen=True)
class Tiling:
    """Which tiles cover a grid. inner, edges: how many of either kind."""

    tiles: Tiles
    inner: int
    edges: int

    def blocks(self, shape: Tiled) -> int:
        """A warp does a tile; where all of a block are a team, they do an inner one together."""
        if shape.team == 1:
            return -(-(self.inner + self.edges) // shape.warps)
        return self.inner + -(-self.edges // shape.team)


def _edges_only(shape: Tiled, dtype: np.dtype, ny: int, nx: int, processors: int) -> Tiling:
    """Bands for everything."""
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
    """A frame of edge tiles and inner ones. High inner tiles come first, for they take the longest, then edge tiles,
    and then the others."""
    waves, share, most_rows = division
    band = 0 if wrap_y else shape.depth
    side = 0 if wrap_x else outcome(shape, shape.side_lane, dtype, nx)
    inner_x, inner_y = nx - 2 * side, ny - 2 * band
    inner = outcome(shape, shape.lane, dtype, nx)
    if inner_y < 1 or (inner_x < inner and not wrap_x):
        return _edges_only(shape, dtype, ny, nx, processors)
    strips = -(-inner_x // inner)
    chunks = max(1, int(processors * shape.blocks * (shape.warps // shape.team) * waves) // strips)
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
    return Tiling(Tiles(**bands, **at_sides, **within), strips * (chunks + short), columns * 2 * low + 2 * sides)


def tilings(
    shape: Tiled, dtype: np.dtype, ny: int, nx: int, wrap_x: bool, wrap_y: bool, processors: int
) -> Iterator[Tiling]:
    """Those worth a trial, each once."""
    made = (tiling(shape, dtype, ny, nx, wrap_x, wrap_y, processors, division) for division in _DIVISIONS)
    yield from dict.fromkeys(made)

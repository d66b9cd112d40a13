"""Explicit steps of a small grid, several in each launch, on cells that stay in registers (`resident.cu`).

Launches and waiting for memory take longer than the arithmetic of a step on a small grid. So a block loads a rectangle
of cells once and takes up to `depth` steps, after which all cells are right except a rim that is as wide as there were
steps. The cells inside the rim are the block's own. Where all blocks fit on the device at once, they then give each
other the cells within that distance of their borders, and go on (overlapped tiling in space and time, with the exchange
of EBISU, Zhang et al., ICS 2023, at its wider end); else they store what they own, and the next launch goes on.

A warp holds a few rows, one column or more a lane: neighbours along y are in the lane's own registers or, at the first
and the last row of a warp, in shared memory; those along x come from other lanes. So there is one barrier a step.

All blocks wait for the slowest. At an edge of the domain a block therefore begins or ends with the grid: the edge is at
the first or the last lane, or row, of its warps, and a warp that has none runs code without it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simsuite.solvers.heat.explicit.launches_nvrtc import Variant, loaded_together
from simsuite.solvers.table import ROWS

SOURCE = Path(__file__).with_name("resident.cu")
MOST_CELLS = 1 << 22  # With more cells, fields stream through the multiprocessors.
EARLY_CELLS = 12  # the most cells of a lane for which its registers hold differences along x as well
LAUNCH_STEPS = ROWS  # the number of steps in a launch of blocks that exchange cells


@dataclass(frozen=True)
class Block:
    """The size of a block. depth: the most steps of a launch. lane, rows: the cells of a lane along x and y. warps: the
    warps of a block, one above the other."""

    depth: int
    lane: int
    rows: int
    warps: int

    @property
    def extent(self) -> tuple[int, int]:
        """The cells of a block along y and x."""
        return self.warps * self.rows, 32 * self.lane

    @property
    def cells(self) -> int:
        """The number of cells of a block."""
        height, width = self.extent
        return height * width

    def parts(self, ny: int, nx: int, wrap_x: bool, wrap_y: bool) -> tuple[int, int]:
        """How many blocks there are along x and y."""
        height, width = self.extent
        halo = -(-self.depth // self.lane) * self.lane
        return (
            _parts(nx, (width - 2 * halo) // self.lane, self.lane, 0 if wrap_x else halo),
            _parts(ny, height - 2 * self.depth, 1, 0 if wrap_y else self.depth),
        )

    def shared_bytes(self, itemsize: int, table_rows: int) -> int:
        """The bytes of shared memory for rows shared between warps; for the edges' ledger, β and γ; and for the
        position of the block and of its rows."""
        height, width = self.extent
        return itemsize * (4 * self.warps * width + (width + height) * (1 + 2 * table_rows)) + _PLACE_BYTES + 4 * height


def _parts(cells: int, units: int, unit: int, halo: int) -> int:
    """The number of parts that a row of cells is divided into. A part has up to so many units of cells, and a halo more
    at an edge."""
    groups = -(-(cells - 2 * halo) // unit)
    return max(2, -(-groups // units))


BLOCKS = (  # on an H200 one of these blocks is the fastest
    *((8, 2, 4, 8), (8, 2, 3, 12), (16, 2, 4, 16), (8, 2, 4, 16), (8, 2, 4, 15)),
    *((8, 4, 4, 16), (8, 4, 6, 16), (8, 4, 11, 8), (8, 4, 8, 12)),
)
_PLACE_BYTES = 512  # the most bytes that positions take, which 32 warps need
_TRIED = 3  # at most
_SCHEDULERS = 4  # the number of schedulers of a multiprocessor, among which a block's warps are divided
_EXCHANGE = 65  # the number of cells that a lane could step in the time that an exchange takes, in float64
# with more bytes of cells in registers, there are none for the addresses of cells that are loaded one by one
_ROOM = 90 << 10
_MOST_BLOCKS = 4  # the most blocks on a multiprocessor, where blocks do not wait for each other


def resident_variants(
    extent: tuple[int, int],
    dtype: np.dtype,
    wrap_x: bool,
    wrap_y: bool,
    moving: bool,
    processors: int,
    together: int,
    compensated: bool = False,
) -> list[Variant]:
    """The most promising variants by which (ny, nx) cells can be stepped. moving: whether the table of edges has a row
    for each step. together: how many blocks can run at once, and so wait for each other."""
    ny, nx = extent
    cell_bytes = dtype.itemsize * (2 if compensated else 1)
    found: list[tuple[bool, float, Variant]] = []
    for block in (Block(*numbers) for numbers in BLOCKS):
        if ny * nx > MOST_CELLS or ny < block.extent[0] or nx < block.extent[1]:
            continue
        columns, lines = block.parts(ny, nx, wrap_x, wrap_y)
        together_x = loaded_together(block.lane, dtype, nx)
        crowded = together_x == 1 and block.cells * cell_bytes > _ROOM
        if columns * lines > _MOST_BLOCKS * processors or crowded:
            continue
        macros: dict[str, str | int] = {
            "REAL": "float" if dtype == np.float32 else "double",
            "DEPTH": block.depth,
            "LANE": block.lane,
            "TOGETHER": together_x,
            "ROWS": block.rows,
            "WARPS": block.warps,
            "EARLY": int(block.lane * block.rows <= EARLY_CELLS),
            "COMPENSATED": int(compensated),
        }
        shared = block.shared_bytes(dtype.itemsize, block.depth if moving else 1)
        exchanging = columns * lines <= together
        depth = LAUNCH_STEPS if exchanging else block.depth
        launch = (SOURCE, macros, columns * lines, 32 * block.warps, shared, depth, True, (columns, lines))
        cost = cell_bytes / 8 * block.lane * block.rows * -(-block.warps // _SCHEDULERS) + _EXCHANGE / block.depth
        found.append((not exchanging, cost, Variant(*launch, exchanging)))
    found.sort(key=lambda each: each[:2])
    return [variant for lone, _, variant in found if lone == found[0][0]][:_TRIED]

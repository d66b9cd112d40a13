"""Explicit steps of a small grid, several a launch, on cells that stay in registers (`resident.cu`).

Launches and waiting for memory take longer than the arithmetic of a step on a small grid. So a block loads a rectangle
of cells once, takes up to `depth` steps, and stores those that are right after them: all but a rim as wide as there
were steps. A warp holds a few rows of it, one column or more a lane: neighbours along y are in the lane's own registers
or, at the first and the last row of a warp, in shared memory; those along x come from other lanes. So there is one
barrier a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simsuite.solvers.heat.blocked import Variant, loaded_together

SOURCE = Path(__file__).with_name("resident.cu")
MOST_CELLS = 1 << 22  # beyond, fields stream through the multiprocessors


@dataclass(frozen=True)
class Block:
    """depth: steps a launch at most. lane, rows: cells of a lane along x and y. warps: a block, one above the other."""

    depth: int
    lane: int
    rows: int
    warps: int

    @property
    def extent(self) -> tuple[int, int]:
        """Cells of a block along y and x."""
        return self.warps * self.rows, 32 * self.lane

    @property
    def outcome(self) -> tuple[int, int]:
        """Cells along y and x that are right after `depth` steps."""
        height, width = self.extent
        return height - 2 * self.depth, width - 2 * self.depth

    def shared_bytes(self, itemsize: int, table_rows: int) -> int:
        """For rows shared between warps, and for β and γ at edges."""
        height, width = self.extent
        return itemsize * (4 * self.warps * width + 2 * height + 4 * (width + height) * table_rows)


BLOCKS = {
    "float64": ((8, 1, 4, 8), (8, 2, 2, 12), (8, 2, 2, 16), (8, 2, 3, 16), (8, 2, 8, 8), (8, 4, 10, 10), (8, 4, 12, 8)),
    "float32": ((8, 1, 4, 8), (8, 2, 2, 12), (8, 2, 2, 16), (8, 2, 3, 16), (8, 2, 8, 8), (8, 4, 6, 16), (8, 4, 8, 12)),
}


def resident_variants(dtype: np.dtype, ny: int, nx: int, moving: bool) -> list[Variant]:
    """Ways to step ny × nx cells. moving: whether the table of edges has a row for every step."""
    found: list[Variant] = []
    for block in (Block(*numbers) for numbers in BLOCKS[dtype.name]):
        if ny * nx > MOST_CELLS or ny < block.extent[0] or nx < block.extent[1]:
            continue
        high, wide = block.outcome
        columns = -(-nx // wide)
        macros: dict[str, str | int] = {
            "REAL": "float" if dtype == np.float32 else "double",
            "DEPTH": block.depth,
            "LANE": block.lane,
            "TOGETHER": loaded_together(block.lane, dtype, nx),
            "ROWS": block.rows,
            "WARPS": block.warps,
            "EVEN": int(nx % block.lane == 0 and block.depth % block.lane == 0),
        }
        shared = block.shared_bytes(dtype.itemsize, block.depth if moving else 1)
        found.append(
            Variant(SOURCE, macros, columns * -(-ny // high), 32 * block.warps, shared, block.depth, True, (columns,))
        )
    return found

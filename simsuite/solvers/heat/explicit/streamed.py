"""Explicit steps of a large grid, several in one pass over it (`streamed.cu`).

A warp walks up a tile of 32·lane columns and keeps one row of every level in time in registers, so that `depth` steps
cost one read and one write. The price is that the cells at distances of up to `depth` around each tile are computed
again. (Overlapped tiling with register streaming; the ideas are those of Matsumura et al., AN5D, CGO 2020, and Zhang et
al., EBISU, ICS 2023, which leave the edges out.)

Where the levels take more registers than a warp has, the warps of a block are a team: each computes some of the levels
of a tile, and hands rows on to the next through shared memory. More steps a pass then fit, and wider tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simsuite.solvers.heat.explicit.launches_nvrtc import Variant, loaded_together
from simsuite.solvers.heat.explicit.tiling import tile_macros, tilings

SOURCE = Path(__file__).with_name("streamed.cu")
_WRAPPED_SLOTS = 8  # the most slots where columns are periodic


@dataclass(frozen=True)
class Shape:
    """The parameters that a program is compiled for, see `Tiled`. together: how many rows of a turn of the inner loop
    are computed at once. slots: how many rows are loaded ahead, a multiple of unroll; for a team at least twice that.
    """

    depth: int
    lane: int
    side_lane: int
    band_lane: int
    unroll: int
    together: int
    slots: int
    warps: int
    blocks: int
    team: int = 1

    def shared_bytes(self, itemsize: int, planes: int) -> int:
        """The shared memory of a block, in bytes, for fields of so many planes."""
        return self.warps * (self.slots * planes * 32 * self.lane + 6 * self.depth) * itemsize


SHAPES = {  # on an H200 one of these shapes is the fastest
    "float64": ((8, 4, 2, 2, 4, 1, 16, 1, 8), (8, 4, 2, 2, 4, 1, 16, 2, 4), (8, 4, 2, 2, 8, 1, 8, 1, 8)),
    "float32": ((8, 6, 4, 2, 4, 1, 8, 1, 8), (8, 4, 4, 2, 4, 1, 8, 4, 3), (8, 4, 4, 2, 4, 1, 8, 1, 12)),
}
# These are the shapes for compensated steps. Those have half as many numbers again in registers and twice as many in
# memory, for which programs of 8 steps a pass would wait.
COMPENSATED_SHAPES = {
    "float32": (
        (16, 12, 2, 2, 4, 1, 8, 4, 2, 4),
        (16, 8, 2, 2, 4, 1, 8, 4, 2, 4),
        (8, 4, 4, 2, 4, 1, 8, 1, 8),
        (8, 4, 2, 2, 4, 2, 8, 1, 8),
    ),
}


def _many_places(shape: Shape, dtype: np.dtype, nx: int, wrap_x: bool) -> bool:
    """Whether the addresses of columns take more registers than there are."""
    together = loaded_together(shape.lane, dtype, nx)
    if shape.lane > 8:
        return wrap_x or together < 4
    return wrap_x and (shape.slots > _WRAPPED_SLOTS or (together == 1 and dtype == np.float64 and shape.warps > 1))


def streamed_variants(
    extent: tuple[int, int], dtype: np.dtype, wrap_x: bool, wrap_y: bool, processors: int, compensated: bool = False
) -> list[Variant]:
    """The variants by which (ny, nx) cells can be stepped."""
    ny, nx = extent
    found: list[Variant] = []
    shapes = COMPENSATED_SHAPES if compensated else SHAPES
    for shape in (Shape(*numbers) for numbers in shapes[dtype.name]):
        if _many_places(shape, dtype, nx, wrap_x):
            continue
        if wrap_x:
            shape = replace(shape, blocks=min(shape.blocks, 8))
        own = {"TOGETHER": shape.together, "SLOTS": shape.slots, "TEAM": shape.team, "COMPENSATED": int(compensated)}
        macros = tile_macros(shape, dtype, nx, wrap_x, wrap_y) | own
        shared = shape.shared_bytes(dtype.itemsize, 2 if compensated else 1)
        for made in tilings(shape, dtype, ny, nx, wrap_x, wrap_y, processors):
            blocks = made.blocks(shape)
            found.append(Variant(SOURCE, macros, blocks, 32 * shape.warps, shared, shape.depth, False, made.tiles))
    return found

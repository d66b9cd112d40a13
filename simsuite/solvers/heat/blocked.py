"""Temporal blocking: several explicit steps in one pass over the field, on a GPU (`explicit.cu`).

A warp walks up a tile of 32·lane columns and keeps one row of every level in time in registers, so that `depth` steps
cost one read and one write. What that takes is recomputing the cells up to `depth` around each tile. (Overlapped tiling
with register streaming; the ideas are those of Rawat et al., SC'16, and Zhang et al., EBISU, ICS 2023, which leave the
edges out.) The arithmetic is that of every other kernel of the explicit step, in the same order, to the bit.

Tiles are of two kinds. Inner ones never see an edge of the domain, and their loop has no code for it. Edge tiles make
a frame around them: bands at bottom and top, sides at left and right, each only where the domain is not periodic. They
are narrower, which leaves registers for the ghosts and the ledger. On grids too small for inner tiles they cover
everything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Program
from simsuite.solvers.heat.discretisation import Discretisation

SOURCE = Path(__file__).with_name("explicit.cu")
_EDGE_ROWS = 64  # at most, of an edge tile
_WAVES = (1, 2, 4, 6, 8, 12, 16)  # how many tiles each warp has to do, one after another


@dataclass(frozen=True)
class Shape:
    """What a program is compiled for. depth: steps a pass. lane, edge_lane: cells a lane holds, of inner and of edge
    tiles. unroll: rows a turn of the inner loop; slots: rows on their way at once, a multiple of that. warps: a block;
    blocks: a multiprocessor, at least."""

    depth: int
    lane: int
    edge_lane: int
    unroll: int
    slots: int
    warps: int
    blocks: int

    def macros(self, dtype: np.dtype, nx: int) -> dict[str, str | int]:
        """For rows of nx numbers."""
        return {
            "REAL": "float" if dtype == np.float32 else "double",
            "DEPTH": self.depth,
            "LANE": self.lane,
            "EDGE_LANE": self.edge_lane,
            "WIDTH": _width(self.lane, dtype, nx),
            "EDGE_WIDTH": _width(self.edge_lane, dtype, nx),
            "UNROLL": self.unroll,
            "SLOTS": self.slots,
            "WARPS": self.warps,
            "BLOCKS": self.blocks,
        }


SHAPES = {  # the fastest first, on an H200
    "float64": (Shape(8, 4, 2, 4, 16, 1, 8), Shape(8, 4, 2, 4, 8, 2, 4), Shape(8, 4, 2, 2, 8, 1, 8)),
    "float32": (Shape(8, 4, 2, 4, 8, 1, 12), Shape(8, 4, 2, 4, 8, 1, 10), Shape(8, 6, 2, 2, 8, 1, 8)),
}


def _width(lane: int, dtype: np.dtype, nx: int) -> int:
    """How many numbers of a row can be loaded at once: 16 bytes of them at most, at multiples of their size."""
    return next(w for w in (4, 2, 1) if w * dtype.itemsize <= 16 and lane % w == 0 and nx % w == 0)


@dataclass(frozen=True)
class Tiling:
    """Which tiles cover a grid; see `Tiles` in the source for the numbers."""

    numbers: tuple[int, ...]
    tiles: int


def _outcome(shape: Shape, lane: int, dtype: np.dtype, nx: int) -> int:
    """Columns that a tile has results for."""
    width = _width(lane, dtype, nx)
    return 32 * lane - 2 * (-(-shape.depth // width) * width)


def edges_only(shape: Shape, dtype: np.dtype, ny: int, nx: int, processors: int) -> Tiling:
    """Edge tiles for everything."""
    columns = -(-nx // _outcome(shape, shape.edge_lane, dtype, nx))
    rows = min(_EDGE_ROWS, max(shape.depth, -(-ny * columns // (8 * processors))))
    low = -(-ny // rows)
    return Tiling((columns, rows, low, ny, ny, 0, 1, 0, 0, 1, 1), columns * low)


def tiling(
    shape: Shape, dtype: np.dtype, ny: int, nx: int, wrap_x: bool, wrap_y: bool, processors: int, waves: int
) -> Tiling:
    """A frame of edge tiles and inner ones, so many that every warp that the device holds has `waves` of them to do."""
    band = 0 if wrap_y else 2 * shape.depth
    side = 0 if wrap_x else _outcome(shape, shape.edge_lane, dtype, nx)
    inner_x, inner_y = nx - 2 * side, ny - 2 * band
    if inner_x < 1 or inner_y < 1:
        return edges_only(shape, dtype, ny, nx, processors)
    columns = -(-nx // _outcome(shape, shape.edge_lane, dtype, nx)) if band else 0
    side_rows = min(_EDGE_ROWS, inner_y)
    sides = -(-inner_y // side_rows) if side else 0
    strips = -(-inner_x // _outcome(shape, shape.lane, dtype, nx))
    chunks = max(1, processors * shape.blocks * shape.warps * waves // strips)
    rows = max(-(-inner_y // chunks), 1)
    chunks = -(-inner_y // rows)
    low = 1 if band else 0
    numbers = (columns, band, low, band, ny - band, sides, max(side_rows, 1), side, strips, chunks, rows)
    return Tiling(numbers, columns * 2 * low + 2 * sides + strips * chunks)


class BlockedSteps:
    """Launches of the program for one grid.

    fields: two arrays; what the second holds is lost. harmless: arguments of a launch, after the fields, with which
    nothing else is changed.
    """

    def __init__(
        self, backend: Backend, made: Discretisation, dtype: np.dtype, fields: Sequence[Any], harmless: Sequence[Any]
    ) -> None:
        self._backend, self._dtype, self._fields, self._harmless = backend, dtype, fields, harmless
        self._ny, self._nx, self._wrap = made.ny, made.nx, (made.wrap_x, made.wrap_y)
        self._programs: dict[Shape, Program] = {}
        shapes = SHAPES[dtype.name]
        about = f"explicit {dtype.name} {self._ny} x {self._nx} {self._wrap}"
        self.shape = shapes[0]
        if tiling(self.shape, dtype, self._ny, self._nx, *self._wrap, backend.processors, 1).numbers[9] > 1:
            trials = [self._trial(shape, 4) for shape in shapes]
            self.shape = shapes[backend.fastest(f"{about} shapes {shapes}", trials)]
        trials = [self._trial(self.shape, waves) for waves in _WAVES]
        waves = _WAVES[backend.fastest(f"{about} waves {self.shape}", trials)]
        del self._fields, self._harmless
        self._launch = self._launcher(self.shape, self._tiling(self.shape, waves))

    def __call__(self, T: Any, out: Any, *rest: Any) -> None:
        """Queue `shape.depth` steps from T to out. rest: further arguments of the program, up to q."""
        self._launch(T, out, *rest)

    def _tiling(self, shape: Shape, waves: int) -> Tiling:
        return tiling(shape, self._dtype, self._ny, self._nx, *self._wrap, self._backend.processors, waves)

    def _program(self, shape: Shape) -> Program:
        if shape not in self._programs:
            self._programs[shape] = self._backend.program(SOURCE, shape.macros(self._dtype, self._nx))
        return self._programs[shape]

    def _launcher(self, shape: Shape, tiles: Tiling) -> Callable[..., None]:
        blocks = -(-tiles.tiles // shape.warps)
        shared = shape.warps * shape.slots * 32 * shape.lane * self._dtype.itemsize
        launch = self._program(shape).launcher("steps", blocks, 32 * shape.warps, shared)
        numbers = tuple(map(np.int32, tiles.numbers))

        return lambda *arguments: launch(*arguments, *numbers)

    def _trial(self, shape: Shape, waves: int) -> Callable[[], None]:
        """A whole pass that changes nothing but the second field."""
        launcher = functools.cache(lambda: self._launcher(shape, self._tiling(shape, waves)))
        return lambda: launcher()(*self._fields, *self._harmless)

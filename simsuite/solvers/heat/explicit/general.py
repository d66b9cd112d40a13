"""Explicit steps with coefficients that differ from cell to cell, several in one pass over the grid (`general.cu`).

The tiles are those of `tiling`, walked as in `streamed`. A step of a cell needs the conductances of its faces, 1/(ρc)
and what heats it; with `depth` steps a pass, that many rows of cells are on their way at once, a level in time each. So
each warp keeps the coefficients of these rows in shared memory, a ring that is filled ahead of the first level: every
coefficient is read from global memory once a pass, and from shared memory once a step.

That ring, (depth + ahead)·32·lane numbers of each kind, is what limits how many warps work at once. So 1/(ρc) and
conductances are left out where they are the same everywhere, and sources where there are none. Sources that move come
as products of a factor in x and one in y (see `sources`): of the first, depth·32·lane numbers are kept for each
product.

Cells that are held at a temperature book what they give to their neighbours; few of them have a neighbour that is not.

These programs cannot step problems whose coefficients or sources depend on the temperature, whose sources are not such
products, or in which sources move and cells are held. For these there is the kernel that takes one step at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.solvers.heat.explicit.launches_nvrtc import Variant, loaded_together
from simsuite.solvers.heat.explicit.tiling import tile_macros, tilings
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.operator.operator import Operator

SOURCE = Path(__file__).with_name("general.cu")
MOST_TERMS = 4
_THREADS = 256  # the number of threads of a block that packs coefficients
_ROOMY = 8  # the number of warps of a multiprocessor for which there are 255 registers a lane
# the bytes of shared memory of a multiprocessor (H200), and those that each block needs in addition
_SHARED, _OF_THE_SYSTEM = 233472, 1024


@dataclass(frozen=True)
class Shape:
    """The parameters that a program is compiled for, see `Tiled`. ahead: the number of rows that are loaded ahead.
    blocks: how many blocks a multiprocessor has at most."""

    depth: int
    lane: int
    side_lane: int
    band_lane: int
    unroll: int
    ahead: int
    warps: int
    blocks: int
    team: int = 1

    def shared_bytes(self, kinds: int, terms: int, itemsize: int, planes: int) -> int:
        """The shared memory of a block, in bytes, for so many kinds of coefficients, so many products, and fields of so
        many planes."""
        rows = (self.ahead + 1) * planes + (self.depth + self.ahead) * kinds + self.depth * terms
        edge = rows * 32 * max(self.side_lane, self.band_lane) + 7 * self.depth
        return self.warps * max(rows * 32 * self.lane, edge) * itemsize


# The keys are numbers of kinds of coefficients. There are as many warps as shared memory has room for. On an H200 one
# of these shapes is the fastest.
SHAPES = {
    "float64": {
        0: ((8, 4, 2, 2, 4, 3, 1, 8), (8, 4, 2, 2, 4, 3, 2, 4), (8, 2, 2, 2, 4, 3, 4, 2)),
        1: ((8, 4, 2, 2, 4, 3, 1, 8), (8, 4, 2, 2, 4, 3, 2, 4), (8, 2, 2, 2, 4, 3, 4, 2)),
        2: ((8, 4, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 4, 3, 4, 2)),
        3: ((8, 2, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 4, 3, 2, 4), (8, 2, 2, 2, 4, 3, 4, 2)),
        4: ((8, 2, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 4, 3, 2, 4), (8, 2, 2, 2, 4, 3, 4, 2)),
    },
    "float32": {
        0: ((8, 4, 2, 2, 4, 3, 1, 12), (8, 4, 2, 2, 4, 3, 2, 6), (8, 4, 2, 2, 4, 3, 4, 3)),
        1: ((8, 4, 2, 2, 4, 3, 1, 8), (8, 4, 2, 2, 4, 3, 2, 4), (8, 4, 2, 2, 4, 3, 4, 2)),
        2: ((8, 4, 2, 2, 4, 3, 1, 12), (8, 4, 2, 2, 4, 3, 2, 6), (8, 4, 2, 2, 4, 3, 4, 3)),
        3: ((8, 4, 2, 2, 4, 3, 1, 11), (8, 4, 2, 2, 4, 3, 2, 6), (8, 4, 2, 2, 4, 3, 4, 3)),
        4: ((8, 4, 2, 2, 4, 3, 1, 9), (8, 4, 2, 2, 4, 3, 2, 4), (8, 4, 2, 2, 4, 3, 4, 2)),
    },
}

# These are the shapes where cells are held. That takes code that is seldom needed, in a loop that had better be short.
HELD_SHAPES = {
    "float64": {
        3: ((8, 2, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 1, 3, 1, 8), (8, 2, 2, 2, 4, 3, 4, 2)),
        4: ((8, 2, 2, 2, 4, 3, 1, 8), (8, 2, 2, 2, 1, 3, 1, 8), (8, 2, 2, 2, 4, 3, 4, 2)),
    },
    "float32": {
        3: ((8, 4, 2, 2, 4, 3, 1, 11), (8, 4, 2, 2, 1, 3, 1, 11), (8, 4, 2, 2, 4, 3, 2, 6)),
        4: ((8, 4, 2, 2, 4, 3, 1, 9), (8, 4, 2, 2, 1, 3, 1, 9), (8, 4, 2, 2, 2, 3, 1, 8)),
    },
}


def why_not(made: Discretisation, terms: int) -> str | None:
    """Why these kernels cannot step a problem, or None if they can. terms: see `Sources`."""
    if made.law is not None:
        return "its conductivity depends on the temperature"
    if made.edges.radiates:
        return "its edges radiate"
    if any(f.depends_on("T") for f in made.sources):
        return "its sources depend on the temperature"
    if not all(made.static) and made.any_held:
        return "its sources depend on time, beside regions that are held at a temperature"
    if not all(made.static) and not 0 < terms <= MOST_TERMS:
        return "its sources are no short sums of products of functions of x, t and of y, t"
    return None


def is_even(made: Discretisation) -> bool:
    """Whether ρc is the same number everywhere."""
    return distinct(made.inverse_capacity).size == 1 and not made.any_held


def kinds(made: Discretisation) -> int:
    """The number of kinds of coefficients that differ from cell to cell."""
    return 2 * (not made.uniform) + (not is_even(made)) + any(made.static)


def _fitting(
    shape: Shape, dtype: np.dtype, nx: int, wrapped: bool, terms: int, shared: int, compensated: bool
) -> Shape | None:
    """The shape with as many blocks on a multiprocessor as there is room for.

    None if even then a lane has too few registers for many products, or for the addresses of cells that are loaded one
    by one or across a periodic edge."""
    blocks = min(shape.blocks, _SHARED // (shared + _OF_THE_SYSTEM))
    if dtype == np.float64:
        places = wrapped or loaded_together(shape.lane, dtype, nx) == 1
        return None if shape.lane > 2 and (places or terms > 2) else replace(shape, blocks=blocks)
    full = terms > 1 or wrapped or compensated
    return replace(shape, blocks=min(blocks, _ROOMY // shape.warps) if full else blocks)


def general_variants(
    made: Discretisation, dtype: np.dtype, terms: int, processors: int, compensated: bool = False
) -> list[Variant]:
    """The variants by which a problem can be stepped. terms: the number of products that its moving sources
    consist of."""
    found: list[Variant] = []
    ny, nx, wrap = made.ny, made.nx, (made.wrap_x, made.wrap_y)
    shapes = HELD_SHAPES if made.any_held else SHAPES
    flags = {
        "HEATED": int(any(made.static)),
        "TERMS": terms,
        "UNIFORM": int(made.uniform),
        "EVEN": int(is_even(made)),
        "HELD": int(made.any_held),
        "COMPENSATED": int(compensated),
    }
    for numbers in shapes[dtype.name][kinds(made)]:
        shared = Shape(*numbers).shared_bytes(kinds(made), terms, dtype.itemsize, 2 if compensated else 1)
        shape = _fitting(Shape(*numbers), dtype, nx, made.wrap_x or made.wrap_y, terms, shared, compensated)
        if shape is None:
            continue
        for tiling in tilings(shape, dtype, ny, nx, *wrap, processors):
            macros = tile_macros(shape, dtype, nx, *wrap, tiling.corners) | {"AHEAD": shape.ahead, **flags}
            blocks = tiling.blocks(shape)
            found.append(Variant(SOURCE, macros, blocks, 32 * shape.warps, shared, shape.depth, False, tiling.tiles))
    return found


def pack_coefficients(operator: Operator, variant: Variant) -> Any:
    """The coefficients in the order in which `variant` reads them, (ny + 1, kinds, nx), on the device."""
    made, backend = operator.made, operator.backend
    ny, nx = made.ny, made.nx
    to = backend.zeros((ny + 1, kinds(made), nx), operator.dtype)
    if kinds(made) == 0:
        return to
    program = backend.program(variant.source, variant.macros)
    launch = program.launcher("pack", -(-nx // _THREADS) * (ny + 1), _THREADS)
    coefficients = (operator.gx, operator.gy, operator.c, operator.sources.base)
    size = (np.int32(nx), np.int32(ny))
    launch(*coefficients, to, *size)
    if made.any_held:
        count = len(made.held_cells)
        launch = program.launcher("mark", -(-count // _THREADS), _THREADS)
        launch(operator.held, to, np.int32(count), np.int32(made.edges.size), *size)
    return to

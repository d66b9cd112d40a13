"""The arguments of programs in CUDA C++ besides the fields before and after a step: the structs of `arguments.cuh`, see
`structs`.

What changes from launch to launch is a further argument: rx or dt, where the row of a table for the first step begins,
how many steps to take. So are ny and nx, cells along y and x, because NVRTC needs more instructions to compute
addresses from fields of a struct. points = 2 (ny + nx): edge points. "real" is the precision of the run."""

from __future__ import annotations

from typing import NamedTuple

from simsuite.solvers.structs import Array, Int, Long, Real


class Plate(NamedTuple):
    """A plate whose coefficients differ from cell to cell, see `general`. G: the coefficients that differ, packed, real
    (ny + 1, kinds, nx). gx: conductances of faces along x divided by Δx², W/(m³·K), real (ny, nx + 1). The other fields
    are used for coefficients that are the same everywhere. c: 1/(ρc), m³·K/J. inner_x, edge_x, inner_y, edge_y:
    conductances of inner faces and of those at edges, along x and y."""

    G: Array
    gx: Array
    c: Real
    inner_x: Real
    edge_x: Real
    inner_y: Real
    edge_y: Real


class Sources(NamedTuple):
    """Sources that move, as products of a factor in x and one in y. xs, ys: rows of the factors at every x and y, for
    each step, real (rows, terms · nx) and (rows, terms · ny). x_stride, y_stride: from the row of one step to that of
    the next, 0 where one row serves all."""

    xs: Array
    ys: Array
    x_stride: Long
    y_stride: Long


class Edges(NamedTuple):
    """The edges of the plate, and the ledger. table: rows of β (1), then γ (K), at all edge points, real
    (rows · 2 points,). ledger: what came in at edge points, and from cells that are held, real (entries,). stride: from
    the row of one step to that of the next, 0 where one row serves all."""

    table: Array
    ledger: Array
    stride: Long


class Mesh(NamedTuple):
    """A plate with constant coefficients. wrap_x, wrap_y: whether that direction is periodic, 0 or 1. q: Δx²/Δy², times
    the ratio of the conductivities where they differ along x and y."""

    wrap_x: Int
    wrap_y: Int
    q: Real


class Exchange(NamedTuple):
    """How blocks that step a part of a small grid each exchange cells.

    rims: two fields that are used in turn to exchange cells, real (2, ny, nx), or (2, 2, ny, nx) where steps are
    compensated. turns: how many exchanges each block has begun, int32 (blocks,). Both arrays have only one number where
    blocks do not exchange anything. columns, lines: how many blocks there are along x and y."""

    rims: Array
    turns: Array
    columns: Int
    lines: Int


class Tiles(NamedTuple):
    """Which cells each tile covers, by the number of the tile; see `tiling`.

    High inner tiles come first. Edge tiles follow: rows of them up to `low_end`, one row from `high` on, `sides` at the
    left and as many at the right. The other inner tiles come last. columns: edge tiles side by side. band_rows: rows of
    cells of one of them. low: rows of edge tiles below. low_end, high: rows of cells where inner tiles begin and end.
    sides: edge tiles at one side. side_rows: rows of cells of one. side: columns of cells of one. strips, chunks: high
    inner tiles side by side, and one above the other. rows: rows of cells of one. short_rows: rows of cells of the
    inner tiles above them, which give work to the warps that are done first."""

    columns: Int
    band_rows: Int
    low: Int
    low_end: Int
    high: Int
    sides: Int
    side_rows: Int
    side: Int
    strips: Int
    chunks: Int
    rows: Int
    short_rows: Int

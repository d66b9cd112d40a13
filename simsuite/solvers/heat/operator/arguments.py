"""What kernels take of a discretised heat problem, named in one place for all who pass it or read it.

A launch passes each of these as a plain tuple, and a kernel gives the fields their names again in its first line,
`plate = Plate(*plate)`. Neither costs anything: Numba finds the type of a plain tuple as fast as those of its elements
one by one, that of a named one ten times as slowly, and compiled code has no tuples.

ny, nx: cells along y and x. points = 2 (ny + nx): edge points. Types: "real" is the precision of the run.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Plate(NamedTuple):
    """The operator of `operator`, in every row of the edge table.

    gx, gy: conductances of faces divided by Δ², W/(m³·K), real (ny, nx + 1) and (ny + 1, nx). c: 1/(ρc), m³·K/J, 0 in
    held cells, real (ny, nx). q: sources, W/m³, real (ny, nx), or (1, 1) where there are none. heated: whether there
    are any. edges: rows of β (1), then γ (K), at all edge points, real (rows · 2 points,); which row counts is a
    further argument, `at`, the place where it begins. wrap_x, wrap_y: whether that direction is periodic. zero: of the
    type of the fields, for sums of products that must not be contracted.
    """

    gx: Any
    gy: Any
    c: Any
    q: Any
    heated: Any
    edges: Any
    wrap_x: Any
    wrap_y: Any
    zero: Any


class Flows(NamedTuple):
    """What is booked of a plate.

    power: of each row of cells, for each source that moves, W/m³ summed over the row, float64 (moving sources · ny,).
    held: column and row of each held cell, int64 (held cells, 2). ledger: what came in at edge points, from these rows
    and from these cells, J/m³, real (entries,).
    """

    power: Any
    held: Any
    ledger: Any


class Law(NamedTuple):
    """Conductivities that depend on temperature, by expressions in x, y, T, k, which.

    kx, ky: k for the conductivities along x and y, W/(m·K), float64 (ny, nx). which: the number of a cell's expression,
    (ny, nx). dx, dy: sizes of a cell, m. numbers_x, numbers_y: those in the expressions, float64 (numbers,).
    """

    kx: Any
    ky: Any
    which: Any
    dx: Any
    dy: Any
    numbers_x: Any
    numbers_y: Any


class LawEdges(NamedTuple):
    """What conductivities at edge points depend on, and what becomes of them.

    kinds: of the conditions, see `edges`, (points,). data: what these say, (rows or 1, 2 points). k: the conductivity
    beside each edge point, W/(m·K), float64 (points,), which is written.
    """

    kinds: Any
    data: Any
    k: Any

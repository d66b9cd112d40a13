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


class Mesh(NamedTuple):
    """A plate with constant coefficients and no sources, at all times, of explicit steps and of RKL2 stages.

    edges: rows of β (1), then γ (K), at all edge points, real (rows · 2 points,); which row counts is a further
    argument, `at`, the place where it begins. ledger: rise in temperature that came in through each edge point, K, real
    (points,). q: Δx²/Δy², times the ratio of the conductivities where they differ along x and y. wrap_x, wrap_y:
    whether that direction is periodic.
    """

    edges: Any
    ledger: Any
    q: Any
    wrap_x: Any
    wrap_y: Any


class Factors(NamedTuple):
    """Of an RKL2 stage with constant coefficients, as in `rkl2/stages`, numbers of the precision of the run. mu, nu, r,
    g: μ, n, r, g. b: what the ledger adds up of a difference across an edge along x, in the ledger's unit per K."""

    mu: Any
    nu: Any
    r: Any
    g: Any
    b: Any


class TableRows(NamedTuple):
    """Where rows of the edge table begin. at: the one for the last stage. at0: that for the first."""

    at: Any
    at0: Any


class Along(NamedTuple):
    """Lines of n cells, m beside each other, along either axis.

    g: conductances divided by Δ², real (n + 1, m). c: 1/(ρc), real (n, m). edges: the edge table, of which a row is
    taken that begins at a further argument, `at`. first: number of the edge point at the beginning of line 0; that at
    its end comes m later. wrap: whether lines are closed to rings.
    """

    g: Any
    c: Any
    edges: Any
    first: Any
    wrap: Any

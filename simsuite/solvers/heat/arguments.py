"""The arguments that kernels take from a discretised heat problem, named in one place for all code that passes or reads
them.

A launch passes each of these as a plain tuple, and a kernel gives the fields their names again in its first line,
`plate = Plate(*plate)`. Neither costs anything: Numba finds the type of a plain tuple as fast as the types of its
elements one by one, and the type of a named tuple ten times as slowly; compiled code has no tuples.

ny, nx: cells along y and x. points = 2 (ny + nx): edge points. Types: "real" is the precision of the run."""

from __future__ import annotations

from typing import Any, NamedTuple


class Plate(NamedTuple):
    """The operator of `operator`, for all rows of the edge table.

    gx, gy: conductances of faces divided by Δ², W/(m³·K), real (ny, nx + 1) and (ny + 1, nx). c: 1/(ρc), m³·K/J, 0 in
    held cells, real (ny, nx). q: sources, W/m³, real (ny, nx), or (1, 1) where there are none. heated: whether there
    are any sources. edges: rows of β (1), then γ (K), at all edge points, real (rows · 2 points,); which row counts is
    a further argument, `at`, the place where it begins. wrap_x, wrap_y: whether that direction is periodic. zero: the
    number 0 in the type of the fields, for sums of products that must not be contracted."""

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
    """What a plate books in the ledger, and the arrays needed for that.

    power: the power of each row of cells, for each source that moves, W/m³ summed over the row, float64 (moving sources
    · ny,). held: column and row of each held cell, int64 (held cells, 2). ledger: the heat that came in at edge points,
    from the sources in each row and from each held cell, J/m³, real (entries,)."""

    power: Any
    held: Any
    ledger: Any


class Law(NamedTuple):
    """Conductivities that depend on temperature, by expressions in x, y, T, k, which.

    kx, ky: the value of the variable k in the expressions for the conductivities along x and y, W/(m·K), float64 (ny,
    nx). which: the number of a cell's expression, (ny, nx). dx, dy: sizes of a cell, m. numbers_x, numbers_y: the
    numbers that occur in the expressions, float64 (numbers,). first, rows: see `Discretisation.place`."""

    kx: Any
    ky: Any
    which: Any
    dx: Any
    dy: Any
    numbers_x: Any
    numbers_y: Any
    first: Any
    rows: Any


class LawEdges(NamedTuple):
    """What the conductivities at edge points are computed from, and the array that they are written to.

    kinds: the kind of each point's condition, see `edges`, (points,). data: the numbers that the conditions give, see
    `edges.Piece`, (rows or 1, 2 points). k: the conductivity beside each edge point, W/(m·K), float64 (points,), which
    is written to."""

    kinds: Any
    data: Any
    k: Any


class Mesh(NamedTuple):
    """A plate with constant coefficients and no sources, as kernels of explicit steps and of RKL2 stages take it; it is
    the same for all steps.

    edges: rows of β (1), then γ (K), at all edge points, real (rows · 2 points,); which row counts is a further
    argument, `at`, the place where it begins. ledger: rise in temperature that came in through each edge point, K, real
    (points,). q: Δx²/Δy², times the ratio of the conductivities where they differ along x and y. wrap_x, wrap_y:
    whether that direction is periodic."""

    edges: Any
    ledger: Any
    q: Any
    wrap_x: Any
    wrap_y: Any


class Factors(NamedTuple):
    """The factors of an RKL2 stage with constant coefficients, see `rkl2/stages`, in the precision of the run.

    mu, nu, r, g: the factors μ, n, r, g. b: the factor with which a difference across an edge along x is added to the
    ledger, in the ledger's unit per K."""

    mu: Any
    nu: Any
    r: Any
    g: Any
    b: Any


class TableRows(NamedTuple):
    """Where rows of the edge table begin. at: the row for the last stage. at0: the row for the first stage."""

    at: Any
    at0: Any


class Along(NamedTuple):
    """Lines of n cells, m beside each other, along either axis.

    g: conductances divided by Δ², real (n + 1, m). c: 1/(ρc), real (n, m). edges: the edge table, of which a row is
    taken that begins at a further argument, `at`. first: number of the edge point at the beginning of line 0; the
    number of the edge point at its end is m larger. wrap: whether lines are closed to rings."""

    g: Any
    c: Any
    edges: Any
    first: Any
    wrap: Any

"""Edges of the rectangle as affine ghosts.

A cell at an edge sees a ghost cell outside, half a cell behind the edge, whose value is affine in its own: the
difference ghost - T = γ - β·T gives the flux k·(γ - β·T)/Δ into the cell, second-order accurate at the edge itself.
With conductivity k and cell width Δ across the edge:

    temperature g               β = 2                  γ = 2 g
    flux q into the domain      β = 0                  γ = q Δ / k
    convection h, ambient a     β = 2hΔ / (2k + hΔ)    γ = β a
    radiation ε, ambient a      convection's, linearised at the present temperature of the wall (see `tangent`)
    insulated                   β = 0                  γ = 0
    periodic                    no ghost: the cell at the opposite edge

(Ghost-cell form of the finite-volume boundary flux; e.g. Versteeg & Malalasekera, An Introduction to Computational
Fluid Dynamics, 2nd ed., 2007, section 4.) β is at most 2, so no edge tightens the stability bound of the interior.

Edge points are numbered left (upwards), right (upwards), bottom (rightwards), top (rightwards). Where an edge is made
of pieces, a point belongs to the piece that its middle lies in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat import (
    EDGES,
    Condition,
    Convection,
    Flux,
    HeatScenario,
    Radiation,
    Temperature,
)
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN
from simsuite.solvers.heat.grid.single_moments import without_moments
from simsuite.solvers.heat.grid.spans import extreme_times, most_given

FLUX, TEMPERATURE, CONVECTION, RADIATION = range(4)
_LOOKS = 11  # the number of times, first and last included, at which coefficients are looked at before a run
# how many times and points of an edge are looked at for the first time of a mistake, and how often that is halved
_TIMES, _POINTS, _HALVINGS = 4097, 16, 60
_HARDLY = 1e-9  # relative difference of numbers that are written in the same way
ZERO = Expression.constant(0.0)


@dataclass(frozen=True, eq=False)
class Piece:
    """Neighbouring edge points with the same condition.

    points: their numbers. x, y: the middles of their cell faces, m. first, second: the condition's data, as functions
    of x, y, t. For a temperature or a flux these are its value and 0; for convection or radiation they are h or the
    emissivity, and the ambient temperature. condition: what the scenario says, path: where it says it."""

    kind: int
    points: np.ndarray
    x: np.ndarray
    y: np.ndarray
    first: Expression
    second: Expression
    condition: Condition
    path: tuple[str | int, ...]


@dataclass(frozen=True, eq=False)
class Edges:
    """All edge points of a grid of ny × nx cells of dx by dy m."""

    pieces: tuple[Piece, ...]
    ny: int
    nx: int
    dx: float
    dy: float

    @property
    def size(self) -> int:
        return 2 * (self.ny + self.nx)

    @cached_property
    def kinds(self) -> np.ndarray:
        """What condition each point has, int64."""
        kinds = np.zeros(self.size, np.int64)
        for piece in self.pieces:
            kinds[piece.points] = piece.kind
        return kinds

    @cached_property
    def delta(self) -> np.ndarray:
        """Cell width across the edge at each point, m."""
        return np.repeat([self.dx, self.dy], [2 * self.ny, 2 * self.nx])

    @property
    def radiates(self) -> bool:
        return any(piece.kind == RADIATION for piece in self.pieces)

    @property
    def moving(self) -> bool:
        """Whether some condition depends on time."""
        return any(f.depends_on("t") for piece in self.pieces for f in (piece.first, piece.second))

    def data(self, t: float) -> np.ndarray:
        """(2, points): the conditions' data at time t."""
        values = np.zeros((2, self.size))
        for piece in self.pieces:
            values[0, piece.points] = piece.first(x=piece.x, y=piece.y, t=t)
            values[1, piece.points] = piece.second(x=piece.x, y=piece.y, t=t)
        return values

    def coefficients(self, t: float, k: np.ndarray, T: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(β, γ) at all points at time t. k, T: conductivity and temperature of the cells there; T is needed only
        where an edge radiates."""
        first, second = self.data(t)
        kinds, delta = self.kinds, self.delta
        h = np.where(kinds == CONVECTION, first, 0.0)
        beta = np.where(kinds == TEMPERATURE, 2.0, convective_beta(h, k, delta))
        gamma = beta * np.where(kinds == CONVECTION, second, first)
        gamma = np.where(kinds == FLUX, first * delta / k, gamma)
        for p in np.flatnonzero(kinds == RADIATION):
            if T is None:
                raise ValueError("a radiating edge is linear at a temperature only")
            beta[p], gamma[p] = tangent(first[p], second[p], k[p], delta[p], T[p])
        return beta, gamma

    def temperatures(self, t: float) -> Iterator[np.ndarray]:
        """Temperatures that the conditions impose or refer to at time t, a vector for each piece that has any."""
        for piece in self.pieces:
            if piece.kind != FLUX:
                f = piece.first if piece.kind == TEMPERATURE else piece.second
                yield np.atleast_1d(f(x=piece.x, y=piece.y, t=t))

    def steepest(self, t: float, k: np.ndarray, T: float) -> np.ndarray:
        """β at all points at time t, for radiating edges at the temperature T; there β is larger for a higher T."""
        first, _ = self.data(t)
        h = np.where(self.kinds == CONVECTION, first, 0.0)
        h = np.where(self.kinds == RADIATION, 4.0 * first * STEFAN_BOLTZMANN * np.abs(np.float64(T)) ** 3, h)
        return np.where(self.kinds == TEMPERATURE, 2.0, convective_beta(h, k, self.delta))

    def looks(self, end: float) -> list[float]:
        """The times at which coefficients that move are looked at before a run that ends at `end`. They are irregular,
        because regular times might meet periodic data always at the same phase. Those are among them at which the
        data, fluxes aside, are largest and least."""
        if not self.moving:
            return [0.0]
        if end not in self._looks:
            inside = [end * ((k + (k + 1) * GOLDEN % 1.0) / (_LOOKS - 2)) for k in range(_LOOKS - 2)]
            self._looks[end] = sorted({0.0, *inside, end, *self._extremes(end)})
        return self._looks[end]

    def most_fluxes(self, end: float) -> list[list[tuple[float, float]]]:
        """For each flux that depends on time: the largest one into the plate, W/m², and the time in which it would
        give all that comes in until `end`, s; likewise out of it. They follow from bounds that may be too large."""
        if end not in self._fluxes:
            self._fluxes[end] = []
            for piece in self.pieces:
                if piece.kind == FLUX and piece.first.depends_on("t") and end > 0:
                    ranges = {"x": (piece.x.min(), piece.x.max()), "y": (piece.y.min(), piece.y.max())}
                    given, sizes = most_given(piece.first, end, ranges)
                    times = np.divide(given, sizes, out=np.zeros(2), where=sizes > 0)
                    self._fluxes[end].append(list(zip(sizes.tolist(), times.tolist())))
        return self._fluxes[end]

    @cached_property
    def _fluxes(self) -> dict[float, list[list[tuple[float, float]]]]:
        return {}

    @cached_property
    def _looks(self) -> dict[float, list[float]]:
        return {}

    def _extremes(self, end: float) -> Iterator[float]:
        for piece in self.pieces:
            few = slice(None, None, -(-len(piece.x) // _POINTS))
            for f in (piece.first, piece.second):
                if piece.kind != FLUX and f.depends_on("t") and end > 0:
                    yield from extreme_times(f, end, {"x": piece.x[few], "y": piece.y[few]})


def convective_beta(h: np.ndarray, k: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """β of a heat transfer coefficient h."""
    return 2.0 * h * delta / (2.0 * k + h * delta)


def tangent(emissivity: float, ambient: float, k: float, delta: float, T: float) -> tuple[float, float]:
    """(β, γ) of a wall that radiates εσ(a⁴ - W⁴) into the domain, to first order around the cell's temperature T.

    W is the wall's temperature half a cell further, where that flux equals the conducted one, 2k(W - T)/Δ: the root of
    an increasing convex function, which Newton's method reaches from above. Temperatures in K; W|W|³ in place of W⁴
    keeps the function increasing where a run strays below 0 K.
    """
    s = emissivity * STEFAN_BOLTZMANN
    g = 2.0 * k / delta
    W = max(T, ambient)
    for _ in range(60):
        cube = abs(W) ** 3
        change = (g * (W - T) - s * (ambient**4 - W * cube)) / (g + 4.0 * s * cube)
        W -= change
        if abs(change) <= 1e-15 * abs(W):
            break
    h = 4.0 * s * abs(W) ** 3
    beta = 2.0 * h * delta / (2.0 * k + h * delta)
    return beta, g * (W - T) * delta / k + beta * T


def make_edges(scenario: HeatScenario) -> Edges:
    """The edge points of a scenario, in pieces that follow each other."""
    g = scenario.grid
    start, pieces = 0, []
    for edge in EDGES:
        x, y = edge_points(scenario, edge)
        along = y if edge in ("left", "right") else x
        numbers = np.arange(start, start + len(x))
        start += len(x)
        for part in scenario.boundary.segments(edge, scenario.edge_length(edge)):
            here = (along >= part.start) & (along < part.stop)
            if here.any():
                kind, *data = described(part.condition)
                first, second = (without_moments(f, x[here], y[here], scenario.time.end or 0.0) for f in data)
                pieces.append(Piece(kind, numbers[here], x[here], y[here], first, second, part.condition, part.path))
    return Edges(tuple(pieces), g.ny, g.nx, g.lx / g.nx, g.ly / g.ny)


def described(condition: Condition) -> tuple[int, Expression, Expression]:
    """The kind of a condition, and its two data as they are written (see `Piece`)."""
    if isinstance(condition, Temperature):
        return TEMPERATURE, condition.value or ZERO, ZERO
    if isinstance(condition, Flux):
        return FLUX, condition.value or ZERO, ZERO
    if isinstance(condition, Convection):
        return CONVECTION, condition.h, condition.ambient or ZERO
    if isinstance(condition, Radiation):
        return RADIATION, condition.emissivity, condition.ambient or ZERO
    return FLUX, ZERO, ZERO


def edge_points(scenario: HeatScenario, edge: str) -> tuple[np.ndarray, np.ndarray]:
    """x and y (m) of the middle of every cell face at one edge."""
    g = scenario.grid
    along_y = (np.arange(g.ny) + 0.5) * (g.ly / g.ny)
    along_x = (np.arange(g.nx) + 0.5) * (g.lx / g.nx)
    if edge == "left":
        return np.zeros(g.ny), along_y
    if edge == "right":
        return np.full(g.ny, g.lx), along_y
    return along_x, np.full(g.nx, 0.0 if edge == "bottom" else g.ly)


def cells_at(edge: str, field: np.ndarray) -> np.ndarray:
    """The values of a field of cells along one edge."""
    return {"left": field[:, 0], "right": field[:, -1], "bottom": field[0], "top": field[-1]}[edge]


def at_points(along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    """Values at the cells of all edge points: those of the field `along_x` at the left and right edge, and those of
    `along_y` at the bottom and top edge."""
    parts = [cells_at(edge, along_x if edge in ("left", "right") else along_y) for edge in EDGES]
    return np.concatenate(parts)


def bad_conditions(edges: Edges, end: float, coldest: float, derived: bool = False) -> list[Mistake]:
    """Mistakes where a heat transfer coefficient is negative (no step is stable with β < 0, which amplifies a
    difference), where an emissivity is not between 0 and 1, and where a temperature is below absolute zero, `coldest`.

    Conditions are looked at in the middle of every cell face, at the times of `Edges.looks`. Of what is wrong at one of
    these times the first time is told.
    derived: whether ambient temperatures follow from a manufactured solution; that of convection is then only a number
    in the equation and may be below absolute zero."""
    found = []
    warm = _Range(coldest, math.inf, below(coldest), "falls below it", KELVIN if coldest == 0.0 else None)
    t = np.array(edges.looks(end))[:, None]
    for piece in edges.pieces:
        shape = (len(t), len(piece.points))
        first = np.broadcast_to(piece.first(x=piece.x, y=piece.y, t=t), shape)
        second = np.broadcast_to(piece.second(x=piece.x, y=piece.y, t=t), shape)
        emissive = piece.kind == RADIATION
        outside = emissive or (piece.kind == CONVECTION and not derived)
        for key, counts, values, allowed in (
            ("h", piece.kind == CONVECTION, first, _NOT_NEGATIVE),
            ("emissivity", emissive, first, _Range(0.0, 1.0, "must be from 0 to 1", "leaves that range", None)),
            ("value", piece.kind == TEMPERATURE, first, warm),
            ("ambient", outside, second, warm),
        ):
            bad = allowed.forbids(values)
            if counts and bad.any():
                k, j = np.argwhere(bad)[0]
                given = piece.second if key == "ambient" else piece.first
                found.append(_mistake((*piece.path, key), given, piece, (float(t[k, 0]), j), allowed))
    return found


class _Range(NamedTuple):
    """What the values of a condition have to be. must: that in words. leaves: how to say that values that change with
    time cease to be so. help: what to do then."""

    low: float
    high: float
    must: str
    leaves: str
    help: str | None

    def forbids(self, values: np.ndarray) -> np.ndarray:
        """Which values are not allowed; what is no number is told of elsewhere."""
        return (values < self.low) | (values > self.high)

    def is_left_slowly(self, value: float) -> bool:
        """Whether a value that is not allowed is so near to one that is that both are written in the same way."""
        return any(math.isclose(value, limit, rel_tol=_HARDLY, abs_tol=_HARDLY) for limit in (self.low, self.high))


_NOT_NEGATIVE = _Range(0.0, math.inf, "must not be negative", "falls below 0", None)


def _mistake(
    path: tuple[str | int, ...], f: Expression, piece: Piece, seen: tuple[float, int], allowed: _Range
) -> Mistake:
    """The mistake of a condition f whose values are not as allowed. seen: a time and the number of a point of the piece
    where that is so. If f depends on time, the first such time is named."""
    t, j = seen
    help = allowed.help
    if f.names and allowed is _NOT_NEGATIVE:
        help = f"write max(0, {f.text}) if it is meant to be 0 there"
    if f.depends_on("t"):
        t = first_time(f, piece, seen, allowed.forbids)
        j = int(np.argmax(np.broadcast_to(allowed.forbids(f(x=piece.x, y=piece.y, t=t)), piece.x.shape)))
    value = float(f(x=piece.x[j], y=piece.y[j], t=t))
    place = f" at x = {piece.x[j]:g} m, y = {piece.y[j]:g} m, t = {t:g} s" if f.names else ""
    slowly = f.depends_on("t") and allowed.is_left_slowly(value)
    return Mistake(path, f"{allowed.must}, but {allowed.leaves if slowly else f'is {value:g}'}{place}", help)


def first_time(
    f: Expression, piece: Piece, seen: tuple[float, int], fails: Callable[[np.ndarray], np.ndarray]
) -> float:
    """The first time at which the values of a condition f fail, found by bisection. Failures that last for less than a
    part in _TIMES of the time before them may be passed over. seen: a time, and the number of a point of the piece, at
    which f fails."""
    last, at = seen
    points = np.unique([*range(0, len(piece.points), -(-len(piece.points) // _POINTS)), at])
    x, y = piece.x[points], piece.y[points]
    times = np.linspace(0.0, last, _TIMES)
    k = int(np.argmax(np.any(np.atleast_2d(fails(f(x=x, y=y, t=times[:, None]))), axis=1)))
    if k == 0:
        return 0.0
    low, high = float(times[k - 1]), float(times[k])
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.any(fails(f(x=x, y=y, t=middle))) else (middle, high)
    return high


KELVIN = "radiation goes by absolute temperatures: write all of them in K, 273.15 more than in °C"


def below(coldest: float) -> str:
    """Says what is wrong with a temperature below `coldest`, which is 0 in K."""
    return f"must not be below absolute zero, {coldest:g} {'K' if coldest == 0.0 else '°C'}"

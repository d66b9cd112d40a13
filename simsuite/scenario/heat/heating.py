"""What heats a plate, as expressions: each `[[source]]`, and the faces.

A source becomes the product of its power, of 1 in its shape and 0 outside, and of 1 while it is on. Watts are divided
by the volume of the cells whose centre is in the shape, so that exactly these watts arise on every grid, but for those
in cells that are held at a temperature. Which cells a file marks is known to the solver only, which completes these
sources (`solvers/heat/grid/marked_sources`). Through the faces of a plate of thickness d come

    faces · (h (ambient - T) + ε σ (ambient⁴ - T⁴)) / d        W/m³.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.tree import Apply, IntegerPower, Name, Node, Number
from simsuite.scenario.heat.grid import Grid
from simsuite.scenario.heat.physics import STEFAN_BOLTZMANN
from simsuite.scenario.heat.shapes import CircleShape, RectangleShape, Shape, outline_margin
from simsuite.scenario.heat.source import SURFACE, AnySource, MaskSource, Source, source_names
from simsuite.scenario.heat.surface import Surface

VARIABLES = ("x", "y", "t", "T")
_ROWS = 256  # rows of cells that are looked at together


@dataclass(frozen=True)
class Heating:
    """Something that heats. name: in the results. power: W/m³, in x, y, t and T. path: of the key that says how much.
    by_cells: whether its power is right on any grid: watts are divided by the volume of their cells, and faces are
    those of whole cells. shape: not 0 where it is, in x and y; None for all of the plate. mask: what marks its cells,
    if a file does: then `power` is that in one of them, and watts are those of a source of a single cell."""

    name: str
    power: Expression
    path: tuple[str | int, ...]
    by_cells: bool
    shape: Expression | None = None
    mask: MaskSource | None = None

    @property
    def entry(self) -> str:
        """What it is called in the ledger."""
        return SURFACE if self.name == SURFACE else f"source_{self.name}"

    @property
    def words(self) -> str:
        """What it is called in sentences."""
        return "the heat through the faces" if self.name == SURFACE else f"the source {self.name}"


def heating(sources: list[AnySource], surface: Surface | None, grid: Grid) -> tuple[Heating, ...]:
    """All that heats the plate, in the order of the file, the faces last."""
    found = []
    for i, (name, source) in enumerate(zip(source_names(sources), sources)):
        key = "power" if source.watts is None else "watts"
        mask = source if isinstance(source, MaskSource) else None
        shape = None if isinstance(source, Source | MaskSource) else _in_shape(source, outline_margin(grid.lx, grid.ly))
        where = None if shape is None else Expression.from_tree(shape, VARIABLES)
        by_cells = source.watts is not None or mask is not None
        found.append(Heating(name, _power(source, shape, grid), ("source", i, key), by_cells, where, mask))
    if surface is not None:
        power = _through_faces(surface, grid.thickness or 1.0)
        found.append(Heating(SURFACE, power, ("surface", "emissivity" if surface.h is None else "h"), True))
    return tuple(found)


def _power(source: AnySource, shape: Node | None, grid: Grid) -> Expression:
    given = source.power if source.watts is None else source.watts
    assert given is not None
    factors = [] if shape is None else [shape]
    if source.watts is not None:
        cells = grid.nx * grid.ny
        if isinstance(source, MaskSource):
            cells = 1
        elif factors:
            cells = _cells(factors[0], grid.nx, grid.ny, grid.lx, grid.ly)
        volume = cells * (grid.lx / grid.nx) * (grid.ly / grid.ny) * (grid.thickness or 1.0)
        given = Expression.combine("/", given, volume) if volume > 0 else Expression.constant(0.0)
    if source.on is not None:
        factors.append(_while_on(source.intervals, source.ramp))
    if not factors:
        return given if source.watts is None else Expression.from_tree(given.tree, VARIABLES)
    return Expression.from_tree(_product([given.tree, *factors]), VARIABLES)


def _times(a: Node, b: Node) -> Node:
    return Apply("*", (a, b))


def _product(factors: Sequence[Node]) -> Node:
    return reduce(_times, factors)


def _between(a: Node, low: float, high: float) -> list[Node]:
    return [_compared(">=", a, low), _compared("<=", a, high)]


def _compared(op: str, a: Node, b: float) -> Node:
    return Apply(op, (a, _number(b)))


def _number(value: float) -> Node:
    return Number(value) if math.copysign(1.0, value) > 0 else Apply("neg", (Number(-value),))


def _in_shape(shape: Shape, margin: float) -> Node:
    """1 in a shape, or outside by no more than the margin, and 0 elsewhere."""
    x, y = Name("x"), Name("y")
    if isinstance(shape, RectangleShape):
        sides = [(x, shape.x), (y, shape.y)]
        return _product([part for a, (low, high) in sides for part in _between(a, low - margin, high + margin)])
    if isinstance(shape, CircleShape):
        squares = [IntegerPower(Apply("-", (a, _number(at))), 2) for a, at in zip((x, y), shape.center)]
        return _compared("<=", Apply("+", (squares[0], squares[1])), (shape.radius + margin) ** 2)
    return _in_polygon(shape.points, margin)


def _in_polygon(points: list[list[float]], margin: float) -> Node:
    """By the even-odd rule, see `solvers/heat/grid/shapes`: a factor of -1 for each side that a ray crosses."""
    x, y = Name("x"), Name("y")
    sides = list(zip(points, points[1:] + points[:1]))
    signs: list[Node] = []
    near: list[Node] = []
    for (x0, y0), (x1, y1) in sides:
        along, up = x1 - x0, y1 - y0
        if up != 0:
            at = Apply("+", (_number(x0), Apply("*", (Apply("-", (y, _number(y0))), _number(along / up)))))
            between = Apply("!=", (_compared("<", y, y0), _compared("<", y, y1)))
            signs.append(Apply("-", (Number(1.0), Apply("*", (Number(2.0), _times(between, Apply("<", (x, at))))))))
        u, v = Apply("-", (x, _number(x0))), Apply("-", (y, _number(y0)))
        away = Apply("abs", (Apply("-", (Apply("*", (u, _number(up))), Apply("*", (v, _number(along))))),))
        box = [(x, min(x0, x1), max(x0, x1)), (y, min(y0, y1), max(y0, y1))]
        beside = [part for a, low, high in box for part in _between(a, low - margin, high + margin)]
        near.append(_product([_compared("<=", away, margin * math.hypot(along, up)), *beside]))
    odd = _compared("<", _product(signs), 0.0) if signs else Number(0.0)
    return Apply("max", (odd, *near))


def _while_on(times: list[list[float]], ramp: float | None) -> Node:
    """1 while a source is on, 0 while it is off, and what is between while it comes and goes."""
    t = Name("t")

    def risen(since: float) -> Node:
        if ramp is None:
            return _compared(">=", t, since)
        share = Apply("/", (Apply("-", (t, Number(since))), Number(ramp)))
        return Apply("min", (Apply("max", (share, Number(0.0))), Number(1.0)))

    def acting(interval: list[float]) -> Node:
        if len(interval) == 1:
            return risen(interval[0])
        if ramp is None:
            return _times(risen(interval[0]), _compared("<", t, interval[1]))
        return Apply("-", (risen(interval[0]), risen(interval[1])))

    # balanced, as an expression may not be nested too deeply
    parts = [acting(interval) for interval in times]
    while len(parts) > 1:
        pairs = [Apply("+", (a, b)) for a, b in zip(parts[::2], parts[1::2])]
        parts = [*pairs, *parts[2 * len(pairs) :]]
    return parts[0]


@functools.lru_cache(64)
def _cells(inside: Node, nx: int, ny: int, lx: float, ly: float) -> int:
    """How many cells have their centre where an expression in x and y is not 0."""
    f = Expression.from_tree(inside, VARIABLES)
    x, count = (np.arange(nx) + 0.5) * (lx / nx), 0
    for first in range(0, ny, _ROWS):
        y = (np.arange(first, min(first + _ROWS, ny)) + 0.5) * (ly / ny)
        count += int(np.count_nonzero(np.broadcast_to(f(x=x, y=y[:, None]), (y.size, nx))))
    return count


def _through_faces(surface: Surface, thickness: float) -> Expression:
    T, ambient = Name("T"), surface.ambient.tree
    parts = []
    if surface.h is not None:
        parts.append(_times(surface.h.tree, Apply("-", (ambient, T))))
    if surface.emissivity is not None:
        fourth = Apply("-", (IntegerPower(ambient, 4), IntegerPower(T, 4)))
        parts.append(_times(_times(surface.emissivity.tree, Number(STEFAN_BOLTZMANN)), fourth))
    whole = reduce(lambda a, b: Apply("+", (a, b)), parts)
    return Expression.from_tree(_times(Number(surface.faces / thickness), whole), VARIABLES)

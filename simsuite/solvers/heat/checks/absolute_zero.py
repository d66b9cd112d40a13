"""Mistakes and warnings about temperatures below absolute zero. It is known which temperature that is only where the
unit is °C, and where edges or faces radiate, for which temperatures must be in K."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.expressions.tree import Apply, IntegerPower, Node, Number, walk
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.checks.not_finite import why_undefined
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, KELVIN, TEMPERATURE, Edges, Piece, below, first_time
from simsuite.solvers.heat.grid.faces import faces_of
from simsuite.words import cell_in_words

_CELSIUS = -273.15
_USUAL = (
    230.0,
    330.0,
)  # Temperatures in this range are usual in K; as °C they are unlikely for all of a plate and its surroundings.
_SEEN = 200.0, 2000.0  # the range of temperatures in K that are written with the .15 of 273.15
_NOWHERE, _HOT = -1e6, 1e6  # temperatures that no wrong unit comes to
_ROUNDING = 1e-6  # share of the largest temperature by which a step may go below 0 K because of rounding
_SOME = 1e-3  # share of the largest temperature: a run may come to so much less than 0 K by the error of a method
_WITHOUT_UNIT = (
    'as temperatures without a unit are in K: write units = "degC" at the top of the file if they are in °C, or '
    'units = "K" if they are differences'
)


def absolute_zero(scenario: HeatScenario, edges: Edges) -> float:
    """The least temperature in the scenario's unit; -inf where nothing radiates, since the equation does not change
    when a number is added to all temperatures, and those in K may be differences."""
    if scenario.units == "degC":
        return _CELSIUS
    return 0.0 if _radiates(scenario, edges) else -math.inf


def _radiates(scenario: HeatScenario, edges: Edges) -> bool:
    """Whether an edge or the faces radiate, for which temperatures must be in K."""
    return edges.radiates or (scenario.surface is not None and scenario.surface.emissivity is not None)


def too_cold(scenario: HeatScenario, made: Discretisation, inside: list[np.ndarray], coldest: float) -> list[Mistake]:
    """Finds initial and held temperatures below `coldest`. inside: which cells belong to each region."""
    cold = np.less(made.T0, coldest)
    found = []
    for i in reversed(range(len(inside))):  # the last region that a cell belongs to is the one that holds it
        one = _is_constant(scenario.region[i].temperature)
        found += _mistakes(made, cold & made.held & inside[i], ("region", i, "temperature"), coldest, one)
        cold = cold & ~(made.held & inside[i])
    where = ("reference" if scenario.manufactured else "initial", "temperature")
    one = not scenario.manufactured and _is_constant(scenario.initial.temperature)
    return _mistakes(made, cold, where, coldest, one) + found[::-1]


def _is_constant(temperature: object) -> bool:
    return isinstance(temperature, Expression) and not temperature.names


def _mistakes(
    made: Discretisation, bad: np.ndarray, path: tuple[str | int, ...], coldest: float, constant: bool
) -> list[Mistake]:
    """A mistake about the first cell that is bad, if any cell is. constant: whether the temperature is the same in all
    cells."""
    if not bad.any():
        return []
    y, x = np.argwhere(bad)[0]
    place = "" if constant else f" in {cell_in_words(x, y)}"
    message = f"{below(coldest)}, but is {made.T0[y, x]:g}{place}"
    return [Mistake(path, message, KELVIN if coldest == 0.0 else None)]


def unit_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where temperatures below 0 are given, which without a unit are in K: at the start, or at one of some
    times at which edges and what is outside are looked at. Where edges radiate, they are mistakes."""
    if _unit_is_known(scenario, made):
        return []
    cold = [given for given in _given(scenario, made) if given.lowest < _below_zero(given.highest)]
    if not cold:
        return []
    end = scenario.time.end or 0.0
    for given in cold:
        if given.moves is None:
            continue
        f, piece, _ = given.moves
        why = why_undefined(f, made, end, at_edge=True)
        if why and (given.lowest < _NOWHERE or _has_pole(f, piece, made.edges.looks(end))):
            return [f"{given.text} {_is_below(given, end)}: {why}"]
    more = " (and others)" if len(cold) > 1 else ""
    return [f"{cold[0].text}{more} {_is_below(cold[0], end)}, {_WITHOUT_UNIT}"]


def _has_pole(f: Expression, piece: Piece, times: Sequence[float]) -> bool:
    """Whether a divisor in the condition f of a piece of an edge changes its sign between some of these times."""
    t = np.array(times)[:, None]
    for node in walk(f.tree):
        divisor = _divisor(node)
        if divisor is None:
            continue
        values = Expression.from_tree(divisor, ("x", "y", "t"))(x=piece.x, y=piece.y, t=t)
        values = np.broadcast_to(values, (t.size, piece.x.size))
        if np.any((values.min(axis=0) < 0.0) & (values.max(axis=0) > 0.0)):
            return True
    return False


def _divisor(node: Node) -> Node | None:
    if isinstance(node, IntegerPower) and node.exponent < 0 and node.exponent % 2:
        return node.base
    return node.args[1] if isinstance(node, Apply) and node.op == "/" else None


def _below_zero(highest: float) -> float:
    """The temperature below which others count as below 0. highest: the largest of them, which says how they are
    rounded, unless it lies near a pole."""
    return -_ROUNDING * min(abs(highest), _HOT)


def _is_below(given: _Given, end: float) -> str:
    """ "is below absolute zero", and for temperatures that depend on time also when that begins, and the least one."""
    if given.moves is None:
        return "is below absolute zero"
    since = first_time(*given.moves, lambda values: np.less(values, _below_zero(given.highest)))
    if since <= _ROUNDING * end:
        return f"is below absolute zero from the start on, down to {given.lowest:.3g} K"
    return f"falls below absolute zero at t = {since:.3g} s, down to {given.lowest:.3g} K"


def kelvin_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where temperatures that are to be in °C look as if they were written in K: a number such as 298.15, or
    if all of them are usual in K, and hot in °C."""
    if scenario.units != "degC" or scenario.manufactured:
        return []
    given = list(_given(scenario, made))
    for each in given:
        for value in each.numbers:
            if _looks_like_kelvin(value):
                celsius = value + _CELSIUS
                return [
                    f"the {value:g} of {each.name} is in °C, as all temperatures of this file are (units = "
                    f'"degC"), and looks like {celsius:.4g} °C in K: write {celsius:.4g} if it is'
                ]
    low, high = min(each.lowest for each in given), max(each.highest for each in given)
    if not (_USUAL[0] <= low and high <= _USUAL[1]):
        return []
    span = f"{low:.4g} °C" if low == high else f"from {low:.4g} to {high:.4g} °C"
    return [
        f'all temperatures that are given are {span}, as units = "degC" says, and would be usual ones in K: write '
        'units = "K" if they are'
    ]


def _looks_like_kelvin(value: float) -> bool:
    """Whether a number is one of few digits in °C, and in K one of those that end in .15."""
    return _SEEN[0] <= value <= _SEEN[1] and abs(value + _CELSIUS - round(value + _CELSIUS)) < _ROUNDING


def fallen_below(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where a run has come to temperatures below 0 from others that were not, and without a unit."""
    lowest, highest = results["min"], results["max"]
    if _unit_is_known(scenario, made) or not lowest < -_SOME * abs(highest) or unit_warnings(scenario, made):
        return []
    return [f"the least temperature in the end, {lowest:.4g} K, is below absolute zero, {_WITHOUT_UNIT}"]


def _unit_is_known(scenario: HeatScenario, made: Discretisation) -> bool:
    """Whether the unit of the temperatures is known. A manufactured solution needs no unit."""
    return "units" in scenario.model_fields_set or _radiates(scenario, made.edges) or scenario.manufactured


class _Given(NamedTuple):
    """What a key of the scenario says about temperatures. text: the least of them, in words; where they depend on time,
    only the name. numbers: the numbers that occur in its expression. moves: for an edge whose temperatures depend on
    time their function, its piece, and when and at which point they are lowest."""

    name: str
    text: str
    lowest: float
    highest: float
    numbers: Sequence[float]
    moves: tuple[Expression, Piece, tuple[float, int]] | None = None


def _given(scenario: HeatScenario, made: Discretisation) -> Iterator[_Given]:
    """The `_Given` of each key that gives temperatures."""
    x, y, unit = *made.centres, scenario.degrees
    held, T0 = np.broadcast_to(made.held, made.T0.shape), made.T0
    if not held.all():
        yield _words(("initial", "temperature"), scenario.initial.temperature, T0[~held], unit)
    end, faces = scenario.time.end or 0.0, faces_of(scenario)
    for t, piece in ((np.array(of.looks(end))[:, None], piece) for of in (made.edges, faces) for piece in of.pieces):
        key, f = ("value", piece.first) if piece.kind == TEMPERATURE else ("ambient", piece.second)
        if piece.kind in (TEMPERATURE, CONVECTION):
            values = np.broadcast_to(f(x=piece.x, y=piece.y, t=t), (len(t), len(piece.x)))
            given = _words((*piece.path, key), f, values, unit)
            if f.depends_on("t"):
                k, j = np.unravel_index(np.argmin(values), values.shape)
                given = given._replace(text=given.name, moves=(f, piece, (float(t[k, 0]), int(j))))
            yield given
    for i, region in enumerate(scenario.region):
        if isinstance(region.temperature, Expression):
            values = np.broadcast_to(region.temperature(x=x, y=y), T0.shape).astype(T0.dtype)
            own = held & (values == T0)  # cells of another region that is as cold there count as well
            if own.any():
                yield _words(("region", i, "temperature"), region.temperature, values[own], unit)


def _words(path: tuple[str | int, ...], f: Expression | Any, values: np.ndarray, unit: str) -> _Given:
    """The `_Given` of the key at `path`, with the expression f and its values."""
    name, lowest, highest = ".".join(map(str, path)), float(np.min(values)), float(np.max(values))
    numbers = [n.value for n in walk(f.tree) if isinstance(n, Number)] if isinstance(f, Expression) else []
    if isinstance(f, Expression) and not f.names:
        return _Given(name, f"{name} = {lowest:g} {unit}", lowest, highest, numbers)
    return _Given(name, f"the {lowest:.3g} {unit} that {name} comes to", lowest, highest, numbers)


def gone_below(scenario: HeatScenario, made: Discretisation, lowest: float, highest: float) -> str | None:
    """A sentence, if temperatures have fallen below absolute zero, where it is known where that is."""
    coldest = absolute_zero(scenario, made.edges)
    if lowest >= coldest - _ROUNDING * abs(highest - coldest):
        return None
    radiates = _radiates(scenario, made.edges)
    unit = ", and that all temperatures are in K, not in °C" if radiates else ""
    why = "radiation has no meaning below 0 K" if radiates else f"nothing is colder than {coldest:g} °C"
    on = "" if scenario.time.steady else " from here on"
    return (
        f"the temperature falls to {lowest:.4g} {scenario.degrees}: {why}, so neither temperatures nor energies are "
        f"right{on}; check what cools the plate, a source below 0 or a flux out of it{unit}"
    )

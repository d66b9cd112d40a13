"""Temperatures below absolute zero, where it is known where that is: edges that radiate need kelvin, °C are °C."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat import EDGES, HeatScenario
from simsuite.scenario.heat.boundary import Temperature
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.edges import KELVIN, Edges, below

_CELSIUS = -273.15
_ROUNDING = 1e-6  # of the largest temperature, that a step may go below 0 K by


def absolute_zero(scenario: HeatScenario, edges: Edges) -> float:
    """The least temperature in the scenario's unit; -inf where nothing radiates, since the equation does not change
    when a number is added to all temperatures, and those in K may be differences."""
    if scenario.units == "degC":
        return _CELSIUS
    return 0.0 if edges.radiates else -math.inf


def too_cold(scenario: HeatScenario, made: Discretisation, inside: list[np.ndarray], coldest: float) -> list[Mistake]:
    """Initial and held temperatures below the coldest. inside: which cells belong to each region."""
    cold = np.less(made.T0, coldest)
    found = []
    for i in reversed(range(len(inside))):  # the last region that a cell belongs to is the one that holds it
        found += _mistakes(made, cold & made.held & inside[i], ("region", i, "temperature"), coldest)
        cold = cold & ~(made.held & inside[i])
    where = ("reference" if scenario.manufactured else "initial", "temperature")
    return _mistakes(made, cold, where, coldest) + found[::-1]


def _mistakes(made: Discretisation, bad: np.ndarray, path: tuple[str | int, ...], coldest: float) -> list[Mistake]:
    """One of the first cell that is bad, if any is."""
    if not bad.any():
        return []
    y, x = np.argwhere(bad)[0]
    message = f"{below(coldest)}, but is {made.T0[y, x]:g} in cell (x={x}, y={y})"
    return [Mistake(path, message, KELVIN if coldest == 0.0 else None)]


def unit_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where numbers below 0 are given as temperatures, which without a unit are in K. Where edges radiate,
    they are mistakes."""
    cold = [(path, value) for path, value in _given(scenario) if value < 0.0]
    if "units" in scenario.model_fields_set or made.edges.radiates or not cold:
        return []
    (path, value), more = cold[0], " (and others)" if len(cold) > 1 else ""
    return [
        f"{'.'.join(map(str, path))} = {value:g} K{more} is below absolute zero, as temperatures without a "
        'unit are in K: write units = "degC" at the top of the file if they are in °C, or units = "K" if they are '
        "differences"
    ]


def _given(scenario: HeatScenario) -> Iterator[tuple[tuple[str | int, ...], float]]:
    """Temperatures that are given as numbers, with their keys."""
    given: list[tuple[tuple[str | int, ...], Any]] = [(("initial", "temperature"), scenario.initial.temperature)]
    for edge in EDGES:
        for path, condition in scenario.boundary.conditions(edge):
            key = "value" if isinstance(condition, Temperature) else "ambient"
            given.append(((*path, key), getattr(condition, key, None)))
    given += [(("region", i, "temperature"), region.temperature) for i, region in enumerate(scenario.region)]
    yield from ((path, f.value) for path, f in given if isinstance(f, Expression) and not f.names)


def gone_below(scenario: HeatScenario, made: Discretisation, lowest: float, highest: float) -> str | None:
    """A sentence, if temperatures have fallen below absolute zero, where it is known where that is."""
    coldest = absolute_zero(scenario, made.edges)
    if lowest >= coldest - _ROUNDING * abs(highest - coldest):
        return None
    unit = ", and that all temperatures are in K, not in °C" if made.edges.radiates else ""
    why = "radiation has no meaning below 0 K" if made.edges.radiates else f"nothing is colder than {coldest:g} °C"
    on = "" if scenario.time.steady else " from here on"
    return (
        f"the temperature falls to {lowest:.4g} {scenario.degrees}: {why}, so neither temperatures nor energies are "
        f"right{on}; check what cools the plate, a source below 0 or a flux out of it{unit}"
    )

"""Temperatures below absolute zero, where it is known where that is: edges that radiate need kelvin, °C are °C."""

from __future__ import annotations

import math

import numpy as np

from simsuite.errors import Mistake
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.edges import Edges, below

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
    help = "radiation goes by absolute temperatures: write all of them in K, 273.15 more than in °C"
    return [Mistake(path, message, help if coldest == 0.0 else "")]


def gone_below(scenario: HeatScenario, made: Discretisation, lowest: float, highest: float) -> str | None:
    """A sentence, if temperatures have fallen below absolute zero, where it is known where that is."""
    coldest = absolute_zero(scenario, made.edges)
    if lowest >= coldest - _ROUNDING * abs(highest - coldest):
        return None
    why = "radiation has no meaning below 0 K" if made.edges.radiates else f"nothing is colder than {coldest:g} °C"
    on = "" if scenario.time.steady else " from here on"
    return (
        f"the temperature falls to {lowest:.4g} {scenario.degrees}: {why}, so neither temperatures nor energies are "
        f"right{on}; check what cools the plate, a source below 0 or a flux out of it"
    )

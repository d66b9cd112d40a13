"""Warnings, at the end of a run, about temperatures that no solid has, such as a source in wrong units brings about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation

_TOO_HOT = 1e5  # K: at such temperatures all matter is plasma, and the given conductivities mean nothing
_BEYOND = 10.0  # Temperatures of less than so many times the hottest given one are what the scenario is about.


def too_hot(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where a run has come to temperatures that are far beyond those given, and hotter than any solid.

    There is no such sentence where the diffusivity alone is given, since temperatures may then be any quantity that
    diffuses, nor for a manufactured solution, whose temperatures are meant."""
    if scenario.material.alone or scenario.manufactured:
        return []
    hottest = max(results["max"], results.get("range", (0.0, 0.0))[1])
    given = max(map(abs, made.temperatures(made.edges.looks(scenario.time.end or 0.0))))
    if not hottest > max(_TOO_HOT, _BEYOND * given):
        return []
    units = "a source is in W/m³ of the plate, a flux in W/m², a conductivity in W/(m·K)"
    return [
        f"the temperature comes to {hottest:.2g} {scenario.degrees}, which is hotter than any solid or liquid can be: "
        f"check what heats the plate and how the heat gets out ({units})"
    ]

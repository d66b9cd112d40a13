"""Temperatures that no solid has, as a source that is given in wrong units brings about: told at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation

_TOO_HOT = 1e5  # K: all matter is plasma, and conductivities are those of something else
_BEYOND = 10.0  # times the hottest temperature that is given: less is what the scenario is about


def too_hot(scenario: HeatScenario, made: Discretisation, results: Mapping[str, Any]) -> list[str]:
    """A sentence where a run has come to temperatures that are far beyond those given, and hotter than any solid.

    Where the diffusivity alone is given, temperatures may be anything that diffuses; a manufactured solution is meant.
    """
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

"""Warnings about conductivities that depend on T and are 0 at temperatures that come up: cells of such temperatures
exchange no heat at all."""

from __future__ import annotations

import numpy as np

from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation


def no_conduction(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence where some cell that is not held conducts nothing at one temperature between the least and the largest
    that are given, and conducts something at another."""
    if made.law is None:
        return []
    bounds = made.temperatures(made.edges.looks(scenario.time.end or 0.0))
    looks = [(T, min(_least(made, k) for k in pair)) for T, *pair in made.conductivities(bounds)]
    at = next((T for T, least in looks if least == 0.0), None)
    if at is None or all(least == 0.0 for _, least in looks):
        return []
    key = "diffusivity" if scenario.material.alone else "conductivity"
    return [
        f"the {key} is 0 at T = {at:.6g}, which is between the temperatures that are given: heat passes from cell to "
        "cell by the harmonic mean of both, so that it neither enters nor leaves a cell at that temperature; limit it "
        "from below, as in max(.., 1e-6), if it is to spread there"
    ]


def _least(made: Discretisation, k: np.ndarray) -> float:
    """The least conductivity of all cells that are not held."""
    k, held = np.broadcast_arrays(k, made.held)
    return float(np.min(k, where=~held, initial=np.inf))

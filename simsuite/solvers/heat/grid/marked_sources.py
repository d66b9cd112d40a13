"""Sources in cells that a file marks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.marked import marked
from simsuite.expressions.tree import Apply
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.heat.heating import VARIABLES, Heating
from simsuite.solvers.heat.grid.sampling import Sampler


def heating_of(scenario: HeatScenario, sampler: Sampler) -> tuple[Heating, ...]:
    """All that heats the plate, in the order of the file: as the scenario has it, but that sources in cells which a
    file marks are 0 in all others, and their watts are divided by the number of these cells."""
    return tuple(_marked(each, scenario, sampler) for each in scenario.heating)


def _marked(heating: Heating, scenario: HeatScenario, sampler: Sampler) -> Heating:
    if heating.mask is None:
        return heating
    cells, grid = sampler.inside(heating.mask, heating.path[:-1]), scenario.grid
    mark = marked(cells, grid.lx / grid.nx, grid.ly / grid.ny)
    power, count = heating.power, int(np.count_nonzero(cells))
    if heating.mask.watts is not None and count:
        power = Expression.combine("/", power, float(count))
    power = Expression.from_tree(Apply("*", (power.tree, mark)), VARIABLES)
    return replace(heating, power=power, shape=Expression.from_tree(mark, VARIABLES))

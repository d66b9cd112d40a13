"""What is watched of temperatures in the course of a run: the hottest, the coldest, and whether levels are reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.core import JsonObject
from simsuite.crossings.looks import SMOOTH, Condition, Looks, Reading, spread
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.results.extremes import extremes


def looks_of(scenario: HeatScenario, plan: Plan) -> Looks | None:
    """The temperatures to be reached, and when it is looked: after every step where steps control their error."""
    if scenario.looks is None:
        return None
    conditions = tuple(
        Condition(each.title, each.of, each.reaches, each.direction, each.stop) for each in scenario.reaching
    )
    changes = set(plan.changes)
    breaks = frozenset(step for step, t in zip(plan.clock.steps, plan.clock.times) if t in changes)
    steps = None if plan.control is not None else spread(scenario.looks, plan.clock.end, breaks)
    return Looks(conditions, steps, breaks, SMOOTH, "sample")


def readings(scenario: HeatScenario, made: Discretisation, arrays: Mapping[str, np.ndarray]) -> Sequence[Reading]:
    """What each condition is about; temperatures do not jump. arrays: as they were observed."""
    found: dict[str, Any] = extremes(arrays, made)
    numbers = {p.name: float(v) for p, v in zip(scenario.probe, arrays["probes"])}
    numbers |= {name: found[name] for name in ("min", "max", "mean")}
    return [Reading(numbers[each.of], numbers[each.of]) for each in scenario.reaching]


def peaks(arrays: Mapping[str, np.ndarray], made: Discretisation, t: float) -> dict[str, tuple[float, JsonObject]]:
    """See `capabilities.Watched`: the hottest and the coldest cell at time t."""
    found = extremes(arrays, made)
    of = {"hottest": ("max", 1.0), "coldest": ("min", -1.0)}
    return {
        name: (sign * found[key], {"temperature": found[key], **found.get(name, {}), "time": t})
        for name, (key, sign) in of.items()
    }

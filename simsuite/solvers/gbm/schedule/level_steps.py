"""Numbers of time steps of the levels of a multilevel run: each half the next one, as long as all dates of options and
dividends that a scenario names fall on steps."""

from __future__ import annotations

from collections.abc import Iterator

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.payoffs.functionals import Dates

FEWEST_STEPS = 4  # steps of a level: random numbers come in blocks of so many, and payoffs cost as much as a few steps


def level_steps(model: GbmScenario) -> list[int]:
    """The numbers of time steps of all levels, fewest first."""
    steps = [model.time.steps]
    while steps[0] % 2 == 0 and steps[0] // 2 >= FEWEST_STEPS:
        shorter = steps[0] // 2
        if any(at * shorter % model.time.steps for at in _dates(model)):
            break
        steps.insert(0, shorter)
    return steps


def _dates(model: GbmScenario) -> Iterator[int]:
    """Yields the steps on which a date of an option or a dividend falls."""
    time = model.time
    for asset in model.asset:
        yield from (time.nearest_step(dividend.time) for dividend in asset.dividends)
    for option in model.option:
        _, named = option.own_dates
        if isinstance(named, list):
            yield from map(time.nearest_step, named)
        elif named is not None:
            yield from Dates(named).steps(time.steps).tolist()

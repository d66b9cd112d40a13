"""Scenarios in which one parameter is bumped.

Spot, volatility (at all times, by a factor) and rate (at all times, by a number) are those of the scenario. Time is
bumped by the first step: as time passes, the spot stays and all dates come nearer, by which the first step gets
shorter. A step that is shorter by a share e has growth and variance less by that share: rates and yields in it are
multiplied by 1 - e, volatilities by sqrt(1 - e).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.scenario.gbm import GbmScenario
from simsuite.scenario.schedule import Schedule
from simsuite.solvers.gbm.joint.bumps import Bump, Parameter


def bumped(model: GbmScenario, bump: Bump, times: float) -> GbmScenario:
    """The scenario with a bump of so many times its size."""
    size = times * bump.size
    if bump.parameter is Parameter.RATE:
        rate = _changed(model.market.rate, lambda r: r + size)
        return model.model_copy(update={"market": model.market.model_copy(update={"rate": rate})})
    if bump.parameter is Parameter.TIME:
        return _sooner(model, size)
    asset = model.asset[bump.asset]
    if bump.parameter is Parameter.SPOT:
        moved = asset.model_copy(update={"spot": asset.spot * (1 + size)})
    else:
        moved = asset.model_copy(update={"volatility": _changed(asset.volatility, lambda v: v * (1 + size))})
    assets = [moved if a == bump.asset else other for a, other in enumerate(model.asset)]
    return model.model_copy(update={"asset": assets})


def _sooner(model: GbmScenario, share: float) -> GbmScenario:
    step = model.time.end / model.time.steps

    def first(schedule: Schedule, factor: float) -> Schedule:
        """The schedule, times a factor in the first step."""
        within = [(t, v * factor) for t, v in zip(schedule.times, schedule.values) if t < step]
        later = [(t, v) for t, v in zip(schedule.times, schedule.values) if t > step]
        times, values = zip(*within, (step, schedule.at(step)), *later)
        return Schedule(times, values)

    market, less = model.market, 1 - share
    drift = None if market.drift is None else first(market.drift, less)
    moved = market.model_copy(update={"rate": first(market.rate, less), "drift": drift})
    assets = [
        asset.model_copy(
            update={
                "volatility": first(asset.volatility, math.sqrt(less)),
                "dividend_yield": first(asset.dividend_yield, less),
            }
        )
        for asset in model.asset
    ]
    return model.model_copy(update={"market": moved, "asset": assets})


def _changed(schedule: Schedule, change: Callable[[float], float]) -> Schedule:
    return Schedule(schedule.times, tuple(map(change, schedule.values)))

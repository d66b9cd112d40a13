"""A scenario with one number of its market moved, for derivatives by differences."""

from __future__ import annotations

from typing import Any

from simsuite.scenario.gbm import GbmScenario, Schedule


def at_spot(model: GbmScenario, a: int, spot: float) -> GbmScenario:
    return _with_asset(model, a, spot=spot)


def volatility_raised(model: GbmScenario, a: int, share: float) -> GbmScenario:
    sigma = model.asset[a].volatility
    return _with_asset(model, a, volatility=Schedule(sigma.times, tuple(v * (1 + share) for v in sigma.values)))


def rate_shifted(model: GbmScenario, by: float) -> GbmScenario:
    rate = model.market.rate
    market = model.market.model_copy(update={"rate": Schedule(rate.times, tuple(r + by for r in rate.values))})
    return model.model_copy(update={"market": market})


def _with_asset(model: GbmScenario, a: int, **changed: Any) -> GbmScenario:
    assets = [asset.model_copy(update=changed) if i == a else asset for i, asset in enumerate(model.asset)]
    return model.model_copy(update={"asset": assets})

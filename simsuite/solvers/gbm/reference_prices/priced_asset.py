"""The terms of an asset that closed forms need: growth and variance up to a time, and the constant coefficients where
these are constant.

They are read from the scenario alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simsuite.scenario.gbm import Asset, GbmScenario, Jumps
from simsuite.solvers.gbm.closed_forms.terms import Steps, Terms

JumpingMarket: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]


@dataclass(frozen=True)
class Priced:
    """An asset of a scenario, over the life of the options."""

    model: GbmScenario
    number: int

    @property
    def asset(self) -> Asset:
        return self.model.asset[self.number]

    @property
    def spot(self) -> float:
        return self.asset.spot

    @property
    def is_rough(self) -> bool:
        """Whether its logarithm is not normal."""
        return self.asset.jumps is not None or self.asset.pays_cash

    def growth(self, t: float) -> float:
        """log E S(t) / S(0) without cash dividends."""
        market, asset = self.model.market, self.asset
        step = self.model.time.nearest_step(t)
        paid = [d for d in asset.dividends if self.model.time.nearest_step(d.time) <= step]
        shares = math.fsum(math.log1p(-d.proportion) for d in paid if d.proportion is not None)
        if market.drift is not None:
            return market.drift.integral(0.0, t) + shares
        return market.rate.integral(0.0, t) - asset.dividend_yield.integral(0.0, t) + shares

    def variance(self, t: float) -> float:
        return self.asset.volatility.integral_of_square(0.0, t)

    @functools.cached_property
    def deviation(self) -> float:
        return math.sqrt(self.variance(self.model.time.end))

    @functools.cached_property
    def forward(self) -> float:
        return self.spot * math.exp(self.growth(self.model.time.end))

    @functools.cached_property
    def terms(self) -> Terms:
        """The terms of European options on it, without those that only theta needs."""
        end, rate = self.model.time.end, self.model.market.rate
        growth, sigma = self.growth(end), self.asset.volatility.integral(0.0, end)
        return Terms(self.spot, end, rate.integral(0.0, end), growth, self.deviation**2, sigma, (0.0, 0.0, 0.0))

    def steps(self, dates: Sequence[int]) -> Steps:
        """The steps of the log-price between the ends of these time steps."""
        times = [self.model.time.end * (k / self.model.time.steps) for k in (0, *dates)]
        growths, variances = ([f(t) for t in times] for f in (self.growth, self.variance))
        return Steps(np.diff(growths), np.sqrt(np.diff(variances)))

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """Rate, growth, volatility and end. Raises ValueError where they are not constant."""
        if self.asset.dividends:
            raise ValueError("pays dividends")
        return self._between_dividends

    @property
    def before_last_dividend(self) -> tuple[float, float, float, float, float]:
        """Rate, growth, volatility and end without the last dividend, and the share of the price that is paid after the
        last step. Raises ValueError where there are other dividends."""
        time, left = self.model.time, 1.0
        for dividend in self.asset.dividends:
            if dividend.proportion is None or time.nearest_step(dividend.time) < time.steps:
                raise ValueError("pays before the end")
            left *= 1 - dividend.proportion
        return (*self._between_dividends, 1 - left)

    @property
    def _between_dividends(self) -> tuple[float, float, float, float]:
        market, asset = self.model.market, self.asset
        growth = market.rate.value - asset.dividend_yield.value if market.drift is None else market.drift.value
        return market.rate.value, growth, asset.volatility.value, self.model.time.end


def jumping_market(asset: Priced, strike: float, jumps: Jumps) -> JumpingMarket:
    """The market for the closed forms of jumps; its constants are means over all time."""
    end = asset.model.time.end
    rate, growth = asset.model.market.rate.mean(end), asset.growth(end) / end
    diffusion = (asset.spot, strike, rate, growth, asset.deviation / math.sqrt(end), end)
    return (*diffusion, jumps.intensity, jumps.mean, jumps.deviation)


def steps_of_dates(count: int | None, model: GbmScenario) -> list[int]:
    """The steps nearest to i / count of all, for i = 1 .. count; every step where there is no count."""
    n = model.time.steps
    return [(2 * n * i + count) // (2 * count) for i in range(1, count + 1)] if count else list(range(1, n + 1))

"""The law of the prices along the time steps of a scenario.

dS_a / S_a = g_a dt + sigma_a dW_a,  dW_a dW_b = rho_ab dt,  g = rate - dividend_yield (or the drift), all of them
piecewise constant; a dividend in proportion to the price takes its share at the end of the step nearest to it. So after
k steps, with t_k = k dt and W driven by the Cholesky factor of rho (P. Glasserman, "Monte Carlo Methods in Financial
Engineering", Springer 2003, sections 2.3.3 and 3.2.3),

    log2(S_a(t_k) / S_a(0)) = centre_a(k) + y_a(k),  centre = (integral of g - sigma^2 / 2, log(1 - shares)) / log 2,

and y_a, the noise, is a sum of independent normal numbers whose variance is the integral of (sigma / log 2)^2.
Logarithms are to base 2 throughout, since that is how floating-point numbers are raised to powers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simsuite.scenario.gbm import GbmScenario, Schedule

LN2 = math.log(2.0)


@dataclass(frozen=True)
class Dynamics:
    """growth[asset]: 1/year; volatility[asset]: 1/sqrt(year). shares[asset]: (step after which, share of the price).

    dt in years. factor: of the correlation, lower triangle, [asset, asset].
    """

    dt: float
    n_steps: int
    growth: tuple[Schedule, ...]
    volatility: tuple[Schedule, ...]
    shares: tuple[tuple[tuple[int, float], ...], ...]
    factor: np.ndarray

    @classmethod
    def of(cls, model: GbmScenario) -> Dynamics:
        market, time, n = model.market, model.time, len(model.asset)
        growth = tuple(
            _difference(market.rate, asset.dividend_yield) if market.drift is None else market.drift
            for asset in model.asset
        )
        shares = tuple(
            tuple((time.nearest_step(d.time), d.proportion) for d in asset.dividends if d.proportion is not None)
            for asset in model.asset
        )
        factor = np.linalg.cholesky(np.eye(n) if market.correlation is None else np.array(market.correlation))
        volatility = tuple(asset.volatility for asset in model.asset)
        return cls(time.end / time.steps, time.steps, growth, volatility, shares, factor)

    @property
    def varying(self) -> bool:
        """Whether increments have another variance at another step."""
        return not all(volatility.is_constant for volatility in self.volatility)

    @cached_property
    def mix(self) -> np.ndarray:
        """[asset, asset]: what independent standard normals are multiplied by, but for `scale`."""
        if self.varying:
            return self.factor
        deviation = np.array([v.value for v in self.volatility]) * math.sqrt(self.dt) / LN2
        return deviation[:, None] * self.factor

    def scale(self) -> np.ndarray:
        """[asset, step]: standard deviation of the increment of y in each step."""
        variance = np.array([_integrals(_squared(v), self._times()) for v in self.volatility])
        return np.sqrt(np.maximum(np.diff(variance, axis=1), 0.0)) / LN2

    def centre(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: of prices after so many steps (default: after each)."""
        return self._log_mean(steps) - 0.5 * LN2 * self.variance(steps)

    def log_mean(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: logarithm of the expected price, in units of the spot."""
        return self._log_mean(steps)

    def variance(self, steps: np.ndarray | None = None) -> np.ndarray:
        """[asset, number]: of y."""
        times = self._times(steps)
        return np.array([_integrals(_squared(v), times)[1:] for v in self.volatility]) / LN2**2

    def end_covariance(self) -> np.ndarray:
        """[asset, asset]: of y after the last step."""
        return self.covariance(self.n_steps)

    def covariance(self, step: int) -> np.ndarray:
        """[asset, asset]: of y after so many steps."""
        if not self.varying:
            return step * (self.mix @ self.mix.T)
        scale = self.scale()[:, :step]
        return (scale @ scale.T) * self.correlation

    @property
    def correlation(self) -> np.ndarray:
        """[asset, asset]."""
        return self.factor @ self.factor.T

    def _log_mean(self, steps: np.ndarray | None) -> np.ndarray:
        times = self._times(steps)
        at = np.arange(1, self.n_steps + 1) if steps is None else np.asarray(steps)
        found = np.array([_integrals(g, times)[1:] for g in self.growth])
        for a, paid in enumerate(self.shares):
            for step, share in paid:
                found[a, at >= step] += math.log1p(-share)
        return found / LN2

    def _times(self, steps: np.ndarray | None = None) -> np.ndarray:
        """0, and the times after the steps, in years."""
        at = np.arange(self.n_steps + 1) if steps is None else np.concatenate([[0], np.asarray(steps)])
        return self.dt * self.n_steps * (at / self.n_steps)


def _difference(a: Schedule, b: Schedule) -> Schedule:
    times = sorted({*a.times, *b.times})
    return Schedule(tuple(times), tuple(a.at(t) - b.at(t) for t in times))


def _squared(volatility: Schedule) -> Schedule:
    return Schedule(volatility.times, tuple(v * v for v in volatility.values))


def _integrals(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    """From 0 to each of `times`."""
    knots = np.array([*schedule.times, math.inf])
    before = np.concatenate([[0.0], np.cumsum(np.diff(knots[:-1]) * schedule.values[:-1])])
    piece = np.searchsorted(knots, times, side="right") - 1
    return before[piece] + np.asarray(schedule.values)[piece] * (times - knots[piece])

"""The scatter of Monte Carlo estimates of a European option: exact standard deviations of one draw.

With Z the standard normal variable behind S_T, every estimator is a function of Z that is smooth except at the strike.
Moments are Gauss-Legendre quadratures on both sides of it. Estimators of derivatives: P. Glasserman, Monte Carlo
Methods in Financial Engineering (2003), section 7.2 (pathwise) and 7.3 (likelihood ratio, LR).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from simsuite.solvers.gbm.closed_forms.quadrature import Vector, gauss_legendre
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, density

Estimator = Literal[
    "price", "pathwise delta", "LR delta", "pathwise vega", "LR vega", "LR gamma", "LR-pathwise gamma", "digital"
]
# half the range of the quadrature, in standard deviations; squares of prices shift the law by 2 sigma sqrt(T)
REACH = 12.0
POINTS = 160  # Gauss-Legendre points of each panel of the quadrature


class Sampling:
    """The estimators of a European option for one draw. Raises ValueError without volatility."""

    def __init__(
        self, spot: float, strike: float, rate: float, growth: float, volatility: float, end: float, payoff: Payoff
    ) -> None:
        self._deviation = d = volatility * math.sqrt(end)
        if d <= 0 or strike <= 0:
            raise ValueError("the scatter of estimates needs a volatility and a strike above 0")
        self._spot, self._strike, self._volatility, self._end = spot, strike, volatility, end
        self._median = spot * math.exp(growth * end - d**2 / 2)
        self._discount = math.exp(-rate * end)
        self._sign = 1.0 if payoff == "call" else -1.0
        self._kink = math.log(strike / self._median) / d

    def mean(self, estimator: Estimator) -> float:
        """The price or its derivative that the estimator estimates."""
        return self._expectation(lambda z: self._draw(z, estimator))

    def deviation(self, estimator: Estimator, antithetic: bool = False) -> float:
        """The standard deviation of one draw, or of the mean of a pair with Z and -Z. A standard error is this divided
        by sqrt(draws or pairs)."""
        mean = self.mean(estimator)
        variance = self._expectation(lambda z: (self._draw(z, estimator) - mean) ** 2)
        if antithetic:
            variance = (
                variance
                + self._expectation(lambda z: (self._draw(z, estimator) - mean) * (self._draw(-z, estimator) - mean))
            ) / 2
        return math.sqrt(variance)

    def control(self) -> tuple[float, float]:
        """(beta, variance ratio) of the price with the discounted S_T as control variate, at the best beta."""
        asset_mean = self._expectation(self._asset)
        price = self.mean("price")
        variance = self._expectation(lambda z: (self._asset(z) - asset_mean) ** 2)
        covariance = self._expectation(lambda z: (self._asset(z) - asset_mean) * (self._draw(z, "price") - price))
        return covariance / variance, 1 - covariance**2 / (variance * self.deviation("price") ** 2)

    def _asset(self, z: Vector) -> Vector:
        return self._discount * self._median * np.exp(self._deviation * z)

    def _draw(self, z: Vector, estimator: Estimator) -> Vector:
        asset, d, sigma, spot = self._asset(z), self._deviation, self._volatility, self._spot
        inside = self._sign * (z - self._kink) > 0
        price = np.where(inside, self._sign * (asset - self._discount * self._strike), 0.0)
        signed = np.where(inside, self._sign, 0.0)
        if estimator == "price":
            return price
        if estimator == "digital":
            return np.where(inside, self._discount, 0.0)
        if estimator == "pathwise delta":
            return signed * asset / spot
        if estimator == "LR delta":
            return price * z / (spot * d)
        if estimator == "pathwise vega":
            return signed * asset * (math.sqrt(self._end) * z - sigma * self._end)
        if estimator == "LR vega":
            return price * ((z**2 - 1) / sigma - z * math.sqrt(self._end))
        if estimator == "LR gamma":
            return price * ((z**2 - 1) / d - z) / (spot**2 * d)
        return signed * self._discount * self._strike * z / (spot**2 * d)  # LR of the pathwise delta

    def _expectation(self, f: Callable[[Vector], Vector]) -> float:
        edges = sorted({-REACH, REACH, *(edge for edge in (-self._kink, self._kink) if abs(edge) < REACH)})
        total = 0.0
        for low, high in itertools.pairwise(edges):
            z, w = gauss_legendre(low, high, POINTS)
            total += float(w @ (density(z) * f(z)))
        return total

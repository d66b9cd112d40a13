"""Market coefficients over the life of an option, constant or piecewise constant in time, as their integrals.

A European price depends on r(t), q(t) and sigma(t) through integrals over [0, T] alone: log S_T is normal with variance
int sigma^2 and E S_T = S_0 exp(int (r - q)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Curve = tuple[Sequence[float], Sequence[float]]
"""(times, values): increasing times, the first one 0; a value holds from its time on."""


def integral(curve: Curve, end: float) -> float:
    """The integral of a piecewise-constant function over [0, end]."""
    times, values = (np.asarray(side, np.float64) for side in curve)
    if times[0] != 0 or np.any(np.diff(times) <= 0) or times.shape != values.shape:
        raise ValueError("a curve is (times, values) of equal length with increasing times, the first one 0")
    spans = np.diff(np.minimum(np.append(times, math.inf), end))
    return float(spans @ values)


def value_before(curve: Curve, end: float) -> float:
    """The value that a piecewise-constant function has just before `end`."""
    return float(curve[1][max(int(np.searchsorted(curve[0], end)) - 1, 0)])


@dataclass(frozen=True)
class Terms:
    """The spot, the end (years), and integrals of the market's coefficients up to the end."""

    spot: float
    end: float
    rate: float  # int r
    growth: float  # int (r - q)
    variance: float  # int sigma^2
    volatility: float  # int sigma
    last: tuple[float, float, float]  # r, r - q and sigma just before the end

    @classmethod
    def constant(cls, spot: float, rate: float, growth: float, volatility: float, end: float) -> Terms:
        last = (rate, growth, volatility)
        return cls(spot, end, rate * end, growth * end, volatility**2 * end, volatility * end, last)

    @classmethod
    def piecewise(cls, spot: float, rate: Curve, dividend_yield: Curve, volatility: Curve, end: float) -> Terms:
        square = (volatility[0], [value**2 for value in volatility[1]])
        r, sigma = value_before(rate, end), value_before(volatility, end)
        total = integral(rate, end)
        return cls(
            spot,
            end,
            total,
            total - integral(dividend_yield, end),
            integral(square, end),
            integral(volatility, end),
            (r, r - value_before(dividend_yield, end), sigma),
        )

    @property
    def forward(self) -> float:
        """E S_T."""
        return self.spot * math.exp(self.growth)

    @property
    def deviation(self) -> float:
        """Standard deviation of log S_T."""
        return math.sqrt(self.variance)

    @property
    def discount(self) -> float:
        return math.exp(-self.rate)


@dataclass(frozen=True)
class Steps:
    """The moves of the log-price between consecutive dates, the first step beginning now: independent normal
    variables."""

    growths: NDArray[np.float64]  # int (r - q) over each step: log E of the factor by which the price changes
    deviations: NDArray[np.float64]  # sqrt(int sigma^2) over each step

    @classmethod
    def constant(cls, growth: float, volatility: float, times: Sequence[float]) -> Steps:
        """Steps between the increasing times (years), the first of which is 0 or later."""
        lengths = np.diff([0.0, *times])
        return cls(growth * lengths, volatility * np.sqrt(lengths))

    @classmethod
    def equidistant(cls, growth: float, volatility: float, end: float, dates: int) -> Steps:
        """Steps between the dates end / dates, 2 end / dates, .., end; all of them are equal to the bit."""
        h = end / dates
        return cls(np.full(dates, growth * h), np.full(dates, volatility * math.sqrt(h)))

    @classmethod
    def piecewise(cls, rate: Curve, dividend_yield: Curve, volatility: Curve, times: Sequence[float]) -> Steps:
        square = (volatility[0], [value**2 for value in volatility[1]])
        growths = [integral(rate, t) - integral(dividend_yield, t) for t in (0.0, *times)]
        variances = [integral(square, t) for t in (0.0, *times)]
        return cls(np.diff(growths), np.sqrt(np.diff(variances)))

    @property
    def growth(self) -> float:
        """log(E S / S_0) on the last date."""
        return float(self.growths.sum())

    @property
    def deviation(self) -> float:
        """Standard deviation of log S on the last date."""
        return math.sqrt(float(self.deviations @ self.deviations))


@dataclass(frozen=True)
class Greeks:
    """A price and its derivatives, in units of the price per unit of what is varied."""

    price: float
    delta: float  # derivative by spot
    gamma: float  # second derivative by spot
    vega: float  # derivative by a shift of all volatilities
    rho: float  # derivative by a shift of all rates, dividend yields fixed
    theta: float  # derivative by time, in years: how the price changes as the end comes nearer, spot fixed


def lognormal_greeks(terms: Terms, value: float, by_forward: float, by_forward_twice: float) -> Greeks:
    """Greeks of the price D u(F, d), where u = E f(Y) for a lognormal Y with mean F and deviation d, from u, u_F and
    u_FF.

    Every such u obeys u_d = d F^2 u_FF, the heat equation. theta is -dV/dT, as if the coefficients went on as just
    before T.
    """
    F, D, d = terms.forward, terms.discount, terms.deviation
    price, slope, curvature = D * value, D * F * by_forward, D * F**2 * by_forward_twice
    r, g, sigma = terms.last
    return Greeks(
        price,
        slope / terms.spot,
        curvature / terms.spot**2,
        curvature * terms.volatility if d else 0.0,
        terms.end * (slope - price),
        r * price - g * slope - sigma**2 / 2 * curvature,
    )

"""The law of S_t: moments, quantiles, and the risk of holding one unit.

log(S_t / S_0) is normal with mean (growth - sigma^2 / 2) t and variance sigma^2 t. Volatilities of 0 are legal for
moments and quantiles.
"""

from __future__ import annotations

import math

from simsuite.libraries import special


def price_mean(spot: float, growth: float, t: float) -> float:
    """E S_t."""
    return spot * math.exp(growth * t)


def price_std(spot: float, growth: float, volatility: float, t: float) -> float:
    """Standard deviation of S_t."""
    return price_mean(spot, growth, t) * math.sqrt(math.expm1(volatility**2 * t))


def price_skewness(volatility: float, t: float) -> float:
    """E (S_t - E S_t)^3 over the cube of the standard deviation."""
    excess = math.expm1(volatility**2 * t)
    return (excess + 3) * math.sqrt(excess)


def price_excess_kurtosis(volatility: float, t: float) -> float:
    """E (S_t - E S_t)^4 over the square of the variance, less the 3 of a normal law."""
    w = math.exp(volatility**2 * t)
    return w**4 + 2 * w**3 + 3 * w**2 - 6


def price_quantile(spot: float, growth: float, volatility: float, t: float, q: float) -> float:
    """The q-quantile of S_t."""
    return spot * math.exp((growth - volatility**2 / 2) * t + volatility * math.sqrt(t) * float(special.ndtri(q)))


def value_at_risk(spot: float, growth: float, volatility: float, t: float, level: float) -> float:
    """The level-quantile of the loss S_0 - S_t of one unit held, undiscounted."""
    return spot - price_quantile(spot, growth, volatility, t, 1 - level)


def expected_shortfall(spot: float, growth: float, volatility: float, t: float, level: float) -> float:
    """The mean loss beyond the value at risk: S_0 - E(S_t | S_t below its (1 - level)-quantile)."""
    tail = 1 - level
    share = float(special.ndtr(float(special.ndtri(tail)) - volatility * math.sqrt(t))) / tail
    return spot - price_mean(spot, growth, t) * share

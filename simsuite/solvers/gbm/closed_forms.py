"""Exact laws and prices for geometric Brownian motion, to verify Monte Carlo results against.

`growth` is the expected growth rate of the price, rate - dividend_yield under the pricing measure. Volatilities of 0
are legal: a price is then that of the path without noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

Payoff = Literal["call", "put"]


def lognormal_option(forward: float, deviation: float, strike: float, payoff: Payoff) -> float:
    """E max(+-(Y - strike), 0) for log Y normal with standard deviation `deviation` and E Y = forward.

    F. Black, J. Financial Economics 3 (1976), without the discount factor.
    """
    sign = 1.0 if payoff == "call" else -1.0
    if deviation == 0 or strike == 0:
        return max(sign * (forward - strike), 0.0)
    d1 = math.log(forward / strike) / deviation + deviation / 2
    return sign * (forward * float(ndtr(sign * d1)) - strike * float(ndtr(sign * (d1 - deviation))))


def european(
    spot: float, strike: float, rate: float, growth: float, volatility: float, end: float, payoff: Payoff
) -> float:
    """F. Black and M. Scholes, J. Political Economy 81 (1973): e^{-rT} E max(+-(S_T - strike), 0)."""
    forward = spot * math.exp(growth * end)
    return math.exp(-rate * end) * lognormal_option(forward, volatility * math.sqrt(end), strike, payoff)


def geometric_asian(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    fixings: Sequence[float],
    payoff: Payoff,
) -> float:
    """An option on the geometric mean of the prices at the increasing times `fixings`, paid at `end`.

    The mean is lognormal (Glasserman 2003, section 3.2.2): its logarithm has the mean of the logarithms, and the
    variance sigma^2 / n^2 times the sum of min(t_i, t_j) over all i and j.
    """
    t = np.asarray(fixings, np.float64)
    n = len(t)
    mean = (growth - volatility**2 / 2) * float(t.mean())
    variance = volatility**2 * float(t @ (2 * np.arange(n, 0, -1) - 1)) / n**2
    forward = spot * math.exp(mean + variance / 2)
    return math.exp(-rate * end) * lognormal_option(forward, math.sqrt(variance), strike, payoff)


def price_mean(spot: float, growth: float, t: float) -> float:
    """E S_t."""
    return spot * math.exp(growth * t)


def price_std(spot: float, growth: float, volatility: float, t: float) -> float:
    """Standard deviation of S_t."""
    return price_mean(spot, growth, t) * math.sqrt(math.expm1(volatility**2 * t))


def price_quantile(spot: float, growth: float, volatility: float, t: float, q: float) -> float:
    """The q-quantile of S_t."""
    return spot * math.exp((growth - volatility**2 / 2) * t + volatility * math.sqrt(t) * float(ndtri(q)))

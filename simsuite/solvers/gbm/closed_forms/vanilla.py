"""European calls and puts: the Black-Scholes price, its Greeks, and expectations over a part of the law."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.terms import Greeks, Terms, lognormal_greeks

Payoff = Literal["call", "put"]


def density(x: ArrayLike) -> NDArray[np.float64]:
    """The density of the standard normal law."""
    return np.exp(-(np.asarray(x) ** 2) / 2) / math.sqrt(2 * math.pi)


def lognormal_option(forward: float, deviation: float, strike: float, payoff: Payoff) -> float:
    """E max(+-(Y - strike), 0) for log Y normal with standard deviation `deviation` and E Y = forward.

    F. Black, J. Financial Economics 3 (1976), without the discount factor.
    """
    sign = 1.0 if payoff == "call" else -1.0
    if deviation == 0 or strike == 0 or forward == 0:  # forward is 0 where it underflows
        return max(sign * (forward - strike), 0.0)
    d1 = math.log(forward / strike) / deviation + deviation / 2
    return sign * (forward * float(special.ndtr(sign * d1)) - strike * float(special.ndtr(sign * (d1 - deviation))))


def european(
    spot: float, strike: float, rate: float, growth: float, volatility: float, end: float, payoff: Payoff
) -> float:
    """The price of a European option, e^{-rT} E max(+-(S_T - strike), 0): F. Black and M. Scholes, J. Political Economy
    81 (1973)."""
    return european_price(Terms.constant(spot, rate, growth, volatility, end), strike, payoff)


def european_price(terms: Terms, strike: float, payoff: Payoff) -> float:
    """The Black-Scholes price with coefficients that depend on time: R. Merton, Bell J. Economics 4 (1973)."""
    return terms.discount * lognormal_option(terms.forward, terms.deviation, strike, payoff)


def moneyness(terms: Terms, strike: float) -> float:
    """d1 of Black and Scholes. Raises ValueError without volatility."""
    if terms.deviation <= 0 or strike <= 0:
        raise ValueError("derivatives of a price need a volatility and a strike above 0")
    return math.log(terms.forward / strike) / terms.deviation + terms.deviation / 2


def european_greeks(terms: Terms, strike: float, payoff: Payoff) -> Greeks:
    """The price of a European option and its derivatives: E. Haug, The Complete Guide to Option Pricing Formulas
    (2007), chapter 2. Raises ValueError without volatility."""
    d1 = moneyness(terms, strike)
    sign = 1.0 if payoff == "call" else -1.0
    value = lognormal_option(terms.forward, terms.deviation, strike, payoff)
    bend = float(density(d1)) / (terms.forward * terms.deviation)
    return lognormal_greeks(terms, value, sign * float(special.ndtr(sign * d1)), bend)


def european_vanna_volga(terms: Terms, strike: float) -> tuple[float, float]:
    """(vanna, volga) of a call, which are also those of a put: d delta / d sigma and d vega / d sigma, all volatilities
    shifted."""
    d, d1 = terms.deviation, moneyness(terms, strike)
    d2 = d1 - d
    by_shift = terms.volatility / d
    by_shift_twice = (terms.end - by_shift**2) / d
    slope = terms.discount * terms.forward * float(density(d1))  # derivative of the price by d
    return -slope / terms.spot * d2 / d * by_shift, slope * (d1 * d2 / d * by_shift**2 + by_shift_twice)


def truncated_option(
    forward: ArrayLike, deviation: float, strike: float, payoff: Payoff, low: float = 0.0, high: float = math.inf
) -> NDArray[np.float64]:
    """E max(+-(Y - strike), 0) 1{low < Y < high} for an array of forwards; Y has the law that `lognormal_option`
    describes."""
    sign = 1.0 if payoff == "call" else -1.0
    low, high = (max(low, strike), high) if payoff == "call" else (low, min(high, strike))
    mean, between = partial_moments(forward, deviation, low, max(low, high))
    return sign * (mean - strike * between)


def partial_moments(
    forward: ArrayLike, deviation: float, low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(E Y 1{low < Y < high}, P(low < Y < high)) for an array of forwards; deviation > 0."""
    F = np.asarray(forward, np.float64)
    lower = math.log(low) if low > 0 else -math.inf
    upper = math.log(high) if high > 0 else -math.inf
    a, b = ((np.log(F) - edge) / deviation - deviation / 2 for edge in (lower, upper))
    return F * (special.ndtr(a + deviation) - special.ndtr(b + deviation)), special.ndtr(a) - special.ndtr(b)

"""Options with m equidistant exercise dates T/m, 2T/m, .., T: a recursion over the dates with an exact boundary.

A put's continuation value C_i(x), x the log-price, is analytic, and it is exercised below the one b_i that solves
K - e^b = C_i(b). One date earlier, C_{i-1} is a truncated Black-Scholes price for what is below b_i and a
Gauss-Legendre sum over C_i above (M. Sullivan, Review of Financial Studies 13 (2000), with the boundary where the rule
begins). Calls are puts with price and strike, rate and yield exchanged (R. McDonald and M. Schroder, J. Computational
Finance 1 (1998)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simsuite.solvers.gbm.closed_forms.quadrature import TAIL, Vector, resolving, steps_between
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, truncated_option

Value = Callable[[Vector], Vector]


def bermudan(
    spot: float, strike: float, rate: float, growth: float, volatility: float, end: float, dates: int, payoff: Payoff
) -> float:
    """The price of an option that can be exercised on `dates` equidistant dates, today not being one of them. Errors
    are about 1e-13 of the strike.

    Raises ValueError without volatility, for a put with rate < 0 and for a call with rate < growth: they may have two
    boundaries.
    """
    dividend_yield = rate - growth
    if volatility <= 0 or end <= 0 or dates < 1:
        raise ValueError("early exercise needs a volatility, a time and a number of dates above 0")
    if payoff == "call":
        return bermudan(strike, spot, dividend_yield, -growth, volatility, end, dates, "put")
    if rate < 0:
        raise ValueError("early exercise needs a rate (of a put) or a yield (of a call) of at least 0")
    h, spread = end / dates, volatility * math.sqrt(end)
    s, discount, drift = volatility * math.sqrt(h), math.exp(-rate * h), (growth - volatility**2 / 2) * h
    top = math.log(max(spot, strike)) + max(drift * dates, 0.0) + TAIL * spread
    bottom = min(math.log(spot) + min(drift * dates, 0.0), math.log(strike)) - TAIL * spread

    def before(continuation: Value | None, boundary: float) -> Value:
        """The continuation value one date earlier, if the option is exercised below the boundary and worth
        `continuation` above it."""
        if continuation is not None:
            y, w = resolving(boundary, max(top, boundary + s), s)
            mass = w * continuation(y)

        def value(x: Vector) -> Vector:
            forwards = np.exp(x + growth * h)
            exercised = truncated_option(forwards, s, strike, "put", high=math.exp(boundary))
            later = steps_between(x, y, drift, s) @ mass if continuation is not None else 0.0
            return discount * (exercised + later)

        return value

    boundary = math.log(strike)
    continuation: Value = before(None, boundary)
    for _ in range(dates - 1):
        # the boundary is the lower, the more dates are left
        boundary = _boundary(continuation, strike, bottom, boundary)
        continuation = before(continuation, boundary)
    return float(continuation(np.array([math.log(spot)]))[0])


def _boundary(continuation: Value, strike: float, low: float, high: float) -> float:
    """The price, between low and high, at which exercise and continuation are worth the same; low if exercise is never
    better."""
    while high - low > 1e-14 * max(1.0, abs(low)):
        x = np.linspace(low, high, 17)
        better = strike - np.exp(x[1:-1]) > continuation(x[1:-1])
        i = int(np.count_nonzero(better))
        low, high = float(x[i]), float(x[i + 1])
    return low

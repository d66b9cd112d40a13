"""Lookback options on the highest or lowest price, watched at all times or on equidistant dates.

With a fixed strike a call pays max(highest - strike, 0) and a put max(strike - lowest, 0). With a floating strike a
call pays S_T - lowest and a put highest - S_T. B. Goldman, H. Sosin and M. Gatto, J. Finance 34 (1979); A. Conze and
Viswanathan, J. Finance 46 (1991): all four follow from E max(highest - K, 0) and E max(K - lowest, 0), for which see
`extremes`.
"""

from __future__ import annotations

import math

from simsuite.solvers.gbm.closed_forms.extremes import (
    maximum_excess,
    maximum_excess_on_dates,
    minimum_shortfall,
    minimum_shortfall_on_dates,
)
from simsuite.solvers.gbm.closed_forms.terms import Steps
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff


def fixed_lookback(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    payoff: Payoff,
    dates: int | None = None,
    extreme: float | None = None,
) -> float:
    """The price of a lookback with a fixed strike, watched at all times, or, if `dates` is given, today and on so many
    equidistant dates up to the end.

    `extreme`: the highest (call) or lowest (put) price seen so far; None stands for today's. Raises ValueError without
    volatility.
    """
    seen = spot if extreme is None else extreme
    discount = math.exp(-rate * end)
    if payoff == "call":
        seen = max(seen, spot)
        beyond = _excess(spot, growth, volatility, end, max(strike, seen), dates)
        return discount * (max(seen - strike, 0.0) + beyond)
    seen = min(seen, spot)
    return discount * (max(strike - seen, 0.0) + _shortfall(spot, growth, volatility, end, min(strike, seen), dates))


def floating_lookback(
    spot: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    payoff: Payoff,
    dates: int | None = None,
    extreme: float | None = None,
) -> float:
    """The price of a lookback that pays S_T - lowest (call) or highest - S_T (put). The other arguments are those of
    `fixed_lookback`."""
    seen = spot if extreme is None else extreme
    forward, discount = spot * math.exp(growth * end), math.exp(-rate * end)
    if payoff == "call":
        seen = min(seen, spot)
        return discount * (forward - seen + _shortfall(spot, growth, volatility, end, seen, dates))
    seen = max(seen, spot)
    return discount * (seen - forward + _excess(spot, growth, volatility, end, seen, dates))


def _excess(spot: float, growth: float, volatility: float, end: float, strike: float, dates: int | None) -> float:
    if dates is None:
        return maximum_excess(spot, growth, volatility, end, strike)
    return maximum_excess_on_dates(spot, Steps.equidistant(growth, volatility, end, dates), strike)


def _shortfall(spot: float, growth: float, volatility: float, end: float, strike: float, dates: int | None) -> float:
    if dates is None:
        return minimum_shortfall(spot, growth, volatility, end, strike)
    return minimum_shortfall_on_dates(spot, Steps.equidistant(growth, volatility, end, dates), strike)

"""Barrier options watched at all times: all eight kinds, by the reflection principle.

With nu = growth - sigma^2 / 2 and f the payoff on the side of the barrier H where options are alive, 0 elsewhere,

    E[f(S_T); H not hit | S_0] = U(S_0) - (H / S_0)^{2 nu / sigma^2} U(H^2 / S_0),    U(s) = E[f(S_T) | S_0 = s]

(T. Björk, Arbitrage Theory in Continuous Time (2009), theorem 18.8), which sums up the tables of E. Reiner and
M. Rubinstein, Breaking down the barriers, Risk 4 (1991). Rebate on the hit: their formula F.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.extremes import maximum_tail, minimum_tail
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, european, truncated_option

Direction = Literal["down", "up"]
Knock = Literal["out", "in"]
SHIFT = 0.5825971579390107  # -zeta(1/2) / sqrt(2 pi)


def alive(direction: Direction, level: float) -> tuple[float, float]:
    """The prices between which the barrier is not hit."""
    return (level, math.inf) if direction == "down" else (0.0, level)


def barrier(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    payoff: Payoff,
    direction: Direction,
    knock: Knock,
    level: float,
    rebate: float = 0.0,
    rebate_at_hit: bool = False,
) -> float:
    """The price of a barrier option watched at all times from now on. Raises ValueError without volatility.

    A knock-in pays its rebate at the end if the barrier was never hit. A knock-out that was hit pays its rebate at the
    end, or, with `rebate_at_hit`, at once.
    """
    if volatility <= 0:
        raise ValueError("a barrier needs a volatility above 0")
    low, high = alive(direction, level)
    discount = math.exp(-rate * end)
    vanilla = european(spot, strike, rate, growth, volatility, end, payoff)
    if not low < spot < high:
        return rebate * (1.0 if rebate_at_hit else discount) if knock == "out" else vanilla
    deviation, power = volatility * math.sqrt(end), 2 * growth / volatility**2 - 1
    starts = np.array([spot, level**2 / spot]) * math.exp(growth * end)
    direct, mirrored = truncated_option(starts, deviation, strike, payoff, low, high)
    without = discount * float(direct - (level / spot) ** power * mirrored)
    hit = hit_probability(spot, growth, volatility, end, direction, level)
    if knock == "in":
        return vanilla - without + rebate * discount * (1 - hit)
    paid = discount * hit
    if rebate_at_hit:
        paid = hit_discount(spot, rate, growth, volatility, end, direction, level)
    return without + rebate * paid


def barrier_before_dividend(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    share: float,
    payoff: Payoff,
    direction: Direction,
    knock: Knock,
    level: float,
) -> float:
    """The price of a barrier option as in `barrier`, without a rebate, if at the end, just before the option pays, a
    dividend takes `share` of the price, perhaps beyond the barrier. The reflection principle holds until then. Raises
    ValueError without volatility."""
    if volatility <= 0:
        raise ValueError("a barrier needs a volatility above 0")
    left, discount = 1 - share, math.exp(-rate * end)
    vanilla = european(spot * left, strike, rate, growth, volatility, end, payoff)
    deviation, power = volatility * math.sqrt(end), 2 * growth / volatility**2 - 1
    starts = left * np.array([spot, level**2 / spot]) * math.exp(growth * end)
    low, high = (level, math.inf) if direction == "down" else (0.0, left * level)
    direct, mirrored = truncated_option(starts, deviation, strike, payoff, low, high)
    without = discount * float(direct - (level / spot) ** power * mirrored)
    return without if knock == "out" else vanilla - without


def hit_probability(
    spot: float, growth: float, volatility: float, end: float, direction: Direction, level: float
) -> float:
    """P(the barrier is hit in [0, end])."""
    return (minimum_tail if direction == "down" else maximum_tail)(spot, growth, volatility, end, level)


def hit_discount(
    spot: float, rate: float, growth: float, volatility: float, end: float, direction: Direction, level: float
) -> float:
    """E e^{-r tau} 1{tau <= end}, where tau is the time of the hit. Raises ValueError where rate < -nu^2 / (2
    sigma^2)."""
    sign = 1.0 if direction == "down" else -1.0
    mu = growth / volatility**2 - 0.5
    root, d, y = math.sqrt(mu**2 + 2 * rate / volatility**2), volatility * math.sqrt(end), math.log(level / spot)
    return sum(
        math.exp((mu + side * root) * y + float(special.log_ndtr(sign * (y / d + side * root * d))))
        for side in (1.0, -1.0)
    )


def shifted_level(level: float, direction: Direction, volatility: float, spacing: float) -> float:
    """The level of a barrier watched at all times whose price agrees to o(sqrt(spacing)) with that of a barrier at
    `level` watched on dates that are `spacing` years apart.

    M. Broadie, P. Glasserman and S. Kou, Mathematical Finance 7 (1997).
    """
    sign = -1.0 if direction == "down" else 1.0
    return level * math.exp(sign * SHIFT * volatility * math.sqrt(spacing))

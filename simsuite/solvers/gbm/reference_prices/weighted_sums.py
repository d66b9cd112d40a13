"""Options on a weighted sum of prices, and how prices are correlated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced


def weighted_sum(
    assets: Sequence[Priced], weights: Sequence[float], strike: float, discount: float, payoff: exact.Payoff
) -> float | None:
    """The price of an option on a weighted sum; None where it is not known."""
    forwards, deviations = [asset.forward for asset in assets], [asset.deviation for asset in assets]
    if len(assets) == 2:
        one, other = assets
        pairs = (one.forward, other.forward), (one.deviation, other.deviation)
        return exact.two_asset_basket(
            *pairs, correlation(one, other), (weights[0], weights[1]), strike, discount, payoff
        )
    found = {correlation(*pair) for i, one in enumerate(assets) for pair in ((one, other) for other in assets[:i])}
    if len(found) != 1 or len(set(deviations)) != 1 or min(weights) <= 0:
        return None
    return exact.equicorrelated_basket(forwards, deviations[0], found.pop(), weights, strike, discount, payoff)


def correlation(one: Priced, other: Priced) -> float:
    """The correlation of the logarithms of two prices at the end."""
    rows, end = one.model.market.correlation, one.model.time.end
    rho = 0.0 if rows is None else rows[one.number][other.number]
    first, second = one.asset.volatility, other.asset.volatility
    if first.is_constant and second.is_constant:
        return rho
    times = sorted({t for t in (*first.times, *second.times) if t < end} | {end})
    covariance = rho * math.fsum(first.at(a) * second.at(a) * (b - a) for a, b in pairwise(times))
    product = one.deviation * other.deviation
    return covariance / product if product > 0 else 0.0  # for a price without noise any correlation is right

"""Basket options: what they pay depends on the prices of all assets together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Basket
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.payoffs.control_variates import Control, GeometricBasket, law_of_basket
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, Tree, add, exp, largest, least, log, times, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced
from simsuite.solvers.gbm.reference_prices.weighted_sums import correlation, weighted_sum
from simsuite.solvers.gbm.style_record import StyleRecord

_COMBINED = {"sum": add, "max": largest, "min": least}


def _payoff(option: Basket, reader: PayoffReader) -> Node:
    parts = [times(w, reader.last(a)) for a, w in enumerate(option.weights_of(len(reader.names)))]
    total = parts[0]
    for part in parts[1:]:
        total = _COMBINED[option.combine](total, part)
    return vanilla(option.payoff, total, option.strike)


def _control(option: Basket, reader: PayoffReader) -> Control | None:
    """The option on a geometric mean of the prices as a control variate, if its mean is known."""
    averaged = [a for a, weight in enumerate(option.weights_of(len(reader.names))) if weight]
    if not reader.dynamics.step_terms.lognormal_of(averaged):
        return None  # under other laws the means are not known
    geometric = GeometricBasket.like(option, reader.model, reader.dynamics)
    if geometric is None:
        return None
    logarithm: Tree = math.log(geometric.factor)
    for a, power in enumerate(geometric.powers):
        logarithm = add(logarithm, times(float(power), log(reader.last(a)))) if power else logarithm
    law = law_of_basket(option, geometric, reader.model, reader.dynamics)
    return Control(vanilla(option.payoff, exp(logarithm), option.strike), law.mean, law)


def _price(option: Basket, assets: Sequence[Priced], discount: float) -> float | None:
    weights = option.weights_of(len(assets))
    if option.combine == "sum":
        return weighted_sum(assets, weights, option.strike, discount, option.payoff)
    if len(assets) != 2 or min(weights) <= 0:
        return None
    forwards = (weights[0] * assets[0].forward, weights[1] * assets[1].forward)
    deviations = (assets[0].deviation, assets[1].deviation)
    rho = correlation(*assets)
    return exact.best_or_worst(forwards, deviations, rho, option.strike, discount, option.payoff, option.combine)


RECORD = StyleRecord[Basket](
    payoff=_payoff,
    price=_price,
    has_control=lambda option: option.combine == "sum" and option.strike >= 0,
    control=_control,
    has_parity=lambda option: option.combine == "sum" and option.payoff == "call",
)

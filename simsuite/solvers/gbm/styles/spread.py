"""Spread options: what they pay depends on the difference of two prices."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Spread
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, subtract, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced
from simsuite.solvers.gbm.reference_prices.weighted_sums import weighted_sum
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Spread, reader: PayoffReader) -> Node:
    difference = subtract(*(reader.last(reader.asset(name)) for name in option.assets))
    return vanilla(option.payoff, difference, option.strike)


def _price(option: Spread, assets: Sequence[Priced], discount: float) -> float | None:
    return weighted_sum(assets, (1.0, -1.0), option.strike, discount, option.payoff)


RECORD = StyleRecord[Spread](payoff=_payoff, price=_price, has_parity=lambda option: option.payoff == "call")

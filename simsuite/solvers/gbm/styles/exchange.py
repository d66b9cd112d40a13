"""Options to exchange one asset for another."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Exchange
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, subtract, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced
from simsuite.solvers.gbm.reference_prices.weighted_sums import weighted_sum
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Exchange, reader: PayoffReader) -> Node:
    difference = subtract(*(reader.last(reader.asset(name)) for name in option.assets))
    return vanilla("call", difference, 0.0)


def _price(option: Exchange, assets: Sequence[Priced], discount: float) -> float | None:
    return weighted_sum(assets, (1.0, -1.0), 0.0, discount, "call")


RECORD = StyleRecord[Exchange](payoff=_payoff, price=_price)

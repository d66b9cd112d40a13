"""Digital options: a fixed sum at the end, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Digital
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, greater, times
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced, jumping_market
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Digital, reader: PayoffReader) -> Node:
    price = reader.last(reader.asset(option.asset))
    sides = (price, option.strike) if option.payoff == "call" else (option.strike, price)
    return times(option.cash, greater(*sides))


def _price(option: Digital, assets: Sequence[Priced], discount: float) -> float:
    """The exact price of an option on an asset that may jump."""
    asset = assets[0]
    if asset.asset.jumps is None:
        return exact.digital_greeks(asset.terms, option.strike, option.payoff, option.cash).price
    market = jumping_market(asset, option.strike, asset.asset.jumps)
    return exact.merton_digital(*market, option.payoff, option.cash)


RECORD = StyleRecord[Digital](
    payoff=_payoff,
    price=_price,
    priced_rough=lambda asset: not asset.asset.pays_cash,
    most=lambda option: option.cash,
)

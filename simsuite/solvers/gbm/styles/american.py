"""American options: they pay when they are exercised, at any of some dates (see `american`)."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import American
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.payoffs.functionals import Kind, Right
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, largest, times
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: American, reader: PayoffReader) -> Node:
    return times(reader.spot(reader.asset(option.asset)), largest(_exercised(option, reader), 0.0))


def _exercised(option: American, reader: PayoffReader) -> Node:
    asset = reader.asset(option.asset)
    right = Right(option.payoff == "call", option.strike / reader.spot(asset), option.degree)
    return reader.kept(Kind.EXERCISED, asset, reader.dates(option.exercise), right=right)


def _price(option: American, assets: Sequence[Priced], discount: float) -> float:
    first = assets[0]
    rate, growth, volatility, end = first.constants
    dates = option.exercise or first.model.time.steps
    return exact.bermudan(first.spot, option.strike, rate, growth, volatility, end, dates, option.payoff)


RECORD = StyleRecord[American](payoff=_payoff, price=_price, exercised=_exercised)

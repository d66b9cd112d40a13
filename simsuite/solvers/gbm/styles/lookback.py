"""Lookback options: what they pay depends on the highest or the lowest price so far."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Lookback
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.payoffs.functionals import Dates, Kind
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, largest, subtract, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced, steps_of_dates
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Lookback, reader: PayoffReader) -> Node:
    asset, call, floating = reader.asset(option.asset), option.payoff == "call", option.strike is None
    kind = Kind.LARGEST if call != floating else Kind.LEAST
    if option.monitoring == "continuous":
        kind = Kind.HIGHEST if kind == Kind.LARGEST else Kind.LOWEST
        # an extreme over all times includes the spot anyway
        extreme = reader.extreme(kind, asset, Dates.all(reader.n), with_spot=False)
    else:
        extreme = reader.extreme(kind, asset, reader.dates(option.dates))
    if option.strike is not None:
        return vanilla(option.payoff, extreme, option.strike)
    end = reader.last(asset)
    return largest(subtract(end, extreme) if call else subtract(extreme, end), 0.0)


def _price(option: Lookback, assets: Sequence[Priced], discount: float) -> float:
    asset = assets[0]
    if option.monitoring == "continuous":
        if option.strike is None:
            return exact.floating_lookback(asset.spot, *asset.constants, option.payoff)
        return exact.fixed_lookback(asset.spot, option.strike, *asset.constants, option.payoff)
    steps = asset.steps(steps_of_dates(option.dates, asset.model))
    highest = (option.payoff == "call") == (option.strike is not None)
    beyond = exact.maximum_excess_on_dates if highest else exact.minimum_shortfall_on_dates
    if option.strike is not None:
        return discount * beyond(asset.spot, steps, option.strike)
    sign = 1.0 if option.payoff == "call" else -1.0
    return discount * (sign * (asset.forward - asset.spot) + beyond(asset.spot, steps, asset.spot))


def _is_homogeneous(option: Lookback, spot: float) -> bool:
    if option.strike is None:
        return True
    return option.strike <= spot if option.payoff == "call" else option.strike >= spot


RECORD = StyleRecord[Lookback](payoff=_payoff, price=_price, is_homogeneous=_is_homogeneous, smooth_at_spot=True)

"""Barrier options: European options that are void once a barrier is reached, or until it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Barrier
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.payoffs.functionals import Dates, Kind
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, add, greater, subtract, times, vanilla, where
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced, steps_of_dates
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Barrier, reader: PayoffReader) -> Node:
    asset, down = reader.asset(option.asset), option.direction == "down"
    if option.monitoring == "continuous":
        return _at_all_times(option, reader, asset)
    kind, dates = Kind.LEAST if down else Kind.LARGEST, reader.dates(option.dates)
    price = reader.extreme(kind, asset, dates, with_spot=False)
    alive = greater(price, option.level) if down else greater(option.level, price)
    pays = vanilla(option.payoff, reader.last(asset), option.strike)
    return where(alive, *((pays, option.rebate) if option.knock == "out" else (option.rebate, pays)))


def _at_all_times(option: Barrier, reader: PayoffReader, asset: int) -> Node:
    """The conditional expectation of what the option pays, given the path at the time steps (continuous.py)."""
    level = math.log2(option.level / reader.spot(asset))
    survival = reader.kept(Kind.SURVIVAL, asset, Dates.all(reader.n), level)
    reached = subtract(1.0, survival)
    pays = vanilla(option.payoff, reader.last(asset), option.strike)
    pays_if, void_if = (survival, reached) if option.knock == "out" else (reached, survival)
    return add(times(pays_if, pays), times(void_if, option.rebate)) if option.rebate else times(pays_if, pays)


def _price(option: Barrier, assets: Sequence[Priced], discount: float) -> float:
    asset = assets[0]
    terms: Any = (option.payoff, option.direction, option.knock, option.level, option.rebate)
    if option.monitoring == "continuous" and asset.asset.dividends and not option.rebate:
        return exact.barrier_before_dividend(asset.spot, option.strike, *asset.before_last_dividend, *terms[:-1])
    if option.monitoring == "continuous":
        return exact.barrier(asset.spot, option.strike, *asset.constants, *terms)
    steps = asset.steps(steps_of_dates(option.dates, asset.model))
    return discount * exact.barrier_on_dates(asset.spot, option.strike, steps, *terms)


RECORD = StyleRecord[Barrier](payoff=_payoff, price=_price)

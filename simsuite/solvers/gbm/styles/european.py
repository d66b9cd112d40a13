"""European options: what they pay depends on the price at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import European
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.closed_forms.quadrature import gauss_normal
from simsuite.solvers.gbm.payoffs.reader import PayoffReader, vanilla
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced, jumping_market
from simsuite.solvers.gbm.style_record import StyleRecord

_NODES = 200  # quadrature nodes for the law of the price at the date of a cash dividend


def _payoff(option: European, reader: PayoffReader) -> Node:
    return vanilla(option.payoff, reader.last(reader.asset(option.asset)), option.strike)


def _price(option: European, assets: Sequence[Priced], discount: float) -> float | None:
    """The exact price of an option on an asset that may jump, or pay cash once; None for other assets."""
    asset = assets[0]
    jumps = asset.asset.jumps
    cash = [dividend for dividend in asset.asset.dividends if dividend.cash is not None]
    if jumps is not None and not cash:
        return exact.merton(*jumping_market(asset, option.strike, jumps), option.payoff)
    if jumps is None and len(cash) == len(asset.asset.dividends) == 1:
        return discount * _after_cash(asset, option, cash[0].time, float(cash[0].cash or 0.0))
    if jumps is not None or cash:
        return None
    return discount * exact.lognormal_option(asset.forward, asset.deviation, option.strike, option.payoff)


def _after_cash(asset: Priced, option: European, time: float, cash: float) -> float:
    """The undiscounted price of an option on an asset that pays cash once. It is the expectation, over the price before
    the dividend, of the Black price after it."""
    model = asset.model
    t = model.time.end * (model.time.nearest_step(time) / model.time.steps)
    z, weights = gauss_normal(_NODES)
    variance = asset.variance(t)
    before = asset.spot * np.exp(asset.growth(t) - variance / 2 + math.sqrt(variance) * z)
    rest = math.exp(asset.growth(model.time.end) - asset.growth(t))
    deviation = math.sqrt(max(asset.deviation**2 - variance, 0.0))
    if before[weights > 1e-16].min() <= cash:
        raise ValueError("the price may be too low for the dividend")
    forwards = np.maximum(before - cash, 1e-9 * cash) * rest
    values = [exact.lognormal_option(float(f), deviation, option.strike, option.payoff) for f in forwards]
    return float(weights @ values)


RECORD = StyleRecord[European](
    payoff=_payoff,
    price=_price,
    priced_rough=lambda asset: True,
    has_parity=lambda option: option.payoff == "call",
)

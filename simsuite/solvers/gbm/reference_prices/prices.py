"""Prices and Greeks that a scenario's options have in closed form, or by a series or quadrature (`closed_forms`).

Read from the scenario alone, and so independent of what the engine makes of it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from simsuite.scenario.gbm import (
    American,
    Asian,
    Barrier,
    Basket,
    Digital,
    European,
    Exchange,
    GbmScenario,
    Jumps,
    Lookback,
    Option,
    Spread,
)
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.closed_forms.arithmetic import arithmetic_mean_option
from simsuite.solvers.gbm.closed_forms.quadrature import gauss_normal
from simsuite.solvers.gbm.reference_prices.moved_markets import at_spot, rate_shifted, volatility_raised
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced

_JumpingMarket: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
_NODES = 200  # of the law at the date of a cash dividend
_NEAR = 0.02  # how far coefficients are varied for Greeks: relative, rates by half of it


def reference_price(model: GbmScenario, option: Option) -> float | None:
    """None where neither a closed form nor quadrature is at hand: for other schemes than the exact one, which have
    errors of their own, for payoffs by expression, and for most of what jumps or pays cash."""
    if model.time.scheme != "exact":
        return None
    assets = [Priced(model, a) for a in _assets(model, option)]
    smooth = not any(asset.is_rough for asset in assets)
    jumping = isinstance(option, Digital) and not assets[0].asset.pays_cash
    if not (smooth or jumping or isinstance(option, European)):
        return None
    try:
        return _price(model, option, assets)
    except (ValueError, ZeroDivisionError):  # without volatility, or with more assets than there are formulas for
        return None


def reference_greeks(model: GbmScenario, number: int) -> dict[str, list[float] | float] | None:
    """Of option `number`: delta, gamma and vega by asset, rho, and where it depends on one smooth price alone, theta.

    Derivatives of its price: vega by a common relative change of a volatility at all times, per root mean square of
    it; rho by a shift of all rates, dividend yields fixed. None where there are not all of these. theta follows from
    the Black-Scholes equation: all dates come nearer together.
    """

    def by(change: Callable[[float], GbmScenario], at: float, reach: float) -> tuple[float, float]:
        def price(x: float) -> float:
            found = reference_price(changed := change(x), changed.option[number])
            if found is None:
                raise ValueError("has no closed form nearby")
            return found

        return exact.derivatives(price, at, reach)

    by_spot, vega = [], []
    try:
        for a, asset in enumerate(model.asset):
            by_spot.append(by(functools.partial(at_spot, model, a), asset.spot, _NEAR * asset.spot))
            by_share, _ = by(functools.partial(volatility_raised, model, a), 0.0, _NEAR)
            vega.append(by_share / asset.volatility.root_mean_square(model.time.end))
        rho, _ = by(functools.partial(rate_shifted, model), 0.0, _NEAR / 2)
    except ValueError:
        return None
    found: dict[str, list[float] | float] = {
        "delta": [d for d, _ in by_spot],
        "gamma": [g for _, g in by_spot],
        "vega": vega,
        "rho": rho,
    }
    return found | _theta(model, model.option[number], by_spot)


def _theta(model: GbmScenario, option: Option, by_spot: list[tuple[float, float]]) -> dict[str, float]:
    """What is fixed at the start, such as the extreme of a lookback on dates, has no part in it: none for these. In a
    constant market time passes as the end comes nearer."""
    if isinstance(option, Lookback) and option.monitoring == "continuous":
        end = model.time.end
        by_end, _ = exact.derivatives(functools.partial(_price_by_end, model, option), end, _NEAR * end)
        return {"theta": -by_end}
    a, *others = _assets(model, option)
    asset, market = model.asset[a], model.market
    if others or isinstance(option, Lookback) or Priced(model, a).is_rough:
        return {}
    rate, spot = market.rate.values[0], asset.spot
    growth = rate - asset.dividend_yield.values[0] if market.drift is None else market.drift.values[0]
    (delta, gamma), price = by_spot[a], reference_price(model, option)
    assert price is not None
    return {"theta": rate * price - growth * spot * delta - (asset.volatility.values[0] * spot) ** 2 / 2 * gamma}


def _price(model: GbmScenario, option: Option, assets: list[Priced]) -> float | None:
    first, discount = assets[0], math.exp(-model.market.rate.integral(0.0, model.time.end))
    if isinstance(option, European):
        return _european(first, option, discount)
    if isinstance(option, Digital):
        return _digital(first, option)
    if isinstance(option, Asian):
        steps = first.steps(_fixings(model, option))
        if option.average == "arithmetic":
            return discount * arithmetic_mean_option(
                first.spot, option.strike, steps, option.payoff, option.past_fixings
            )
        forward, deviation = exact.geometric_mean_law(first.spot, steps, option.past_fixings)
        return discount * exact.lognormal_option(forward, deviation, option.strike, option.payoff)
    if isinstance(option, Barrier):
        return _barrier(first, option, discount)
    if isinstance(option, Lookback):
        return _lookback(first, option, discount)
    if isinstance(option, Exchange):
        return _combined(assets, (1.0, -1.0), 0.0, discount, "call")
    if isinstance(option, Spread):
        return _combined(assets, (1.0, -1.0), option.strike, discount, option.payoff)
    if isinstance(option, Basket):
        return _basket(assets, option, discount)
    if isinstance(option, American):
        rate, growth, volatility, end = first.constants
        dates = option.exercise or model.time.steps
        return exact.bermudan(first.spot, option.strike, rate, growth, volatility, end, dates, option.payoff)
    return None


def _european(asset: Priced, option: European, discount: float) -> float | None:
    """Of an asset that may jump, or pay cash once."""
    jumps = asset.asset.jumps
    cash = [dividend for dividend in asset.asset.dividends if dividend.cash is not None]
    if jumps is not None and not cash:
        return exact.merton(*_jumping_market(asset, option.strike, jumps), option.payoff)
    if jumps is None and len(cash) == len(asset.asset.dividends) == 1:
        return discount * _after_cash(asset, option, cash[0].time, float(cash[0].cash or 0.0))
    if jumps is not None or cash:
        return None
    return discount * exact.lognormal_option(asset.forward, asset.deviation, option.strike, option.payoff)


def _digital(asset: Priced, option: Digital) -> float:
    """Of an asset that may jump."""
    if asset.asset.jumps is None:
        return exact.digital_greeks(asset.terms, option.strike, option.payoff, option.cash).price
    market = _jumping_market(asset, option.strike, asset.asset.jumps)
    return exact.merton_digital(*market, option.payoff, option.cash)


def _jumping_market(asset: Priced, strike: float, jumps: Jumps) -> _JumpingMarket:
    """What the closed forms of jumps take; constants are means over all time."""
    end = asset.model.time.end
    rate, growth = asset.model.market.rate.mean(end), asset.growth(end) / end
    diffusion = (asset.spot, strike, rate, growth, asset.deviation / math.sqrt(end), end)
    return (*diffusion, jumps.intensity, jumps.mean, jumps.deviation)


def _after_cash(asset: Priced, option: European, time: float, cash: float) -> float:
    """The expectation of what is worth a Black price once the dividend is paid, over the price before that."""
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


def _barrier(asset: Priced, option: Barrier, discount: float) -> float:
    terms: Any = (option.payoff, option.direction, option.knock, option.level, option.rebate)
    if option.monitoring == "continuous" and asset.asset.dividends and not option.rebate:
        return exact.barrier_before_dividend(asset.spot, option.strike, *asset.before_last_dividend, *terms[:-1])
    if option.monitoring == "continuous":
        return exact.barrier(asset.spot, option.strike, *asset.constants, *terms)
    steps = asset.steps(_dates(option.dates, asset.model))
    return discount * exact.barrier_on_dates(asset.spot, option.strike, steps, *terms)


def _lookback(asset: Priced, option: Lookback, discount: float) -> float:
    if option.monitoring == "continuous":
        if option.strike is None:
            return exact.floating_lookback(asset.spot, *asset.constants, option.payoff)
        return exact.fixed_lookback(asset.spot, option.strike, *asset.constants, option.payoff)
    steps = asset.steps(_dates(option.dates, asset.model))
    highest = (option.payoff == "call") == (option.strike is not None)
    beyond = exact.maximum_excess_on_dates if highest else exact.minimum_shortfall_on_dates
    if option.strike is not None:
        return discount * beyond(asset.spot, steps, option.strike)
    sign = 1.0 if option.payoff == "call" else -1.0
    return discount * (sign * (asset.forward - asset.spot) + beyond(asset.spot, steps, asset.spot))


def _basket(assets: list[Priced], option: Basket, discount: float) -> float | None:
    weights = option.weights_of(len(assets))
    if option.combine == "sum":
        return _combined(assets, weights, option.strike, discount, option.payoff)
    if len(assets) != 2 or min(weights) <= 0:
        return None
    forwards = (weights[0] * assets[0].forward, weights[1] * assets[1].forward)
    deviations = (assets[0].deviation, assets[1].deviation)
    rho = _correlation(*assets)
    return exact.best_or_worst(forwards, deviations, rho, option.strike, discount, option.payoff, option.combine)


def _combined(
    assets: list[Priced], weights: Sequence[float], strike: float, discount: float, payoff: exact.Payoff
) -> float | None:
    """An option on a weighted sum."""
    forwards, deviations = [asset.forward for asset in assets], [asset.deviation for asset in assets]
    if len(assets) == 2:
        one, other = assets
        pairs = (one.forward, other.forward), (one.deviation, other.deviation)
        return exact.two_asset_basket(
            *pairs, _correlation(one, other), (weights[0], weights[1]), strike, discount, payoff
        )
    found = {_correlation(*pair) for i, one in enumerate(assets) for pair in ((one, other) for other in assets[:i])}
    if len(found) != 1 or len(set(deviations)) != 1 or min(weights) <= 0:
        return None
    return exact.equicorrelated_basket(forwards, deviations[0], found.pop(), weights, strike, discount, payoff)


def _correlation(one: Priced, other: Priced) -> float:
    """Of the logarithms of two prices at the end."""
    rows, end = one.model.market.correlation, one.model.time.end
    rho = 0.0 if rows is None else rows[one.number][other.number]
    first, second = one.asset.volatility, other.asset.volatility
    if first.is_constant and second.is_constant:
        return rho
    times = sorted({t for t in (*first.times, *second.times) if t < end} | {end})
    covariance = rho * math.fsum(first.at(a) * second.at(a) * (b - a) for a, b in pairwise(times))
    product = one.deviation * other.deviation
    return covariance / product if product > 0 else 0.0  # of a price without noise any correlation is right


def _assets(model: GbmScenario, option: Option) -> list[int]:
    """Those that an option depends on."""
    names = model.asset_names
    if isinstance(option, (Exchange, Spread)):
        return [names.index(name) for name in option.assets]
    name = getattr(option, "asset", None)
    if isinstance(option, Basket):
        return list(range(len(names)))
    return [0 if name is None else names.index(name)]


def _dates(count: int | None, model: GbmScenario) -> list[int]:
    """The steps nearest to i / count of all."""
    n = model.time.steps
    return [(2 * n * i + count) // (2 * count) for i in range(1, count + 1)] if count else list(range(1, n + 1))


def _fixings(model: GbmScenario, option: Asian) -> list[int]:
    if isinstance(option.fixings, list):
        return [model.time.nearest_step(t) for t in option.fixings]
    return _dates(option.fixings, model)


def _price_by_end(model: GbmScenario, option: Option, end: float) -> float:
    time = model.time.model_copy(update={"end": end})
    found = reference_price(model.model_copy(update={"time": time}), option)
    if found is None:
        raise ValueError("has no closed form nearby")
    return found

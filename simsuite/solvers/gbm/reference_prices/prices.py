"""The prices and Greeks of a scenario's options, in closed form, or by a series or quadrature (`closed_forms`).

They are read from the scenario alone, and so independent of what the engine makes of it. The prices are those of the
records of styles (`StyleRecord.price`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.reference_prices.moved_markets import at_spot, rate_shifted, volatility_raised
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced
from simsuite.solvers.gbm.style_record import style_of

_NEAR = 0.02  # relative change of coefficients for Greeks; rates are changed by half of it


def reference_price(model: GbmScenario, option: Option) -> float | None:
    """The exact price of an option. None where neither a closed form nor quadrature is at hand: for other schemes than
    the exact one, which have errors of their own, for payoffs by expression, and for most options on assets that jump
    or pay cash."""
    if model.time.scheme != "exact":
        return None
    model = model.until(option.maturity)
    style, assets = style_of(option), [Priced(model, a) for a in option.asset_numbers(model.asset_names)]
    smooth = not any(asset.is_rough for asset in assets)
    if style.price is None or not (smooth or style.priced_rough(assets[0])):
        return None
    try:
        return style.price(option, assets, math.exp(-model.market.rate.integral(0.0, model.time.end)))
    except (ValueError, ZeroDivisionError):  # without volatility, or with more assets than there are formulas for
        return None


def reference_greeks(model: GbmScenario, number: int) -> dict[str, list[float] | float] | None:
    """The Greeks of option `number`: delta, gamma and vega by asset, rho, and, where the option depends on one smooth
    price alone, theta. None where not all of these are known.

    They are derivatives of its price: vega by a common relative change of a volatility at all times, per root mean
    square of it; rho by a shift of all rates, dividend yields fixed. theta follows from the Black-Scholes equation: as
    time passes, all dates come nearer together.
    """
    ends = [model.time.until(option.maturity).steps for option in model.option]
    model = model.until(model.option[number].maturity)
    number = ends[:number].count(ends[number])

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
    """The theta of an option, as time passes and the end comes nearer in a constant market. What is fixed at the start,
    such as the extreme of a lookback on dates, does not move with it; options with such terms have no theta here."""
    style = style_of(option)
    if style.smooth_at_spot and option.watched_continuously:
        end = model.time.end
        by_end, _ = exact.derivatives(functools.partial(_price_by_end, model, option), end, _NEAR * end)
        return {"theta": -by_end}
    a, *others = option.asset_numbers(model.asset_names)
    asset, market = model.asset[a], model.market
    if others or style.smooth_at_spot or Priced(model, a).is_rough:
        return {}
    rate, spot = market.rate.values[0], asset.spot
    growth = rate - asset.dividend_yield.values[0] if market.drift is None else market.drift.values[0]
    (delta, gamma), price = by_spot[a], reference_price(model, option)
    assert price is not None
    return {"theta": rate * price - growth * spot * delta - (asset.volatility.values[0] * spot) ** 2 / 2 * gamma}


def _price_by_end(model: GbmScenario, option: Option, end: float) -> float:
    time = model.time.model_copy(update={"end": end})
    found = reference_price(model.model_copy(update={"time": time}), option)
    if found is None:
        raise ValueError("has no closed form nearby")
    return found

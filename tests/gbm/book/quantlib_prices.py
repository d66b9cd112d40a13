"""Exact prices of the options of `book_of_100` by QuantLib, which knows nothing of simsuite.

Years are of 360 days here, so that all dates of the book are whole days. None where QuantLib has approximations only:
for barriers and lookbacks on dates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import QuantLib as ql
from book_of_100 import CORRELATION, DATES, RATE, SPOTS, VOLATILITIES, YIELDS, Row

TODAY = ql.Date(1, 1, 2026)
YEAR = ql.Thirty360(ql.Thirty360.BondBasis)


def _curve(rate: float) -> Any:
    return ql.YieldTermStructureHandle(ql.FlatForward(TODAY, rate, YEAR))


def _process(asset: int) -> Any:
    ql.Settings.instance().evaluationDate = TODAY
    volatility = ql.BlackConstantVol(TODAY, ql.NullCalendar(), VOLATILITIES[asset], YEAR)
    spot = ql.QuoteHandle(ql.SimpleQuote(SPOTS[asset]))
    return ql.BlackScholesMertonProcess(
        spot, _curve(YIELDS[asset]), _curve(RATE), ql.BlackVolTermStructureHandle(volatility)
    )


def _date(years: float) -> Any:
    months, days = divmod(round(years * 360), 30)
    return ql.Date(1 + days, 1 + months % 12, 2026 + months // 12)


def _dates(maturity: float) -> list[Any]:
    return [_date(maturity * i / DATES) for i in range(1, DATES + 1)]


def _kind(row: Row) -> Any:
    return ql.Option.Call if row["payoff"] == "call" else ql.Option.Put


def _plain(row: Row) -> Any:
    return ql.PlainVanillaPayoff(_kind(row), float(str(row["strike"])))


def _asset(name: object) -> int:
    return "AB".index(str(name or "A"))


def _black(row: Row, payoff: Any) -> float:
    t, a = _maturity(row), _asset(row.get("asset"))
    ahead = SPOTS[a] * math.exp((RATE - YIELDS[a]) * t)
    return float(ql.BlackCalculator(payoff, ahead, VOLATILITIES[a] * math.sqrt(t), math.exp(-RATE * t)).value())


def _maturity(row: Row) -> float:
    return float(str(row.get("maturity", 1.0)))


def european(row: Row) -> float:
    return _black(row, _plain(row))


def digital(row: Row) -> float:
    return _black(row, ql.CashOrNothingPayoff(_kind(row), float(str(row["strike"])), float(str(row["cash"]))))


def asian(row: Row) -> float:
    t, dates = _maturity(row), _dates(_maturity(row))
    exercise = ql.EuropeanExercise(_date(t))
    geometric = row.get("average") == "geometric"
    average = ql.Average().Geometric if geometric else ql.Average().Arithmetic
    option = ql.DiscreteAveragingAsianOption(average, 1.0 if geometric else 0.0, 0, dates, _plain(row), exercise)
    if geometric:
        option.setPricingEngine(ql.AnalyticDiscreteGeometricAveragePriceAsianEngine(_process(0)))
    else:
        option.setPricingEngine(ql.ChoiAsianEngine(_process(0), 25.0))
    return float(option.NPV())


def barrier(row: Row) -> float | None:
    if row.get("monitoring") != "continuous":
        return None
    kinds = {
        ("down", "out"): ql.Barrier.DownOut,
        ("up", "out"): ql.Barrier.UpOut,
        ("down", "in"): ql.Barrier.DownIn,
        ("up", "in"): ql.Barrier.UpIn,
    }
    kind = kinds[str(row["direction"]), str(row["knock"])]
    exercise = ql.EuropeanExercise(_date(_maturity(row)))
    option = ql.BarrierOption(kind, float(str(row["level"])), 0.0, _plain(row), exercise)
    option.setPricingEngine(ql.AnalyticBarrierEngine(_process(0)))
    return float(option.NPV())


def american(row: Row) -> float:
    option = ql.VanillaOption(_plain(row), ql.BermudanExercise(_dates(_maturity(row))))
    option.setPricingEngine(ql.FdBlackScholesVanillaEngine(_process(0), 1200, 2000))
    return float(option.NPV())


def _two(payoff: Any, t: float, engine: Any) -> float:
    option = ql.BasketOption(payoff, ql.EuropeanExercise(_date(t)))
    option.setPricingEngine(engine)
    return float(option.NPV())


def basket(row: Row) -> float:
    t, plain = _maturity(row), _plain(row)
    if row.get("combine") == "max":
        return _two(ql.MaxBasketPayoff(plain), t, ql.StulzEngine(_process(0), _process(1), CORRELATION))
    if row.get("combine") == "min":
        return _two(ql.MinBasketPayoff(plain), t, ql.StulzEngine(_process(0), _process(1), CORRELATION))
    return _sum(ql.AverageBasketPayoff(plain, ql.Array(2, 0.5)), t, (0, 1))


def spread(row: Row) -> float:
    order = tuple(map(_asset, str(row["assets"]).split(";")))
    return _sum(ql.SpreadBasketPayoff(_plain(row)), _maturity(row), order)


def _sum(payoff: Any, t: float, order: tuple[int, ...]) -> float:
    matrix = ql.Matrix(2, 2)
    for i in range(2):
        for j in range(2):
            matrix[i][j] = 1.0 if i == j else CORRELATION
    return _two(payoff, t, ql.ChoiBasketEngine([_process(a) for a in order], matrix, 30.0))


def exchange(row: Row) -> float:
    t = _maturity(row)
    option = ql.MargrabeOption(1, 1, ql.EuropeanExercise(_date(t)))
    option.setPricingEngine(ql.AnalyticEuropeanMargrabeEngine(_process(0), _process(1), CORRELATION))
    return float(option.NPV())


def expression(row: Row) -> float:
    """Sums of vanilla options, and lognormal means, for the expressions of the book."""
    t, value = _maturity(row), str(row["value"])
    discount, growth = math.exp(-RATE * t), [math.exp((RATE - q) * t) for q in YIELDS]
    if value.startswith("max"):
        strikes = ({"payoff": "call", "strike": strike, "maturity": t} for strike in (100, 110))
        lower, upper = map(european, strikes)
        return lower - upper
    if "last(B)" in value:
        covariance = CORRELATION * VOLATILITIES[0] * VOLATILITIES[1] * t
        return discount * SPOTS[0] * growth[0] * SPOTS[1] * growth[1] * math.exp(covariance) / 80
    return discount * growth[0] ** 2 * math.exp(VOLATILITIES[0] ** 2 * t)


PRICES: dict[str, Callable[[Row], float | None]] = {
    "european": european,
    "digital": digital,
    "asian": asian,
    "barrier": barrier,
    "lookback": lambda row: None,
    "basket": basket,
    "exchange": exchange,
    "spread": spread,
    "american": american,
    "expression": expression,
}


def price(row: Row) -> float | None:
    """The price of an option; None where QuantLib has none."""
    return PRICES[str(row["style"])](row)

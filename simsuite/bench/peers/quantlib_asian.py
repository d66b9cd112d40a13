"""QuantLib: its Monte Carlo engine for arithmetic Asian options, pseudo-random, on its one thread.

No control variate, no antithetic paths and no Brownian bridge: the same estimator as a plain mean over paths. QuantLib
fixes on whole days, so a year of n fixings is n days, with rate and variance per day those of 1/n year. (A calendar of
252 days a year would say so directly, but counts its days anew in every step.)
"""

from __future__ import annotations

import math
from collections.abc import Callable


def asian(
    spot: float, strike: float, rate: float, volatility: float, fixings: int
) -> Callable[[int], tuple[float, float]]:
    """price(paths) = (price, standard error) of a call on the mean of so many prices, evenly over a year.

    rate, volatility: a year's. Raises ImportError where QuantLib is not installed.
    """
    import QuantLib as ql

    today = ql.Date(1, 1, 2024)
    ql.Settings.instance().evaluationDate = today
    days, years = ql.Actual365Fixed(), fixings / 365

    def flat(r: float) -> ql.YieldTermStructureHandle:
        return ql.YieldTermStructureHandle(ql.FlatForward(today, r, days))

    process = ql.BlackScholesMertonProcess(
        ql.QuoteHandle(ql.SimpleQuote(spot)),
        flat(0.0),
        flat(rate / years),
        ql.BlackVolTermStructureHandle(
            ql.BlackConstantVol(today, ql.NullCalendar(), volatility / math.sqrt(years), days)
        ),
    )
    dates = [today + i for i in range(1, fixings + 1)]
    option = ql.DiscreteAveragingAsianOption(
        ql.Average.Arithmetic,
        0.0,
        0,
        dates,
        ql.PlainVanillaPayoff(ql.Option.Call, strike),
        ql.EuropeanExercise(dates[-1]),
    )

    def price(paths: int) -> tuple[float, float]:
        engine = ql.MCDiscreteArithmeticAPEngine(process, "PseudoRandom", False, False, False, paths, None, None, 1)
        option.setPricingEngine(engine)  # which forgets the price before
        return option.NPV(), option.errorEstimate()

    return price


if __name__ == "__main__":
    import time

    fixings, paths = 252, 50_000
    price = asian(100.0, 100.0, 0.05, 0.2, fixings)
    price(1000)
    best, value = float("inf"), (0.0, 0.0)
    for _ in range(5):
        began = time.perf_counter()
        value = price(paths)
        best = min(best, time.perf_counter() - began)
    print(f"{value[0]:.4f} +- {value[1]:.4f}, {paths / best:.4g} paths/s, {paths * fixings / best:.4g} path-steps/s")

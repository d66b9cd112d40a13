"""QuantLib: its Monte Carlo engine for arithmetic Asian options, pseudo-random, on its one thread.

No control variate, no antithetic paths and no Brownian bridge: the same estimator as a plain mean over paths. QuantLib
fixes on whole days, so a year of n fixings is n days, with rate and variance per day those of 1/n year. (A calendar of
252 days a year would say so directly, but counts its days anew in every step.)
"""

from __future__ import annotations

import itertools
import math

from simsuite.bench.gbm.peers.peer import Asian, Peer, Pricer


def _start(asian: Asian, precision: str, device: str, chunk: int) -> Pricer:
    import QuantLib as ql

    today = ql.Date(1, 1, 2024)
    ql.Settings.instance().evaluationDate = today
    days, years = ql.Actual365Fixed(), asian.fixings / 365

    def flat(r: float) -> ql.YieldTermStructureHandle:
        return ql.YieldTermStructureHandle(ql.FlatForward(today, r, days))

    volatility = ql.BlackConstantVol(today, ql.NullCalendar(), asian.volatility / math.sqrt(years), days)
    process = ql.BlackScholesMertonProcess(
        ql.QuoteHandle(ql.SimpleQuote(asian.spot)),
        flat(0.0),
        flat(asian.rate / years),
        ql.BlackVolTermStructureHandle(volatility),
    )
    dates = [today + i for i in range(1, asian.fixings + 1)]
    payoff = ql.PlainVanillaPayoff(ql.Option.Call, asian.strike)
    exercise = ql.EuropeanExercise(dates[-1])
    option = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, 0.0, 0, dates, payoff, exercise)
    seeds = itertools.count(1)

    def price(paths: int) -> tuple[float, float]:
        plain = (False, False, False)
        engine = ql.MCDiscreteArithmeticAPEngine(process, "PseudoRandom", *plain, paths, None, None, next(seeds))
        option.setPricingEngine(engine)  # this makes the option forget its last price
        return option.NPV(), option.errorEstimate()

    return price


QUANTLIB = Peer("QuantLib", "QuantLib", ("cpu",), _start, precisions=("float64",))

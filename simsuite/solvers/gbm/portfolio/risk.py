"""Value at risk and expected shortfall of the loss L of a portfolio (`portfolio.py`), at a level p of confidence.

VaR_p:  the p-quantile of L. Its interval is between two order statistics (`intervals.py`).
ES_p:   the mean of the worst share 1 - p of all n losses, of one of which it may take a part (C. Acerbi and D. Tasche,
        J. Banking and Finance 26, 2002). It is the least v + E max(L - v, 0) / (1 - p), taken at v = VaR
        (R. Rockafellar and S. Uryasev, J. Risk 2, 2000), so that an error of v is of second order in it, and its
        standard error is that of the mean of max(L - v, 0) / (1 - p) (B. J. Manistre and G. Hancock, North American
        Actuarial J. 9, 2005).
Error:  of the sketch, see there: at most 2^-BITS of the gain G that L is made of. Of a pair of antithetic paths the one
        may lose whenever the other does: all errors are those of half as many independent paths, which is more than
        enough where they balance each other. V_0 is an estimate too, if options are held: the error of the sum of
        their prices (results/book_results.py) is added to all others, as if they all went the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.gbm.portfolio.portfolio import Portfolio
from simsuite.solvers.gbm.statistics.intervals import Z95, ranks
from simsuite.solvers.gbm.statistics.quantile_sketch import QuantileSketch, of_signed
from simsuite.solvers.gbm.statistics.statistics import Estimate

Interval = tuple[float, float]


@dataclass(frozen=True)
class RiskFigures:
    """The figures of risk at one level. Those that n paths cannot tell are NaN or infinite."""

    level: float
    value_at_risk: float
    value_at_risk_interval: Interval
    expected_shortfall: float
    expected_shortfall_error: float

    @property
    def expected_shortfall_interval(self) -> Interval:
        reach = Z95 * self.expected_shortfall_error
        return self.expected_shortfall - reach, self.expected_shortfall + reach


@dataclass(frozen=True)
class Risk:
    """The risk of a portfolio. value: V_0."""

    value: Estimate
    figures: tuple[RiskFigures, ...]


def risk_of(portfolio: Portfolio, table: np.ndarray, book: Estimate) -> Risk:
    """The risk, from the sketch of the gain (`table`) and the price of all options held."""
    paid, error = book.value, book.standard_error
    gains = of_signed(table, portfolio.risk_unit)
    with np.errstate(all="ignore"):
        figures = tuple(_figures(gains, p, paid, error, portfolio) for p in portfolio.levels)
    return Risk(Estimate(float(portfolio.worth.sum()) + paid, error), figures)


def _figures(gains: QuantileSketch, level: float, paid: float, error: float, portfolio: Portfolio) -> RiskFigures:
    q, paths = 1 - level, portfolio.statement.scenario.paths
    worst = gains.lowest(gains.n * q)
    threshold = gains.quantile(q)
    interval, scatter = (math.nan, math.nan), math.nan
    if paths.sampling == "pseudo":
        low, high = (math.nan if k is None else gains.order_statistic(k) for k in ranks(gains.n, q, paths.antithetic))
        interval = paid - high - Z95 * error, paid - low + Z95 * error
        scatter = _scatter(worst, threshold, gains.n, gains.n // portfolio.statement.width) / q
    return RiskFigures(level, paid - threshold, interval, paid - worst.total() / (gains.n * q), scatter + error)


def _scatter(worst: QuantileSketch, threshold: float, n: int, independent: int) -> float:
    """Standard error of the mean of max(threshold - G, 0)."""
    if independent < 2 or worst.n < 2:
        return math.nan
    mean = (worst.n * threshold - worst.total()) / n
    variance = worst.squares(threshold) / n - mean**2
    return math.sqrt(max(variance, 0.0) / (independent - 1))

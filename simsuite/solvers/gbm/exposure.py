"""Exposure of a portfolio of assets over time: what its value V_t is expected to be, and may well be.

EE_t = E max(V_t, 0), ENE_t = E max(-V_t, 0), PFE_t a quantile of max(V_t, 0); none of them discounted (J. Gregory, The
xVA Challenge, 2015). The first two are means with the standard errors of means, of pairs where paths are antithetic.
PFE is from a sketch, to 2^-BITS of it (`sketch.py`), with an interval between order statistics (`intervals.py`), which
for antithetic paths is that of half as many independent ones: in a portfolio they need not balance each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.gbm.intervals import ranks
from simsuite.solvers.gbm.portfolio import Portfolio
from simsuite.solvers.gbm.sketch import of_positive
from simsuite.solvers.gbm.statistics import Estimate, estimate


@dataclass(frozen=True)
class Exposure:
    """At one frame. potential[level], and the interval of each."""

    expected: Estimate
    negative: Estimate
    potential: np.ndarray
    low: np.ndarray
    high: np.ndarray


def mean_exposure(portfolio: Portfolio, frame: int, n: int, sums: np.ndarray) -> tuple[Estimate, Estimate]:
    """(EE, ENE) from the sums of n paths at a frame."""
    problem, unit = portfolio.problem, portfolio.exposure_unit
    if frame == 0:
        value = float(portfolio.worth.sum())
        return Estimate(max(value, 0.0), 0.0), Estimate(max(-value, 0.0), 0.0)
    paths = problem.scenario.paths
    found = [estimate(part, n // problem.width, unit, 0.0) for part in (sums[:2], sums[2:])]
    if paths.sampling != "pseudo":
        found = [Estimate(e.value, math.nan) for e in found]
    return found[0], found[1]


def exposure_of(portfolio: Portfolio, frame: int, n: int, sums: np.ndarray, counts: np.ndarray) -> Exposure:
    expected, negative = mean_exposure(portfolio, frame, n, sums)
    levels, paths = portfolio.levels, portfolio.problem.scenario.paths
    if frame == 0:
        same = np.full(len(levels), expected.value)
        return Exposure(expected, negative, same, same, same)
    values = of_positive(counts, portfolio.exposure_unit)
    found = np.full((3, len(levels)), math.nan)
    with np.errstate(all="ignore"):
        for i, p in enumerate(levels):
            found[0, i] = values.quantile(p)
            if paths.sampling == "pseudo":
                bounds = ranks(values.n, p, paths.antithetic)
                found[1:, i] = [math.nan if k is None else values.order_statistic(k) for k in bounds]
    return Exposure(expected, negative, *found)

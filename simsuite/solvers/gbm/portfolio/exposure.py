"""Exposure of a portfolio of assets over time: what its value V_t is expected to be, and may well be.

EE_t = E max(V_t, 0), ENE_t = E max(-V_t, 0), PFE_t a quantile of max(V_t, 0); none of them discounted (J. Gregory, The
xVA Challenge, 2015). The first two are means with the standard errors of means, of pairs where paths are antithetic.
PFE is from a sketch, to 2^-BITS of it (`quantile_sketch.py`), with an interval between order statistics
(`intervals.py`), which for antithetic paths is that of half as many independent ones: in a portfolio they need not
balance each other.

Where no path is positive, or none negative, though some could be, a mean of 0 has the error of what was not seen
(`unseen.py`), by the law of the price if the value depends on one alone, else an unknown one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simsuite.solvers.gbm.error_allowances.allowances import reach_of
from simsuite.solvers.gbm.error_allowances.payoff_jumps import root_mean_square_off
from simsuite.solvers.gbm.portfolio.portfolio import Portfolio
from simsuite.solvers.gbm.statistics.intervals import ranks
from simsuite.solvers.gbm.statistics.quantile_sketch import of_positive
from simsuite.solvers.gbm.statistics.statistics import Estimate, estimate


@dataclass(frozen=True)
class Exposure:
    """The exposure at one frame: EE, ENE, and for each level the PFE with its interval. potential[level], low[level],
    high[level]."""

    expected: Estimate
    negative: Estimate
    potential: np.ndarray
    low: np.ndarray
    high: np.ndarray


def mean_exposure(portfolio: Portfolio, frame: int, n: int, sums: np.ndarray) -> tuple[Estimate, Estimate]:
    """(EE, ENE) from the sums of n paths at a frame."""
    statement, unit = portfolio.statement, portfolio.exposure_unit
    if frame == 0:
        value = float(portfolio.worth.sum())
        return Estimate(max(value, 0.0), 0.0), Estimate(max(-value, 0.0), 0.0)
    paths = statement.scenario.paths
    found = [estimate(part, n // statement.width, unit, 0.0) for part in (sums[:2], sums[2:])]
    if paths.sampling != "pseudo":
        found = [Estimate(e.value, math.nan) for e in found]
    expected, negative = (_with_unseen(portfolio, frame, n, e, sign) for e, sign in zip(found, (1.0, -1.0)))
    return expected, negative


def _with_unseen(portfolio: Portfolio, frame: int, n: int, found: Estimate, sign: float) -> Estimate:
    """The mean of the part of V with this sign. If no path had such a part, although paths may, the mean gets an
    error."""
    if found.value != 0 or found.standard_error != 0:
        return found
    statement = portfolio.statement
    return replace(
        found, standard_error=reach_of(n // statement.width, statement.width) * _unseen(portfolio, frame, sign)
    )


def _unseen(portfolio: Portfolio, frame: int, sign: float) -> float:
    """Root mean square of the part of V with this sign over the paths that have one; 0 if none can have one, NaN if it
    is not known."""
    statement, at = portfolio.statement, np.array([portfolio.statement.frame_steps[frame]])
    held, dynamics = sign * portfolio.worth, statement.dynamics
    spread, centre = dynamics.spread(at)[:, 0], dynamics.centre(at)[:, 0]
    noisy = [a for a, worth in enumerate(held) if worth and spread[a] > 0 and statement.dynamics.is_noisy(a)]
    fixed = sum(float(w * np.exp2(c)) for a, (w, c) in enumerate(zip(held, centre)) if w and a not in noisy)
    if not noisy or (fixed <= 0 and all(held[a] < 0 for a in noisy)):
        return 0.0
    if len(noisy) > 1 or not dynamics.step_terms.lognormal_of(noisy):
        return math.nan
    (a,) = noisy
    with np.errstate(over="ignore"):
        return root_mean_square_off(
            lambda y: np.maximum(fixed + held[a] * np.exp2(centre[a] + y), 0.0), float(spread[a]), 0.0
        )


def exposure_of(portfolio: Portfolio, frame: int, n: int, sums: np.ndarray, counts: np.ndarray) -> Exposure:
    expected, negative = mean_exposure(portfolio, frame, n, sums)
    levels, paths = portfolio.levels, portfolio.statement.scenario.paths
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

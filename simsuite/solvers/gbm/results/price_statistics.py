"""Computes means, deviations, quantiles and standard errors of prices from the sums and counts of `statistics.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.statistics.intervals import error_of_deviation, error_of_mean
from simsuite.solvers.gbm.statistics.statistics import MIDDLES, Z_MAX, mean_and_variance, quantile, quantile_interval


@dataclass(frozen=True)
class PriceStatistics:
    """Statistics of prices over all paths, at one time in years: mean[asset], std[asset], quantiles[quantile, asset].
    mean_error and std_error are the standard errors of the first two, and intervals[low or high, quantile, asset] are
    those of the quantiles. expected[asset] is the mean by the equation; it is an approximation if cash is paid or steps
    have an error."""

    time: float
    expected: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    quantiles: np.ndarray
    mean_error: np.ndarray
    std_error: np.ndarray
    intervals: np.ndarray


@np.errstate(over="ignore")
def price_statistics(
    scenario: GbmScenario, dynamics: Dynamics, step: int, n: int, moments: np.ndarray, histogram: np.ndarray
) -> PriceStatistics:
    """The statistics of prices after a step. n: the number of paths. moments[asset, value or square, limb]: sums of S /
    E S - 1. histogram[asset, bin]: counts of the noise in units of its spread.

    After 0 steps nothing has been counted and every price is the spot.
    """
    spot = np.array([asset.spot for asset in scenario.asset])
    quantiles = scenario.output.quantiles
    time = scenario.time.end * (step / scenario.time.steps)
    if step == 0:
        none, levels = np.zeros(len(spot)), np.tile(spot, (len(quantiles), 1))
        return PriceStatistics(time, spot, spot, none, levels, none, none, np.array([levels, levels]))
    pairs = np.array([mean_and_variance(sums, n) for sums in moments])
    at = np.array([step])
    growth = dynamics.log_mean(at)[:, 0]
    expected = spot * np.exp2(growth)
    centres, spreads, absorbing = dynamics.centre(at)[:, 0], dynamics.spread(at)[:, 0], dynamics.step_terms.absorbing
    found, intervals = np.empty((len(quantiles), len(spot))), np.full((2, len(quantiles), len(spot)), math.nan)
    errors = np.full((2, len(spot)), math.nan)
    for a, (s, centre, spread) in enumerate(zip(spot, centres, spreads)):

        def price(z: float, s: float = s, centre: float = centre, spread: float = spread) -> float:
            if absorbing and z <= -Z_MAX:  # prices of 0 lie beyond the histogram
                return 0.0
            return float(s * np.exp2(centre + spread * z))

        found[:, a] = [quantile(histogram[a], q, price) for q in quantiles]
        if scenario.paths.sampling != "pseudo":
            continue  # Sobol points are not independent
        mirrored = _mirrored(scenario, a)
        pairs_of_equals = scenario.paths.antithetic and not mirrored
        intervals[:, :, a] = np.transpose(
            [quantile_interval(histogram[a], q, price, pairs_of_equals) for q in quantiles]
        )
        independent = n // 2 if scenario.paths.antithetic else n
        errors[0, a] = error_of_mean(moments[a], n, scenario.paths.width)
        errors[1, a] = error_of_deviation(
            histogram[a], MIDDLES, centre - growth[a], spread, mirrored and scenario.paths.antithetic, independent
        )
    if not absorbing:  # all prices are the same and too small, relative to a huge mean, to be told from 0
        errors[:, (spreads > 0) & (pairs[:, 1] == 0)] = math.nan
    std, (mean_error, std_error) = expected * np.sqrt(pairs[:, 1]), expected * errors
    return PriceStatistics(time, expected, expected * (1 + pairs[:, 0]), std, found, mean_error, std_error, intervals)


def _mirrored(scenario: GbmScenario, a: int) -> bool:
    """Whether an asset's noise on the two paths of an antithetic pair differs in its sign only."""
    asset = scenario.asset[a]
    return scenario.time.scheme == "exact" and asset.jumps is None and not asset.pays_cash


def stored_prices(scenario: GbmScenario, dynamics: Dynamics, step: int, noise: np.ndarray) -> np.ndarray:
    """[path, asset] prices after a number of steps, from the noise [asset, path]."""
    spot = np.array([asset.spot for asset in scenario.asset])
    centre = dynamics.centre(np.array([step]))[:, 0] if step else np.zeros(len(spot))
    return spot * np.exp2(centre + noise.T.astype(np.float64))

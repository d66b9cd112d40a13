"""From the sums and counts of `statistics.py` to prices, deviations, quantiles and standard errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.contracts import Contracts
from simsuite.solvers.gbm.statistics import Estimate, estimate, mean_and_variance, quantile


@dataclass(frozen=True)
class PriceStatistics:
    """Over all paths, at one time in years: mean[asset], std[asset], quantiles[quantile, asset]."""

    time: float
    mean: np.ndarray
    std: np.ndarray
    quantiles: np.ndarray


@np.errstate(over="ignore")
def price_statistics(
    scenario: GbmScenario, growth: np.ndarray, t: float, moments: np.ndarray, histogram: np.ndarray
) -> PriceStatistics:
    """moments[asset, value or square, limb] of S / E S - 1, histogram[asset, bin] of the standardised logarithm.

    At time 0 nothing has been counted and every price is the spot.
    """
    spot = np.array([asset.spot for asset in scenario.asset])
    quantiles = scenario.output.quantiles
    if t == 0:
        return PriceStatistics(t, spot, np.zeros(len(spot)), np.tile(spot, (len(quantiles), 1)))
    pairs = np.array([mean_and_variance(sums, scenario.paths.count) for sums in moments])
    expected = spot * np.exp(growth * t)
    found = np.empty((len(quantiles), len(spot)))
    for a, asset in enumerate(scenario.asset):
        center = (float(growth[a]) - asset.volatility.value**2 / 2) * t
        scale = asset.volatility.value * math.sqrt(t)

        def price(z: float, s: float = asset.spot, center: float = center, scale: float = scale) -> float:
            return s * float(np.exp(center + scale * z))

        found[:, a] = [quantile(histogram[a], q, price) for q in quantiles]
    return PriceStatistics(t, expected * (1 + pairs[:, 0]), expected * np.sqrt(pairs[:, 1]), found)


def option_estimates(contracts: Contracts, sums: np.ndarray, n: int) -> list[Estimate]:
    """sums[option, value or square, limb] over n independent observations; one estimate for each option."""
    shifts = contracts.terms[:, -1]
    return [estimate(one, n, contracts.discount, float(shift)) for one, shift in zip(sums, shifts)]


def stored_prices(scenario: GbmScenario, logarithms: np.ndarray) -> np.ndarray:
    """[path, asset] prices from [asset, path] logarithms relative to the spot."""
    spot = np.array([asset.spot for asset in scenario.asset])
    return spot * np.exp(logarithms.T.astype(np.float64))

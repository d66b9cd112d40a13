"""From the sums and counts of `statistics.py` to prices, deviations, quantiles and standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.dynamics import Dynamics
from simsuite.solvers.gbm.statistics import mean_and_variance, quantile


@dataclass(frozen=True)
class PriceStatistics:
    """Over all paths, at one time in years: mean[asset], std[asset], quantiles[quantile, asset]."""

    time: float
    mean: np.ndarray
    std: np.ndarray
    quantiles: np.ndarray


@np.errstate(over="ignore")
def price_statistics(
    scenario: GbmScenario, dynamics: Dynamics, step: int, n: int, moments: np.ndarray, histogram: np.ndarray
) -> PriceStatistics:
    """n: paths. moments[asset, value or square, limb] of S / E S - 1, histogram[asset, bin] of the standardised noise.

    After 0 steps nothing has been counted and every price is the spot.
    """
    spot = np.array([asset.spot for asset in scenario.asset])
    quantiles = scenario.output.quantiles
    time = scenario.time.end * (step / scenario.time.steps)
    if step == 0:
        return PriceStatistics(time, spot, np.zeros(len(spot)), np.tile(spot, (len(quantiles), 1)))
    pairs = np.array([mean_and_variance(sums, n) for sums in moments])
    at = np.array([step])
    expected = spot * np.exp2(dynamics.log_mean(at)[:, 0])
    centres, deviations = dynamics.centre(at)[:, 0], np.sqrt(dynamics.variance(at)[:, 0])
    found = np.empty((len(quantiles), len(spot)))
    for a, (s, centre, deviation) in enumerate(zip(spot, centres, deviations)):

        def price(z: float, s: float = s, centre: float = centre, deviation: float = deviation) -> float:
            return float(s * np.exp2(centre + deviation * z))

        found[:, a] = [quantile(histogram[a], q, price) for q in quantiles]
    return PriceStatistics(time, expected * (1 + pairs[:, 0]), expected * np.sqrt(pairs[:, 1]), found)


def stored_prices(scenario: GbmScenario, dynamics: Dynamics, step: int, noise: np.ndarray) -> np.ndarray:
    """[path, asset] prices after a number of steps, from the noise [asset, path]."""
    spot = np.array([asset.spot for asset in scenario.asset])
    centre = dynamics.centre(np.array([step]))[:, 0] if step else np.zeros(len(spot))
    return spot * np.exp2(centre + noise.T.astype(np.float64))

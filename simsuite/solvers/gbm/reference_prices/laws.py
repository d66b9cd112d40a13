"""The exact law of a price at a time, where the scenario's market has one in closed form.

Read from the scenario alone, as `reference_prices/prices.py`. The logarithm of the price is normal; with Merton's jumps
it is so given the number of jumps (`closed_forms/jumps.py`), and its law a mixture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms.jumps import jump_counts
from simsuite.solvers.gbm.reference_prices.priced_asset import Priced


@dataclass(frozen=True)
class LogPriceLaw:
    """The law of the natural logarithm of a price: a mixture of normal laws, each with its weight."""

    weights: np.ndarray
    means: np.ndarray
    deviations: np.ndarray

    def density(self, logarithm: np.ndarray) -> np.ndarray:
        """The density of the logarithm. Divided by the price it is the density of the price."""
        z = (logarithm[..., np.newaxis] - self.means) / self.deviations
        return np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * self.deviations) @ self.weights


def reference_law(model: GbmScenario, asset: int, t: float) -> LogPriceLaw | None:
    """The exact law of an asset's price at time t > 0, whatever the scheme. None once a dividend has been paid in cash,
    and without volatility, where there is no density."""
    priced, time = Priced(model, asset), model.time
    variance = priced.variance(t)
    paid = [d for d in priced.asset.dividends if time.nearest_step(d.time) <= time.nearest_step(t)]
    if variance == 0 or any(dividend.cash is not None for dividend in paid):
        return None
    mean = math.log(priced.spot) + priced.growth(t) - variance / 2
    jumps = priced.asset.jumps
    if jumps is None:
        return LogPriceLaw(np.ones(1), np.array([mean]), np.array([math.sqrt(variance)]))
    n, weights = np.array([*jump_counts(jumps.intensity * t)]).T
    mean -= jumps.intensity * t * math.expm1(jumps.mean + jumps.deviation**2 / 2)
    return LogPriceLaw(weights, mean + n * jumps.mean, np.sqrt(variance + n * jumps.deviation**2))

"""What independent scrambles of Sobol points say about their own error.

The means over the points of each replicate are independent, equally distributed and without bias, so the standard
error of their mean is theirs over sqrt(R), and an interval comes from Student's t with R - 1 degrees of freedom: A. B.
Owen, "Practical Quasi-Monte Carlo Integration" (2023), on randomized points. They need not be normal, but with a bias
of none and little skewness this interval covers the truth better than bootstraps do: P. L'Ecuyer, M. K. Nakayama, A.
B. Owen and B. Tuffin, "Confidence intervals for randomized quasi-Monte Carlo estimators", Winter Simulation Conference
2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simsuite.libraries import special


@dataclass(frozen=True)
class Estimate:
    """The result of several replicates. interval: an interval that holds the true value with the probability asked
    for."""

    mean: float
    standard_error: float
    interval: tuple[float, float]


def estimate(means: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The estimate from the mean of each replicate. Raises ValueError if there are fewer than two."""
    count = len(means)
    if count < 2:
        raise ValueError("an error can only be seen in two replicates or more")
    mean = math.fsum(means) / count
    error = math.sqrt(math.fsum((m - mean) ** 2 for m in means) / (count - 1) / count)
    reach = float(special.stdtrit(count - 1, 0.5 + confidence / 2)) * error
    return Estimate(mean, error, (mean - reach, mean + reach))

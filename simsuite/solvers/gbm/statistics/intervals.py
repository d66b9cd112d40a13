"""How far estimates from n independent paths are from the truth, with CONFIDENCE.

Mean:       +- z s / sqrt(n), by the central limit theorem; antithetic pairs count as one observation, their mean.
Deviation:  s is the root of a mean of squares, whose own standard error is known: that of s is, to first order in it
            (H. Cramer, Mathematical Methods of Statistics, 1946),
                sqrt(Var (x - mean)^2 / n) / (2 s).
Quantile:   the number of observations below the q-quantile is binomial, so that it lies between the order statistics
            of ranks n q -+ z sqrt(n q (1 - q)), rounded outwards (H. David and H. Nagaraja, Order Statistics,
            2003). Such an interval knows no law. None where a rank is not among 1 .. n.

Antithetic pairs and quantiles: if one of a pair is a falling function of the other, at most as many of them lie on the
same side as if they were independent, and the ranks hold: they are somewhat too far apart. Whatever else a pair is, the
variance of the number below is at most twice the binomial one (that of n / 2 pairs of equals): ranks for `shared` pairs
are that far apart.
"""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.statistics.exact_sums import exact

CONFIDENCE = 0.95
Z95 = 1.959963984540054


def ranks(n: int, q: float, shared: bool) -> tuple[int | None, int | None]:
    """The numbers, from 0 on, of the order statistics between which the q-quantile of the law lies. shared: whether
    paths come in pairs that may be equal."""
    reach = Z95 * math.sqrt((2 if shared else 1) * n * q * (1 - q))
    low, high = math.floor(n * q - reach), math.ceil(n * q + reach) + 1
    return (low - 1 if low >= 1 else None), (high - 1 if high <= n else None)


def error_of_mean(sums: np.ndarray, n: int, width: int) -> float:
    """The standard error of a mean. sums: of n values and of their squares; if an observation is the mean of a pair of
    values (width 2), there is a third sum, of the products of the two values of each pair."""
    total, squares = exact(sums[0]), exact(sums[1])
    if width == 2:
        n, total, squares = n // 2, total / 2, (squares + 2 * exact(sums[2])) / 4
    if n < 2:
        return math.nan
    return math.sqrt(max(float((squares - total * total / n) / (n - 1)), 0.0) / n)


def error_of_deviation(
    counts: np.ndarray, z: np.ndarray, shift: float, deviation: float, mirrored: bool, n: int
) -> float:
    """The standard error of the deviation of x = 2^(shift + deviation z), of which there are n independent
    observations, from a histogram of z that is symmetric about 0.

    mirrored: whether observations are pairs of z and -z. Only the width of the bins limits its precision.
    """
    if n < 2 or not counts.sum():
        return math.nan
    x = np.expm1(LN2 * (shift + deviation * z))
    weights = counts / counts.sum()
    squares = (x - weights @ x) ** 2
    variance = float(weights @ squares)
    if mirrored:
        squares = (squares + squares[::-1]) / 2
    scatter = math.sqrt(max(float(weights @ (squares - variance) ** 2), 0.0) / n)
    return scatter / (2 * math.sqrt(variance)) if variance > 0 else 0.0

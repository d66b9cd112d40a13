"""Prices and their standard errors from groups of paths whose moments are matched.

Groups are independent observations, their means (`moment_matching.py`): they are means of 1024 numbers, and nearly
normal. So the mean X of n of them has Student's law with n - 1 degrees of freedom. With a control c of known mean mu
the estimate is the regression at c = mu, X - b (C - mu), with the b of least squares over groups, and

    variance = rest / (n - 2) (1 / n + (C - mu)^2 / (sum of (c - C)^2)),   n - 2 degrees of freedom:

S. Lavenberg and P. Welch, "A perspective on the use of control variables to increase the efficiency of Monte Carlo
simulations", Management Science 27 (1981), eq. (13): right for any n > 2 where means of v and c are normal together,
without bias, and what few groups take instead of the limit of many observations (`statistics.controlled_estimate`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.statistics import Estimate, mean_and_variance

FEWEST_GROUPS = 32  # from which a target is believed to be reached: of fewer the spread may be small by chance


def grouped_estimate(
    sums: np.ndarray, n: int, discount: float, shift: float, control_mean: float | None = None
) -> Estimate:
    """sums[row, limb], over the means of n groups: rows as for `statistics.estimate`, or with the mean of a control
    (less what is subtracted from it) as for `statistics.controlled_estimate`. Errors of too few groups are NaN."""
    if control_mean is None or n < 3:
        mean, spread = mean_and_variance(sums[:2], n)
        return _estimate(shift + mean, math.sqrt(spread / n), n - 1, discount)
    v, vv, c, cc, vc = (exact(row) / n for row in sums)
    variance, control, covariance = vv - v * v, cc - c * c, vc - v * c
    b = covariance / control if control > 0 else Fraction(0)
    off = c - Fraction(control_mean)
    rest = max(float(variance - b * covariance), 0.0) / (n - 2)
    leverage = 1 + (float(off * off / control) if control > 0 else 0.0)
    return _estimate(shift + float(v - b * off), math.sqrt(rest * leverage), n - 2, discount)


def _estimate(value: float, error: float, freedom: int, discount: float) -> Estimate:
    return Estimate(discount * value, discount * error, freedom)

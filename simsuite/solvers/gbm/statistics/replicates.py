"""Prices and their standard errors from replicates of Sobol points.

The points of a replicate are not independent, but replicates are: see `simsuite/sobol/replicates.py`. With a control
variate c of known mean every replicate's mean of v is lowered by b (c - mean), with one b for all, that of least
variance over single paths. It differs from the b of least variance of the means, which are even in another way, but
not by much where a control is good, and that one would have to be guessed from as few numbers as there are replicates
(F. J. Hickernell, C. Lemieux and A. B. Owen, "Control variates for quasi-Monte Carlo", Statistical Science 20, 2005).
For an Asian option on 252 dates with its geometric mean, 2^6 to 2^13 points a replicate, the standard error is within
6 % of the least, and that b from 16 replicates would cost 4 % for the degree of freedom. As b comes from all paths it
depends on none of them noticeably, and R - 1 degrees of freedom are left.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simsuite.sobol import replicates
from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.statistics import Estimate

# Orders of the error in the number of points: on a single price 1, or 1.5 for payoffs that are bounded and without
# jumps, which is as fast as it gets (A. B. Owen, Annals of Statistics 25, 1997); on means 0.7 to 0.8, with barriers 0.5
# to 0.65.
LIKELY_ORDER, BEST_ORDER = 0.8, 1.5


def replicated_estimate(
    sums: np.ndarray, n: int, discount: float, shift: float, control_mean: float | None = None
) -> Estimate:
    """The discounted mean and its standard error from replicates. sums[replicate, row, limb]: over n paths of each
    replicate; rows as for `statistics.estimate`, or with the mean of a control variate (less what is subtracted from
    it) as for `statistics.controlled_estimate`."""
    means = [[exact(row) / n for row in rows] for rows in sums]
    if control_mean is None:
        values = [float(mean[0]) for mean in means]
    else:
        b = coefficient(sums, n)
        values = [float(mean[0] - b * (mean[2] - Fraction(control_mean))) for mean in means]
    found = replicates.estimate(values)
    return Estimate(discount * (shift + found.mean), discount * found.standard_error, len(values) - 1)


def coefficient(sums: np.ndarray, n: int) -> Fraction:
    """The coefficient of the control variate, from n paths of each replicate."""
    v, _, c, cc, vc = (sum(map(exact, column), Fraction(0)) / (n * len(sums)) for column in np.swapaxes(sums, 0, 1))
    return (vc - v * c) / (cc - c * c) if cc > c * c else Fraction(0)

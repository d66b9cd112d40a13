"""Greeks by bumping, from the sums of differences: see joint/bumps.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simsuite.core import Snapshot
from simsuite.sobol import replicates
from simsuite.solvers.gbm.error_allowances.allowances import reach_of
from simsuite.solvers.gbm.error_allowances.unknown_reasons import ALIKE, few
from simsuite.solvers.gbm.joint.joint import BumpedGreek
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.statistics import Estimate

_MOST = 10.0  # the largest jump that is estimated from values, in root mean squares of these


@dataclass(frozen=True)
class BumpedEstimate:
    """A Greek by bumping. estimate: with all parts of its error. sampling: its standard error from the scatter of paths
    alone. bias: what the bias of the difference for the smaller bump is thought to be."""

    estimate: Estimate
    sampling: float
    bias: float


def bumped_estimate(statement: Statement, observed: Snapshot, key: tuple[int, str, int]) -> BumpedEstimate:
    """The estimate of a Greek, by option, name and asset; exactly 0 for an asset that the option does not depend on.

    Its error has, besides the scatter, half of the bias that extrapolation has removed (bumps.py); for payoffs that
    jump what jumps that no path has met may add (allowances.py); and what rounding makes of the difference.
    """
    assert statement.joint is not None
    greek = statement.joint.bumped.get(key)
    if greek is None:
        return BumpedEstimate(Estimate(0.0, 0.0), 0.0, 0.0)
    done = int(observed.arrays["done"][0])
    n, sums = done // statement.width, observed.arrays["joint"][:, statement.joint.mean(greek.number).rows]
    near, near_square, far, far_square, product = (
        sum(map(exact, column), Fraction(0)) / n for column in np.swapaxes(sums, 0, 1)
    )
    value, bias = (4 * near - far) / 3, float((near - far) / 3)
    square = (16 * near_square - 8 * product + far_square) / 9
    variance = max(float(square - value * value), 0.0)
    freedom = math.inf
    if n < 2:
        return BumpedEstimate(Estimate(float(value), math.nan, unknown=few(statement, done)), math.nan, bias)
    if not greek.random:
        return BumpedEstimate(Estimate(float(value), abs(bias / 2)), 0.0, bias)
    if variance == 0:
        return BumpedEstimate(Estimate(float(value), math.nan, unknown=ALIKE), math.nan, bias)
    sampling = math.sqrt(variance / (n - 1))
    if statement.uses_sobol:
        each = n // statement.numbering[0]
        means = [float((4 * exact(rows[0]) - exact(rows[2])) / 3 / each) for rows in sums]
        sampling, freedom = replicates.estimate(means).standard_error, len(means) - 1
    found = Estimate(float(value), sampling, freedom)
    more = math.hypot(
        bias / 2, _unseen(statement, greek, n, float(value), float(square)), _rounding(statement, key, greek)
    )
    return BumpedEstimate(found.widened(more), sampling, bias)


def _unseen(statement: Statement, greek: BumpedGreek, n: int, value: float, square: float) -> float:
    """The error by jumps that no path has met, whose size is read off the values."""
    if greek.smooth:
        return 0.0
    most = _MOST * math.sqrt(square)
    jump = min(square / abs(value), most) if value else most
    count, points = (statement.numbering[0], n // statement.numbering[0]) if statement.uses_sobol else (n, 1)
    return jump * reach_of(count, points)


def _rounding(statement: Statement, key: tuple[int, str, int], greek: BumpedGreek) -> float:
    """The error by rounding: the unit of rounding along a path of what the payoff is the sum of, over the bump."""
    price = statement.payoffs.prices[key[0]]
    unit = float(np.finfo(statement.dtype).eps) / 2
    size = abs(float(statement.summands[price.value]))
    return unit * (size if math.isfinite(size) else 0.0) / greek.size**greek.order

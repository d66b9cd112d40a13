"""Greeks by bumping, from the sums of differences: see joint/bumps.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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

BENDS = "the price bends too sharply within the bump: differences for it and for twice the bump do not agree"
_AGREEING = 0.05  # the largest bias that extrapolation may remove, as a part of the Greek ...
_BEYOND = 3.0  # ... unless it is within so many standard errors of its own
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

    There is none, for the reason `BENDS`, where the bias that extrapolation would remove is too large for the expansion
    in powers of the bump that it rests on. Its error has, besides the scatter, half of the bias that extrapolation has
    removed (bumps.py); for gamma and payoffs that jump what jumps that no path has met may add (allowances.py); and
    what rounding makes of the difference.
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
        return _agreeing(BumpedEstimate(Estimate(float(value), abs(bias / 2)), 0.0, bias), 0.0)
    if variance == 0:
        return BumpedEstimate(Estimate(float(value), math.nan, unknown=ALIKE), math.nan, bias)
    sampling = math.sqrt(variance / (n - 1))
    spread = float(near_square - 2 * product + far_square - (near - far) ** 2) / 9
    of_bias = math.sqrt(max(spread, 0.0) / (n - 1))
    if statement.uses_sobol:
        each = n // statement.numbering[0]
        means = [float((4 * exact(rows[0]) - exact(rows[2])) / 3 / each) for rows in sums]
        sampling, freedom = replicates.estimate(means).standard_error, len(means) - 1
        biases = [float((exact(rows[0]) - exact(rows[2])) / 3 / each) for rows in sums]
        of_bias = replicates.estimate(biases).standard_error
    found = Estimate(float(value), sampling, freedom)
    rounding = _rounding(statement, key, greek)
    more = math.hypot(bias / 2, _unseen(statement, greek, n, float(value), float(square)), rounding)
    return _agreeing(BumpedEstimate(found.widened(more), sampling, bias), math.hypot(of_bias, rounding))


def _agreeing(found: BumpedEstimate, of_bias: float) -> BumpedEstimate:
    """The estimate; without a value if the differences for the two bumps do not agree. of_bias: the standard error of
    the bias."""
    if abs(found.bias) <= _AGREEING * abs(found.estimate.value) + _BEYOND * of_bias:
        return found
    return replace(found, estimate=Estimate(math.nan, math.nan, unknown=BENDS))


def _unseen(statement: Statement, greek: BumpedGreek, n: int, value: float, square: float) -> float:
    """The error by jumps of the payoff that no path has met, or of its slope in a second derivative, whose size is read
    off the values."""
    if greek.smooth and greek.order == 1:
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

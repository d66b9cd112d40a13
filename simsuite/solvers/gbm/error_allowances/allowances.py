"""What standard errors leave out: jumps that too few points tell of, payoffs that no path has hit, and rounding.

Few points beside a jump. The mean over the m points of an observation, which is a replicate if they are Sobol points,
moves by J / m as one of them gets to the other side of a jump of size J. In one dimension a net has one point in each
m-th of the unit interval, so that only the point of one such stratum can do so, with some probability p, and the means
of all replicates lie on two numbers that are J / m apart. If p is as likely to be any number in [0, 1], the point is on
the same side in all of R replicates with probability 2 / (R + 1): then their scatter shows nothing of the jump, but
the p that are left have a beta law with the mean square 2 / ((R + 2) (R + 3)) (A. Gelman et al., Bayesian Data
Analysis, 2013, section 2.4). So to the variance of a mean over R observations of m points each

    (J / m)^2 2 / ((R + 2) (R + 3))

is added, whether or not a point was on either side. The same with m = 1 and R = n holds for n independent paths: with
k of them in the money the error of a digital is then J sqrt(k + 2) / n in place of J sqrt(k) / n, which is the score
interval's remedy (A. Agresti and B. Coull, The American Statistician 52, 1998; L. Brown, T. Cai and A. DasGupta,
Statistical Science 16, 2001), and for k = 0 its interval ends at 2.77 J / n, the rule of three (J. Hanley and A.
Lippman-Hand, JAMA 249, 1983). Where there are many points beside a jump the part is small: 1 / k of the variance.

The added variance is known, the other is estimated with f = R - 1 degrees of freedom, and what it leaves open of the
mean has Student's law: its variance, f / (f - 2) times the estimated one, is what counts, and the sum as normal. (With
f up to 2 there is no such variance; the sum then has the degrees of freedom of F. Satterthwaite, Biometrics Bulletin 2,
1946, f (sum / estimated)^2.) Of normal means 0.6 % are off by more than three such errors for R = 16 and 1.4 % for
R = 4, in place of 0.9 and 5.8 %, and of means on a lattice 0.2 %.

J is that of `payoff_jumps.py`. Where the size of jumps is not known it is taken from the values themselves, E v^2 / |E
v|, which for anything that pays an amount or nothing is the amount, at most 10 times their root mean square. Of
antithetic pairs only the means are known: E v^2 is (E v)^2 and twice their variance. That is right where few paths pay,
which depend on each other hardly at all, and too little elsewhere, where the part does not count.

Extremes. What a call pays for the highest of m points decides how far its mean is off, and so do few replicates with a
high point: the spread of their means is skew, and too small most of the time (a call with s = 1, 8 replicates of 4096
points, was more than three standard errors off in 9 % of all runs). Where a payoff is known at high and low prices, so
is the variance that a point brings that is anywhere in the first or the last of m strata of the law; the variance over
replicates counts as no less than that. What depends on several prices is looked at along straight lines
(`extreme_points.py`), less its control. Where that variance is beyond all numbers, so is the error (NaN).

No path near. An option that knocks in at a barrier that is watched all the time pays on every path, times the chance
that the path meets the barrier between its steps. If no path comes near, these chances are next to nothing, and their
scatter tells nothing of the paths that would. So with less than 10 effective paths, (sum v)^2 / sum v^2 (L. Kish,
Survey Sampling, 1965), the error is not known (NaN), nor are those of its Greeks.

No path hit. Where all observations are the same, although they need not be, J is how far the payoff is from that
elsewhere, by the law of the price; if it is not known, neither is the error (NaN). The probability of all that was not
seen is below 1 - 0.05^(1 / R) over m, with a confidence of 95 %.

Rounding. Normals of a precision with the unit u = 2^-24 (float32, mixed) or 2^-53 have slightly another law than they
should. If each is moved by u h(z), the mean of any payoff f(z), with jumps or without, moves by u times the covariance
of f and z h - h', so by at most its own standard deviation times u times that of z h - h' and sqrt(steps). If prices
are off by a share of u each, it moves by at most u / s deviations, s that of the logarithm of the price in the end.
Both are systematic: no number of paths averages them out. Their factors are measured, on Sobol points that are the same
in all precisions (tests/test_gbm_rounding.py): the largest over steps from 1 to 1000 and s from 0.03 to 1.2 were

    0.65 up to 64 steps, 1.35 at 1000 steps;     with sums in float32 0.75 / s besides,

and what is added to a standard error is u (1/2 + sqrt(steps) / 40, with sums in float32 + 3 / (4 s)) deviations.
Payoffs are computed in float64, and what they are the sum of is rounded by 2^-53 of its size, which is added, too: a
rho can be the sum of what cancels to 0 on every path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.extreme_points import extreme_points_of
from simsuite.solvers.gbm.error_allowances.payoff_jumps import PayoffJump, elsewhere, payoff_jumps_of, scatter_far_out
from simsuite.solvers.gbm.error_allowances.unknown_reasons import ALIKE, FAR_OUT, NOT_NEAR, few
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.replicates import coefficient
from simsuite.solvers.gbm.statistics.statistics import Estimate

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoffs.payoffs import Mean

_MOST = 10.0  # the largest jump that is estimated from values, in root mean squares of these
_EFFECTIVE = 10  # the least number of effective paths near a barrier that tell of an error
_SAME = 1e-15  # the variance of a constant that rounding may cause, relative to its square
_UNIT = 2.0**-53
_DOUBT = 0.05
_BASE, _A_STEP, _LEVEL = 0.5, 1 / 40, 0.75


@dataclass(frozen=True)
class Seen:
    """The observations that a mean is made of. count: how many there are; points: the paths of each; alike: whether all
    were equal. mean, square: mean and mean square of single paths, undiscounted; the square for pairs is as if their
    paths were independent of each other."""

    count: int
    points: int
    mean: float
    square: float
    alike: bool

    @property
    def deviation(self) -> float:
        return math.sqrt(max(self.square - self.mean**2, 0.0))

    @property
    def effective(self) -> float:
        """The number of paths of equal size that would scatter as these do."""
        return self.count * self.points * self.mean**2 / self.square if self.square > 0 else 0.0

    @property
    def reach(self) -> float:
        """The error of the mean for a jump of 1."""
        return reach_of(self.count, self.points)

    @property
    def unseen(self) -> float:
        """Upper bound of the probability of values that were not seen."""
        return (1 - _DOUBT ** (1 / self.count)) / self.points


def reach_of(count: int, points: int) -> float:
    """The error that a jump of 1 adds to a mean over so many observations of so many paths each."""
    return math.sqrt(2 / ((count + 2) * (count + 3))) / points


def seen(statement: Statement, observed: Snapshot, mean: Mean) -> Seen:
    """The observations of a mean from the paths that are done."""
    n, sums = int(observed.arrays["done"][0]) // statement.width, observed.arrays["options"][:, mean.rows]
    total, squares = (sum((exact(rows[i]) for rows in sums), Fraction(0)) / n for i in (0, 1))
    shift, width = Fraction(float(statement.shifts[mean.value])), statement.width
    variance, average = squares - total * total, total + shift
    alike = variance <= (_SAME * squares if width == 1 else 0)
    count, points = (statement.numbering[0], n // statement.numbering[0]) if statement.uses_sobol else (n, width)
    return Seen(count, points, float(average), float(width * variance + average * average), alike)


def completed(statement: Statement, observed: Snapshot, mean: Mean, estimate: Estimate, discount: float) -> Estimate:
    """The estimate with all parts of the error that its standard error leaves out."""
    if math.isnan(estimate.standard_error):  # there are too few observations
        return replace(estimate, unknown=few(statement, int(observed.arrays["done"][0])))
    leap, of = payoff_jumps_of(statement)[mean.value], seen(statement, observed, mean)
    bounded = replace(estimate, least=discount * leap.least, most=discount * leap.most)
    if not leap.random:
        return bounded
    if of.alike:
        error = discount * of.reach * elsewhere(leap, statement, of.mean)
        unseen, unknown = None if error == 0 else of.unseen, ALIKE if math.isnan(error) else ""
        return replace(bounded, standard_error=error, freedom=math.inf, unseen=unseen, unknown=unknown)
    if leap.weighted is not None and seen(statement, observed, leap.weighted).effective < _EFFECTIVE:
        return replace(bounded, standard_error=math.nan, unknown=NOT_NEAR)
    bounded = _with_extremes(statement, observed, mean, of, bounded)
    if bounded.unknown:
        return bounded
    jump = leap.size if not math.isnan(leap.size) else _read_off(statement, observed, leap, of)
    if jump > 0:
        bounded = bounded.settled
    rounded = of.deviation * rounding(statement) + _UNIT * float(statement.summands[mean.value])
    return bounded.widened(discount * math.hypot(jump * of.reach, rounded))


def _with_extremes(statement: Statement, observed: Snapshot, mean: Mean, of: Seen, estimate: Estimate) -> Estimate:
    """The estimate with a standard error that is no less than what the highest and the lowest Sobol point contribute to
    it."""
    if not statement.uses_sobol:
        return estimate
    least = statement.discount * math.sqrt(_scatter(statement, observed, mean, of.points) / of.count)
    if math.isnan(least):
        return replace(estimate, standard_error=math.nan, unknown=FAR_OUT)
    return estimate if estimate.standard_error >= least else replace(estimate, standard_error=least, freedom=math.inf)


def _scatter(statement: Statement, observed: Snapshot, mean: Mean, points: int) -> float:
    """The part of the variance of a mean over so many points that comes from the highest and the lowest of them."""
    leap = payoff_jumps_of(statement)[mean.value]
    if leap.far is not None and mean.control is None:
        return scatter_far_out(leap, statement, points)
    along = extreme_points_of(statement).scatter(mean, points)
    if along is None:
        return 0.0
    if mean.control is None:
        return along.variance(0.0)
    return along.variance(float(coefficient(observed.arrays["options"][:, mean.rows], points)))


def rounding(statement: Statement) -> float:
    """The possible error of a payoff's mean by rounding, as a share of its standard deviation."""
    found = _BASE + _A_STEP * math.sqrt(statement.n_steps)
    if statement.dtype == np.float32:
        spread = LN2 * statement.dynamics.spread(np.array([statement.n_steps]))[:, 0]
        found += _LEVEL / float(spread[spread > 0].min())
    return found * float(np.finfo(statement.normal).eps) / 2


def unseen_results(price: Estimate) -> dict[str, Any]:
    """What can be said of other payoffs if all paths paid the same, though they need not; empty otherwise."""
    if price.unseen is None:
        return {}
    found, others = ("no path paid", "that one does") if price.value == 0 else ("all paths paid the same", "of others")
    remark = f"{found}: the probability {others} is below {price.unseen:.2g}, with a confidence of 95 %"
    return {"unseen_probability_ci95": [0.0, price.unseen], "remark": remark}


def _read_off(statement: Statement, observed: Snapshot, leap: PayoffJump, of: Seen) -> float:
    """The size of jumps, estimated from the values themselves."""
    if leap.price is not None:
        paid, price = payoff_jumps_of(statement)[leap.price.value].size, seen(statement, observed, leap.price)
        if not math.isnan(paid) and price.square > 0:
            return paid * math.sqrt(of.square / price.square)
    most = _MOST * math.sqrt(of.square)
    return min(of.square / abs(of.mean), most) if of.mean else most

"""Statistics over all paths: moments and quantiles of each price at a frame, mean and standard error of each payoff.

Sums are taken over groups of GROUP paths, by absolute path number and in a fixed order, and added exactly
(`exact_sums.py`): results do not depend on batches, launches or threads. The kernels stand in `statistics_cpu.py` and
`statistics_cuda.py`, with the same names and arguments; `moments.cu` and `payoffs.cu` do the same on GPUs, faster:

- clear(sums, counts, slot, n): zero the first n rows of a slot of sums[slot, row, sum, limb] and counts[slot, row,
  bin], before the first batch adds to it.
- record(y, paths, frame, n): keep the first n paths.
- moments(y, n, first_path, frames, frame, slot, sums, histogram, fault): of the first n columns of
  y[asset, path], the noise in the logarithms to base 2 (dynamics.py). frames[frame, 0, asset]: centre - log_mean
  there, so that
  d = 2^{y + that} - 1 = S / E S - 1, of which d and d^2 are summed and no digits cancel in the variance; where paths
  come in antithetic pairs, and `sums` has room for a third sum, for the error of the mean also the product of d of the
  paths 2 i and 2 i + 1.
  frames[frame, 1, asset]: 1 / spread of y, which is its standard deviation if it is normal (dynamics.py); quantiles
  come from a histogram of their product. frames[frame, 2, asset]: the centre.
- payoffs(values, n, first_path, width, sharing, shifts, assets, products, n_assets, sums, fault): for each replicate
  (numbering.py), of which there is one unless paths come from Sobol points, of values[value, path], less shifts[value]
  (what it is on a path of expected prices, again so that no digits cancel): products[row] says which value to add up,
  or which two to multiply. Of antithetic pairs (width 2) the two paths, which are not independent, count as one
  observation, their mean (P. Glasserman, "Monte Carlo Methods in Financial Engineering", 2003, section 4.2).
  assets[value]: which to blame for a fault.

sums[.., limb]: exact sums, of moments for a value and its square. fault[0]: the smallest
path * n_assets + asset whose price is NaN or beyond LARGEST, NO_FAULT if there is none; such a price is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from simsuite.libraries import special
from simsuite.scenario.gbm import GROUP as GROUP
from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.intervals import CONFIDENCE, Z95, ranks

Z_MAX = 8.0
BINS_PER_UNIT = 512.0
BINS = 8194  # 16 * 512 equal bins over |z| <= Z_MAX, and one at each end for all that lies beyond
LAST_BIN = BINS - 1
LARGEST = 1e150  # price in units of S0 or of E S: squares of larger ones could overflow
LOG_LARGEST = math.log2(LARGEST)
NO_FAULT = np.iinfo(np.int64).max
MIDDLES = np.clip((np.arange(BINS) - 0.5) / BINS_PER_UNIT - Z_MAX, -Z_MAX, Z_MAX)  # the middle of each bin


def mean_and_variance(sums: np.ndarray, n: int) -> tuple[float, float]:
    """(mean, variance) of n observations with the given exact sums [value or square, limb]. The variance (over n - 1)
    of one observation is NaN.

    It is computed in rational arithmetic, so rounded once.
    """
    total, squares = exact(sums[0]), exact(sums[1])
    if n == 1:
        return float(total), math.nan
    return float(total / n), max(float((squares - total * total / n) / (n - 1)), 0.0)


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo estimate. standard_error is NaN for a single observation, and where nothing is known of it.
    freedom: degrees of freedom of the law of Student that (value - truth) / standard_error has. least, most: bounds of
    the truth. unseen: if all observations were alike though they need not be, an upper bound of the probability of
    others. unknown: why the standard error is NaN."""

    value: float
    standard_error: float
    freedom: float = math.inf
    least: float = -math.inf
    most: float = math.inf
    unseen: float | None = None
    unknown: str = ""

    @property
    def ci95(self) -> tuple[float, float]:
        """Confidence interval of 95 %; NaN where an end is not known."""
        reach = student_quantile(self.freedom) * self.standard_error
        if math.isnan(reach):
            return tuple(end if math.isfinite(end) else math.nan for end in (self.least, self.most))  # type: ignore[return-value]
        return max(self.value - reach, self.least), min(self.value + reach, self.most)

    @property
    def settled(self) -> Estimate:
        """The estimate as if its law were normal, with the variance of Student's law if that has more than 2 degrees of
        freedom. The intervals of 95 % of both laws agree within 2 % from 10 degrees of freedom on."""
        if not 2 < self.freedom < math.inf:
            return self
        error = self.standard_error * math.sqrt(self.freedom / (self.freedom - 2))
        return replace(self, standard_error=error, freedom=math.inf)

    def widened(self, by: float) -> Estimate:
        """The estimate with another, independent error of known standard deviation `by`; degrees of freedom by F.
        Satterthwaite (Biometrics Bulletin 2, 1946)."""
        own, total = self.standard_error**2, self.standard_error**2 + by**2
        larger = total / own if own > 0 else math.inf
        freedom = self.freedom * larger * larger if own > 0 else math.inf  # infinite, too, where it overflows
        return replace(self, standard_error=math.sqrt(total) if by > 0 else self.standard_error, freedom=freedom)


def student_quantile(freedom: float) -> float:
    """Half the width of an interval of 95 %, in standard errors; NaN without degrees of freedom."""
    if math.isinf(freedom):
        return Z95
    return float(special.stdtrit(freedom, 0.5 + CONFIDENCE / 2)) if freedom > 0 else math.nan


def estimate(sums: np.ndarray, n: int, discount: float, shift: float) -> Estimate:
    """The discounted mean of n observations of payoff - shift, and its standard error."""
    mean, variance = mean_and_variance(sums, n)
    return Estimate(discount * (shift + mean), discount * math.sqrt(variance / n))


def controlled_estimate(sums: np.ndarray, n: int, discount: float, shift: float, mean: float) -> Estimate:
    """The discounted mean of n observations and its standard error, with a control variate c of known `mean` (less what
    is subtracted from it before it is added up).

    sums: of v, v^2, c, c^2 and v c. The estimate is the mean of v - b (c - mean) with the b of least variance, found
    from the same observations (P. Glasserman 2003, section 4.1.1: that takes a degree of freedom, and a bias of order
    1/n).
    """
    if n < 3:
        return estimate(sums[:2], n, discount, shift)
    v, vv, c, cc, vc = map(exact, sums)
    variance, control, covariance = vv - v * v / n, cc - c * c / n, vc - v * c / n
    b = covariance / control if control > 0 else Fraction(0)
    value = v / n - b * (c / n - Fraction(mean))
    rest = max(float((variance - b * covariance) / (n - 2)), 0.0)
    return Estimate(discount * (shift + float(value)), discount * math.sqrt(rest / n))


def quantile(counts: np.ndarray, q: float, price: Callable[[float], float]) -> float:
    """The q-quantile of price(z), from a histogram of z; price is an increasing function.

    As in `numpy.quantile`, it lies between the order statistics number floor(h) and floor(h) + 1, h = (n - 1) q. Each
    of these is known to within the width of its bin, z +- 1/512, so the result lies within a factor e^{+- sigma sqrt(t)
    / 512} of the sample's own quantile (as long as that lies in |z| <= 8; some number of a sample of 10^12 lies beyond
    with odds of 1 in 800). Within a bin the observations count as equally spaced, which in a large sample brings it
    much closer.
    """
    cumulated = np.cumsum(counts)
    n = int(cumulated[-1])
    h = (n - 1) * q
    k = min(math.floor(h), n - 1)
    low = price(_order_statistic(counts, cumulated, k))
    high = price(_order_statistic(counts, cumulated, min(k + 1, n - 1)))
    return low + (h - k) * (high - low)


def quantile_interval(
    counts: np.ndarray, q: float, price: Callable[[float], float], shared: bool
) -> tuple[float, float]:
    """The interval in which the q-quantile of the law lies, see `intervals.py`; NaN where the sample tells nothing."""
    cumulated = np.cumsum(counts)
    found = (
        math.nan if k is None else price(_order_statistic(counts, cumulated, k))
        for k in ranks(int(cumulated[-1]), q, shared)
    )
    low, high = found
    return low, high


def _order_statistic(counts: np.ndarray, cumulated: np.ndarray, k: int) -> float:
    """The z of observation number k (from 0) in increasing order."""
    bin_of = int(np.searchsorted(cumulated, k, side="right"))
    if bin_of == 0:
        return -Z_MAX
    if bin_of == LAST_BIN:
        return Z_MAX
    within = (k - int(cumulated[bin_of - 1]) + 0.5) / int(counts[bin_of])
    return -Z_MAX + (bin_of - 1 + within) / BINS_PER_UNIT

"""A sketch of many numbers, from which their quantiles and tail means come with a bounded relative error.

Numbers are counted in bins that are as wide as they are far from 0: of a float64, in units of a given power of two, the
exponent and the BITS foremost bits of the mantissa name the bin (log-linear, as HdrHistogram has it; C. Masson, J. Rim
and H. Lee, DDSketch, Proc. VLDB 12, 2019, prove the bound for logarithmic bins). Counts are integers: sketches of parts
add up to that of the whole, whatever the parts and their order.

Bins:   number 1 + 2^BITS (e - LOWEST) + m holds 2^e (1 + m / 2^BITS) up to the next, for exponents e from LOWEST on,
        OCTAVES of them; number BINS + 1 all beyond; number 0 less than 2^LOWEST. Negative numbers are in bin -k.
Bound:  what is said about a number in a bin is in that bin: off by at most 2^-BITS of it, or by 2^LOWEST units in
        bin 0. Nothing is said about numbers beyond the last bin: infinities stand for them.

Where, besides counts, the next FINE bits of mantissas and their squares are added up, means of whole bins are known to
2^-(BITS + FINE + 1) of them, and so is how they spread: observations of a bin count as equally spaced about their mean,
with their variance. A single value that comes up time and again (what an option that expires worthless leaves) is then
known to that precision, too.

`bin_of` in `statistics_scalars.py` takes a number apart for the kernels, `quantile_sketch.cuh` does for CUDA C++.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

BITS = 10
FINE = 11  # bits; the sum of 2^41 squares of such numbers is less than 2^63
LOWEST, OCTAVES = -24, 40
BINS = OCTAVES << BITS
FURTHEST = BINS + 1  # number of the bin beyond all others


@dataclass(frozen=True)
class QuantileSketch:
    """The bins that are not empty, in increasing order: their counts, the mean of each, and how far its observations
    are spread on both sides."""

    counts: np.ndarray
    mean: np.ndarray
    reach: np.ndarray

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    def order_statistic(self, k: int) -> float:
        """Observation number k, from 0 on, in increasing order."""
        cumulated = np.cumsum(self.counts)
        bin_of = int(np.searchsorted(cumulated, k, side="right"))
        c = int(self.counts[bin_of])
        within = (k - (int(cumulated[bin_of]) - c) + 0.5) / c
        return float(self.mean[bin_of] + (2 * within - 1) * self.reach[bin_of])

    def quantile(self, q: float) -> float:
        """The q-quantile, computed as `numpy.quantile` does: between the order statistics next to number (n - 1) q."""
        n = self.n
        h = (n - 1) * q
        k = min(math.floor(h), n - 1)
        low = self.order_statistic(k)
        return low if h == k else low + (h - k) * (self.order_statistic(k + 1) - low)

    def lowest(self, number: float) -> QuantileSketch:
        """The sketch of the lowest `number` observations; of the last of them there may be a part."""
        before = np.cumsum(self.counts) - self.counts
        taken = np.clip(number - before, 0, self.counts)
        share = taken / self.counts
        some = taken > 0
        return QuantileSketch(taken[some], (self.mean - self.reach * (1 - share))[some], (self.reach * share)[some])

    def total(self) -> float:
        return float(self.counts @ self.mean)

    def squares(self, about: float) -> float:
        """The sum of squared distances of the observations from a number."""
        return float(self.counts @ ((self.mean - about) ** 2 + self.reach**2 / 3))


def of_positive(counts: np.ndarray, unit: float) -> QuantileSketch:
    """The sketch from counts[bin], bins 0 .. FURTHEST; the first holds all that is not positive, as 0."""
    numbers = np.flatnonzero(counts)
    low, width = _bins(numbers)
    return QuantileSketch(counts[numbers], unit * (low + width / 2), unit * width / 2)


def of_signed(table: np.ndarray, unit: float) -> QuantileSketch:
    """The sketch from table[what, FURTHEST + bin]: counts, sums of the FINE bits, and sums of their squares."""
    held = np.flatnonzero(table[0])
    counts, sums, squares = table[:, held]
    low, width = _bins(np.abs(held - FURTHEST))
    fine = sums / counts
    position = (fine + 0.5) / (1 << FINE)
    deviation = np.sqrt(np.maximum(squares / counts - fine**2, 0.0)) / (1 << FINE)
    reach = np.minimum(math.sqrt(3) * deviation, np.minimum(position, 1 - position)) * width
    return QuantileSketch(counts, unit * np.sign(held - FURTHEST) * (low + position * width), unit * reach)


def _bins(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers at which bins begin, and their widths. Numbers in the last bin count as infinite."""
    octave, j = np.divmod(np.maximum(numbers, 1) - 1, 1 << BITS)
    width = np.where((numbers > 0) & (numbers < FURTHEST), np.ldexp(1.0, LOWEST - BITS + octave), 0.0)
    low = np.where(numbers > 0, np.ldexp(1 + j / (1 << BITS), LOWEST + octave), 0.0)
    return np.where(numbers < FURTHEST, low, math.inf), width

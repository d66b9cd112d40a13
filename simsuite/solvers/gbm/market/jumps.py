"""Jumps of a price: how many in a step, and by how much.

Model:      R. C. Merton, J. Financial Economics 3 (1976), 125-144: at the times of a Poisson process of intensity
            lambda the logarithm of the price jumps by independent normal numbers of mean m and deviation delta. The
            growth g of the price becomes g - lambda (e^{m + delta^2 / 2} - 1), so that its expectation stays the same.
Scheme:     in a step of length h the price jumps N times, N of Poisson's law with mean mu = lambda h, by N m + sqrt(N)
            delta z in the logarithm: P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003),
            section 3.5.1. Exact at every step, for any h. `centre` has the mean of that too, and y gains the rest.
Numbers:    one block of Philox for each step, path and jumping asset, in the stream STREAMS + asset: two of its words
            are a uniform number u of 64 bits, which N is found from by inversion, and two give z by Box-Muller. An
            antithetic twin has as many jumps, and -z.

Jumps take Philox' numbers whatever the diffusion is driven by, Sobol points for instance: that a few dimensions are
random instead of even costs some of the evenness, and leaves estimates and their errors unbiased, as each path has
numbers of its own. Inverting N by a Sobol coordinate of its own a step would double the dimensions for coordinates that
hardly ever decide anything, as long as lambda h is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np

from simsuite.scenario.gbm import Jumps
from simsuite.solvers.gbm.logarithms import LN2

STREAMS = 1 << 16  # streams of random numbers from this number on belong to jumps
MOST_A_STEP = 1e4  # largest expected number of jumps in a step; the table of their law grows with its root
_WHOLE = 1 << 64


def poisson_table(mean: float) -> tuple[int, np.ndarray]:
    """(first, thresholds) for inverting Poisson's law: if u is a uniform number of 64 bits, first + the number of
    thresholds less than u has that law, up to 2^-64 in the distribution function. The last threshold is the largest
    number."""
    with localcontext(prec=50, rounding=ROUND_HALF_EVEN):
        mu = Decimal(mean)
        probability = (-mu).exp()
        below, n, found = probability, 0, []
        while (scaled := int((below * _WHOLE).to_integral_value())) < _WHOLE:
            if scaled:
                found.append(scaled - 1)
            n += 1
            probability *= mu / n
            below += probability
    return n - len(found), np.array([*found, _WHOLE - 1], np.uint64)


def compensation(jumps: Jumps | None) -> float:
    """The change of the centre of natural logarithms in a year: the compensator of the growth, plus the mean of what
    jumps add."""
    if jumps is None:
        return 0.0
    return jumps.intensity * (jumps.mean - math.expm1(jumps.mean + jumps.deviation**2 / 2))


def reach(jumps: Jumps | None, years: float) -> float:
    """How far jumps take the natural logarithm away from its mean, on all but 1 path in 10^7."""
    if jumps is None:
        return 0.0
    mean = jumps.intensity * years
    most = mean + 5.2 * math.sqrt(mean) + 5.0
    return max(most - mean, mean) * abs(jumps.mean) + 5.2 * math.sqrt(most) * jumps.deviation


def jump_tables(jumps: Sequence[Jumps | None], dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Tables for kernels. numbers: float64[asset, 4] with the least number of jumps in a step, what that number of
    jumps adds to y, what each further jump adds, and the deviation of each; zeros for an asset that does not jump.
    thresholds: uint64[asset, width]."""
    laws = [poisson_table(jump.intensity * dt) if jump else (0, np.zeros(0, np.uint64)) for jump in jumps]
    width = max(max(len(table) for _, table in laws), 1)
    thresholds = np.full((len(laws), width), _WHOLE - 1, np.uint64)
    numbers = np.zeros((len(laws), 4))
    for a, (jump, (first, table)) in enumerate(zip(jumps, laws)):
        thresholds[a, : len(table)] = table
        if jump is not None:
            mean = jump.mean / LN2
            numbers[a] = first, (first - jump.intensity * dt) * mean, mean, jump.deviation / LN2
    return numbers, thresholds

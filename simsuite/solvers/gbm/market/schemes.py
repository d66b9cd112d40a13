"""Euler's and Milstein's schemes for the price, in logarithms.

SDE:        dS = S (g dt + sigma dW)
Scheme:     S <- S (1 + u),  u = g h + sigma dW                                  (Euler)
                             u = g h + sigma dW + sigma^2 (dW^2 - h) / 2         (Milstein)
            with the growth g h and the variance sigma^2 h of the step, integrals where they are piecewise constant; dW
            is as in the exact scheme, correlated and from the same random numbers. As each price is driven by its own
            dW alone, Milstein's scheme needs no more than that for several assets.
Order:      weak 1 for both, strong 1/2 and 1: P. Kloeden and E. Platen, "Numerical Solution of Stochastic Differential
            Equations" (Springer 1992), (10.2.4) and (10.3.1). What they make of the moments is known exactly:
            closed_forms/schemes.py.
Bound:      1 + u > 0. A price that a step would make negative is 0 from then on. Euler's does so if a normal number is
            below -(1 + g h) / (sigma sqrt(h)), which is -10 at sigma sqrt(h) = 0.1; Milstein's never if
            sigma^2 h < 1 + 2 g h.

In logarithms to base 2 the noise y gains log2(1 + u) - c, with a number c near the mean of the first, of which `centre`
is the sum. With v = log 2 d, where d is what y would gain in the exact scheme, u = a + v + half v^2: a = g h for Euler,
and half = 1/2, a = g h - sigma^2 h / 2 for Milstein.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from simsuite.solvers.gbm.logarithms import LN2

# logarithms are centred at no less than this factor, even if the growth of a step alone takes a price to 0
_LEAST_FACTOR = 0.5


class Scheme(IntEnum):
    """Numbers of the schemes, the same as in schemes.cuh."""

    EXACT = 0
    EULER = 1
    MILSTEIN = 2

    @property
    def half(self) -> float:
        return 0.5 if self is Scheme.MILSTEIN else 0.0


def coefficients(scheme: Scheme, growth: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """float64[2, ..]: a and c (to base 2) for the growth g h and the deviation sigma sqrt(h) of steps."""
    a = growth - scheme.half * deviation**2
    middle = np.maximum(1 + growth, _LEAST_FACTOR)
    c = np.where(growth > _LEAST_FACTOR - 1, np.log1p(np.maximum(growth, _LEAST_FACTOR - 1)), math.log(_LEAST_FACTOR))
    return np.stack([a, (c - (deviation / middle) ** 2 / 2) / LN2])

"""The exponential of a matrix to many more digits than float64 has, to tell what float64 loses there.

It is computed by the series of exp(M / 2^s) and s squarings, with all numbers kept as sums of two (see `sliced`): some
15 products, each of which takes 12 in float64. N. J. Higham, Functions of Matrices (2008), section 10.3; the series is
evaluated as in M. S. Paterson, L. J. Stockmeyer, On the number of nonscalar multiplications necessary to evaluate
polynomials, SIAM J. Computing 2 (1973) 60-66.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from simsuite.solvers.linear.discretisation.sliced import Twofold, normalised, product

_NORM = 0.125  # The series is taken for matrices with norms up to this.
_DEGREE = 15  # The first omitted term of the series is 0.125^16/16! = 2e-28.
_SPLIT = 134217729.0  # 2^27 + 1


def exponential(M: Twofold) -> Twofold:
    """exp(M) of a matrix M (n, n); not finite where float64 overflows. Relative to its norm the error is about 2^-88
    |M|, unless cancellation in the squares of exp(M / 2^k) makes it larger.
    """
    n = len(M[0])
    with np.errstate(all="ignore"):
        size = float(np.max(np.sum(np.abs(M[0]), axis=1), initial=0.0))
        squarings = max(math.ceil(math.log2(size / _NORM)), 0) if 0 < size < math.inf else 0
        small = np.ldexp(M[0], -squarings), np.ldexp(M[1], -squarings)
        powers: list[Twofold] = [(np.eye(n), np.zeros((n, n))), small]
        for k in (2, 3, 4):
            powers.append(product(powers[k - 1], small))
        found = np.zeros((n, n)), np.zeros((n, n))
        for first in range(_DEGREE - 3, -1, -4):
            found = product(found, powers[4])
            for k in range(4):
                found = added(found, _times(Fraction(1, math.factorial(first + k)), powers[k]))
        for _ in range(squarings):
            found = product(found, found)
    return found


def times(c: float | np.ndarray, A: np.ndarray) -> Twofold:
    """c A, entry by entry if c is an array, without any rounding, as the sum of two matrices: T. J. Dekker, A
    floating-point technique for extending the available precision, Numerische Mathematik 18 (1971) 224-242.
    """
    product = c * A
    c_high, c_low = _halves(np.array(c))
    high, low = _halves(A)
    return product, ((c_high * high - product) + c_high * low + c_low * high) + c_low * low


def _halves(a: np.ndarray) -> Twofold:
    """Each number of `a` as the sum of two numbers of at most 26 binary digits."""
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _times(c: Fraction, A: Twofold) -> Twofold:
    first = float(c)
    high, low = times(first, A[0])
    return normalised(high, low + (first * A[1] + float(c - Fraction(first)) * A[0]))


def added(A: Twofold, B: Twofold) -> Twofold:
    """The sum A + B."""
    total = A[0] + B[0]
    part = total - A[0]
    low = (A[0] - (total - part)) + (B[0] - part)
    return normalised(total, low + (A[1] + B[1]))

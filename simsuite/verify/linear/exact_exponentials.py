"""Exponentials of small matrices in rational arithmetic, from their eigenvalues.

If l_0 .. l_{n-1} are the eigenvalues of A, each listed as often as it occurs,

    exp(A) = sum over j of f[l_0, .., l_j] (A - l_0) .. (A - l_{j-1})

with Newton's divided differences of exp, of which those of one eigenvalue that is repeated are derivatives,
f[l, .., l] (j + 1 times) = exp(l) / j!: N. J. Higham, Functions of Matrices (2008), 1.2.2; method 9 of C. Moler, C. Van
Loan, Nineteen dubious ways to compute the exponential of a matrix, SIAM Review 20 (1978) 801-836. In floating point
that is one of the dubious ways; in fractions, with exponentials of 80 digits, it is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np

DIGITS = 80
Rows = Sequence[Sequence[float | Fraction]]


def exponential(A: Rows, spectrum: Sequence[Fraction | int], t: Fraction | float = 1) -> np.ndarray:
    """exp(A t) (n, n), rounded once. spectrum: the n eigenvalues of A, equal ones side by side."""
    n, s = len(A), Fraction(t)
    scaled = [[Fraction(a) * s for a in row] for row in A]
    points = [Fraction(x) * s for x in spectrum]
    column = [_exp(x) for x in points]  # column[i] is the divided difference f[l_i, .., l_{i+j}].
    total = [[Fraction(0)] * n for _ in range(n)]
    product = [[Fraction(int(i == k)) for k in range(n)] for i in range(n)]
    for j in range(n):
        total = [[a + column[0] * b for a, b in zip(*rows)] for rows in zip(total, product)]
        shifted = [[a - points[j] * (i == k) for k, a in enumerate(row)] for i, row in enumerate(scaled)]
        product = multiply(product, shifted)
        column = [
            (b - a) / (points[i + j + 1] - points[i])
            if points[i + j + 1] != points[i]
            else _exp(points[i]) / math.factorial(j + 1)
            for i, (a, b) in enumerate(pairwise(column))
        ]
    return np.array([[float(a) for a in row] for row in total])


def _exp(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def multiply(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The exact product A B."""
    columns = list(zip(*B))
    return [[sum((a * b for a, b in zip(row, column)), Fraction(0)) for column in columns] for row in A]

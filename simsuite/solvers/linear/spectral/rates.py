"""Logarithms of eigenvalues, from which their powers l^k follow: growth r and turns t a step, so that k times them is
accurate.

l = exp(r + 2 pi i t), or exp(s dt) for an eigenvalue s in continuous time. Both r and t are split into parts. All parts
but the last, which is small, have so few bits that their products with k are exact, up to k = 2^30. Whole turns do not
count (see `modes_scalars`).
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np

DIGITS = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899863")
GONE = -1e6  # The value of r that stands for the eigenvalue 0.
ONE = Decimal("1e-34")  # An eigenvalue that is closer to 1 than this counts as 1.
BITS = 22  # The first part of r has so many bits.
GROWTH, GROWTH_REST, FIRST, SECOND, THIRD, INVERSE, INVERSE_IMAG, SIGN, INPUT, ROWS = range(10)


def rates(values: np.ndarray, rest: np.ndarray, inputs: np.ndarray, dt: float | None = None) -> np.ndarray:
    """The array (ROWS, n) of what kernels need of each eigenvalue l.

    Its rows are: r in two parts; t in three; the real and imaginary part of 1/(l - 1), 0 for l = 1; whether l is real
    (0), the first of a pair (1) or the second (-1), whose numbers are those of the first; what inputs add a step.
    values + rest: the eigenvalues, both of a pair beside each other; inputs (n,).

    dt: the length of a step in continuous time, else None. In continuous time 1/(s dt) takes the place of 1/(l - 1), 0
    for s = 0, and inputs add dt times what they add to the rate of change.
    """
    found = np.zeros((ROWS, len(values)))
    found[SIGN], found[INPUT] = np.sign(values.imag), inputs
    with localcontext(prec=DIGITS):
        for i in np.flatnonzero(found[SIGN] >= 0):
            a, b = (Decimal(float(x)) + Decimal(float(y)) for x, y in _parts(values[i], rest[i]))
            if dt is None:
                found[:SIGN, i] = (*_logarithm(a, b), *_inverse(a - 1, b))
            else:
                a, b = a * Decimal(dt), b * Decimal(dt)
                found[:SIGN, i] = (*_split(a, b / (2 * PI)), *_inverse(a, b))
    second = np.flatnonzero(found[SIGN] < 0)
    found[:SIGN, second] = found[:SIGN, second - 1]
    return found


def _parts(value: complex, rest: complex) -> tuple[tuple[float, float], tuple[float, float]]:
    return (value.real, rest.real), (value.imag, rest.imag)


def _logarithm(a: Decimal, b: Decimal) -> tuple[float, float, float, float, float]:
    """The logarithm of a + i b, split as by `_split`."""
    if not a and not b:
        return GONE, 0.0, 0.0, 0.0, 0.0
    return _split((a * a + b * b).ln() / 2, _angle(a, b) / (2 * PI))


def _split(growth: Decimal, turns: Decimal) -> tuple[float, float, float, float, float]:
    """The parts of r: a number of few bits, and the rest; and of t: a multiple of 2^-26, one of 2^-52, and the rest."""
    part, exponent = math.frexp(float(growth))
    most = math.ldexp(round(math.ldexp(part, BITS)), exponent - BITS)
    turns -= round(turns)
    first = round(turns * 2**26)
    left = turns - Decimal(first) / 2**26
    second = round(left * 2**52)
    third = left - Decimal(second) / 2**52
    return most, float(growth - Decimal(most)), first * 2.0**-26, second * 2.0**-52, float(third)


def _angle(a: Decimal, b: Decimal) -> Decimal:
    """The angle of a + i b: that of float64, corrected by what remains after turning back by it."""
    if not b:
        return PI if a < 0 else Decimal(0)
    near = Decimal(math.atan2(b, a))
    c, s = _turned(near)
    off = (b * c - a * s) / (a * c + b * s)
    return near + off - off**3 / 3


def _turned(angle: Decimal) -> tuple[Decimal, Decimal]:
    """The cosine and sine of an angle, by Taylor's series."""
    sums, term, j = [Decimal(0), Decimal(0)], Decimal(1), 0
    while abs(term) > Decimal(10) ** -DIGITS:
        sums[j % 2] += term if j % 4 < 2 else -term
        j += 1
        term *= angle / j
    return sums[0], sums[1]


def _inverse(a: Decimal, b: Decimal) -> tuple[float, float]:
    """The real and imaginary part of 1 / (a + i b); 0 where a + i b is as good as 0."""
    square = a * a + b * b
    return (0.0, 0.0) if square < ONE * ONE else (float(a / square), float(-b / square))

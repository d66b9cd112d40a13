"""Direction numbers of Sobol points: I. M. Sobol', USSR Comput. Math. Math. Phys. 7 (1967).

Those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci.
Comput. 30 (2008), for 21201 dimensions; `new-joe-kuo-6.txt` has source and licence of the file.

Dimension d has a primitive polynomial x^s + a_1 x^(s-1) + .. + 1 over GF(2) and odd m_1 .. m_s, m_i < 2^i, whence

    v_i = m_i / 2^i,   v_i = a_1 v_(i-1) ^ .. ^ a_(s-1) v_(i-s+1) ^ v_(i-s) ^ (v_(i-s) / 2^s) for i > s,

and coordinate d of the point of index i is the exclusive or of the v_(b+1) of all bits b that i has. Without the usual
Gray code for i, any point can be had by itself, and the first 2^k points are the same.
"""

from __future__ import annotations

import functools
from importlib.resources import files

import numpy as np

MOST_DIMENSIONS = 21201
_MOST_TERMS = 18  # the highest degree of a polynomial


def directions(dimensions: int, bits: int = 32) -> np.ndarray:
    """uint32[dimension, bit of the index]: what coordinates consist of, in units of 2^-bits; bits <= 32.

    ValueError for more than MOST_DIMENSIONS.
    """
    if not 0 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(f"there are direction numbers for {MOST_DIMENSIONS} dimensions, not for {dimensions}")
    polynomial, degree, initial = (table[:dimensions] for table in _tables())
    v = np.empty((dimensions, bits), np.uint32)
    v[degree == 0] = 1 << np.arange(bits - 1, -1, -1, dtype=np.uint32)
    for s in range(1, int(degree.max(initial=0)) + 1):
        own = degree == s
        a, made = polynomial[own], np.empty((own.sum(), bits), np.uint32)
        for i in range(bits):
            if i < s:
                made[:, i] = initial[own, i] << np.uint32(bits - 1 - i)
                continue
            made[:, i] = made[:, i - s] ^ (made[:, i - s] >> np.uint32(s))
            for k in range(1, s):
                made[:, i] ^= (a >> np.uint32(s - k) & 1) * made[:, i - k]
        v[own] = made
    return v


@functools.cache
def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(polynomials as bits, their degrees, m[dimension, i - 1]) of all dimensions.

    The file has half the differences of polynomials, and of each m_i its i - 1 free bits, lowest first: all of m_2,
    then all of m_3, and so on, eight to a byte.
    """
    with (files(__package__) / "new-joe-kuo-6.npz").open("rb") as file, np.load(file) as packed:
        polynomial = np.cumsum(2 * packed["steps"].astype(np.uint32), dtype=np.uint32) + np.uint32(1)
        free = np.unpackbits(packed["initial"])
    degree = np.frexp(polynomial.astype(float))[1] - 1
    m = np.zeros((MOST_DIMENSIONS, _MOST_TERMS), np.uint32)
    m[degree > 0, 0] = 1
    at = 0
    for i in range(1, _MOST_TERMS):
        have = degree > i
        count = int(have.sum()) * i
        own = free[at : at + count].reshape(-1, i).astype(np.uint32)
        m[have, i] = 2 * (own << np.arange(i, dtype=np.uint32)).sum(axis=1, dtype=np.uint32) + 1
        at += count
    return polynomial, degree, m

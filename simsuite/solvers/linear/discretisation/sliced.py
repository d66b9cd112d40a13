"""Products of matrices with far more digits than float64 has.

Each factor is cut into slices of so few bits that the products of two slices, and sums of as many of them as there are
inner rows, are exact in float64, in whatever order they are added: K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, Error-free
transformations of matrix multiplication by using fast routines of matrix multiplication, Numerical Algorithms 59 (2012)
95-118. These products are added to a sum of two parts, which keeps twice the digits: D. E. Knuth, The Art of Computer
Programming 2 (1997), 4.2.2.
"""

from __future__ import annotations

import numpy as np

SLICES = 4
_TOGETHER = 4096  # So many columns are multiplied at a time.

# A matrix as the sum of two, where the second is less than a rounding of the first.
Twofold = tuple[np.ndarray, np.ndarray]


def remainder(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """C - A B, with an error of about 2^-53 of itself, or of 2^-75 max |A| max |B| in each row and column if that is
    larger. C (n, m), A (n, p) and B (p, m) are float64. Costs 10 products of that size.
    """
    return np.hstack(
        [_some(C[:, j : j + _TOGETHER], A, B[:, j : j + _TOGETHER]) for j in range(0, C.shape[1], _TOGETHER)]
    )


def remainder_twofold(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> Twofold:
    """C - A B as the sum of two matrices, with an error of about 2^-88 max |A| max |B| in each row and column. Shapes
    as `remainder` has them.
    """
    some = range(0, C.shape[1], _TOGETHER)
    found = [_sum_less_product(C[:, j : j + _TOGETHER], A, B[:, j : j + _TOGETHER]) for j in some]
    return np.hstack([high for high, _ in found]), np.hstack([low for _, low in found])


def product(A: Twofold, B: Twofold) -> Twofold:
    """A B, with an error of about 2^-88 max |A| max |B| in each row and column. A (n, p), B (p, m).
    Costs 12 products.
    """
    high, low = _sum_less_product(np.zeros((len(A[0]), B[0].shape[1])), -A[0], B[0])
    return normalised(high, low + (A[0] @ B[1] + A[1] @ B[0]))


def normalised(high: np.ndarray, low: np.ndarray) -> Twofold:
    """The sum of `high` and `low` as a Twofold; every entry of `low` must be smaller than that of `high`."""
    total = high + low
    return total, low - (total - high)


def _some(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    high, low = _sum_less_product(C, A, B)
    return high + low


def _sum_less_product(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> Twofold:
    """C - A B as the sum of two matrices."""
    bits = _bits(A.shape[1])
    left, right = _slices(A, 1, bits), _slices(B, 0, bits)
    high, low = np.array(C), np.zeros(C.shape)
    for order in range(SLICES):
        for i in range(order + 1):
            term = -(left[i] @ right[order - i])
            total = high + term
            part = total - high
            low += (high - (total - part)) + (term - part)
            high = total
    return high, low


def resolution(inner: int) -> float:
    """The part of a product with so many inner rows that the slices do not resolve, relative to max |A| max |B| in each
    row and column.
    """
    return inner * 2.0 ** (-SLICES * _bits(inner))


def _bits(inner: int) -> int:
    """How many bits a slice has."""
    return (53 - (inner - 1).bit_length()) // 2


def _slices(A: np.ndarray, axis: int, bits: int) -> list[np.ndarray]:
    """Slices whose sum is A, up to less than 2^(-SLICES bits) of the largest entry along `axis`."""
    found = []
    for _ in range(SLICES):
        _, exponent = np.frexp(np.max(np.abs(A), axis=axis, keepdims=True))
        slice = np.ldexp(np.rint(np.ldexp(A, bits - exponent)), exponent - bits)
        found.append(slice)
        A = A - slice
    return found

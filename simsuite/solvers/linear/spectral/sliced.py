"""Products of matrices to much more than the digits of float64.

Each factor is cut into slices of so few bits that products of slices, and sums of as many of them as there are inner
rows, are exact in float64, however they are added: K. Ozaki, T. Ogita, S. Oishi, S. M. Rump, Error-free
transformations of matrix multiplication by using fast routines of matrix multiplication, Numerical Algorithms 59 (2012)
95-118. These products are added to a sum of two parts, which keeps twice the digits: D. E. Knuth, The Art of Computer
Programming 2 (1997), 4.2.2.
"""

from __future__ import annotations

import numpy as np

SLICES = 4
_TOGETHER = 4096  # columns at a time


def remainder(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """C - A B, rounded once: to about 2^-53 of itself, or 2^-75 of max |A| max |B| in each row and column. C (n, m)
    float64; A (n, p), B (p, m) as well. Costs 10 products of that size."""
    return np.hstack(
        [_some(C[:, j : j + _TOGETHER], A, B[:, j : j + _TOGETHER]) for j in range(0, C.shape[1], _TOGETHER)]
    )


def _some(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    bits = (53 - (A.shape[1] - 1).bit_length()) // 2
    left, right = _slices(A, 1, bits), _slices(B, 0, bits)
    high, low = np.array(C), np.zeros(C.shape)
    for order in range(SLICES):
        for i in range(order + 1):
            term = -(left[i] @ right[order - i])
            total = high + term
            part = total - high
            low += (high - (total - part)) + (term - part)
            high = total
    return high + low


def _slices(A: np.ndarray, axis: int, bits: int) -> list[np.ndarray]:
    """Slices that add up to A but for what is less than 2^(-SLICES bits) of the largest entry along that axis."""
    found = []
    for _ in range(SLICES):
        _, exponent = np.frexp(np.max(np.abs(A), axis=axis, keepdims=True))
        slice = np.ldexp(np.rint(np.ldexp(A, bits - exponent)), exponent - bits)
        found.append(slice)
        A = A - slice
    return found

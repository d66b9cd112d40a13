"""Exact sums of float64 numbers, whatever the order in which they are added.

A sum is kept as LIMBS integers, number k standing for a multiple of 2^(32 k - BIAS): a long fixed-point number that
covers every float64 (U. W. Kulisch, "Computer Arithmetic and Validity", 2013, chapter 8: the complete register). A
float64 touches three neighbouring limbs, each by less than 2^32, so carries can wait for 2^31 additions. Adding
integers commutes, hence sums by atomics, by many threads and by several batches are all equal to the last bit.
`digits` in `statistics_scalars.py` takes a number apart for the kernels.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

LIMBS = 69
BIAS = 1152


def exact(limbs: np.ndarray) -> Fraction:
    """The number that LIMBS int64 stand for."""
    total = sum(int(limb) << (32 * k) for k, limb in enumerate(limbs) if limb)
    return Fraction(total, 1 << BIAS)

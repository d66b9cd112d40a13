"""Scalar arithmetic that the kernels for CPU and GPU share: the limbs of an exact sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64, int64, njit

from simsuite.solvers.gbm.exactsum import BIAS

_MASK = np.int64(0xFFFFFFFF)


@njit(error_model="numpy", cache=True)
def digits(value: Any) -> Any:
    """(k, d0, d1, d2) of a finite float64: value = (d0 + d1 2^32 + d2 2^64) 2^(32 k - BIAS)."""
    mantissa, exponent = math.frexp(value)
    m = int64(mantissa * float64(2.0**53))
    negative = m < 0
    if negative:
        m = -m
    p = int64(exponent) + int64(BIAS - 53)
    s = p & int64(31)
    low = (m & _MASK) << s
    high = ((m >> int64(32)) << s) + (low >> int64(32))
    d0, d1, d2 = low & _MASK, high & _MASK, high >> int64(32)
    if negative:
        d0, d1, d2 = -d0, -d1, -d2
    return p >> int64(5), d0, d1, d2

"""Scalar arithmetic that the kernels for CPU and GPU share: the limbs of an exact sum, bins of a sketch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64, int64, njit

from simsuite.solvers.gbm.statistics.exact_sums import BIAS
from simsuite.solvers.gbm.statistics.quantile_sketch import BITS, FINE, FURTHEST, LOWEST

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


@njit(error_model="numpy", cache=True)
def bin_of(value: Any) -> Any:
    """(number, within) of a float64: its bin in a sketch, and the FINE bits that follow; see `quantile_sketch.py`."""
    mantissa, exponent = math.frexp(abs(value))
    scaled = int64(mantissa * float64(2 << (BITS + FINE)))
    octave = int64(exponent) - int64(1 + LOWEST)
    within = scaled & int64((1 << FINE) - 1)
    number = (octave << int64(BITS)) + (scaled >> int64(FINE)) - int64((1 << BITS) - 1)
    if value == 0 or octave < 0:
        number, within = int64(0), int64(0)
    elif number > FURTHEST:
        number = int64(FURTHEST)
    return (-number if value < 0 else number), within

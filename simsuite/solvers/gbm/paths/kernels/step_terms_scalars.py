"""Scalar arithmetic that the kernels for CPU and GPU share: a step of a scheme, jumps, dividends in cash. See
`schemes.py`, `jumps.py`, `cash_dividends.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, float64, int64, njit, uint32, uint64

from simsuite.elementary_functions import exp32, exp64, fma, log1p32, log1p64
from simsuite.rng import direction32, direction64, radius32, radius64
from simsuite.solvers.gbm.logarithms import LN2, ZERO

_MIDDLE = np.uint32(0x80000000)  # follows the 32 bits of a number where 64 are asked for
_FARTHEST = -1000.0  # a price counts as 0 where y is below this


@njit(error_model="numpy", forceinline=True)
def gain64(d: Any, a: Any, c: Any, half: Any) -> Any:
    """The gain of y in a step (schemes.py); all arguments are float64."""
    v = float64(LN2) * d
    u = fma(float64(half) * v, v, v + a)
    good = u > float64(-1.0)
    logarithm = log1p64(u if good else float64(0.0)) * float64(1.0 / LN2)
    return logarithm - c if good else float64(ZERO)


@njit(error_model="numpy", forceinline=True)
def gain32(d: Any, a: Any, c: Any, half: Any) -> Any:
    """The gain of y in a step, as `gain64`, but in float32."""
    v = float32(LN2) * d
    u = fma(float32(half) * v, v, v + a)
    good = u > float32(-1.0)
    logarithm = log1p32(u if good else float32(0.0)) * float32(1.0 / LN2)
    return logarithm - c if good else float32(ZERO)


@njit(error_model="numpy", forceinline=True)
def uniform(w0: Any, w1: Any) -> Any:
    """A number of 64 bits, made of two words."""
    return (uint64(w0) << uint64(32)) | uint64(w1)


@njit(error_model="numpy")
def exceeded(u: Any, thresholds: Any, a: Any) -> Any:
    """The number of entries of thresholds[a] that are less than u, by bisection; the case that none are is tried
    first."""
    low, high = int64(0), int64(0)
    if u > thresholds[a, 0]:
        high = int64(thresholds.shape[1] - 1)
    while low < high:
        middle = (low + high) >> int64(1)
        if u > thresholds[a, middle]:
            low = middle + int64(1)
        else:
            high = middle
    return low


@njit(error_model="numpy", forceinline=True)
def normal64(w2: Any, w3: Any) -> Any:
    x, _ = direction64(w3, uint32(_MIDDLE))
    return radius64(w2, uint32(_MIDDLE)) * x


@njit(error_model="numpy", forceinline=True)
def normal32(w2: Any, w3: Any) -> Any:
    x, _ = direction32(w3)
    return radius32(w2) * x


@njit(error_model="numpy", forceinline=True)
def after64(y: Any, q: Any, c: Any) -> Any:
    """The noise y after a payment; all arguments are float64."""
    share = q * exp64(float64(-LN2) * y)
    good = share < float64(1.0) and y > float64(_FARTHEST)
    return y + (log1p64(-share if good else float64(0.0)) * float64(1.0 / LN2) - c) if good else float64(ZERO)


@njit(error_model="numpy", forceinline=True)
def after32(y: Any, q: Any, c: Any) -> Any:
    """The noise y after a payment, as `after64`, but in float32."""
    share = q * exp32(float32(-LN2) * y)
    good = share < float32(1.0) and y > float32(_FARTHEST)
    return y + (log1p32(-share if good else float32(0.0)) * float32(1.0 / LN2) - c) if good else float32(ZERO)

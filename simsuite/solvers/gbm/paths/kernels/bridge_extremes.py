"""Scalar arithmetic that the kernels for CPU and GPU share, about a price within a step; see `continuous.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, float64, njit

from simsuite.elementary_functions import exp32, exp64
from simsuite.solvers.gbm.logarithms import LN2

_HALF, _NOTHING = np.float32(0.5), np.float32(0.0)  # these do not widen what they are multiplied by


@njit(error_model="numpy", forceinline=True)
def reached64(d0: Any, d1: Any, sharpness: Any) -> Any:
    """Probability that a step reached a level at distances d0 and d1 from its two ends, in float64."""
    t = -sharpness * (d0 * d1)
    return exp64(float64(LN2) * (t if t < float64(0.0) else float64(0.0)))


@njit(error_model="numpy", forceinline=True)
def reached32(d0: Any, d1: Any, sharpness: Any) -> Any:
    """Probability that a step reached a level, as `reached64`, but in float32."""
    t = -sharpness * (d0 * d1)
    return exp32(float32(LN2) * (t if t < float32(0.0) else float32(0.0)))


@njit(error_model="numpy", forceinline=True)
def steepness(d0: Any, d1: Any, w0: Any, w1: Any, sharpness: Any, q: Any) -> Any:
    """Derivative of 1 - q, the probability that a step did not reach the level, as natural logarithms of the prices
    move by w0 before the step and w1 after it."""
    return sharpness * q * (d1 * w0 + d0 * w1) if d0 * d1 > _NOTHING else _NOTHING * q


@njit(error_model="numpy", forceinline=True)
def lowest(x0: Any, x1: Any, variance: Any, radius: Any) -> Any:
    """The lowest point of a bridge from x0 to x1, drawn with radius = sqrt(-2 log U)."""
    d = x1 - x0
    return _HALF * (x0 + x1 - math.sqrt(d * d + variance * (radius * radius)))


@njit(error_model="numpy", forceinline=True)
def highest(x0: Any, x1: Any, variance: Any, radius: Any) -> Any:
    d = x1 - x0
    return _HALF * (x0 + x1 + math.sqrt(d * d + variance * (radius * radius)))


@njit(error_model="numpy", forceinline=True)
def share(x0: Any, x1: Any, variance: Any, radius: Any, sign: Any) -> Any:
    """The derivative of an extreme by x1; its derivative by x0 is 1 less that. sign: -1 for the lowest point, 1 for the
    highest."""
    d = x1 - x0
    width = math.sqrt(d * d + variance * (radius * radius))
    return _HALF + sign * _HALF * (d / width) if width > _NOTHING else _HALF + _NOTHING * d

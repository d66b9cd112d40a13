"""Scalar arithmetic that the kernels for CPU and GPU share: what a price does within a step, see `continuous.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, float64, njit

from simsuite.elementary import exp32, exp64
from simsuite.solvers.gbm.dynamics import LN2

_HALF = np.float32(0.5)  # does not widen what it is multiplied by


@njit(error_model="numpy", forceinline=True)
def survival64(d0: Any, d1: Any, sharpness: Any) -> Any:
    """Probability that a level was not reached, in float64."""
    t = -sharpness * (d0 * d1)
    return float64(1.0) - exp64(float64(LN2) * (t if t < float64(0.0) else float64(0.0)))


@njit(error_model="numpy", forceinline=True)
def survival32(d0: Any, d1: Any, sharpness: Any) -> Any:
    """The same in float32."""
    t = -sharpness * (d0 * d1)
    return float32(1.0) - exp32(float32(LN2) * (t if t < float32(0.0) else float32(0.0)))


@njit(error_model="numpy", forceinline=True)
def lowest(x0: Any, x1: Any, variance: Any, radius: Any) -> Any:
    """radius: sqrt(-2 log U)."""
    d = x1 - x0
    return _HALF * (x0 + x1 - math.sqrt(d * d + variance * (radius * radius)))


@njit(error_model="numpy", forceinline=True)
def highest(x0: Any, x1: Any, variance: Any, radius: Any) -> Any:
    d = x1 - x0
    return _HALF * (x0 + x1 + math.sqrt(d * d + variance * (radius * radius)))

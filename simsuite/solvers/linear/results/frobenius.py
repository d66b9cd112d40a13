"""The Frobenius norm of a state."""

from __future__ import annotations

import math

import numpy as np


def norm_of(X: np.ndarray) -> float:
    """Frobenius norm in float64, scaled so that it overflows only where it has to."""
    largest = float(np.max(np.abs(X)))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * math.sqrt(np.sum(np.square(np.divide(X, largest, dtype=np.float64))))

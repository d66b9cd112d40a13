"""A picture of a matrix that is small however large the matrix is."""

from __future__ import annotations

import math

import numpy as np

SIDE = 256  # blocks along a side, at most


def magnitudes(A: np.ndarray) -> np.ndarray:
    """The largest |A[i, j]| in each of at most SIDE x SIDE equal blocks (those at the far ends may be cut)."""
    block = math.ceil(len(A) / SIDE)
    starts = np.arange(0, len(A), block)
    rows = [np.max(np.abs(A[i : i + block]), axis=0) for i in starts]  # without a copy of all of A
    return np.maximum.reduceat(np.array(rows), starts, axis=1)

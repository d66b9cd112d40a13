"""A summary of a matrix by blocks, which is small however large the matrix is."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array

from simsuite.solvers.matmul.sparse import Matrix

SIDE = 256  # At most so many blocks lie along a side.


def magnitudes(A: Matrix) -> np.ndarray:
    """The largest |A[i, j]| in each of at most SIDE x SIDE equal blocks (those at the far ends may be cut)."""
    block = math.ceil(A.shape[0] / SIDE)
    if isinstance(A, csr_array):
        entries = A.tocoo()
        found = np.zeros((math.ceil(A.shape[0] / block),) * 2)
        np.maximum.at(found, tuple(places // block for places in entries.coords), np.abs(entries.data))
        return found
    starts = np.arange(0, len(A), block)
    # One row of blocks at a time needs no copy of all of A.
    rows = [np.max(np.abs(A[i : i + block]), axis=0) for i in starts]
    return np.maximum.reduceat(np.array(rows), starts, axis=1)

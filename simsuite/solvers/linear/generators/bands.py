"""Matrices with three diagonals."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array


def tridiagonal(below: float, diagonal: np.ndarray, above: float) -> csr_array:
    """The matrix (n, n) with the n given numbers on its diagonal, and a constant on the diagonal below and above it."""
    n = len(diagonal)
    beside = np.ones(n - 1)
    return diags_array([below * beside, diagonal, above * beside], offsets=[-1, 0, 1], shape=(n, n), format="csr")

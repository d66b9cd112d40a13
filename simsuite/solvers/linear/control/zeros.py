"""Invariant zeros of a linear system: the s at which [[A - s I, B], [C, D]] has less than its usual rank.

Infinite zeros, which rounding would turn into large finite ones, are taken out first, by orthogonal transformations.
Rows of D are compressed; of states that the outputs without a row of D see, a zero has none, so that they are removed,
and what drives them is another output that has to be 0. That is repeated until D has full rank by rows. The same is
then done to the transposed system, so that D is square and invertible, and what is left is a generalised eigenvalue
problem without infinite eigenvalues. A. Emami-Naeini and P. Van Dooren, Computation of zeros of linear multivariable
systems, Automatica 18 (1982) 415-430.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvals, qr

_ROUNDING = 10.0  # A singular value below so many roundings, for each row, counts as 0.


class _System(NamedTuple):
    """The matrices of a system: A (n, n), B (n, p), C (q, n), D (q, p)."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    @property
    def transposed(self) -> _System:
        return _System(self.A.T, self.C.T, self.B.T, self.D.T)


def zeros(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """The finite invariant zeros, complex128. A (n, n), which should be balanced, B (n, p), C (q, n), D (q, p)."""
    a, b, c = _size(A), _size(B), _size(C)
    tolerance = _ROUNDING * max(len(A), 1) * float(np.finfo(np.float64).eps)
    system = _reduced(_System(A / a, B / b, C / c, D * (a / (b * c))), tolerance)
    system = _reduced(system.transposed, tolerance).transposed
    n = len(system.A)
    if n == 0 or len(system.D) == 0:
        return np.asarray(a * eigvals(system.A) if n else [], np.complex128)
    # [C D] W = [0 R], so that the first columns of W hold all (x, u) that give no output.
    W = qr(np.hstack([system.C, system.D]).T)[0][:, len(system.D) :]
    found = eigvals(np.hstack([system.A, system.B]) @ W, W[:n])
    return np.asarray(a * found[np.isfinite(found)], np.complex128)


def _size(M: np.ndarray) -> float:
    """The power of 2 next to the largest entry, by which nothing is rounded; 1 if all are 0."""
    largest = float(np.max(np.abs(M), initial=0.0))
    return float(np.exp2(np.round(np.log2(largest)))) if largest > 0 else 1.0


def _reduced(system: _System, tolerance: float) -> _System:
    """A system with the same finite zeros whose D has full rank by rows."""
    while True:
        A, B, C, D = system
        U, rank = _compression(D, tolerance)
        C, D = U.T @ C, (U.T @ D)[:rank]
        seen = C[rank:]
        V, directions = _compression(seen.T, tolerance)
        if directions == 0:
            return _System(A, B, C[:rank], D)
        A, B, C = V.T @ A @ V, V.T @ B, C[:rank] @ V
        k = directions
        system = _System(A[k:, k:], B[k:], np.vstack([C[:, k:], A[:k, k:]]), np.vstack([D, B[:k]]))


def _compression(M: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    """(U, rank): an orthogonal U for which all rows of U' M but the first `rank` are 0."""
    if 0 in M.shape:
        return np.eye(len(M)), 0
    U, sizes, _ = np.linalg.svd(M)
    return U, int(np.count_nonzero(sizes > tolerance))

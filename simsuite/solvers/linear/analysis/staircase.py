"""The staircase form of a pair of matrices.

The controllable subspace is spanned by B, A B, A^2 B, ..; those columns are all but parallel soon, so their rank
says nothing. Here each new block is A times the last directions found, less what lies along all earlier ones, and of
what is left those directions are kept whose singular value exceeds a tolerance: an orthonormal basis in which A and B
have the staircase form of C. C. Paige, Properties of numerical algorithms related to computing controllability, IEEE
Trans. Automatic Control 26 (1981) 130-138. Leaving a direction out is a change of [A, B] by less than the tolerance.
"""

from __future__ import annotations

import numpy as np


def staircase(A: np.ndarray, B: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """(V, cut): V (n, r), an orthonormal basis of what is reached; cut: the least change of A that leaves out all that
    comes after some step of the stairs, inf if there is a single one.

    A (n, n) of norm 1, B (n, p) with columns of norm 1; tolerance: relative to these.
    """
    n = len(A)
    V = np.empty((n, n), np.result_type(A, B))
    kept, _ = _directions(V[:, :0], B, tolerance * np.sqrt(max(B.shape[1], 1)))
    rank, cut = 0, np.inf
    while kept.shape[1]:
        V[:, rank : rank + kept.shape[1]] = kept
        rank += kept.shape[1]
        kept, sizes = _directions(V[:, :rank], A @ kept, tolerance)
        cut = float(np.min(sizes[:1], initial=cut))
    return V[:, :rank], cut


def _directions(V: np.ndarray, new: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal directions of `new` that V has not, and how much of it lies along them, the most first."""
    if V.shape[1] == len(V):
        return new[:, :0], np.empty(0)
    for _ in range(2):  # twice is enough
        new = new - V @ (V.conj().T @ new)
    U, sizes, _ = np.linalg.svd(new, full_matrices=False)
    U, sizes = U[:, sizes > tolerance], sizes[sizes > tolerance]
    U = U - V @ (V.conj().T @ U)
    return np.linalg.qr(U)[0], sizes

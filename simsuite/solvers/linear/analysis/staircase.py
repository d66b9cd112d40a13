"""The staircase form of a pair of matrices.

The controllable subspace is spanned by B, A B, A^2 B, ..; those columns soon become almost parallel, so their rank
cannot be told. Here each new block is A times the directions found last, less its components along all earlier ones. Of
the remainder those directions are kept whose singular value exceeds a tolerance. They form an orthonormal basis in
which A and B have the staircase form of C. C. Paige, Properties of numerical algorithms related to computing
controllability, IEEE Trans. Automatic Control 26 (1981) 130-138. Leaving a direction out is a change of [A, B] by less
than the tolerance.
"""

from __future__ import annotations

import numpy as np


def staircase(A: np.ndarray, B: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """(V, cut): V (n, r) is an orthonormal basis of what is reached; cut is the size of the smallest change of A that
    cuts off all that comes after some step of the stairs, inf if there is a single step.

    A (n, n) of norm 1, B (n, p) with columns of norm 1; tolerance: relative to these norms.
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
    """Orthonormal directions of `new` that are not in V, and the size of `new` along each, the largest first."""
    if V.shape[1] == len(V):
        return new[:, :0], np.empty(0)
    for _ in range(2):  # Projecting twice is enough for directions that are orthogonal to rounding.
        new = new - V @ (V.conj().T @ new)
    U, sizes, _ = np.linalg.svd(new, full_matrices=False)
    U, sizes = U[:, sizes > tolerance], sizes[sizes > tolerance]
    U = U - V @ (V.conj().T @ U)
    return np.linalg.qr(U)[0], sizes

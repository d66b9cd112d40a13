"""What inputs can reach, and what outputs can see.

The controllable subspace is spanned by B, A B, A^2 B, ..; those columns are all but parallel soon, so their rank
says nothing. Here each new block is A times the last directions found, less what lies along all earlier ones, and of
what is left those directions are kept whose singular value exceeds a tolerance: an orthonormal basis in which A and B
have the staircase form of C. C. Paige, Properties of numerical algorithms related to computing controllability, IEEE
Trans. Automatic Control 26 (1981) 130-138. Leaving a direction out is a change of [A, B] by less than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Reach:
    """rank: dimension of what can be reached, out of `of`. distance: a relative change of [A, B] as small as this, or a
    smaller one, leaves some direction out of reach; 0 if there is one already."""

    rank: int
    of: int
    distance: float


def reach(A: np.ndarray, B: np.ndarray, left: np.ndarray) -> Reach:
    """What can be reached by X_{k+1} = A X_k + B u_k. A (n, n), B (n, p), left (n, n): unit left eigenvectors of A.

    Columns of B, and A as a whole, are taken relative to their size. The distance is the least that cuts off all that
    comes after some block, or |y'B| for some eigenvector y if that is less: [A - s I, B] is no farther than that from
    losing rank (Popov, Belevitch, Hautus). With the transposes of A and C, and right eigenvectors, the same is said of
    what can be seen.
    """
    n = len(A)
    B = _unit(B)
    size = float(np.linalg.norm(A)) or 1.0
    V = np.empty((n, n), np.result_type(A, B))
    kept, _ = _directions(V[:, :0], B, n * EPS * np.sqrt(max(B.shape[1], 1)))
    rank, cuts = 0, []
    while kept.shape[1]:
        V[:, rank : rank + kept.shape[1]] = kept
        rank += kept.shape[1]
        kept, sizes = _directions(V[:, :rank], A @ kept / size, n * EPS)
        cuts += sizes[:1].tolist()
    if rank < n:
        return Reach(rank, n, 0.0)
    modes = np.linalg.norm(left.conj().T @ B, axis=1)
    return Reach(rank, n, float(min([*modes, *cuts])))


def _unit(B: np.ndarray) -> np.ndarray:
    """The columns that are not 0, with norm 1."""
    largest = np.max(np.abs(B), axis=0)
    B = B[:, largest > 0] / largest[largest > 0]  # first, lest squares overflow
    return B / np.linalg.norm(B, axis=0)


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

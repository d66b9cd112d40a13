"""What inputs can reach, and what outputs can see.

A state that inputs cannot reach belongs to an eigenvalue s of A with a left eigenvector y that inputs do not touch:
y' A = s y' and y' B = 0 (Popov, Belevitch, Hautus). The least singular value of [A - s I, B], over all complex s, is
the size of the least change of [A, B] that makes it so: R. Eising, Between controllable and uncontrollable, Systems &
Control Letters 4 (1984) 263-264. This distance is what the rank is decided by, as rounding is such a change:

1. What the staircase form of [A, B] leaves out is out of reach (see `staircase`).
2. Of what is left, so are eigenvalues of A + B K that B does not touch, whatever K is (see `without_untouched`).
3. Of what is then left the nearest s is searched for (see `nearest`). Where it is no farther than rounding its singular
   vector is out of reach too: it is taken away, by an orthogonal change of coordinates, and the rest is searched again.
   This finds what no single stair shows, because a direction is lost little by little along many of them.

So a rank below n is that of a system which differs from the given one by no more than rounding.

Units. All of it is done in coordinates that balance A. Where A is reducible, these say nothing of how states that do
not act on each other compare, so that a rank that is not full is asked for once more in coordinates in which what
drives every state is of one size (see `scaling`); the larger rank counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from simsuite.solvers.linear.analysis.nearest import nearest, without_untouched
from simsuite.solvers.linear.analysis.scaling import balanced, levelled, without_rounding
from simsuite.solvers.linear.analysis.staircase import staircase

EPS = np.finfo(np.float64).eps
_ENTRIES = 10  # eps, at least, that the sums in which systems are made and transformed come to,
_ROUNDING = 4  # and how many times that is still taken for rounding,
_LATER = 10  # and how much more for each direction that was taken away before, as it is itself known up to rounding,
_TIMES = 3  # of so many at most


@dataclass(frozen=True)
class Reach:
    """rank: dimension of what can be reached, out of `of`. distance: a relative change of [A, B] as small as this
    leaves some direction out of reach, and hardly any smaller one; 0 if there is one already."""

    rank: int
    of: int
    distance: float


def reach(A: np.ndarray, B: np.ndarray) -> Reach:
    """What can be reached by X_{k+1} = A X_k + B u_k, or dX/dt = A X + B u. A (n, n), B (n, p), real or complex.

    Columns of B, and A as a whole, are taken relative to their size. With the conjugate transposes of A and C the same
    is said of what can be seen.
    """
    rounding = max(len(A), _ENTRIES) * EPS
    A, B = without_rounding(A, _unit(B), rounding)
    found = _reach(*balanced(A, B), _ROUNDING * rounding)
    if 0 < found.rank < len(A):
        other = _reach(*levelled(A, B), _ROUNDING * rounding)
        found = max(found, other, key=lambda reach: reach.rank)
    return found


def _reach(A: np.ndarray, B: np.ndarray, tolerance: float) -> Reach:
    n, B = len(A), _unit(B)
    A = A / (float(np.linalg.norm(A)) or 1.0)
    V, cut = staircase(A, B, tolerance)
    A, B = V.conj().T @ A @ V, V.conj().T @ B
    if len(A):
        Q = without_untouched(A, B, tolerance)
        A, B = Q.conj().T @ A @ Q, Q.conj().T @ B
    while len(A):
        distance, y = nearest(A, B, tolerance)
        if distance > tolerance * _LATER ** min(n - len(A), _TIMES):
            break
        kept = qr(y[:, None])[0][:, 1:]  # all that is orthogonal to y
        A, B = kept.conj().T @ A @ kept, kept.conj().T @ B
    rank = len(A)
    return Reach(rank, n, min(distance, cut) if rank == n else 0.0)


def _unit(B: np.ndarray) -> np.ndarray:
    """The columns that are not 0, with norm 1."""
    largest = np.max(np.abs(B), axis=0)
    B = B[:, largest > 0] / largest[largest > 0]  # first, lest squares overflow
    return B / np.linalg.norm(B, axis=0)

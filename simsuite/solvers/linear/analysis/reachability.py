"""Controllability and observability: which states inputs can reach, and which states outputs can see.

A state that inputs cannot reach belongs to an eigenvalue s of A with a left eigenvector y that inputs do not act on: y'
A = s y' and y' B = 0 (Popov, Belevitch, Hautus). The least singular value of [A - s I, B], over all complex s, is the
size of the smallest change of [A, B] that makes it so: R. Eising, Between controllable and uncontrollable, Systems &
Control Letters 4 (1984) 263-264. This distance decides on the rank, as rounding is such a change:

1. What the staircase form of [A, B] leaves out is out of reach (see `staircase`). 2. Of what remains, eigenvalues of A
+ B K that B does not act on, whatever K is, are out of reach as well (see `without_untouched`). 3. In what then remains
the nearest s is searched for (see `nearest`). Where its distance is no more than rounding, its singular vector is out
of reach too: it is removed, by an orthogonal change of coordinates, and the rest is searched again. This finds
directions that no single stair shows, because they are lost little by little along many of them.

So a rank below n is that of a system which differs from the given one by no more than rounding.

Units. All of it is computed in coordinates that balance A. Where A is reducible, balancing does not determine the
relative units of states that do not act on each other. So a rank that is not full is computed once more, in coordinates
in which what drives every state is of one size (see `scaling`); the larger rank counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from simsuite.solvers.linear.analysis.nearest import nearest, without_untouched
from simsuite.solvers.linear.analysis.scaling import balanced, levelled, without_rounding
from simsuite.solvers.linear.analysis.staircase import staircase

EPS = np.finfo(np.float64).eps
_ENTRIES = 10  # Sums by which systems are made and transformed have an error of at least so many eps.
_ROUNDING = 4  # So many times that error still counts as rounding.
# The tolerance is larger by this factor for each direction already removed, which is itself known up to rounding.
_LATER = 10
_TIMES = 3  # The factor is applied at most so many times.


@dataclass(frozen=True)
class Reach:
    """What can be reached. rank: its dimension, out of `of`. distance: a relative change of [A, B] that is this small,
    and hardly any smaller one, puts some direction out of reach; 0 if there is such a direction already.
    """

    rank: int
    of: int
    distance: float


def reach(A: np.ndarray, B: np.ndarray) -> Reach:
    """What can be reached by X_{k+1} = A X_k + B u_k, or dX/dt = A X + B u. A (n, n), B (n, p), real or complex.

    Columns of B, and A as a whole, are taken relative to their size. With the conjugate transposes of A and C in place
    of A and B, the result is what outputs can see.
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
        kept = qr(y[:, None])[0][:, 1:]  # an orthonormal basis of all that is orthogonal to y
        A, B = kept.conj().T @ A @ kept, kept.conj().T @ B
    rank = len(A)
    return Reach(rank, n, min(distance, cut) if rank == n else 0.0)


def _unit(B: np.ndarray) -> np.ndarray:
    """The columns of B that are not 0, scaled to the norm 1."""
    largest = np.max(np.abs(B), axis=0)
    B = B[:, largest > 0] / largest[largest > 0]  # Dividing by the largest entry comes first, lest squares overflow.
    return B / np.linalg.norm(B, axis=0)

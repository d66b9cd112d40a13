"""A birth-death chain: a walker on states in a row."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from simsuite.solvers.linear.generators.bands import tridiagonal


def markov(states: int, up: float, down: float, continuous: bool) -> csr_array:
    """The matrix whose entry A[i, j] is the probability (rate, in 1/s) of going from j to i, so columns sum to 1 (to
    0).

    Exact: the stationary distribution is proportional to (up/down)^i, by detailed balance. The eigenvalues of the chain
    are 1 and 1 - up - down + 2 sqrt(up down) cos(pi k/n), k = 1 .. n-1; those of the process in continuous time are
    less by 1. Feller, An Introduction to Probability Theory I (1968), XVI.3.
    """
    leave = np.full(states, up + down)
    leave[0], leave[-1] = up, down
    return tridiagonal(up, -leave if continuous else 1.0 - leave, down)

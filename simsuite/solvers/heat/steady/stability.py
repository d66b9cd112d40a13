"""Whether temperatures that are a little off a steady state come back to it.

Small deviations d obey ρc ∂d/∂t = -A d with A = -∂F/∂T of `balance`, so they grow if an eigenvalue of A/ρc has a
negative real part. Only sources that give more for a higher temperature can lead to that. By Gershgorin's circles no
eigenvalue lies to the left of the smallest difference of a diagonal entry and the sizes of the others in its row; the
eigenvalue next to that bound is found by shift and invert (ARPACK)."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import ArpackError, eigs, eigsh

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.steady.balance import Balance

MOST = 200_000  # the most cells for which the matrix is factorised once more
_FEW = 64  # cells up to which all eigenvalues are found
_ROUNDING = 1e-9  # share of the largest entry: a smaller eigenvalue may be 0


def growth_rate(made: Discretisation, T: np.ndarray) -> float | None:
    """The rate at which the fastest small deviation from a steady state T (ny, nx) grows, 1/s, 0 if none does; where
    ρc is not given it counts as 1. None if that is not known: there are too many cells, or the search fails."""
    if not any(f.depends_on("T") for f in made.sources):
        return 0.0
    balance = Balance(made)
    A = balance.response(T, True)
    if A.shape[0] > MOST or A.shape[0] == 0:
        return None if A.shape[0] else 0.0
    # similar to A/ρc, and symmetric where A is
    scale = scipy.sparse.diags_array(1.0 / np.sqrt(np.broadcast_to(made.rho_c, made.held.shape)[balance.free]))
    B = scipy.sparse.csc_array(scale @ A @ scale)
    diagonal = B.diagonal()
    bound = float(np.min(diagonal - (abs(B).sum(axis=1) - np.abs(diagonal))))
    largest = float(np.max(np.abs(diagonal)))
    if not bound < -_ROUNDING * largest:
        return 0.0
    least = _least(B, bound, made.law is None)
    return None if least is None else max(0.0, -least) if -least > _ROUNDING * largest else 0.0


def _least(B: scipy.sparse.csc_array, bound: float, symmetric: bool) -> float | None:
    """The least real part of an eigenvalue of B, which is at least `bound`."""
    if B.shape[0] <= _FEW:
        return float(np.min(np.linalg.eigvals(B.toarray()).real))
    try:
        find = eigsh if symmetric else eigs
        found = find(B, k=1, sigma=1.001 * bound, return_eigenvectors=False, v0=np.ones(B.shape[0]))
    except (ArpackError, RuntimeError):
        return None
    return float(np.min(np.real(found)))

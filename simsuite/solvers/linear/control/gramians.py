"""Gramians of a stable system: how strongly inputs move each direction of the state, and outputs see it.

    A W + W A' + B B' = 0,  A' M + M A + C' C = 0          (continuous)
    A W A' - W + B B' = 0,  A' M A - M + C' C = 0          (discrete)

W is the controllability Gramian: x' W^-1 x is the least energy of inputs that take the system from rest to x. M is the
observability Gramian: x' M x is the energy of the outputs that follow from x without inputs. The Hankel singular values
are the roots of the eigenvalues of W M, which no change of the state's units alters: K. Glover, All optimal
Hankel-norm approximations of linear multivariable systems, Int. J. Control 39 (1984) 1115-1193. The equations are
solved by Schur forms (SciPy), and each solution is corrected with a residual that has twice the digits.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import (
    LinAlgError,
    LinAlgWarning,
    cholesky,
    eigh,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
    svdvals,
)

from simsuite.libraries import decomposing
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.discretisation.exponential import added
from simsuite.solvers.linear.discretisation.sliced import product, remainder_twofold

_CORRECTIONS = 2
_WORST = 1e-6  # A solution that the last correction changes by more, relatively, is not given.


@dataclass(frozen=True)
class Gramians:
    """The Gramians (n, n) in the scenario's units of the state, the Hankel singular values (n,), the largest first, and
    by how much the last correction changed a Gramian, relative to its largest entry in balanced units of the state."""

    controllability: np.ndarray
    observability: np.ndarray
    hankel: np.ndarray
    error: float


def gramians(plant: Plant) -> Gramians:
    """The Gramians of a stable plant. Raises ValueError if it is too close to instability for them."""
    inner = plant.balanced
    with decomposing(len(inner.A)):
        W, off = _solved(inner.A, inner.B @ inner.B.T, inner.continuous)
        M, off_too = _solved(inner.A.T, inner.C.T @ inner.C, inner.continuous)
        hankel = svdvals(_factor(M).T @ _factor(W))
    unit = plant.units
    return Gramians(W * unit[:, None] * unit, M / (unit[:, None] * unit), hankel, max(off, off_too))


def _solved(A: np.ndarray, Q: np.ndarray, continuous: bool) -> tuple[np.ndarray, float]:
    """The solution of A W + W A' + Q = 0, or A W A' - W + Q = 0, and by how much the last correction changed it,
    relatively."""
    W, rest, off = np.zeros(A.shape), Q, 0.0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            for _ in range(1 + _CORRECTIONS):
                step = solve_continuous_lyapunov(A, -rest) if continuous else solve_discrete_lyapunov(A, rest)
                W = W + 0.5 * (step + step.T)
                off = float(np.max(np.abs(step), initial=0.0) / (np.max(np.abs(W), initial=0.0) or 1.0))
                rest = _remainder(A, W, Q, continuous)
        except (LinAlgWarning, LinAlgError, ValueError):  # SciPy refuses numbers that are not finite
            off = np.inf
    if not off <= _WORST:
        raise ValueError("the system is too close to instability for Gramians")
    return W, off


def _remainder(A: np.ndarray, W: np.ndarray, Q: np.ndarray, continuous: bool) -> np.ndarray:
    zero = np.zeros(A.shape)
    if continuous:
        high, low = added(remainder_twofold(Q, -A, W), remainder_twofold(zero, -W, np.ascontiguousarray(A.T)))
    else:
        moved = product(product((A, zero), (W, zero)), (np.ascontiguousarray(A.T), zero))
        high, low = added(added(moved, (-W, zero)), (Q, zero))
    found = high + low
    return 0.5 * (found + found.T)


def _factor(W: np.ndarray) -> np.ndarray:
    """L with W = L L'. Of a W that rounding has made indefinite, the nearest one that is not."""
    unit = np.sqrt(np.maximum(np.diag(W), 0.0))
    unit = np.where(unit > 0, unit, 1.0)
    scaled = W / (unit[:, None] * unit)
    try:
        return unit[:, None] * cholesky(scaled, lower=True)
    except LinAlgError:
        values, vectors = eigh(scaled)
        return unit[:, None] * (vectors * np.sqrt(np.maximum(values, 0.0)))

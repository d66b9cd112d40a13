"""Exact discretisation of dX/dt = A X + B u, with u constant over each step or running straight to its next value."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm


def discretise(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(exp(A dt), integral of exp(A s) ds from 0 to dt times B): X(t + dt) = Ad X(t) + Bd u(t), a hold of order 0.

    Both are blocks of one exponential, exp([[A, B], [0, 0]] dt) = [[Ad, Bd], [0, I]]: C. F. Van Loan, Computing
    integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978) 395-404. There is no error
    from the length of the step except that inputs that vary within a step act with their value at its beginning.

    A: (n, n) in 1/s, B: (n, p), p may be 0, dt: s. Raises ValueError if the exponential overflows.
    """
    return _blocks(A, B, dt, 1)


def discretise_between(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(exp(A dt), [B0 B1]), so that X(t + dt) = Ad X(t) + B0 u(t) + B1 u(t + dt): first-order hold, exact if u runs
    straight from one value to the next; else its error falls with dt^2, that of the zero-order hold with dt.

    With u(t + s) = u(t) + (u(t + dt) - u(t)) s/dt, B1 = integral of exp(A (dt - s)) (s/dt) ds B, and B0 + B1 is the Bd
    of the zero-order hold. Blocks of exp([[A dt, B dt, 0], [0, 0, I], [0, 0, 0]]): G. F. Franklin, J. D. Powell and
    M. L. Workman, Digital Control of Dynamic Systems, 3rd edition (1998), section 6.3.2, without their change of state.
    """
    Ad, both = _blocks(A, B, dt, 2)
    p = B.shape[1]
    whole, later = both[:, :p], both[:, p:]
    return Ad, np.hstack([whole - later, later])


def _blocks(A: np.ndarray, B: np.ndarray, dt: float, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """Ad, and beside each other the integrals of exp(A (dt - s)) (s/dt)^k/k! ds B for k = 0 .. orders - 1."""
    n, p = B.shape
    block = np.zeros((n + orders * p,) * 2)
    with np.errstate(all="ignore"):
        block[:n, :n], block[:n, n : n + p] = A * dt, B * dt
        block[n : n + (orders - 1) * p, n + p :] = np.eye((orders - 1) * p)
        exponential = expm(block)
    if not np.all(np.isfinite(exponential)):
        raise ValueError("exp(A dt) overflows")
    return exponential[:n, :n].copy(), exponential[:n, n:].copy()

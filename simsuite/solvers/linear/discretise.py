"""Exact discretisation of dX/dt = A X + B u with u held constant over each step (zero-order hold)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm


def discretise(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(exp(A dt), integral of exp(A s) ds from 0 to dt times B), so that X(t + dt) = Ad X(t) + Bd u(t).

    Both are blocks of one exponential, exp([[A, B], [0, 0]] dt) = [[Ad, Bd], [0, I]]: C. F. Van Loan, Computing
    integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978) 395-404. There is no error
    from the length of the step except that inputs that vary within a step act with their value at its beginning.

    A: (n, n) in 1/s, B: (n, p), p may be 0, dt: s. Raises ValueError if the exponential overflows.
    """
    n, p = B.shape
    block = np.zeros((n + p, n + p))
    block[:n, :n], block[:n, n:] = A, B
    with np.errstate(all="ignore"):
        exponential = expm(block * dt)
    if not np.all(np.isfinite(exponential)):
        raise ValueError("exp(A dt) overflows")
    return exponential[:n, :n].copy(), exponential[:n, n:].copy()

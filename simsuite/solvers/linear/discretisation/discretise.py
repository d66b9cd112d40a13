"""Exact discretisation of dX/dt = A X + B u, with u constant over each step or running straight to its next value."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from simsuite.solvers.linear.discretisation.exponential import added, exponential, times

# The exponential of up to so many rows is also computed to many digits, to know its rounding: a second or two.
_DIGITS = 512
_SHARE = 0.625  # A larger exponential is computed once more over this share of the step.


def discretise(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(exp(A dt), integral of exp(A s) ds from 0 to dt times B): X(t + dt) = Ad X(t) + Bd u(t), a hold of order 0.

    Both are blocks of one exponential, exp([[A, B], [0, 0]] dt) = [[Ad, Bd], [0, I]]: C. F. Van Loan, Computing
    integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978) 395-404. The length of the step
    causes no error, except that inputs that vary within a step act with their value at its beginning.

    A: (n, n) in 1/s, B: (n, p), p may be 0, dt: s. Raises ValueError if the exponential overflows.
    """
    return _blocks(A, B, dt, 1)


def discretise_between(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(exp(A dt), [B0 B1]), so that X(t + dt) = Ad X(t) + B0 u(t) + B1 u(t + dt): a first-order hold. It is exact if u
    runs straight from one value to the next; else its error falls with dt^2, that of the zero-order hold with dt.

    With u(t + s) = u(t) + (u(t + dt) - u(t)) s/dt, B1 = integral of exp(A (dt - s)) (s/dt) ds B, and B0 + B1 is the Bd
    of the zero-order hold. They are blocks of exp([[A dt, B dt, 0], [0, 0, I], [0, 0, 0]]): G. F. Franklin, J. D.
    Powell and M. L. Workman, Digital Control of Dynamic Systems, 3rd edition (1998), section 6.3.2, without their
    change of state.
    """
    Ad, both = _blocks(A, B, dt, 2)
    p = B.shape[1]
    whole, later = both[:, :p], both[:, p:]
    return Ad, np.hstack([whole - later, later])


def discretisation_error(
    A: np.ndarray, B: np.ndarray, dt: float, ahead: bool, Ad: np.ndarray, Bd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The differences between the exact matrices and Ad and Bd, as `discretise` gives them (or `discretise_between`, if
    `ahead`). They come from the rounding of A dt, of the exponential, and of its entries.

    For a matrix of more than some hundred rows, they are the difference to another way of computing Ad and Bd, so that
    only their size is right. NaN where float64 overflows on the way.
    """
    n, p = B.shape
    high, low = (_block(A_dt, B_dt, 1 + ahead) for A_dt, B_dt in zip(times(dt, A), times(dt, B)))
    low[n:] = 0.0
    with np.errstate(all="ignore"):
        if len(high) <= _DIGITS:
            high, low = exponential((high, low))
        else:
            high, low = expm(_SHARE * high) @ expm((1 - _SHARE) * high), np.zeros(high.shape)
        if ahead:
            whole, later = ((high[:n, k], low[:n, k]) for k in (slice(n, n + p), slice(n + p, None)))
            high[:n, n : n + p], low[:n, n : n + p] = added(whole, (-later[0], -later[1]))
        return (high[:n, :n] - Ad) + low[:n, :n], (high[:n, n:] - Bd) + low[:n, n:]


def _blocks(A: np.ndarray, B: np.ndarray, dt: float, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """Ad, and, side by side, the integrals of exp(A (dt - s)) (s/dt)^k/k! ds B for k = 0 .. orders - 1."""
    n = len(A)
    with np.errstate(all="ignore"):
        found = expm(_block(A * dt, B * dt, orders))
    if not np.all(np.isfinite(found)):
        raise ValueError("exp(A dt) overflows")
    return found[:n, :n].copy(), found[:n, n:].copy()


def _block(A_dt: np.ndarray, B_dt: np.ndarray, orders: int) -> np.ndarray:
    """The matrix whose exponential contains the results of `_blocks` as blocks."""
    n, p = B_dt.shape
    block = np.zeros((n + orders * p,) * 2)
    block[:n, :n], block[:n, n : n + p] = A_dt, B_dt
    block[n : n + (orders - 1) * p, n + p :] = np.eye((orders - 1) * p)
    return block

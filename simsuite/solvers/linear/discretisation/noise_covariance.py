"""Exact discretisation of dX = A X dt + G dW: the covariance of a step's noise, and a factor of it.

Over a step of dt the noise adds a normal vector with covariance Q = int_0^dt exp(A s) G G' exp(A' s) ds: C. F. Van
Loan, Computing integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978) 395-404. The block
exponential there contains exp(-A dt), which overflows where A is stiff. Here Q is integrated over h = dt/2^k, short
enough for a Taylor series and Gauss's rule to be exact to rounding, and doubled,

    Q(2h) = Q(h) + exp(A h) Q(h) exp(A' h),

which adds positive semidefinite matrices only: nothing overflows unless the state does, and nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import expm

_NODES = 10  # Gauss's rule has so many nodes: with |A| h <= 1 the integrand is a polynomial of degree 19 but for 1e-18.
_TERMS = 20  # The series of exp(A s) has so many terms: 1/20! = 4e-19.
_DEFINITE = 1e-10  # If the pivots of a correlation matrix exceed this, Cholesky's factor is as good as any other.


def noise_covariance(A: np.ndarray, G: np.ndarray, dt: float) -> np.ndarray:
    """The covariance Q (n, n) of the noise of a step. A (n, n) in 1/s, G (n, q), dt in s. Raises ValueError if it
    overflows.
    """
    size = float(np.max(np.sum(np.abs(A), axis=0))) * dt
    halvings = max(math.ceil(math.log2(size)), 0) if size > 0 else 0
    h = dt / 2.0**halvings
    with np.errstate(all="ignore"):
        Q, E = _short(A, G, h), expm(A * h)
        for _ in range(halvings):
            Q, E = Q + E @ Q @ E.T, E @ E
    if not np.all(np.isfinite(Q)):
        raise ValueError("the noise of a step overflows")
    return 0.5 * (Q + Q.T)


def _short(A: np.ndarray, G: np.ndarray, h: float) -> np.ndarray:
    """The covariance Q of a step with |A| h <= 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    powers = [G]  # The list holds (A h)^k G / k! for k = 0, 1, ..
    for k in range(1, _TERMS):
        powers.append(A @ powers[-1] * (h / k))
    Q = np.zeros_like(A)
    for x, weight in zip(0.5 * (nodes + 1), 0.5 * weights):
        V = sum(x**k * power for k, power in reversed(list(enumerate(powers))))
        Q += weight * h * (V @ V.T)
    return Q


def noise_factor(Q: np.ndarray) -> np.ndarray:
    """L with L L' = Q, (n, r): what normal numbers are multiplied by.

    Rows are scaled to variance 1 first, since they may be of very different sizes (double integrator: dt^3/3 and dt).
    Where the correlations are positive definite L is Cholesky's factor, lower triangular with a positive diagonal.
    Where they are singular, L has a column for each eigenvalue above rounding, the largest first, and of each column
    the entry that is the largest in terms of standard deviations is positive. A column of zeros stands for no noise.
    """
    deviation = np.sqrt(np.diag(Q))
    scale = np.where(deviation > 0, deviation, 1.0)
    R = Q / scale / scale[:, None]
    try:
        L = np.linalg.cholesky(R)
        if np.min(np.diag(L)) ** 2 > _DEFINITE:
            return L * scale[:, None]
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(R)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > len(R) * np.finfo(np.float64).eps * max(values[0], 0.0)
    if not kept.any():
        return np.zeros((len(R), 1))
    L = vectors[:, kept] * np.sqrt(values[kept])
    signs = np.sign(L[np.argmax(np.abs(L), axis=0), np.arange(L.shape[1])])
    return L * signs * scale[:, None]

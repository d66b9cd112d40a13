"""The decomposition A = W M W^-1 with real W and real blocks M, and the error of it.

M has an eigenvalue for each real column of W, and for two columns p, q such that p + i q is an eigenvector to a + i b,
b > 0, the block [[a, b], [-b, a]]. The matrix is scaled first such that the norms of its rows and columns agree
(`balance`), by powers of 2, without rounding. Symmetric matrices get orthogonal W from LAPACK's syevd, normal ones from
gees, whose blocks are then diagonal, all others eigenvectors of length 1 from geev.

What LAPACK leaves is the residual A W - W M, which is known to many digits (`remainder`). In the coordinates of the
modes it is the coupling E = W^-1 (A W - W M). Its diagonal corrects the eigenvalues, up to an error of second order in
E; so they have about twice the digits of float64, and l^k is accurate for large k. The other entries correct the modes,
to W (1 + F), with F_ij = E_ij / (l_j - l_i) where that is small. F corrects the columns, which are rounded again, and
the coordinates of states, whose errors would grow as the modes do. The part of E that F does not remove is a measure of
the remaining error (see `spectral.error`).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, eig, eigh, inv, schur

from simsuite.libraries import decomposing
from simsuite.solvers.linear.discretisation.sliced import remainder
from simsuite.solvers.linear.powers.power_error import balance

WORST = 1e13  # If the condition of W is larger, W^-1 has no digits that could be corrected.
SMALL = 1e-4  # F corrects to first order only if its norm is at most this.
_TURNS = 4  # After so many iterations, the inverse of 1 + F is accurate to rounding.
ROUNDED = 1e-9  # About this share of E is lost by rounding.
_NORMAL = 4.0  # A matrix counts as normal if the entries above the blocks are at most this times n roundings.


@dataclass(frozen=True)
class Modes:
    """The modes of a matrix. scale (n,): the scaling of the components. W, V (n, n): the columns that LAPACK found for
    the scaled matrix, and their inverse; F (n, n): their correction. values (n,), complex: the eigenvalues, both of a
    pair beside each other, b > 0 first; rest (n,): their correction, to be added. coupling (n, n): what F leaves of E,
    without its diagonal, between complex eigenvectors; second (n,): how much the coupling may change each eigenvalue to
    second order.
    """

    scale: np.ndarray
    W: np.ndarray
    V: np.ndarray
    F: np.ndarray
    values: np.ndarray
    rest: np.ndarray
    coupling: np.ndarray
    second: np.ndarray

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns (n, n) of the modes of the scaled matrix."""
        return self.W + self.W @ self.F

    @property
    def sign(self) -> np.ndarray:
        """1 for the first eigenvalue of a pair, -1 for the second, 0 for real ones."""
        return np.sign(self.values.imag)

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """The coordinates Z (n, m) with W (1 + F) Z = X, as accurate as they can be. X: states, not scaled."""
        scaled = X / self.scale[:, None]
        Z = self.V @ scaled
        Z += self.V @ remainder(scaled, self.W, Z)
        found = Z
        for _ in range(_TURNS):
            found = Z - self.F @ found
        return found

    def complex_coordinates(self, z: np.ndarray) -> np.ndarray:
        """The coordinates c of the complex eigenvectors that belong to real coordinates z (n, ..): x = (p + i q) c + (p
        - i q) conj(c) + .. .
        """
        return _combined(z, _firsts(self.values), -1j)

    def real_coordinates(self, c: np.ndarray) -> np.ndarray:
        """The real coordinates that belong to coordinates c of the complex eigenvectors."""
        return _real(c, _firsts(self.values))


def decompose(A: np.ndarray) -> Modes:
    """The modes of A (n, n). Raises ValueError, with the reason, where there are none."""
    with decomposing(len(A)):
        return _decomposed(A)


def _decomposed(A: np.ndarray) -> Modes:
    scale = balance(A)
    scaled = A * scale / scale[:, None]
    _, exponent = np.frexp(np.max(np.abs(scaled)))
    scaled = np.ldexp(scaled, -exponent)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", LinAlgWarning)
            W, V, values = _modes(scaled)
            condition = float(np.linalg.norm(W) * np.linalg.norm(V))
    except LinAlgError:
        condition = math.inf
    if not condition < WORST:
        raise ValueError(f"its eigenvectors depend on each other (condition {condition:.1g})")
    first = _firsts(values)
    M = np.diag(values.real)
    M[first, first + 1], M[first + 1, first] = values[first].imag, -values[first].imag
    R = remainder(np.zeros(A.shape), np.hstack([scaled, -W]), np.vstack([W, M]))
    E = _combined(_combined(-(V @ R), first, -1j).T, first, 1j, 1.0).T
    rest = np.diag(E).copy()
    rest[values.imag == 0] = rest[values.imag == 0].real
    rest[first + 1] = rest[first].conj()
    np.fill_diagonal(E, 0.0)
    F, left = _correction(values, E)
    real_F = _real(F @ _combined(np.eye(len(A)), first, -1j), first)
    size = 2.0**exponent
    return Modes(scale, W, V, real_F, size * values, size * rest, size * left, size * _second(values, E))


def _firsts(values: np.ndarray) -> np.ndarray:
    """The indices of the first eigenvalue of each pair."""
    return np.flatnonzero(values.imag > 0)


def _real(c: np.ndarray, first: np.ndarray) -> np.ndarray:
    z = c.real.copy()
    z[first], z[first + 1] = 2 * c[first].real, -2 * c[first].imag
    return z


def _correction(values: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The correction F, and the part of E that it leaves: entries that F does not correct, and of the others the share
    that products of F with E, and rounding, leave.
    """
    gap = values - values[:, None]
    apart = np.abs(E) < SMALL / len(E) * np.abs(gap)
    F = np.divide(E, gap, out=np.zeros(E.shape, np.complex128), where=apart)
    size = min(float(np.linalg.norm(F)) + ROUNDED, 1.0)
    return F, np.where(apart, size * E, E)


def _combined(z: np.ndarray, first: np.ndarray, factor: complex, share: float = 0.5) -> np.ndarray:
    """The rows p, q of each pair replaced by share (p + factor q) and share (p - factor q)."""
    found = z.astype(np.complex128)
    p, q = found[first], found[first + 1]
    found[first], found[first + 1] = share * (p + factor * q), share * (p - factor * q)
    return found


def _modes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, its inverse, and the eigenvalues."""
    n, size = len(A), float(np.linalg.norm(A))
    if np.array_equal(A, A.T):
        values, W = eigh(A)
        return W, W.T, values.astype(np.complex128)
    most = _NORMAL * n * np.finfo(np.float64).eps
    if np.linalg.norm(A @ A.T - A.T @ A) <= most * size**2:
        T, Q = schur(A)
        first = np.flatnonzero(np.diag(T, -1))
        above = np.triu(T, 1)
        above[first, first + 1] = 0.0
        if np.linalg.norm(above) <= most * size:
            values = np.diag(T).astype(np.complex128)
            turn = 0.5 * (T[first, first + 1] - T[first + 1, first])
            Q[:, first + 1] *= np.where(turn < 0, -1.0, 1.0)
            values[first] = 0.5 * (values[first] + values[first + 1]) + 1j * np.abs(turn)
            values[first + 1] = values[first].conj()
            return Q, Q.T, values
    values, vectors = eig(A)
    W, first = vectors.real.copy(), np.flatnonzero(values.imag > 0)
    W[:, first + 1] = vectors[:, first].imag
    return W, inv(W), values.astype(np.complex128)


def _second(values: np.ndarray, E: np.ndarray) -> np.ndarray:
    """The sum over j of |E_ij E_ji / (l_i - l_j)| for each i, with the root of |E_ij E_ji| where eigenvalues are closer
    than that root.
    """
    product = np.abs(E * E.T)
    gap = np.maximum(np.abs(values[:, None] - values), np.sqrt(product))
    return np.sum(np.divide(product, gap, out=np.zeros(gap.shape), where=gap > 0), axis=1)

"""The distance of a pair of matrices from one that has a direction out of reach: min over s of sigma_min([A - s I, B]).

That function of the complex number s has many minima, some of which lie near eigenvalues of A. An eigenvalue of A that
is out of reach is one of A + B K as well, whatever K is; those within reach move. So eigenvalues of A + B K with random
K of norm 1 are tried too. There an eigenvalue out of reach stands alone, even if A has it several times, within reach
and out of it, so that rounding would scatter all of its copies. From each candidate s the distance is reduced by
iteration: with the left singular vector y of [A - s I, B] the best s is y' A y, and with that s there is a better y.

Cost. With the Schur form T of A, the R of [T - s I, Q' B]' takes some n^2 p operations by LAPACK's tpqrt, and y some
solutions with R (inverse iteration). For larger matrices only those s are tried on whose eigenvectors B acts least.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eig, rsf2csf, schur
from scipy.linalg.blas import ztrsv
from scipy.linalg.lapack import ztpqrt, ztrsen

_TRIED = 4e6  # So many candidates times n^2 are tried: about a second.
_FEWEST = 4
_PLAIN = 1e-11  # columns of B have the norm 1
_DOWNHILL = 10  # steps
_ITERATIONS = 4
_STILL = 0.97  # A step that leaves more than this share of the distance is the last one.
_HOPELESS = 10.0  # A candidate is given up where its distance is more than this times the best distance so far.


def nearest(A: np.ndarray, B: np.ndarray, enough: float) -> tuple[float, np.ndarray]:
    """(distance, y): an upper bound of the distance, relative to the norm 1 of A and of columns of B, which is close
    unless the best s is far from all candidates; y (n,): the unit vector for which y' [A - s I, B] has that norm.

    A (n, n), B (n, p). enough: a distance at which the search ends.
    """
    T, Q = _schur(A)
    C = Q.conj().T @ B
    best, vector = np.inf, np.zeros(len(A))
    for s in _candidates(A, B):
        distance, y = _downhill(T, C, s, _HOPELESS * best)
        if distance < best:
            best, vector = distance, y
        if best <= enough:
            break
    return best, Q @ vector


def without_untouched(A: np.ndarray, B: np.ndarray, tolerance: float) -> np.ndarray:
    """Q (n, r), an orthonormal basis of what remains when all directions that are clearly out of reach are removed at
    once.

    The directions are the left invariant subspace of A + B K, with one random K, that belongs to all eigenvalues whose
    eigenvectors B does not act on. They are removed if B acts on that subspace by no more than `tolerance`; else, or if
    there are none, Q spans all of the space.
    """
    n = len(A)
    T, Q = _schur(_fed_back(A, B, 0))
    values, left = eig(T, left=True, right=False)
    untouched = values[np.linalg.norm(left.conj().T @ (Q.conj().T @ B), axis=1) <= _PLAIN]
    k = len(untouched)
    if not k:
        return np.eye(n)
    # The eigenvalues of T are those on its diagonal, up to rounding.
    distance = np.min(np.abs(np.diag(T)[:, None] - untouched), axis=1)
    first = np.ones(n, np.int32)
    first[np.argsort(distance, kind="stable")[:k]] = 0
    Q = ztrsen(first, T, Q, job="N", lwork=1)[1]
    if np.linalg.norm(Q[:, n - k :].conj().T @ B) > tolerance:
        return np.eye(n)
    return Q[:, : n - k]


def _candidates(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The numbers s to be tried, those first on whose eigenvectors B acts least."""
    found, touched = [], []
    for F in (A, _fed_back(A, B, 1)):
        values, left = eig(F, left=True, right=False)
        upper = (np.imag(values) >= 0) | np.iscomplexobj(A) | np.iscomplexobj(B)
        found.append(values[upper])
        touched.append(np.linalg.norm(left.conj().T @ B, axis=1)[upper])
    order = np.argsort(np.concatenate(touched), kind="stable")
    return np.concatenate(found)[order[: max(int(_TRIED / len(A) ** 2), _FEWEST)]]


def _schur(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The complex Schur form of A. For a real A it is made from the real one, which takes a third of the time."""
    return schur(A) if np.iscomplexobj(A) else rsf2csf(*schur(A))


def _fed_back(A: np.ndarray, B: np.ndarray, seed: int) -> np.ndarray:
    """A + B K with a random K of norm 1."""
    K = np.random.Generator(np.random.Philox(seed)).standard_normal((B.shape[1], len(A)))
    return A + B @ (K / np.linalg.norm(K))


def _downhill(T: np.ndarray, C: np.ndarray, s: complex, most: float) -> tuple[float, np.ndarray]:
    """The distance that the iteration finds from s, and its y. most: a distance beyond which s is
    not followed further.
    """
    y = _left(T, C, s)
    distance = _size(T, C, y, s)
    for _ in range(_DOWNHILL if distance < most else 0):
        s = complex(np.vdot(y, T @ y))
        z = _left(T, C, s)
        nearer = _size(T, C, z, s)
        if not nearer < distance:
            break
        before, distance, y = distance, nearer, z
        if distance > _STILL * before:
            break
    return distance, y


def _size(T: np.ndarray, C: np.ndarray, y: np.ndarray, s: complex) -> float:
    """The norm |y' [T - s I, C]|."""
    return float(np.hypot(np.linalg.norm(y.conj() @ T - s * y.conj()), np.linalg.norm(y.conj() @ C)))


def _left(T: np.ndarray, C: np.ndarray, s: complex) -> np.ndarray:
    """The unit vector y whose |y' [T - s I, C]| is least. T (n, n) is upper triangular, C is (n, p).

    The triangular factor R of the conjugate transpose has the same singular values; that transpose, with rows and
    columns in reverse order, is triangular except for p rows at its end.
    """
    n = len(T)
    upper = np.array((T - s * np.eye(n)).conj().T[::-1, ::-1], order="F")
    if C.shape[1]:
        below = np.array(C.conj().T[:, ::-1], np.complex128, order="F")
        upper = ztpqrt(0, min(n, 32), upper, below, overwrite_a=1, overwrite_b=1)[0]
    diagonal = np.diag(upper)
    least = np.finfo(np.float64).eps * max(float(np.linalg.norm(diagonal)), 1e-30) / n
    np.fill_diagonal(upper, np.where(np.abs(diagonal) < least, least, diagonal))
    y = np.random.Generator(np.random.Philox(2)).standard_normal(n).astype(np.complex128)
    for _ in range(_ITERATIONS):
        y = ztrsv(upper, ztrsv(upper, y, trans=2), overwrite_x=1)
        y /= np.linalg.norm(y)
    return y[::-1]

"""What can be said of a sparse matrix that is too large for all of its eigenvalues: those nearest to instability.

They come from ARPACK, R. B. Lehoucq, D. C. Sorensen, C. Yang, ARPACK Users' Guide (1998), from a fixed start, and for
so many restarts as take a second or two: where eigenvalues lie close together, as those of large chains and of
conduction do, that is not enough. What ARPACK does not find it does not know of either. Norms say more: no eigenvalue
is larger than |A|_1 or |A|_oo, nor in continuous time further right than those logarithmic norms (see `spectrum`), and
a Markov chain has the eigenvalue 1 (0). Where such sums are nowhere above the boundary, somewhere below, and A is
irreducible, no eigenvalue is on it: O. Taussky, A recurring theorem on determinants, Amer. Math. Monthly 56 (1949) 672.
Of unitary matrices, and of skew-Hermitian ones in continuous time, all eigenvalues are on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigs, eigsh

from simsuite.solvers.linear.analysis.chain import stochastic
from simsuite.solvers.linear.analysis.spectrum import MARGINAL, STABLE, UNDETERMINED, UNSTABLE, margin

_VECTORS = 24  # that are kept
_MODES = 6
_WORK = 1e9  # multiplications, of which orthogonal vectors take most: a second or two
_SHARP = 1e-8  # relative, to which an eigenvalue must be known to lie on the boundary
_TOLERANCE = 1e-10  # relative, of ARPACK
_PRODUCT = 1e8  # multiplications of A with itself
BY_SUMS = "known from the sums of |A| along its rows and columns"
BY_VALUES = "known from the outermost eigenvalues, as Arnoldi's method found them"
BY_NORM = "the norm of every state stays as it is"
TOO_LONG, ON_IT = "Arnoldi's method would take too long", "an eigenvalue is on the boundary, but for rounding"


@dataclass(frozen=True)
class Outermost:
    """values: the eigenvalues that were found, nearest to instability first, none where that would take too long;
    boundary: which of them are on the boundary. bound: the spectral radius, or abscissa (1/s), if it is known. verdict:
    as in `spectrum`, for the reason `note`. sums: as of a `Chain`, "" if A is none."""

    values: np.ndarray
    boundary: np.ndarray
    bound: float | None
    verdict: str
    note: str
    sums: str


def outermost(A: csr_array, continuous: bool) -> Outermost:
    """Of A (n, n)."""
    sums = "" if np.iscomplexobj(A) else stochastic(A, continuous)
    with np.errstate(over="ignore", invalid="ignore"):
        limits, rounding = _limits(A, continuous)
        values = _values(A, continuous)
    limit = min(float(np.max(along)) for along in limits)
    scale = float(np.max(np.abs(values), initial=0.0)) if continuous else 1.0
    beyond = margin(values, continuous)
    boundary = np.abs(beyond) <= _SHARP * scale
    found, neutral = len(values) > 0, bool(sums)
    if limit < -rounding or any(_lossy(A, along, rounding) for along in limits):
        verdict, note = STABLE, BY_SUMS
    elif _unitary(A, continuous):
        verdict, note, neutral = MARGINAL, BY_NORM, True
    elif sums or (limit <= rounding and bool(np.any(boundary))):
        verdict, note = MARGINAL, BY_SUMS
    elif found and limit > rounding and beyond[0] > _SHARP * scale:
        verdict, note = UNSTABLE, BY_VALUES
    elif found and beyond[0] < -_SHARP * scale:
        verdict, note = STABLE, BY_VALUES
    else:
        why = ON_IT if found else TOO_LONG
        verdict, note = UNDETERMINED, why if limit > rounding else f"nothing grows, {BY_SUMS}; {why}"
    bound = None
    if neutral:
        bound = 0.0 if continuous else 1.0
    elif found:
        bound = float(np.max(np.real(values) if continuous else np.abs(values)))
    return Outermost(values, boundary, bound, verdict, note, sums)


def _limits(A: csr_array, continuous: bool) -> tuple[list[np.ndarray], float]:
    """Sums along columns and rows, whose largest no eigenvalue's margin exceeds: of both the smaller one. What rounding
    may do to them."""
    diagonal = A.diagonal()
    here = np.real(diagonal) if continuous else np.full(A.shape[0], -1.0)
    sizes, off = abs(A), np.abs(diagonal) if continuous else 0.0
    rounding = 100 * np.finfo(np.float64).eps * float(np.max(np.abs(diagonal if continuous else here)))
    return [np.asarray(sizes.sum(axis=k)) - off + here for k in (0, 1)], rounding


def _lossy(A: csr_array, along: np.ndarray, rounding: float) -> bool:
    """Whether nothing is kept for good: no sum is above the boundary, some are below, and every component reaches every
    other one, so that all of it gets there."""
    if not (np.max(along) <= rounding and np.any(along < -rounding)):
        return False
    return connected_components(A, connection="strong", return_labels=False) == 1


def _unitary(A: csr_array, continuous: bool) -> bool:
    """Whether A, or exp(A t), is unitary, but for rounding of the entries of A: all eigenvalues are on the boundary,
    and semisimple."""
    rounding = 100 * np.finfo(np.float64).eps
    if continuous:
        return bool(np.max(abs(A + A.conj().T).data, initial=0.0) <= rounding * np.max(abs(A).data, initial=0.0))
    if float(np.sum(np.square(np.diff(A.indptr), dtype=np.float64))) > _PRODUCT:
        return False
    off = A.conj().T @ A - eye_array(A.shape[0], format="csr")
    return bool(np.max(abs(off).data, initial=0.0) <= rounding)


def _values(A: csr_array, continuous: bool) -> np.ndarray:
    """The outermost eigenvalues that are found with moderate work, in order."""
    n = A.shape[0]
    restart = (A.nnz + 4 * n * _VECTORS) * (_VECTORS - _MODES)
    if restart > _WORK:
        return np.zeros(0)
    hermitian = abs(A - A.conj().T).nnz == 0
    solve, right = (eigsh, "LA") if hermitian else (eigs, "LR")
    start = np.random.Generator(np.random.Philox(1)).random(n).astype(A.dtype) + 0.5
    try:
        values = solve(
            A,
            _MODES,
            which=right if continuous else "LM",
            v0=start,
            ncv=_VECTORS,
            maxiter=int(_WORK / restart),
            tol=_TOLERANCE,
            return_eigenvectors=False,
        )
    except ArpackError:
        return np.zeros(0)  # some may have converged, but not those that are wanted most
    order = np.lexsort((-np.imag(values), -margin(values, continuous)))
    return values[order]

"""The analysis of sparse matrices too large for all of their eigenvalues: it finds those nearest to instability.

They come from ARPACK, R. B. Lehoucq, D. C. Sorensen, C. Yang, ARPACK Users' Guide (1998), from a fixed start, and with
as many restarts as take a second or two: where eigenvalues lie close together, as those of large chains and of heat
conduction do, that is not enough. Nothing is then known of eigenvalues that ARPACK does not find. Norms say more: no
eigenvalue is larger than |A|_1 or |A|_oo, nor in continuous time further right than those logarithmic norms (see
`spectrum`), and a Markov chain has the eigenvalue 1 (0). Where such sums are nowhere above the boundary, somewhere
below, and A is irreducible, no eigenvalue is on the boundary: O. Taussky, A recurring theorem on determinants, Amer.
Math. Monthly 56 (1949) 672. All eigenvalues of unitary matrices, and of skew-Hermitian ones in continuous time, are on
the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigs, eigsh

from simsuite.solvers.linear.analysis.chain import stochastic
from simsuite.solvers.linear.analysis.spectrum import MARGINAL, STABLE, UNDETERMINED, UNSTABLE, margin

_VECTORS = 24  # ARPACK keeps so many vectors.
_MODES = 6
_WORK = 1e9  # The search may take so many multiplications, most of them for orthogonal vectors: a second or two.
_SHARP = 1e-8  # An eigenvalue counts as on the boundary if it is no further from it than this, relative to the scale.
_TOLERANCE = 1e-10  # The relative tolerance of ARPACK.
_PRODUCT = 1e8  # The product of A with itself may take so many multiplications.
BY_SUMS = "known from the sums of |A| along its rows and columns"
BY_VALUES = "known from the outermost eigenvalues, as Arnoldi's method found them"
BY_NORM = "the norm of every state stays as it is"
TOO_LONG, ON_IT = "Arnoldi's method would take too long", "an eigenvalue is on the boundary, but for rounding"


@dataclass(frozen=True)
class Outermost:
    """What is known of the eigenvalues nearest to instability. values: those that were found, the nearest first, none
    where that would take too long; boundary: which of them are on the boundary. bound: the spectral radius, or abscissa
    (1/s), if it is known. verdict: as in `spectrum`; note: its reason. sums: as of a `Chain`, "" if A is no Markov
    chain.
    """

    values: np.ndarray
    boundary: np.ndarray
    bound: float | None
    verdict: str
    note: str
    sums: str


def outermost(A: csr_array, continuous: bool) -> Outermost:
    """The analysis of A (n, n)."""
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
    """The sums along columns and along rows, less the boundary: the margin of no eigenvalue exceeds the largest sum of
    either kind. And the rounding of these sums.
    """
    diagonal = A.diagonal()
    here = np.real(diagonal) if continuous else np.full(A.shape[0], -1.0)
    sizes, off = abs(A), np.abs(diagonal) if continuous else 0.0
    rounding = 100 * np.finfo(np.float64).eps * float(np.max(np.abs(diagonal if continuous else here)))
    return [np.asarray(sizes.sum(axis=k)) - off + here for k in (0, 1)], rounding


def _lossy(A: csr_array, along: np.ndarray, rounding: float) -> bool:
    """Whether every state decays: no sum is above the boundary, some are below, and every component reaches every other
    one, and so those that lose something.
    """
    if not (np.max(along) <= rounding and np.any(along < -rounding)):
        return False
    return connected_components(A, connection="strong", return_labels=False) == 1


def _unitary(A: csr_array, continuous: bool) -> bool:
    """Whether A, or exp(A t), is unitary, up to the rounding of the entries of A: all eigenvalues are then on the
    boundary, and semisimple.
    """
    rounding = 100 * np.finfo(np.float64).eps
    if continuous:
        return bool(np.max(abs(A + A.conj().T).data, initial=0.0) <= rounding * np.max(abs(A).data, initial=0.0))
    if float(np.sum(np.square(np.diff(A.indptr), dtype=np.float64))) > _PRODUCT:
        return False
    off = A.conj().T @ A - eye_array(A.shape[0], format="csr")
    return bool(np.max(abs(off).data, initial=0.0) <= rounding)


def _values(A: csr_array, continuous: bool) -> np.ndarray:
    """The outermost eigenvalues, those nearest to instability first; none where they are not found
    with moderate work.
    """
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
        return np.zeros(0)  # Some may have converged, but perhaps not the outermost ones.
    order = np.lexsort((-np.imag(values), -margin(values, continuous)))
    return values[order]

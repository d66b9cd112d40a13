"""Eigenvalues of a system's matrix, and what they say about its stability.

A discrete system is stable if all eigenvalues lie inside of the unit circle, a continuous one if all lie left of the
imaginary axis; `margin` is how far beyond that boundary an eigenvalue lies. On it the powers (the exponential) stay
bounded if the eigenvalue is semisimple: as many eigenvectors as it is repeated.

Rounding. Eigenvalues come from LAPACK's geev after balancing, which are those of a matrix that differs by at most about

    tolerance = max(n, 10) eps |A|_F        (A balanced)

so a simple one is off by at most kappa tolerance, kappa = 1/|y'x| with its unit left and right eigenvectors: G. H.
Golub, C. F. Van Loan, Matrix Computations (2013), 7.2. One that is p times in a Jordan block scatters into a ring of p,
with a radius like tolerance^(1/p), a hundredth and more for long blocks: neither its place nor its kind can be read off
the ring. But the mean of the ring is as good as the block's invariant subspace is, and A restricted to that subspace,
in an orthonormal basis, is the eigenvalue times the identity if and only if it is semisimple. So eigenvalues near the
boundary that may belong together, since they are closer than what rounding can do to them, are judged together.

Norms. If |A|_1 or |A|_oo is at most 1 (in continuous time, if such a logarithmic norm is at most 0), nothing grows,
however far rounding can move eigenvalues: that holds for every Markov chain. G. Soderlind, The logarithmic norm, BIT 46
(2006) 631-652.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eig, matrix_balance, schur
from scipy.linalg.lapack import ztrsen
from scipy.sparse.csgraph import connected_components

STABLE, MARGINAL, UNSTABLE, UNDETERMINED = "stable", "marginally stable", "unstable", "undetermined"
_DEFECTIVE = "unstable, by a defective eigenvalue on the boundary"
_RING = 10.0  # Neighbours in a ring are up to 2 pi tolerance kappa apart.
# Neighbours in a ring are never further apart than this (in continuous time, relative to the largest).
_RING_LIMIT = 0.1
_FAR = 100.0  # A ring whose size is what rounding can do does not reach the boundary from so many times that distance.
_SHARP = 1e-6  # An eigenvalue on the boundary must be known to this (in continuous time, relative to the largest).


@dataclass(frozen=True)
class Spectrum:
    """The spectrum of a matrix. values (n,): eigenvalues, nearest to instability first. boundary (n,): which of them
    are on the boundary, up to rounding. left, right (n, n): unit eigenvectors as columns, of the matrix scaled to
    scale[i]^-1 A[i, j] scale[j]. bound: the spectral radius, or for a continuous system the spectral abscissa (1/s).
    error: the error of the bound, to first order in a change of the scaled matrix of the size `tolerance`, which
    rounding may amount to. verdict: STABLE, MARGINAL, UNSTABLE or UNDETERMINED; defective: whether the system is
    unstable by a defective eigenvalue on the boundary, so that states grow like a power of time.
    """

    values: np.ndarray
    boundary: np.ndarray
    left: np.ndarray
    right: np.ndarray
    scale: np.ndarray
    bound: float
    error: float
    verdict: str
    defective: bool
    tolerance: float


def spectrum(A: np.ndarray, continuous: bool) -> Spectrum:
    """The spectrum of A (n, n). Raises ValueError, with the reason, if it cannot be had."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled, (scale, _) = matrix_balance(A, permute=False, separate=True)
        size = float(np.linalg.norm(scaled))
    if not np.isfinite(size):
        raise ValueError("the entries of the matrix are too large")
    tolerance = max(len(A), 10) * np.finfo(np.float64).eps * size
    try:
        values, left, right = eig(scaled, left=True, right=True)
    except np.linalg.LinAlgError as e:
        raise ValueError(f"the eigenvalues do not converge: {e}") from None
    order = _order(values, continuous, tolerance)
    values, left, right = values[order], left[:, order], right[:, order]
    kappa = np.ones(len(values)) if _normal(scaled, size, tolerance) else _condition(left, right)
    judge = _Judge(scaled, values, kappa, continuous, tolerance)
    verdicts = judge.verdicts()
    if _bounded(A, continuous):
        verdicts = {UNDETERMINED if verdict in (UNSTABLE, _DEFECTIVE) else verdict for verdict in verdicts}
        verdict = _first(verdicts, MARGINAL, UNDETERMINED)
    else:
        verdict = _first(verdicts, UNSTABLE, _DEFECTIVE, UNDETERMINED, MARGINAL)
    defective, verdict = verdict == _DEFECTIVE, UNSTABLE if verdict == _DEFECTIVE else verdict
    sizes = np.real(values) if continuous else np.abs(values)
    largest = int(np.argmax(sizes))
    bound, error = float(sizes[largest]), float(tolerance * kappa[largest])
    return Spectrum(values, judge.boundary(), left, right, scale, bound, error, verdict, defective, tolerance)


def _first(verdicts: set[str], *order: str) -> str:
    """The first of the given order that is among the verdicts, `STABLE` if none is."""
    return next((verdict for verdict in order if verdict in verdicts), STABLE)


def _bounded(A: np.ndarray, continuous: bool) -> bool:
    """Whether a norm shows that nothing grows, but for the rounding of the sums."""
    sizes = np.abs(A)
    if continuous:
        np.fill_diagonal(sizes, 0.0)
    sums = np.array([np.sum(sizes, axis=0), np.sum(sizes, axis=1)])
    here = np.real(np.diag(A)) if continuous else -1.0
    rounding = len(A) * np.finfo(np.float64).eps * np.maximum(sums, np.abs(here))
    return bool(np.any(np.all(sums + here <= rounding, axis=1)))


def margin(values: np.ndarray, continuous: bool) -> np.ndarray:
    """How far beyond the boundary of stability each of `values` lies; negative on the stable side."""
    return np.real(values) if continuous else np.abs(values) - 1.0


def frequency(values: np.ndarray, continuous: bool) -> np.ndarray:
    """The angle by which an eigenvalue turns the state, in radians a second, or a step."""
    return np.imag(values) if continuous else np.angle(values)


def _order(values: np.ndarray, continuous: bool, tolerance: float) -> np.ndarray:
    """The order of eigenvalues from the least stable on; among equally stable ones the slow ones come first, and of a
    pair the one with the positive imaginary part.
    """
    beyond = margin(values, continuous)
    beyond = np.where(np.abs(beyond) <= tolerance, 0.0, _rounded(beyond))
    return np.lexsort((-np.imag(values), _rounded(np.abs(frequency(values, continuous))), -beyond))


def _rounded(x: np.ndarray) -> np.ndarray:
    """Numbers rounded to nine digits, so that those that differ by rounding errors become equal."""
    unit = 10.0 ** np.floor(np.log10(np.maximum(np.abs(x), 1e-290)) - 8)
    return np.round(x / unit) * unit


def _normal(A: np.ndarray, size: float, tolerance: float) -> bool:
    """Whether A is, up to rounding, symmetric, skew or a multiple of an orthogonal matrix: then its eigenvectors are
    orthogonal, and rounding does not grow. (A A' - A' A would not show small couplings of equal eigenvalues.)
    """
    H, n = A.conj().T, len(A)
    if min(np.linalg.norm(A - H), np.linalg.norm(A + H)) <= tolerance:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.linalg.norm(A @ H - size**2 / n * np.eye(n)) <= tolerance * size / np.sqrt(n))


def _condition(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The condition number kappa of every eigenvalue, inf for one that is exactly defective."""
    with np.errstate(divide="ignore"):
        return 1.0 / np.abs(np.sum(left.conj() * right, axis=0))


@dataclass(frozen=True)
class _Judge:
    """Judges the eigenvalues of a balanced matrix A. values: its eigenvalues; kappa: their condition numbers, all 1 if
    A is normal.
    """

    A: np.ndarray
    values: np.ndarray
    kappa: np.ndarray
    continuous: bool
    tolerance: float

    def verdicts(self) -> set[str]:
        """The verdicts on all eigenvalues, or groups of them."""
        single, groups = self._groups()
        beyond = margin(self.values, self.continuous)
        found = set(self._verdicts(beyond[single], self.tolerance * self.kappa[single]))
        return found | {self._judge(group) for group in groups}

    def boundary(self) -> np.ndarray:
        """A mask of the eigenvalues that are as near to the boundary as rounding moves them."""
        reach = np.minimum(self.tolerance * self.kappa, max(_SHARP * self._scale, self.tolerance))
        return np.abs(margin(self.values, self.continuous)) <= reach

    @cached_property
    def _scale(self) -> float:
        """The size against which eigenvalues count as small."""
        if not self.continuous:
            return 1.0
        return float(max(np.max(np.abs(self.values)), np.linalg.norm(self.A) / np.sqrt(len(self.A))))

    def _groups(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """The indices of eigenvalues that stand alone, and groups of those that may be copies of a single one.

        Two that are close are grouped only if both are sensitive to rounding, as one that is not would have stayed in
        its place; but it may belong to them if it lies within their ring.
        """
        n = len(self.values)
        if np.all(self.kappa == 1.0):
            return np.arange(n), []
        reach = np.minimum(_RING * self.tolerance * self.kappa, max(_RING_LIMIT * self._scale, self.tolerance))
        together = np.abs(self.values[:, None] - self.values) <= np.minimum(reach[:, None], reach)
        _, label = connected_components(together, directed=False)
        for k in np.flatnonzero(np.bincount(label) > 1):
            ring = self.values[label == k]
            if len(ring):  # Otherwise this ring has become part of another.
                from_centre = np.abs(self.values - np.mean(ring))
                inside = label[from_centre <= 1.5 * np.max(from_centre[label == k])]
                label[np.isin(label, inside)] = k
        count = np.bincount(label)
        return np.flatnonzero(count[label] == 1), [np.flatnonzero(label == k) for k in np.flatnonzero(count > 1)]

    def _verdicts(self, beyond: np.ndarray, error: np.ndarray) -> list[str]:
        """The verdicts on single eigenvalues. beyond: how far they are beyond the boundary; error: of their places."""
        sure, sharp = np.abs(beyond) > error, error <= _SHARP * self._scale + self.tolerance
        return np.select([sure & (beyond > 0), sure, sharp], [UNSTABLE, STABLE, MARGINAL], UNDETERMINED).tolist()

    def _judge(self, group: np.ndarray) -> str:
        """The verdict on a group of eigenvalues that are, up to rounding, a single repeated one."""
        beyond = margin(self.values[group], self.continuous)
        if (
            np.min(np.abs(beyond)) > _FAR * self.tolerance * np.max(self.kappa[group])
            and len(set(np.sign(beyond))) == 1
        ):
            return UNSTABLE if beyond[0] > 0 else STABLE
        restricted, kappa = self._restricted(group)
        mean = np.trace(restricted) / len(group)
        off = np.array([margin(mean, self.continuous)])
        verdict = self._verdicts(off, np.array([self.tolerance * kappa]))[0]
        if verdict == MARGINAL:
            coupling = np.linalg.norm(restricted - mean * np.eye(len(group)))
            return MARGINAL if coupling <= _RING * self.tolerance * kappa else _DEFECTIVE
        return verdict if np.all(np.sign(beyond) == np.sign(off)) else UNDETERMINED

    @cached_property
    def _schur(self) -> tuple[np.ndarray, np.ndarray]:
        return schur(self.A, output="complex")

    def _restricted(self, group: np.ndarray) -> tuple[np.ndarray, float]:
        """A on the invariant subspace of a group of eigenvalues, in an orthonormal basis, and the norm of the projector
        onto it, by which errors of the group's mean grow."""
        T, Q = self._schur
        n, p = len(T), len(group)
        # The Schur form orders eigenvalues in its own way, so those nearest to the group's are chosen.
        distance = np.min(np.abs(np.diag(T)[:, None] - self.values[group]), axis=1)
        select = np.zeros(n, np.int32)
        select[np.argsort(distance, kind="stable")[:p]] = 1
        T, _, _, _, s, *_ = ztrsen(select, T, Q, job="E", wantq=0, lwork=max(1, p * (n - p)))
        return T[:p, :p], 1.0 / s

"""Smoothed aggregation: a preconditioner for large systems of conducting cells, whatever jumps their coefficients have.

Cells that are strongly connected, |a_ij| > θ √(a_ii a_jj), are collected in aggregates of about nine, which become the
unknowns of the next coarser level; interpolation is constant on an aggregate, smoothed by one Jacobi step (P. Vaněk, J.
Mandel, M. Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems, Computing
56 (1996) 179-196). Unlike there the step uses weak connections too: they are weak for the good conductor only, and the
poor one beside it follows its temperature; without them systems with jumps of 10⁴ take five times as many iterations.
One V-cycle with a Jacobi step before and after is symmetric, so that conjugate gradients can use it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

_THRESHOLD = 0.08  # θ on the finest level, halved on each coarser one
_COARSEST = 2000  # the number of unknowns up to which they are eliminated directly
_POWER_STEPS = 12


@dataclass(frozen=True, eq=False)
class _Level:
    matrix: scipy.sparse.csr_array
    damping: np.ndarray  # ω / a_ii
    prolongation: scipy.sparse.csr_array
    restriction: scipy.sparse.csr_array


class Multigrid:
    """Approximate inverse of a symmetric positive definite matrix (n, n)."""

    def __init__(self, matrix: scipy.sparse.sparray) -> None:
        self._levels: list[_Level] = []
        A = scipy.sparse.csr_array(matrix)
        while A.shape[0] > _COARSEST:
            level = _coarsened(A, _THRESHOLD * 0.5 ** len(self._levels))
            coarse = scipy.sparse.csr_array(level.restriction @ A @ level.prolongation)
            self._levels.append(level)
            if coarse.shape[0] > 0.9 * A.shape[0]:
                break
            A = coarse
        else:
            coarse = A
        self._coarsest = splu(scipy.sparse.csc_array(coarse))

    def cycle(self, b: np.ndarray) -> np.ndarray:
        """The approximate solution of A x = b that one V-cycle gives."""
        return self._cycle(b, 0)

    def _cycle(self, b: np.ndarray, depth: int) -> np.ndarray:
        if depth == len(self._levels):
            return self._coarsest.solve(b)
        level = self._levels[depth]
        x = level.damping * b
        x += level.prolongation @ self._cycle(level.restriction @ (b - level.matrix @ x), depth + 1)
        x += level.damping * (b - level.matrix @ x)
        return x


def _coarsened(A: scipy.sparse.csr_array, threshold: float) -> _Level:
    # this imports Numba, and is needed for large grids only
    from simsuite.solvers.heat.steady.aggregation_cpu import aggregate

    diagonal = A.diagonal()
    strong = _strong(A, diagonal, threshold)
    own, count = aggregate(strong.indptr, strong.indices)
    n = A.shape[0]
    constant = scipy.sparse.csr_array((np.ones(n), own, np.arange(n + 1)), shape=(n, count))
    damping = (4.0 / 3.0 / _radius(A, 1.0 / diagonal)) / diagonal
    prolongation = scipy.sparse.csr_array(constant - scipy.sparse.diags_array(damping) @ (A @ constant))
    return _Level(A, damping, prolongation, scipy.sparse.csr_array(prolongation.T))


def _strong(A: scipy.sparse.csr_array, diagonal: np.ndarray, threshold: float) -> scipy.sparse.csr_array:
    """The pattern of the strong connections."""
    entries = A.tocoo()
    rows, columns = entries.row, entries.col
    strong = (rows != columns) & (entries.data**2 > threshold**2 * diagonal[rows] * diagonal[columns])
    return scipy.sparse.coo_array((entries.data[strong], (rows[strong], columns[strong])), shape=A.shape).tocsr()


def _radius(A: scipy.sparse.csr_array, inverse: np.ndarray) -> float:
    """An estimate of the largest eigenvalue of D⁻¹A by the power method, made a little too large."""
    v = np.random.default_rng(0).standard_normal(A.shape[0])
    radius = 1.0
    for _ in range(_POWER_STEPS):
        w = inverse * (A @ v)
        radius = float(np.linalg.norm(w) / np.linalg.norm(v))
        v = w / np.linalg.norm(w)
    return 1.1 * radius

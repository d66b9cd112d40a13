"""Units of states that follow from a system's own matrices.

With x_i = d_i z_i a system keeps its eigenvalues and ranks, but A_ij becomes A_ij d_j / d_i: units decide which of its
entries are small.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import matrix_balance
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components


def without_rounding(A: np.ndarray, B: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """A and B without entries that couple sets of states to each other, or to inputs, by no more than rounding: entries
    below `rounding` times the norm of their row of A and of their column of A, or of B.

    With more digits such entries would be 0, but scaling may make them matter. Inside of sets of states that act on
    each other all entries stay, as there small entries may be a matter of units.
    """
    with np.errstate(over="ignore"):
        rows, columns = np.linalg.norm(A, axis=1), np.linalg.norm(A, axis=0)
        large = np.abs(A) > rounding * np.minimum(rows[:, None], columns)
        touched = np.abs(B) > rounding * np.linalg.norm(B, axis=0)
    label = _sets(large)
    sets = np.zeros((label.max() + 1, B.shape[1]), bool)
    np.logical_or.at(sets, label, touched)
    return np.where(large | (label[:, None] == label), A, 0.0), np.where(sets[label], B, 0.0)


def balanced(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and B in units in which rows and columns of A have about the same norms, by powers of 2."""
    scaled, (d, _) = matrix_balance(A, permute=False, separate=True)
    return scaled, B / d[:, None]


def levelled(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A and B in balanced units in which, besides, all sets of states that act on each other are driven alike: the
    largest entry of B in such a set is 1, or the largest entry of A from another set is as large as the largest entry
    inside of any set.

    The result hardly depends on how states were scaled before. A set that nothing drives stays as it is. The logarithms
    of these units are the lengths of the longest paths from inputs, through sets to which there is no way back.
    """
    n = len(A)
    label = _sets(A != 0)
    d, inside = np.ones(n), 0.0
    for k in range(label.max() + 1):
        members = np.flatnonzero(label == k)
        block, (d[members], _) = matrix_balance(A[np.ix_(members, members)], permute=False, separate=True)
        inside = max(inside, float(np.max(np.abs(block))))
    A, B = A * d / d[:, None], B / d[:, None]
    to, origin = np.nonzero((A != 0) & (label[:, None] != label))
    with np.errstate(divide="ignore"):
        way = np.log(np.abs(A[to, origin]) / (inside or 1.0))
        driven = np.log(np.max(np.abs(B), axis=1, initial=0.0))
    level = np.full(label.max() + 1, -np.inf)
    np.maximum.at(level, label, driven)
    for _ in range(len(level)):
        before = level.copy()
        np.maximum.at(level, label[to], before[label[origin]] + way)
        if np.array_equal(level, before):
            break
    unit = np.exp(np.where(np.isfinite(level), level, 0.0))[label]
    return A * unit / unit[:, None], B / unit[:, None]


def _sets(coupled: np.ndarray) -> np.ndarray:
    """The number (n,) of the set that each state belongs to. States are in one set if they act on each other, directly
    or through others.
    """
    return connected_components(csr_array(coupled), connection="strong")[1]

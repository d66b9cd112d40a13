"""Correlation matrices: whether one is, and the nearest that is.

Problem:  min ||X - A||_F over symmetric X with ones on the diagonal and no eigenvalue below a floor > 0.
Method:   alternating projections onto the two convex sets, with Dykstra's correction for the second:
              R = Y - D,  X = V max(Lambda, floor) V^T for R = V Lambda V^T,  D = X - R,  Y = X with a diagonal of ones.
          Converges linearly to the one minimum.
Source:   N. J. Higham, IMA J. Numerical Analysis 22 (2002), algorithm 3.3, here with a floor instead of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

DIGITS = 4  # digits of the entries of a matrix that a message offers
_FLOOR = 10.0**-DIGITS
_TOLERANCE = 1e-8
_MOST_ITERATIONS = 2000


def smallest_eigenvalue(matrix: npt.NDArray[np.float64]) -> float:
    return float(np.linalg.eigvalsh(matrix)[0])


def is_definite(matrix: npt.NDArray[np.float64]) -> bool:
    """Whether a symmetric matrix is positive definite beyond what rounding can hide."""
    return smallest_eigenvalue(matrix) > len(matrix) * float(np.finfo(np.float64).eps)


def nearest(matrix: npt.NDArray[np.float64], floor: float) -> npt.NDArray[np.float64]:
    """The nearest correlation matrix to a symmetric one, with no eigenvalue below `floor`, which lies in (0, 1]."""
    y, correction = matrix, np.zeros_like(matrix)
    for _ in range(_MOST_ITERATIONS):
        r = y - correction
        values, vectors = np.linalg.eigh(r)
        x = (vectors * np.maximum(values, floor)) @ vectors.T
        correction = x - r
        y = (x + x.T) / 2
        np.fill_diagonal(y, 1.0)
        if np.linalg.norm(y - x) <= _TOLERANCE * np.linalg.norm(y):
            break
    return y


def nearest_in_digits(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The nearest correlation matrix to a symmetric one, rounded to `DIGITS` digits, with a floor so high that it is
    positive definite after rounding, too."""
    floor = _FLOOR
    while True:
        rounded = np.round(nearest(matrix, floor), DIGITS)
        if smallest_eigenvalue(rounded) >= _FLOOR / 10:
            return rounded
        floor = min(2 * floor, 1.0)  # with a floor of 1 the matrix is the identity


def as_toml(matrix: npt.NDArray[np.float64] | Sequence[Sequence[float]]) -> str:
    """The lines of a scenario that hold a matrix."""
    rows = (
        ", ".join("1.0" if i == j else f"{x:.{DIGITS}f}" for j, x in enumerate(row)) for i, row in enumerate(matrix)
    )
    return "correlation = [\n" + "".join(f"    [{row}],\n" for row in rows) + "]"

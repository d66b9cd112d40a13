"""Matrices whose exponentials are known to be hard, as data, with exact exponentials.

Sources. C. Moler, C. Van Loan, Nineteen dubious ways to compute the exponential of a matrix, SIAM Review 20 (1978)
801-836, and 45 (2003) 3-49. [W] R. C. Ward, Numerical computation of the matrix exponential with accuracy estimate,
SIAM J. Numer. Anal. 14 (1977) 600-610. [AH] A. H. Al-Mohy, N. J. Higham, A new scaling and squaring algorithm for the
matrix exponential, SIAM J. Matrix Anal. Appl. 31 (2009) 970-989.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simsuite.verify.linear.exact_exponentials import exponential
from simsuite.verify.linear.runs import Case

EXPONENTIAL = "exponential"
SMALL = 2.0**-26


@dataclass(frozen=True)
class Hard:
    """A matrix whose exponential is hard to compute. spectrum: its exact eigenvalues. dt: the time, s; it differs from
    1 only where 1 would make a weaker check.
    """

    name: str
    rows: Sequence[Sequence[float]]
    spectrum: Sequence[int | Fraction]
    dt: float = 1.0

    def propagator(self, k: float) -> np.ndarray:
        return exponential(self.rows, self.spectrum, Fraction(k) * Fraction(self.dt))


HARD = (
    # Taylor's series loses all digits here: e^-1 and e^-17 come from terms of up to 10^7.
    Hard("Moler, Van Loan, -1 and -17", [[-49, 24], [-64, 31]], [-1, -17]),
    Hard("Moler, Van Loan, nilpotent", np.diag([6.0] * 3, 1).tolist(), [0] * 4),
    # The eigenvectors are parallel up to 1e-8; the eigenvalues are exact.
    Hard(
        "Moler, Van Loan, nearly defective",
        [[1 + SMALL, 1], [0, 1 - SMALL]],
        [1 + Fraction(SMALL), 1 - Fraction(SMALL)],
    ),
    Hard("Jordan block", [[-1, 1, 0], [0, -1, 1], [0, 0, -1]], [-1] * 3),
    Hard("Ward, 1, defective", [[4, 2, 0], [1, 4, 1], [1, 1, 4]], [3, 3, 6]),
    # This is like [W]'s second example, but with an orthogonal matrix of thirds, so that entries and eigenvalues are
    # whole numbers.
    Hard("symmetric, 18, 27 and 36", [[30, 6, 0], [6, 27, -6], [0, -6, 24]], [18, 27, 36]),
    Hard("Ward, 3", [[-131, 19, 18], [-390, 56, 54], [-387, 57, 52]], [-1, -2, -20]),
    Hard("companion, -1 and -39", [[0, 1], [-39, -40]], [-1, -39]),
    Hard("stiff, -1 and -1e5", [[0, 1], [-1e5, -1e5 - 1]], [-1, -(10**5)]),
    Hard("stiff, -1, -1e2 and -1e5", [[-1, 1, 0], [0, -1e2, 1], [0, 0, -1e5]], [-1, -(10**2), -(10**5)]),
    # Norms of powers are far below powers of the norm here, which leads to too many squarings [AH].
    Hard("Al-Mohy, Higham, overscaled", [[1, 100], [0, -1]], [1, -1]),
    Hard("defective, 1, 2 and 2", [[3, -1, 1], [2, 0, 1], [1, -1, 2]], [1, 2, 2]),
    Hard("short step", [[-49, 24], [-64, 31]], [-1, -17], 2.0**-20),
)


def exponential_cases() -> list[Case]:
    """Cases that start from the unit matrix, so that the state is the exponential."""
    found = [
        _case(hard.name, np.array(hard.rows, np.float64), functools.cache(hard.propagator), hard.dt) for hard in HARD
    ]
    return [
        *found,
        _case("Ward, 4, ring of 1e-10", *_ring(10, 1e-10)),
        _case("oscillation", np.array([[0.0, -100.0], [100.0, 0.0]]), _turn),
    ]


def _case(name: str, A: np.ndarray, propagator: Callable[[float], np.ndarray], dt: float = 1.0) -> Case:
    system = {"matrix": A.tolist()}
    return Case(name, EXPONENTIAL, system, 1, np.eye(len(A)), propagator, dt, precisions=("float64",))


def _ring(n: int, corner: float) -> tuple[np.ndarray, Callable[[float], np.ndarray]]:
    """[W]'s fourth example and its exponential: ones above the diagonal, and `corner` at the lower left, so that A^n =
    corner I. Each entry of the exponential is one of n sections of the series of exp.
    """
    A = np.diag(np.ones(n - 1), 1)
    A[-1, 0] = corner

    def at(k: float) -> np.ndarray:
        def entry(i: int, j: int) -> float:
            return math.fsum(
                corner**m * k ** (n * m + j - i) / math.factorial(n * m + j - i) for m in range(4) if n * m + j - i >= 0
            )

        return np.array([[entry(i, j) for j in range(n)] for i in range(n)])

    return A, at


def _turn(k: float) -> np.ndarray:
    c, s = math.cos(100.0 * k), math.sin(100.0 * k)
    return np.array([[c, -s], [s, c]])

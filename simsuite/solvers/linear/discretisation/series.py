"""Stepping dX/dt = A X + B u with a sparse A, without its exponential, which is dense.

A step of dt is taken in s substeps of h = dt/s, each by the series of exp(A h) up to degree m, by Horner's rule:

    Y <- X;    Y <- X + 1/k (h A Y + h B u)    for k = m, m - 1, .., 1

which comes to X + sum over k = 1 .. m of (h A)^(k-1)/k! (h A X + h B u): m sparse products, and exact up to the rest
of the series, for u constant over the step. A. H. Al-Mohy, N. J. Higham, Computing the action of the matrix
exponential, with an application to exponential integrators, SIAM J. Sci. Comput. 33 (2011) 488-511, with the plain
bound of the rest in place of theirs on its backward error.

Rest: at most t^(m+1)/(m+1)! e^t |X| and t^m/(m+1)! e^t |h B u| with t = |h A|, in the norm of columns or of rows; m
is the least that brings it below a rounding. Rounding: terms of the series are up to e^t times as large as X, so t is
kept to LONGEST; what decays fast within h is off by some 10 roundings of X, and all else by about one a substep.

Cost: s m products a step, about 7 |A| dt for long steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from simsuite.core import Backend
from simsuite.solvers.matmul.shared_rows import ALL_ROWS, Sharing
from simsuite.solvers.matmul.sparse import sparse_product

LONGEST = 3.0  # the largest |h A| of a substep
MOST = 10_000  # A step may take at most so many products.
_SHARES = (1.0, 0.75, 0.5, 0.25)  # Shares of the longest possible substep that are tried as lengths.


@dataclass(frozen=True)
class Series:
    """A series for a step. length: of the step, s. substeps: how many there are in a step. degree: of the series of
    each.
    """

    length: float
    substeps: int
    degree: int

    @property
    def dt(self) -> float:
        """The length of a substep, s."""
        return self.length / self.substeps

    @property
    def products(self) -> int:
        """How many products a step takes."""
        return self.substeps * self.degree

    def applied(self, A: csr_array, X: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The state (n, m) a step after X, on the host. A and b (n, 1): the matrix and the inputs' part, both
        multiplied by `dt`.
        """
        for _ in range(self.substeps):
            Y = X
            for k in range(self.degree, 0, -1):
                Y = X + (A @ Y + b) / k
            X = Y
        return X


def series_of(A: csr_array, length: float, dtype: Any) -> Series:
    """The series for steps of `length` seconds in the precision `dtype`, with the fewest products. A (n, n) in 1/s.

    Raises ValueError, with the reason, if a step takes more than MOST products.
    """
    with np.errstate(over="ignore"):
        sizes = abs(A)
        rate = min(float(np.max(sizes.sum(axis=k), initial=0.0)) for k in (0, 1))
        norm = np.float64(length) * rate
    eps = float(np.finfo(dtype).eps)
    too_many = f"a step with |A| dt = {norm:.2g} takes more than {MOST} products with a sparse matrix"
    if 0 < rate < math.inf:
        fits = 0.95 * LONGEST * (MOST // _degree(LONGEST, eps)) / rate
        too_many += f"; one of {fits:.2g} s does not"
    if not norm <= MOST:  # A step takes at least as many products as its norm.
        raise ValueError(too_many)
    choices = {max(math.ceil(norm / (LONGEST * share)), 1) for share in _SHARES}
    products, substeps, degree = min((s * _degree(norm / s, eps), s, _degree(norm / s, eps)) for s in choices)
    if products > MOST:
        raise ValueError(too_many)
    return Series(length, substeps, degree)


def _degree(t: float, eps: float) -> int:
    """The degree at which the rest of the series is below a rounding, for t = |h A|."""
    m, rest = 1, t / 2.0 * max(t, 1.0)
    while rest * math.exp(t) > eps / 2:
        m += 1
        rest *= t / (m + 1)
    return m


class SeriesProduct:
    """The product that takes X to the state a step later, by a series."""

    most_steps: int | None = 1

    def __init__(
        self,
        backend: Backend,
        A: csr_array,
        columns: int,
        series: Series,
        choice: str = "auto",
        sharing: Sharing = ALL_ROWS,
    ) -> None:
        """A: the rows that this process computes of the matrix times `series.dt`, in the precision of the run. columns:
        of X. choice: as `product` takes it. sharing: how processes share each product."""
        single, self.kernel = sparse_product(backend, A, columns, choice)
        self._product = sharing.completing(single)
        number = A.data.dtype.type
        self._scales = [number(1.0 / k) for k in range(series.degree, 0, -1)]
        self._substeps = series.substeps
        self._arrays = [backend.zeros((A.shape[1], columns), A.data.dtype) for _ in range(3)]
        self._spare = [backend.view(a) for a in self._arrays]
        sharing.remember(self._arrays, self._spare)

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue the computation of the state a step after X, which is written to `out`. bias: its given row is B u
        times the length of a substep. n_steps: must be 1.
        """
        source = X
        for k in range(self._substeps):
            last = k + 1 == self._substeps
            target = out if last else self._spare[k % 2]
            self._substep(source, bias, row, target)
            source = target

    def _substep(self, X: Any, bias: Any, row: int, out: Any) -> None:
        """Queue the sums of a substep; they are written to `out` and a buffer in turns, the last one to `out`."""
        Y, places = X, (out, self._spare[2])
        for turn, scale in enumerate(self._scales):
            left = len(self._scales) - 1 - turn
            target = places[left % 2]
            self._product.add(Y, bias, row, X, scale, target)
            Y = target


def series_entries(shape: tuple[int, int]) -> int:
    """How many numbers a SeriesProduct holds besides its sparse product."""
    return 3 * shape[0] * shape[1]

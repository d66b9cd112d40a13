"""Implicit steps along lines of cells: many tridiagonal systems at once.

    (I - a·c·A) X = R + a·c·g_edge·γ,   (A X)_i = g_i (X_{i-1} - X_i) + g_{i+1} (X_{i+1} - X_i),

At the ends of a line, -g·β·X takes the place of the difference to a neighbour outside (see `edges`); lines may be
closed to rings. The first index of an array is the position on the line and the last one the number of the line, R
(n, m), g (n+1, m), c (n, m), so that neighbouring lines are neighbours in memory. All systems are diagonally dominant
M-matrices, for which elimination without pivoting is stable (N. J. Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., 2002, section 9.6); sums of rows are carried along with the pivots (v = 1 - s, where s is the
factor by which an eliminated unknown depends on the next one), so that nothing cancels however large a·c·g is."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.heat.arguments import Along


class Lines:
    """Solves along the first axis of arrays (n, m)."""

    def __init__(self, backend: Backend, dtype: Any, shape: tuple[int, int], along: Along) -> None:
        kernels = backend.kernels(__name__)
        self._solve = backend.launcher(kernels.solve, *kernels.lines_of(*shape))
        self._type = np.dtype(dtype).type
        self._along = tuple(along)

    def solve(self, R: Any, at: int, a: float, scratch: Any) -> None:
        """Queue the solution for the right-hand sides R, which it replaces. a: the factor a of the equation above, s.
        at: where the row of β, γ begins in the edge table."""
        self._solve(R, self._along, at, self._type(a), self._type(1), scratch)

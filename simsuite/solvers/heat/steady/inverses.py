"""Solving A δ = F for the steady state, A = -∂F/∂T of `balance`, in one of three ways, which depends on the size and
kind of the problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, bicgstab, cg, splu

from simsuite.solvers.heat.exact.fast_transforms import fast_transform
from simsuite.solvers.heat.exact.modes import Axis
from simsuite.solvers.heat.exact.separation import Separated
from simsuite.solvers.heat.steady.multigrid import Multigrid

_PRECISION = 1e-6  # the relative precision of iterative solutions; further steps of Newton's method refine them
_MOST = 300  # iterations

Solve = Callable[[np.ndarray], np.ndarray]
# the method of a `Balance` at the present temperatures; its argument is `newton`
Response = Callable[[bool], scipy.sparse.csc_array]


class Inverse(Protocol):
    """A way to solve A δ = F. name: in words. iterations: the number of iterations of all solutions so far; 0 for
    direct methods."""

    name: str
    iterations: int

    def factor(self, response: Response, newton: bool) -> Solve:
        """A function that solves A δ = F for vectors of the cells that are not held. Raises RuntimeError if A is
        singular; the function may also raise it, or return numbers that are not finite."""


class Diagonal:
    """Solves by transforms to the modes of both axes, a division by each pair's rate, and transforms back."""

    name, iterations = "fast diagonalisation", 0

    def __init__(self, parts: Separated) -> None:
        self._parts = parts
        self._rates = parts.rho_c * (parts.rate_x + parts.rate_y[:, None])

    def factor(self, response: Response, newton: bool) -> Solve:
        return self._solve

    def _solve(self, F: np.ndarray) -> np.ndarray:
        x, y = self._parts.x, self._parts.y
        modes = _transformed(x, _transformed(y, F.reshape(self._rates.shape), 0, False), 1, False) / self._rates
        return _transformed(x, _transformed(y, modes, 0, True), 1, True).ravel()


def _transformed(cells: Axis, field: np.ndarray, axis: int, back: bool) -> np.ndarray:
    fast = fast_transform(cells.kind)
    if fast is None:
        V = cells.matrix if back else cells.matrix.T
        return V @ field if axis == 0 else field @ V.T
    out = np.empty_like(field)
    fast(field, out, axis, back)
    return out


class Direct:
    """Solves with sparse triangular factors. The order of elimination is that of minimum degree."""

    name, iterations = "sparse LU", 0

    def __init__(self, symmetric: bool) -> None:
        # In a symmetric positive definite matrix the diagonal entry is as good a pivot as any.
        self._pivoting = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}} if symmetric else {}

    def factor(self, response: Response, newton: bool) -> Solve:
        return splu(response(newton), permc_spec="MMD_AT_PLUS_A", **self._pivoting).solve


class Iterative:
    """Solves by Krylov methods. The preconditioner is made from the symmetric part of A that Picard's iteration
    uses."""

    def __init__(self, symmetric: bool) -> None:
        self._method = cg if symmetric else bicgstab
        self.name = f"{'conjugate gradients' if symmetric else 'BiCGSTAB'} with multigrid"
        self.iterations = 0
        self._symmetric = symmetric

    def factor(self, response: Response, newton: bool) -> Solve:
        A = scipy.sparse.csr_array(response(newton))
        rough = A if self._symmetric or not newton else response(False)
        inverse = LinearOperator(A.shape, Multigrid(rough).cycle, dtype=np.float64)
        return lambda F: self._method(A, F, rtol=_PRECISION, maxiter=_MOST, M=inverse, callback=self._count)[0]

    def _count(self, _: np.ndarray) -> None:
        self.iterations += 1

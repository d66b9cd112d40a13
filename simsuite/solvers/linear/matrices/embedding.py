"""Complex systems written as real ones of twice the size.

    X = R + i S   ->   [R]          A = F + i G   ->   [F  -G]
                       [S]                             [G   F]

The product of two such matrices stands for the product of the complex ones, and likewise powers and the exponential; a
step takes 8 n^2 m operations, as complex arithmetic does. Inputs are real numbers, so B is stacked like a state. The
norm of a stacked state is that of the complex one. The code that steps, takes powers or runs on a device needs no case
for complex systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, issparse

from simsuite.core import Variable
from simsuite.solvers.matmul.sparse import Matrix, in_rows


def by_rows(A: Any) -> csr_array:
    """A, a sparse matrix of any format, as `in_rows` keeps it; complex128 if it is complex."""
    if not np.iscomplexobj(A):
        return in_rows(A)
    found = csr_array(A, dtype=np.complex128, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def embedded(A: Matrix) -> Matrix:
    """The real matrix (2 q, 2 n) that acts on stacked states as A (q, n) acts on complex ones. A may be dense or
    sparse.
    """
    F, G = A.real, A.imag
    if issparse(A):
        return in_rows(block_array([[F, -G], [G, F]], format="csr"))
    return np.block([[F, 0.0 - G], [G, F]])


def stacked(X: np.ndarray) -> np.ndarray:
    """(2 n, m): the real parts of X (n, m) above the imaginary ones."""
    return np.vstack([X.real, X.imag])


def state_variables(what: str, dtype: Any, is_complex: bool) -> tuple[Variable, ...]:
    """The variables of the result file that hold the frames: two for complex states, as netCDF has no complex numbers.
    what: what the frames contain.
    """
    names = {"state_real": f"real part of the {what}", "state_imag": "imaginary part of the same"}
    names = names if is_complex else {"state": what}
    dims = ("time", "component", "sample")
    return tuple(Variable(name, dims, dtype, {"units": "1", "long_name": text}) for name, text in names.items())


def index_variable(name: str, size: int, long_name: str) -> Variable:
    """The variable of the result file that numbers components, or states of the batch, from 0."""
    return Variable(name, (name,), np.int64, {"units": "1", "long_name": long_name}, np.arange(size))


def parts(X: np.ndarray, is_complex: bool) -> dict[str, np.ndarray]:
    """The arrays of a frame X, by the names of the variables that `state_variables` gives."""
    half = len(X) // 2
    return {"state_real": X[:half], "state_imag": X[half:]} if is_complex else {"state": X}


def largest(X: np.ndarray, is_complex: bool) -> float:
    """The largest modulus of an entry of X. is_complex: whether X is stacked."""
    half = len(X) // 2
    return float(np.max(np.hypot(X[:half], X[half:]) if is_complex else np.abs(X)))

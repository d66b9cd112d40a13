"""Products of a sparse matrix that stays with matrices that come and go.

A is kept in compressed sparse rows: `values` and their `columns`, row after row, in increasing order of columns, and
`starts`, where rows begin. Every entry of a product is fma(value, X[column, j], sum) over the stored numbers of its
row, in that order, from 0 on, and then the addition of bias: the same bits on every device, for any number of cores and
any number of columns beside it.

Those are the bits of the dense products, too, which go through all columns in the same order, but for two things: a
zero that is left out would have made NaN of an Inf or NaN in X, and could have turned the sign of a zero sum.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from simsuite.core import Backend
from simsuite.errors import DeviceError

Matrix: TypeAlias = np.ndarray | csr_array
KERNEL = "csr"


class SparseProduct(Protocol):
    """A X + b, as `product.Product`, and a sum with it."""

    most_steps: int | None

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = A X + b, with b the given row of `bias`, added to every column. n_steps: 1.

        Views of arrays of the backend: X (p, m); bias (.., n); out (n, m), another one than X.
        """

    def add(self, X: Any, bias: Any, row: int, base: Any, scale: Any, out: Any) -> None:
        """Queue out = base + scale (A X + b), rounded once after A X + b. base (n, m), a view; scale: of the type of A,
        not 0."""


def in_rows(A: Any) -> csr_array:
    """A, a sparse matrix of any format, float64, by rows in order of columns: duplicates added up in the order in which
    they are given, zeros left out."""
    found = csr_array(A, dtype=np.float64)
    if found.has_canonical_format and np.all(found.data):
        return found
    found = found.copy()
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def filled(A: Matrix) -> np.ndarray:
    """A with its zeros."""
    return A.toarray() if isinstance(A, csr_array) else A


def stored(A: Matrix) -> int:
    """How many numbers are kept of A."""
    return int(A.nnz) if isinstance(A, csr_array) else A.size


def sparse_product(backend: Backend, A: csr_array, columns: int, choice: str = "auto") -> tuple[SparseProduct, str]:
    """(a product with A, (n, p) in its own precision as `in_rows` makes it, for X of so many columns; the kernel's
    name). choice: "auto" or "numba". Raises DeviceError for anything else that `product` takes."""
    if choice not in ("auto", "numba"):
        raise DeviceError(f'kernel = "{choice}" multiplies dense matrices only; write "auto", or format = "dense"')
    return backend.kernels("simsuite.solvers.matmul.sparse").Multiplier(backend, A, columns), KERNEL


def sparse_bytes(A: csr_array, itemsize: int) -> int:
    """What such a product holds, in a precision of so many bytes."""
    return A.nnz * (itemsize + A.indices.itemsize) + A.indptr.nbytes

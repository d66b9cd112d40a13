"""Products of a constant sparse matrix with varying dense ones.

A is stored in compressed sparse rows: `values` and their `columns`, row after row, in increasing order of columns, and
`starts`, where rows begin. Every entry of a product is computed by sum = fma(value, X[column, j], sum) over the stored
numbers of its row, in that order, starting from 0, and then the addition of bias. So the bits are the same on every
device, for any number of cores and any number of columns.

They are also the bits of the dense products, which go through all columns in the same order, with two exceptions: a
zero that is not stored would have made NaN of an Inf or NaN in X, and could have changed the sign of a zero sum.
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
    """The product A X + b with a sparse A, called like `product.Product`; `add` also adds it to another matrix."""

    most_steps: int | None

    def __call__(self, X: Any, bias: Any, row: int, stride: int, n_steps: int, out: Any) -> None:
        """Queue out = A X + b, where b is the given row of `bias`, added to every column. n_steps must be 1.

        All arguments are views of arrays of the backend: X (p, m); bias (.., n); out (n, m), which must not be X.
        """

    def add(self, X: Any, bias: Any, row: int, base: Any, scale: Any, out: Any) -> None:
        """Queue out = base + scale (A X + b), where A X + b is rounded first and the sum once more. base (n, m) is a
        view; scale: a number of the type of A, not 0.
        """


def in_rows(A: Any) -> csr_array:
    """A, a sparse matrix of any format, as float64 in compressed rows with sorted columns. Duplicates are added up in
    the order in which they are given, and zeros are left out.
    """
    found = csr_array(A, dtype=np.float64)
    if found.has_canonical_format and np.all(found.data):
        return found
    found = found.copy()
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def filled(A: Matrix) -> np.ndarray:
    """A as a dense array."""
    return A.toarray() if isinstance(A, csr_array) else A


def stored(A: Matrix) -> int:
    """How many numbers of A are stored."""
    return int(A.nnz) if isinstance(A, csr_array) else A.size


def sparse_product(backend: Backend, A: csr_array, columns: int, choice: str = "auto") -> tuple[SparseProduct, str]:
    """(a product with A for X of so many columns, the kernel's name). A (n, p) must be as `in_rows` makes it; its
    precision is that of the product. choice: "auto" or "numba". Raises DeviceError for any other choice that `product`
    takes.
    """
    if choice not in ("auto", "numba"):
        raise DeviceError(f'kernel = "{choice}" multiplies dense matrices only; write "auto", or format = "dense"')
    return backend.kernels("simsuite.solvers.matmul.sparse").Multiplier(backend, A, columns), KERNEL


def sparse_bytes(A: csr_array, itemsize: int) -> int:
    """The bytes that such a product holds, with numbers of `itemsize` bytes."""
    return A.nnz * (itemsize + A.indices.itemsize) + A.indptr.nbytes

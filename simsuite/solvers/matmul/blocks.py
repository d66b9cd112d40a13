"""Products of many small matrices of equal shape, each with its own part of X: those of a block diagonal matrix.

The sums are those of `matmul.product`: fma(A[i, k], X[k, j], sum) over k = 0, 1, .. from 0 on, and then the addition of
bias, by every kernel. So each block has the bits of a product of its own. A call takes many steps: blocks need nothing
of each other, so each goes through all of them on its own, on a core or in a block of threads.
"""

from __future__ import annotations

import numpy as np

from simsuite.core import Backend
from simsuite.errors import DeviceError
from simsuite.solvers.matmul.product_protocol import Product

MOST_ROWS = 64  # of a block: what a block of threads has room for
KERNEL = "blocks"


def block_product(backend: Backend, A: np.ndarray, columns: int, choice: str = "auto") -> tuple[Product, str]:
    """(a product with the matrix that has the blocks A (s, n, n) on its diagonal, for X (s n, columns); the name of its
    kernel). choice: "auto" or "numba". Raises DeviceError for any other choice that `product` takes.
    """
    if choice not in ("auto", "numba"):
        raise DeviceError(f'kernel = "{choice}" multiplies single matrices only; write "auto"')
    kernels = backend.kernels("simsuite.solvers.matmul.blocks")
    return kernels.Multiplier(backend, np.ascontiguousarray(A.transpose(0, 2, 1)), columns), KERNEL


def block_entries(A: np.ndarray, columns: int) -> int:
    """How many numbers such a product holds."""
    return A.size + 2 * A.shape[0] * A.shape[1] * columns

"""The output C X of a linear system, which frames hold instead of the state where a scenario asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul import product_entries
from simsuite.solvers.matmul.product import Product, product
from simsuite.solvers.matmul.sparse import Matrix, SparseProduct, sparse_product


class ObservedOutput:
    """C X on the device, where X has so many columns. C: (q, n), or None if X itself is observed. kernel: as `product`
    takes it.
    """

    def __init__(self, backend: Backend, C: Matrix | None, dtype: Any, columns: int, kernel: str) -> None:
        self._array: Any = None
        self._product: Product | SparseProduct
        if C is not None:
            q = C.shape[0]
            self._array, self._no_bias = backend.zeros((q, columns), dtype), backend.zeros((1, q), dtype)
            self._views = backend.view(self._no_bias), backend.view(self._array)
            C = C.astype(dtype)
            if isinstance(C, np.ndarray):
                self._product, _ = product(backend, backend.array(C), columns, kernel, biased=False)
            else:
                self._product, _ = sparse_product(backend, C, columns, kernel)

    def queue(self, X: Any) -> Mapping[str, Any]:
        """Queue the computation of C X and return its array by name; an empty mapping without C. X: a view."""
        if self._array is None:
            return {}
        no_bias, output = self._views
        self._product(X, no_bias, 0, 0, 1, output)
        return {"output": self._array}


def output_entries(C: Matrix | None, columns: int) -> int:
    """How many numbers an ObservedOutput allocates at most."""
    if C is None:
        return 0
    held = product_entries(*C.shape) if isinstance(C, np.ndarray) else 2 * C.nnz + C.shape[0] + 1
    return held + C.shape[0] * (columns + 1)

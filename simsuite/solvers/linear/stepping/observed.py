"""What the frames of a linear system hold instead of its state, where that is asked for: C X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.matmul import product_entries
from simsuite.solvers.matmul.product import product


class ObservedOutput:
    """C X on the device, for X of so many columns. C: (q, n), or None for nothing. kernel: as `product` takes it."""

    def __init__(self, backend: Backend, C: np.ndarray | None, dtype: Any, columns: int, kernel: str) -> None:
        self._array: Any = None
        if C is not None:
            self._array, self._no_bias = backend.zeros((len(C), columns), dtype), backend.zeros((1, len(C)), dtype)
            self._views = backend.view(self._no_bias), backend.view(self._array)
            C = C.astype(dtype)
            self._product, _ = product(backend, backend.array(C), columns, kernel, biased=False)

    def queue(self, X: Any) -> Mapping[str, Any]:
        """Queue C X; its array by name, or none. X: a view."""
        if self._array is None:
            return {}
        no_bias, output = self._views
        self._product(X, no_bias, 0, 0, 1, output)
        return {"output": self._array}


def output_entries(C: np.ndarray | None, columns: int) -> int:
    """How many numbers it allocates at most."""
    return 0 if C is None else product_entries(*C.shape) + len(C) * (columns + 1)

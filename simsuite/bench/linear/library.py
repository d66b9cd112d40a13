"""The device's own library of matrix products, which most programs call: cuBLAS, or NumPy's BLAS on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.errors import LibraryMissing


class _NumPy:
    name = "NumPy"

    def multiply(self, A: Any, B: Any, out: Any) -> None:
        np.matmul(A, B, out=out)


def library(backend: Backend) -> Any | None:
    """The library's products, made like those of `Backend.products`; None where it is not installed."""
    try:
        return backend.products() or _NumPy()
    except LibraryMissing:
        return None

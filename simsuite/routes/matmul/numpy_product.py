"""The product by NumPy's `@`: a library of linear algebra (OpenBLAS), tuned by hand for each processor, on all its
cores."""

from __future__ import annotations

import numpy as np

from simsuite.routes.matmul.shapes import host_sizes


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C = A B."""
    host_sizes(a, b)
    return a @ b

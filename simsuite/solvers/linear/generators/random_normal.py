"""Random states."""

from __future__ import annotations

import numpy as np


def random_normal(rows: int, columns: int, seed: int) -> np.ndarray:
    """Independent standard normal numbers, from NumPy's counter-based Philox: the same wherever they are used."""
    return np.random.Generator(np.random.Philox(seed)).standard_normal((rows, columns))

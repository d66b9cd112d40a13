"""Types of numbers along a path, for each `precision` of a scenario."""

from __future__ import annotations

import numpy as np

PRECISIONS: dict[str, tuple[np.dtype, np.dtype]] = {  # types of what is added up, and of normals
    "float64": (np.dtype(np.float64), np.dtype(np.float64)),
    "float32": (np.dtype(np.float32), np.dtype(np.float32)),
    "mixed": (np.dtype(np.float64), np.dtype(np.float32)),
}
C_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
NORMALS_PER_BLOCK = {np.dtype(np.float64): 2, np.dtype(np.float32): 4}  # steps of a block of random numbers, see `rng`

"""Heat conduction in a rod whose ends are held at 0."""

from __future__ import annotations

import numpy as np


def heat1d(points: int, length: float, diffusivity: float) -> np.ndarray:
    """Second differences at the points i h, h = length/(points + 1), with 0 at both ends; in 1/s.

    Exact: eigenvalues -4 diffusivity/h^2 sin^2(pi k/(2(n + 1))) with eigenvectors sin(pi k i/(n + 1)), k = 1 .. n.
    """
    h = length / (points + 1)
    beside = np.ones(points - 1)
    return diffusivity / h**2 * (np.diag(np.full(points, -2.0)) + np.diag(beside, 1) + np.diag(beside, -1))

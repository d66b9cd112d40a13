"""Heat conduction in a rod whose ends are held at 0."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from simsuite.solvers.linear.generators.bands import tridiagonal


def heat1d(points: int, length: float, diffusivity: float) -> csr_array:
    """The matrix A, in 1/s, of second differences at the points i h, h = length/(points + 1), with the value 0 at both
    ends.

    Exact: its eigenvalues are -4 diffusivity/h^2 sin^2(pi k/(2(n + 1))) with eigenvectors sin(pi k i/(n + 1)), k = 1 ..
    n.
    """
    h = length / (points + 1)
    return diffusivity / h**2 * tridiagonal(1.0, np.full(points, -2.0), 1.0)

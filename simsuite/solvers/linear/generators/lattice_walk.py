"""A random walk on a rectangular lattice."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, kron


def lattice_walk(nx: int, ny: int, move: float) -> csr_array:
    """The matrix A whose entry A[i, j], the probability of going from site j to site i in a step, is `move` between
    neighbours. Component y nx + x of the state is site (x, y). A walker who would leave the lattice stays.

    Exact: A = 1 - move (I x L(nx) + L(ny) x I), where L(n) is the Laplacian of a row of n sites, whose eigenvalues are
    2 - 2 cos(pi k/n) with eigenvectors cos(pi k (i + 1/2)/n), k = 0 .. n - 1: G. Strang, The discrete cosine transform,
    SIAM Review 41 (1999) 135-147. In the long run all sites are equally likely; the slowest mode decays by the factor 1
    - 2 move (1 - cos(pi/n)) a step, where n is the length of the longer side.
    """

    def laplacian(n: int) -> csr_array:
        beside = np.full(n - 1, -1.0)
        degree = np.zeros(n)
        degree[1:] += 1.0
        degree[:-1] += 1.0
        return diags_array([beside, degree, beside], offsets=[-1, 0, 1], format="csr")

    A = kron(eye_array(ny), laplacian(nx)) + kron(laplacian(ny), eye_array(nx))
    return csr_array(eye_array(nx * ny) - move * A)

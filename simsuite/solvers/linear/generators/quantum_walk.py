"""A coined quantum walk on a cycle: D. Aharonov, A. Ambainis, J. Kempe, U. Vazirani, Quantum walks on graphs, Proc.
33rd ACM Symposium on Theory of Computing (2001) 50-59."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array


def quantum_walk(sites: int) -> csr_array:
    """The matrix S (I x H) of a step: the coin H = [[1, 1], [1, -1]]/sqrt(2) is tossed at every site; then S moves the
    amplitude with coin 0 to the next site and that with coin 1 to the one before. Component 2 x + c is site x with coin
    c.

    Exact: the matrix is real and orthogonal, so the norm is constant: the sum of both squares at a site is the
    probability to find the walker there. For each wave number k_j = 2 pi j/N, j = 0 .. N - 1, the eigenvalues are
    exp(-i w_j) and -exp(i w_j), sin(w_j) = sin(k_j)/sqrt(2), with eigenvectors exp(i k_j x) times those of diag(exp(-i
    k_j), exp(i k_j)) H. They are all different if N is odd; the probabilities of a walker who starts at one site,
    averaged over time, then tend to 1/N everywhere.
    """
    h = math.sqrt(0.5)
    x = np.arange(sites)
    after, before = 2 * ((x + 1) % sites), 2 * ((x - 1) % sites) + 1
    rows, columns = np.concatenate([after, after, before, before]), np.concatenate([2 * x, 2 * x + 1] * 2)
    return csr_array((np.repeat([h, h, h, -h], sites), (rows, columns)), shape=(2 * sites, 2 * sites))

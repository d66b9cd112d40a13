"""Equal masses in a row between two walls, joined by equal springs."""

from __future__ import annotations

from scipy.sparse import block_array, csr_array, eye_array

from simsuite.solvers.linear.generators.heat1d import heat1d


def springs(masses: int, mass: float, stiffness: float, damping: float) -> csr_array:
    """The matrix [[0, I], [K, D]] for a state of displacements (m) followed by velocities (m/s).

    Exact: without damping the angular frequencies are w_k = 2 sqrt(stiffness/mass) sin(pi k/(2(n + 1))), k = 1 .. n;
    with damping the eigenvalues are the roots of s^2 + damping/mass s + w_k^2. Without damping the energy mass/2 v.v +
    stiffness/2 (sum of squared spring extensions) is constant.
    """
    identity = eye_array(masses, format="csr")
    forces = heat1d(masses, masses + 1.0, stiffness / mass)
    return csr_array(block_array([[None, identity], [forces, -damping / mass * identity]], format="csr"))

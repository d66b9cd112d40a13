"""Generators of matrices that a scenario can name: one a file, each with its exact solution.

The generators use elementary operations only, so that a matrix is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from simsuite.scenario.linear import generators as given
from simsuite.solvers.linear.generators.heat1d import heat1d
from simsuite.solvers.linear.generators.lattice_walk import lattice_walk
from simsuite.solvers.linear.generators.leslie import leslie
from simsuite.solvers.linear.generators.markov import markov
from simsuite.solvers.linear.generators.quantum_walk import quantum_walk
from simsuite.solvers.linear.generators.random_stable import random_stable
from simsuite.solvers.linear.generators.rc_ladder import rc_ladder, voltage_source
from simsuite.solvers.linear.generators.rotation import rotation
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.matmul.sparse import Matrix, filled, in_rows


def generate(source: given.Generated, continuous: bool) -> Matrix:
    """The matrix A that a generator makes, float64: that of dX/dt = A X if `continuous`, else that of X_{k+1} = A X_k.
    It is stored as the scenario says, dense or sparse.
    """
    A = _generated(source, continuous)
    kept = source.format or ("csr" if isinstance(source, given.LatticeWalk) else "dense")
    if kept == "csr":
        return in_rows(A)
    return filled(A)


def _generated(source: given.Generated, continuous: bool) -> Matrix:
    match source:
        case given.Rotation():
            return rotation(source.angle, continuous)
        case given.Markov():
            return markov(source.states, source.up, source.down, continuous)
        case given.Heat1d():
            return heat1d(source.points, source.length, source.diffusivity)
        case given.Springs():
            return springs(source.masses, source.mass, source.stiffness, source.damping)
        case given.RandomStable():
            return random_stable(source.size, source.radius, source.seed, continuous)
        case given.Leslie():
            return leslie(source.fecundity, source.survival)
        case given.RcLadder():
            return rc_ladder(source.sections, source.resistance, source.capacitance)
        case given.QuantumWalk():
            return quantum_walk(source.sites)
        case given.LatticeWalk():
            return lattice_walk(source.nx, source.ny, source.move)


def generate_input(source: given.RcLadder) -> np.ndarray:
    """The matrix B that belongs to a generated A, float64."""
    return voltage_source(source.sections, source.resistance, source.capacitance)

"""A system from its inputs to its outputs, as control theory takes it: y = G u with G(s) = C (s I - A)^-1 B + D."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigvals, matrix_balance

from simsuite.libraries import decomposing
from simsuite.solvers.linear.control.zeros import zeros
from simsuite.solvers.linear.state_space import StateSpace
from simsuite.solvers.matmul.sparse import filled


@dataclass(frozen=True, eq=False)
class Plant:
    """The system dx/dt = A x + B u if `continuous`, else x_{k+1} = A x_k + B u_k, with y = C x + D u, all of it real.

    A (n, n), B (n, p), C (q, n), D (q, p), float64; rates in 1/s if continuous. dt: the length of a step, s; of a
    discrete system the frequency w, in rad/s, is that of u_k = exp(i w k dt), and G is taken at z = exp(i w dt).
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    continuous: bool
    dt: float

    @cached_property
    def units(self) -> np.ndarray:
        """The powers of 2 d (n,) for which x = d x' is the state of `balanced`, x'."""
        return np.asarray(matrix_balance(self.A, permute=False, separate=True)[1][0])

    @cached_property
    def balanced(self) -> Plant:
        """The same from inputs to outputs, in units of the state by powers of 2 in which rows and columns of A have
        about the same norms; no entry is rounded.
        """
        d = self.units
        return Plant(self.A * d / d[:, None], self.B / d[:, None], self.C * d, self.D, self.continuous, self.dt)

    @cached_property
    def poles(self) -> np.ndarray:
        """The eigenvalues of A."""
        with decomposing(len(self.A)):
            return np.asarray(eigvals(self.balanced.A), np.complex128)

    @cached_property
    def zeros(self) -> np.ndarray:
        """The invariant zeros of all inputs and outputs together: those s for which some input exp(s t), with some
        initial state, comes out of no output."""
        with decomposing(len(self.A)):
            return zeros(self.balanced.A, self.balanced.B, self.balanced.C, self.D)

    def channel(self, output: int, input: int) -> Plant:
        """The plant from a single input to a single output."""
        B, C = self.B[:, input : input + 1], self.C[output : output + 1]
        D = self.D[output : output + 1, input : input + 1]
        return Plant(self.A, B, C, D, self.continuous, self.dt)

    @property
    def rounding(self) -> float:
        """A change of poles, in their unit, that the rounding of A may amount to."""
        return float(10 * len(self.A) * np.finfo(np.float64).eps * np.max(np.abs(self.balanced.A)))

    @property
    def highest(self) -> float:
        """The highest frequency there is, rad/s: half a turn a step, or inf."""
        return np.inf if self.continuous else np.pi / self.dt

    def rates(self, values: np.ndarray) -> np.ndarray:
        """The exponents s, in 1/s, of poles or zeros: of a discrete system log(z)/dt, -inf for z = 0."""
        if self.continuous:
            return values
        values = np.asarray(values, np.complex128)
        return np.where(values == 0, -np.inf, np.log(np.where(values == 0, 1.0, values)) / self.dt)


def plant_of(stated: StateSpace, dt: float) -> Plant:
    """The plant that a scenario states: without C all states are its outputs, without B nothing is an input. dt: the
    length of a step, s."""
    A = np.asarray(filled(stated.A), np.float64)
    n = len(A)
    B = np.zeros((n, 0)) if stated.B is None else stated.B
    C = np.eye(n) if stated.C is None else stated.C
    D = np.zeros((len(C), B.shape[1])) if stated.D is None else stated.D
    B, C, D = (np.asarray(M, np.float64) for M in (B, C, D))
    return Plant(A, B, C, D, stated.continuous, dt)

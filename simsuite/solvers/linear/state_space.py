"""A linear system as its scenario states it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.linear.inputs.recorded import Input
from simsuite.solvers.matmul.sparse import Matrix, filled


@dataclass(frozen=True)
class StateSpace:
    """The system dX = (A X + B u) dt + G dW if `continuous`, else X_{k+1} = A X_k + B u_k + G w_k; observed as C X + D
    u; all in float64.

    A (n, n), dense or sparse, in 1/s if continuous; B (n, p), or None without inputs; inputs: p functions of t; C (q,
    n), or None if X itself is observed; D (q, p), or None if inputs do not act on outputs at once; G (n, r),
    in 1/sqrt(s) if continuous, or None without noise.
    """

    A: Matrix
    B: np.ndarray | None
    inputs: tuple[Input, ...]
    C: np.ndarray | None
    continuous: bool
    G: np.ndarray | None = None
    D: np.ndarray | None = None

    def dense(self) -> StateSpace:
        """This system with a dense A."""
        return dataclasses.replace(self, A=filled(self.A))

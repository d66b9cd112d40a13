"""The derivatives of entries of what frames hold, of a system in continuous time without noise.

Within a step y = c x + d u changes at the rate c (A x + B u) + d du/dt: u is constant there, or a straight line. So
rates on both sides of a step follow from the state and the inputs then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.linear.system import LinearSystem


@dataclass(frozen=True)
class Derivatives:
    """Those of some entries. A (entries, n), B (entries, p), D (entries, p): what multiplies x, u and du/dt."""

    A: np.ndarray
    B: np.ndarray
    D: np.ndarray

    @classmethod
    def of(cls, system: LinearSystem, components: Sequence[int]) -> Derivatives:
        """Those of these components of outputs, or of states where there are no outputs. The system is real."""
        stated, rows = system.stated, list(components)
        if stated.C is None:
            C = np.zeros((len(rows), stated.A.shape[0]))
            C[range(len(rows)), rows] = 1.0
        else:
            C = stated.C[rows]
        none = np.zeros((len(rows), len(system.inputs.given)))
        B = none if stated.B is None else C @ stated.B
        return cls(np.asarray(C @ stated.A), B, none if stated.D is None else stated.D[rows])

    def at(self, system: LinearSystem, X: np.ndarray, samples: Sequence[int], step: int) -> list[tuple[float, float]]:
        """The derivative of each entry just before a step and just after it, 1/s. X (n, m): the state then. samples:
        the column that each entry is of. Before the first step there is nothing: the first number means nothing then.
        """
        inputs = system.inputs
        with np.errstate(all="ignore"):
            moved = np.einsum("kn,nk->k", self.A, X[:, list(samples)].astype(np.float64))
            before, at, after = inputs.at(np.array([max(step - 1, 0), step, step + 1])).T
            if inputs.ahead:
                held = moved + self.B @ at
                sides = held + self.D @ (at - before) / inputs.dt, held + self.D @ (after - at) / inputs.dt
            else:
                sides = moved + self.B @ before, moved + self.B @ at
        return [(float(left), float(right)) for left, right in zip(*sides)]

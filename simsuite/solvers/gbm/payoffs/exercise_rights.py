"""American options among the functionals: who may exercise, when, and which rows of the policy are theirs, see
`american/exercise_policy.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.gbm.payoffs.functionals import Functional, Right

TERMS = 4  # entries of a row before its coefficients
_ALIGNED = 4  # numbers: the width of rows is a multiple of this, so that they can be read in words of 16 bytes


@dataclass(frozen=True)
class Holder:
    """An American option: its number among the functionals, and its rows of the policy. until: the last step with
    which it ends."""

    functional: int
    asset: int
    right: Right
    steps: np.ndarray
    rows: slice
    until: int


def holders(functionals: Sequence[Functional], n_steps: int) -> list[Holder]:
    found: list[Holder] = []
    for f, functional in enumerate(functionals):
        if functional.right is not None:
            begin = found[-1].rows.stop if found else 0
            rows = slice(begin, begin + functional.dates.count)
            steps = functional.dates.steps(n_steps)
            until = n_steps if functional.dates.until is None else functional.dates.until
            found.append(Holder(f, functional.asset, functional.right, steps, rows, until))
    return found


def policy_shape(functionals: Sequence[Functional]) -> tuple[int, int]:
    """(rows, width), known without making the dates; (0, 0) without American options."""
    american = [f for f in functionals if f.right is not None]
    if not american:
        return 0, 0
    width = TERMS + 1 + max(f.right.degree for f in american if f.right is not None)
    return sum(f.dates.count for f in american), -(-width // _ALIGNED) * _ALIGNED


def learning_steps(holders: Sequence[Holder]) -> np.ndarray:
    """The steps after which the paths to learn from are looked at: those at which any option can be exercised."""
    return np.unique(np.concatenate([holder.steps for holder in holders]))


def basis_specs(functionals: Sequence[Functional]) -> tuple[tuple[int, bool], ...]:
    """(degree, call) of each American option, for the kernels."""
    return tuple((f.right.degree, f.right.call) for f in functionals if f.right is not None)

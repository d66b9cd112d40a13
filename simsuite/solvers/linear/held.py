"""Inputs that keep their values for many steps: a dose every day, a source that is switched on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.linear.input_values import input_values, step_times

MOST = 100_000  # times that inputs may change


@dataclass(frozen=True)
class HeldInputs:
    """steps: those from which on inputs have new values, from 0; which: of the columns of values (p, ..), for each."""

    steps: np.ndarray
    which: np.ndarray
    values: np.ndarray

    @property
    def changes(self) -> bool:
        """Whether they ever do."""
        return self.values.shape[1] > 1

    def at(self, step: int) -> int:
        """The column of the values that inputs have from there on."""
        return int(self.which[np.searchsorted(self.steps, step, side="right") - 1])


def held_inputs(inputs: Sequence[Expression], dt: float, steps: int) -> HeldInputs | None:
    """What inputs are in a run of so many steps of length dt; None if they change more often than every other step, or
    than `MOST` times.

    The steps are halved until all inputs are constant in each part. That they are is found by interval arithmetic, so
    that it takes a few evaluations for each change, however many steps there are.
    """
    most = min(MOST, max(steps // 2, 1))
    moving = [u for u in inputs if u.depends_on("t")]
    found: list[np.ndarray] = []
    parts = np.array([[0], [steps - 1]])  # first and last steps
    while parts.size:
        constant = _constant(moving, step_times(dt, steps, parts))
        found.append(parts[0, constant])
        first, last = parts[:, ~constant]
        middle = (first + last) // 2
        parts = np.hstack([[first, middle], [middle + 1, last]])
        if parts.shape[1] > 4 * most:  # at most two of them, and neighbours, for each change
            return None
    starts = np.sort(np.concatenate(found))
    values = input_values(inputs, step_times(dt, steps, starts))
    changes = np.flatnonzero(np.append(True, np.any(values[:, 1:] != values[:, :-1], axis=0)))
    if len(changes) > most:
        return None
    values, which = np.unique(values[:, changes], axis=1, return_inverse=True)
    return HeldInputs(starts[changes], which.reshape(-1), values)


def _constant(inputs: Sequence[Expression], times: np.ndarray) -> np.ndarray:
    """In which of the spans from times[0] to times[1] all inputs are."""
    constant = times[0] == times[1]
    same = np.full(constant.shape, True)
    for u in inputs:
        lower, upper = bounds_within(u.tree, {"t": (times[0], times[1])})
        same &= np.broadcast_to(lower == upper, same.shape)
    return constant | same

"""Inputs that keep their values for many steps: a dose every day, a source that is switched on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.linear.inputs.clock import step_times
from simsuite.solvers.linear.inputs.input_values import Inputs, bad_input, finite
from simsuite.solvers.linear.inputs.recorded import Input, RecordedInput

MOST = 100_000  # Inputs may change at most so many times.
_SAMPLED = 512  # So many pairs of neighbouring steps are compared.


@dataclass(frozen=True)
class HeldInputs:
    """The values of inputs that stay constant for many steps. steps: those from which on inputs have new values, from 0
    on; which: for each of them, the number of the column of `values` (q, ..) that holds from there on.
    """

    steps: np.ndarray
    which: np.ndarray
    values: np.ndarray

    @property
    def changes(self) -> bool:
        """Whether the inputs ever change."""
        return self.values.shape[1] > 1

    def at(self, step: int) -> int:
        """The number of the column of `values` that the inputs have at this step."""
        return int(self.which[np.searchsorted(self.steps, step, side="right") - 1])

    def bad(self, inputs: Inputs, steps: int, dtype: Any) -> Iterator[Mistake]:
        """A mistake for each input that is not finite in that precision at some step of the run."""
        for i, values in enumerate(self.values[: len(inputs.given)]):
            bad = np.flatnonzero(~finite(values[self.which], dtype))
            if len(bad):
                yield bad_input(inputs, i, int(self.steps[bad[0]]), steps, dtype)


def held_inputs(inputs: Inputs, steps: int) -> HeldInputs | None:
    """The values that B multiplies in a run of so many steps; None if they change at more than every other step, or
    more than `MOST` times, or if that cannot be told.

    The steps are bisected until all inputs are constant in each part. Interval arithmetic shows that they are, so that
    it takes a few evaluations for each change, however many steps there are.
    """
    most = min(MOST, steps // 2)
    if inputs.move and _busy(inputs, steps):
        return None
    last = steps if inputs.ahead else steps - 1  # the last step at whose beginning an input counts
    starts = _parts(inputs, last, most)
    if starts is None:
        return None
    if inputs.ahead:  # In the step before a change, inputs move to their new values.
        starts = np.union1d(starts, np.maximum(starts - 1, 0))
        starts = starts[starts < steps]
    values = inputs.values(starts)
    new = np.flatnonzero(np.append(True, np.any(values[:, 1:] != values[:, :-1], axis=0)))
    if len(new) - 1 > most:
        return None
    values, which = np.unique(values[:, new], axis=1, return_inverse=True)
    return HeldInputs(starts[new], which.reshape(-1), values)


def _busy(inputs: Inputs, steps: int) -> bool:
    """Whether inputs certainly change too often: most of a few hundred pairs of neighbouring steps differ."""
    if steps < 4 * _SAMPLED:
        return False
    some = np.random.Generator(np.random.Philox(1)).integers(0, steps - 1, _SAMPLED)
    differ = np.any(inputs.values(some) != inputs.values(some + 1), axis=0)
    return bool(np.count_nonzero(differ) > 0.75 * _SAMPLED)


def _parts(inputs: Inputs, last: int, most: int) -> np.ndarray | None:
    """The first steps of parts of 0 .. `last` in which all inputs are constant; None if there are too many."""
    moving = [u for u in inputs.given if u.depends_on("t")]
    found: list[np.ndarray] = []
    parts = np.array([[0], [last]])  # the first steps of all parts, and the last ones
    while parts.size:
        constant = _constant(moving, step_times(inputs.dt, parts))
        found.append(parts[0, constant])
        first, end = parts[:, ~constant]
        middle = (first + end) // 2
        parts = np.hstack([[first, middle], [middle + 1, end]])
        if parts.shape[1] > 4 * most + 4:  # Each change leaves at most two parts, and their neighbours.
            return None
    return np.sort(np.concatenate(found))


def _constant(inputs: list[Input], times: np.ndarray) -> np.ndarray:
    """A mask of the spans from times[0] to times[1] in which all inputs are constant."""
    left = np.flatnonzero(times[0] != times[1])  # the spans of several steps in which no input has changed yet
    constant = np.full(times.shape[1], True)
    for u in inputs:
        if isinstance(u, RecordedInput):
            same = u.constant_within(times[0, left], times[1, left])
        else:
            lower, upper = bounds_within(u.tree, {"t": (times[0, left], times[1, left])})
            same = np.broadcast_to(lower == upper, left.shape)
        constant[left[~same]] = False
        left = left[same]
    return constant

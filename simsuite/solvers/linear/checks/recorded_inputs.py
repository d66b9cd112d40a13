"""Warnings about inputs of a file whose rows a run does not see as they are meant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simsuite.solvers.linear.inputs.input_values import Inputs
from simsuite.solvers.linear.inputs.recorded import RecordedInput
from simsuite.words import counted

_NEAR = 1e-6  # A row that is off a step by no more than this share of a step is at the step.


def recorded_warnings(inputs: Inputs, steps: int) -> Iterator[str]:
    """Sentences about the file of inputs of a run of so many steps."""
    u = next(u for u in inputs.given if isinstance(u, RecordedInput))
    end = steps * inputs.dt
    if u.times[-1] < end - inputs.dt * (1 + _NEAR):
        yield (
            f"the file of inputs ends at {u.times[-1]:.9g} s, before the run does at {end:.9g} s: from there on inputs "
            "keep their last values"
        )
    places = u.times[u.times < end] / inputs.dt
    between = np.abs(places - np.round(places)) > _NEAR
    if not between.any():
        return
    unseen = len(places) - len(np.unique(np.ceil(places - _NEAR)))
    lost = f", and {counted(unseen, 'row')} not at all, as a later one comes in the same step" if unseen else ""
    first = f"the first of them is at {u.times[np.argmax(between)]:.9g} s"
    count = int(between.sum())
    rows = f"{counted(count, 'row')} of the file of inputs {'lies' if count == 1 else 'lie'}"
    first = f"it is at {u.times[np.argmax(between)]:.9g} s" if count == 1 else first
    if u.straight:
        yield (
            f"{rows} between two steps ({first}): within a step inputs run straight from their "
            f"values at its beginning to those at its end, so that a bend in it is left out; a shorter dt sees it"
        )
    else:
        whose = "its value counts" if count == 1 else "their values count"
        yield (
            f"{rows} between two steps ({first}): {whose} from the next step on{lost}; a dt that divides all times of "
            "the file sees all rows"
        )

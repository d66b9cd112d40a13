"""The inputs of a linear system, and their values at the steps of a run, on the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.tree import Node
from simsuite.solvers.linear.inputs.clock import step_times
from simsuite.solvers.linear.inputs.recorded import Input, RecordedInput

_LOOKED_AT = 10**6  # The inputs of so many steps, from the first on, are checked.
_TOGETHER = 1 << 16


@dataclass(frozen=True)
class Inputs:
    """The inputs of a system. given: functions of t. dt: the length of a step, s. ahead: whether their values at the
    end of a step count as well; B then has further columns for these behind the others.
    """

    given: tuple[Input, ...]
    dt: float
    ahead: bool = False

    @property
    def width(self) -> int:
        """How many columns B has."""
        return len(self.given) * (2 if self.ahead else 1)

    @cached_property
    def move(self) -> bool:
        """Whether any input depends on time."""
        return any(u.depends_on("t") for u in self.given)

    def values(self, steps: range | np.ndarray) -> np.ndarray:
        """The values (width, steps) that B multiplies in these steps."""
        at = np.asarray(steps)
        begins = self.at(at)
        return np.vstack([begins, self.at(at + 1)]) if self.ahead else begins

    def at(self, steps: np.ndarray) -> np.ndarray:
        """The values (given, steps) at the beginning of these steps."""
        return values_at(self.given, step_times(self.dt, steps))

    @property
    def recorded(self) -> bool:
        """Whether any of them comes from the rows of a file."""
        return any(isinstance(u, RecordedInput) for u in self.given)

    @property
    def constant(self) -> np.ndarray:
        """The values (width,) of inputs that do not depend on time. Raises ValueError if one does."""
        return np.tile(constants(self.given), 2 if self.ahead else 1)


def constants(given: tuple[Input, ...]) -> np.ndarray:
    """The values of inputs that do not depend on time. Raises ValueError if one does."""
    return np.array([u.value if not isinstance(u, RecordedInput) else _varies(u) for u in given])


def _varies(u: RecordedInput) -> float:
    raise ValueError(f"{u} depends on t")


def values_at(given: tuple[Input, ...], times: np.ndarray) -> np.ndarray:
    """The values (given, times) of the given inputs at these times."""
    return np.array([np.broadcast_to(u(t=times), times.shape) for u in given], np.float64).reshape(len(given), -1)


def tree_values(tree: Node, times: np.ndarray) -> np.ndarray:
    """The values of an expression in t, or of a part of one, at these times; NaN or Inf where it has none."""
    with np.errstate(all="ignore"):
        return np.array(np.broadcast_to(evaluate(tree, {"t": times}), times.shape), np.float64)


def bad_inputs(inputs: Inputs, steps: int, dtype: Any, seen: bool = False) -> Iterator[Mistake]:
    """A mistake for each input that is not finite, in the run's precision, at the beginning of some step or, with
    `ahead` or if the input is `seen` in frames, at the end of the last one. The first `_LOOKED_AT` steps are checked,
    and some later ones.
    """
    end = steps + 1 if inputs.ahead or seen else steps
    for i, u in enumerate(inputs.given):
        if not u.depends_on("t"):
            continue
        blocks = [np.arange(first, min(first + _TOGETHER, end)) for first in range(0, min(end, _LOOKED_AT), _TOGETHER)]
        if end > _LOOKED_AT:
            blocks.append(np.linspace(_LOOKED_AT, end - 1, _TOGETHER).astype(np.int64))
        for looked_at in blocks:
            bad = np.flatnonzero(~finite(values_at((u,), step_times(inputs.dt, looked_at))[0], dtype))
            if len(bad):
                yield bad_input(inputs, i, int(looked_at[bad[0]]), steps, dtype)
                break


def bad_input(inputs: Inputs, i: int, step: int, steps: int, dtype: Any) -> Mistake:
    """The mistake that says that input i is not finite at this step."""
    time = step_times(inputs.dt, np.array([step]))
    message = f"is {values_at((inputs.given[i],), time)[0, 0]:g} at t = {time[0]:g} s, step {step} of {steps}"
    return Mistake(("system", "input", i), message, f"it must be a finite {np.dtype(dtype)} at every step")


def finite(values: np.ndarray, dtype: Any) -> np.ndarray:
    """A mask of the values that are finite once they are rounded to that precision."""
    with np.errstate(over="ignore"):
        return np.isfinite(values.astype(dtype))

"""Inputs that a file holds: rows of times and values, which are held from row to row or joined by straight lines.

The rows' times need not be those of steps. The value at the time t is that of the last row at or before t, or lies on
the line between the rows around t; after the last row its value stays. A row whose time differs from that of a step by
no more than rounding, as 0.30000000000000004 does from 0.3, counts as being there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from simsuite.expressions import Expression

_ROUNDING = 1e-9  # A row counts at a step that begins earlier by no more than this share of a step.


@dataclass(frozen=True, eq=False)
class RecordedInput:
    """An input of a file. name: that of its column. times (rows,): in s, increasing, the first one not after the
    beginning of the run. values (rows,). straight: whether rows are joined by lines. dt: the length of a step, s.
    """

    name: str
    times: np.ndarray
    values: np.ndarray
    straight: bool
    dt: float

    def depends_on(self, name: str) -> bool:
        return name == "t"

    def __call__(self, *, t: Any) -> np.ndarray:
        """The values at these times."""
        t = np.asarray(t, np.float64)
        if self.straight:
            return np.asarray(np.interp(t, self.times, self.values))
        return np.asarray(self.values[self._row(t)])

    def __str__(self) -> str:
        return f"`{self.name}` of the file"

    def constant_within(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """A mask of the spans from `first` to `last` in which the value stays the same."""
        if not self.straight:
            return np.asarray(self._changes[self._row(first)] == self._changes[self._row(last)])
        begin = np.searchsorted(self.times, first, side="right") - 1
        end = np.searchsorted(self.times, last, side="left") - 1
        changes = np.append(self._changes, self._changes[-1])  # after the last row nothing changes
        return np.asarray(changes[np.maximum(end, begin) + 1] == changes[np.maximum(begin, 0)])

    def _row(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(np.searchsorted(self.times, t + _ROUNDING * self.dt, side="right") - 1, 0)

    @cached_property
    def _changes(self) -> np.ndarray:
        """How often the value has changed up to each row."""
        return np.concatenate([[0], np.cumsum(self.values[1:] != self.values[:-1])])


Input: TypeAlias = Expression | RecordedInput
"""An input as a function of time."""


def written(inputs: tuple[Input, ...]) -> tuple[Expression, ...]:
    """The inputs if the scenario writes them out; () if a file holds them."""
    found = tuple(u for u in inputs if isinstance(u, Expression))
    return found if len(found) == len(inputs) else ()

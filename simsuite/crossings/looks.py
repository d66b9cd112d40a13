"""What is to be reached, when it is looked whether it is, and what the results file has of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from simsuite.core import Variable

MOST = 64  # crossings of a condition whose times are kept
SMOOTH, ROUGH, STEPWISE = 4, 2, 1  # values that a polynomial takes of a smooth, of a random, of a stepwise number
Direction: TypeAlias = Literal["up", "down", "any"]


@dataclass(frozen=True)
class Condition:
    """That a number reaches a level. name: of the condition. of: of the number. direction: from which side. stop:
    whether the run is over then."""

    name: str
    of: str
    level: float
    direction: Direction = "any"
    stop: bool = False

    def reached(self, before: float, after: float) -> bool:
        """Whether the level is reached, or passed, between two values one after the other."""
        rises, falls = before < self.level <= after, before > self.level >= after
        return (rises and self.direction != "down") or (falls and self.direction != "up")


class Reading(NamedTuple):
    """A number just before a look and just after it, which are one but where it jumps. slopes: its derivatives then,
    of a number that is smooth between this look and the neighbouring ones; None where they are not known."""

    before: float
    after: float
    slopes: tuple[float, float] | None = None


@dataclass(frozen=True)
class Looks:
    """When conditions are looked at. steps: of the clock, increasing; None: after every time step. breaks: steps of the
    clock at which data jump or kink. points: the most values that a polynomial takes. series: that of the results whose
    observations have the numbers. unit: of time. slopes: whether readings have derivatives."""

    conditions: tuple[Condition, ...]
    steps: tuple[int, ...] | None
    breaks: frozenset[int]
    points: int
    series: str
    unit: str = "s"
    slopes: bool = False

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the results file for what becomes of the conditions."""
        names = np.array([condition.name for condition in self.conditions])
        of_each, times = ("event",), ("event", "crossing")
        return (
            Variable("event", of_each, names.dtype, {"long_name": "name of the event"}, names),
            Variable("event_count", of_each, np.int64, {"units": "1", "long_name": "how often it was found"}),
            Variable("event_time", times, attrs={"units": self.unit, "long_name": "time of the event"}),
            Variable("event_time_error", times, attrs={"units": self.unit, "long_name": "error by interpolation"}),
        )

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths of the dimensions of these variables."""
        return {"event": len(self.conditions), "crossing": MOST}


def spread(looks: int, steps: int, breaks: Iterable[int] = ()) -> tuple[int, ...]:
    """The steps of so many looks, evenly spaced among all, first and last included, and those of the breaks."""
    every = max(1, -(-steps // (looks - 1)))
    return tuple(sorted({*range(0, steps, every), steps, *(k for k in breaks if k <= steps)}))

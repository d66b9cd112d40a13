"""When a number that is watched in the course of a run reaches a level: looks at it, and interpolation between them.

At a crossing the values of two neighbouring looks lie on both sides of the level. The time between them is that at
which a polynomial through the nearest values, at most four, is at the level; by as much as it differs from that of the
polynomial through one value less, it may be wrong. For looks h apart at a smooth number y that error is of the order
h**4 y'''' / y': four values are a cubic. No polynomial goes over a time at which data jump or kink. See Stoer and
Bulirsch, Introduction to Numerical Analysis (2002), sections 2.1.3 (Newton's form) and 2.1.4 (the error).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from simsuite.core import HostArray, JsonObject, Variable

MOST = 64  # crossings of a condition whose times are kept
SMOOTH, ROUGH, STEPWISE = 4, 2, 1  # values that a polynomial takes of a smooth, of a random, of a stepwise number
_BISECTIONS = 100
Direction: TypeAlias = Literal["up", "down", "any"]
Point: TypeAlias = tuple[float, float]  # a time and the value then


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


@dataclass(frozen=True)
class Looks:
    """When conditions are looked at. steps: of the clock, increasing; None: after every time step. breaks: steps of the
    clock at which data jump or kink. points: the most values that a polynomial takes. series: that of the results whose
    observations have the numbers. unit: of time."""

    conditions: tuple[Condition, ...]
    steps: tuple[int, ...] | None
    breaks: frozenset[int]
    points: int
    series: str
    unit: str = "s"

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


@dataclass
class Crossing:
    """One time at which a level was reached. points: the looks around it. left: the number of the last one before it.
    open: whether further looks would still help."""

    points: list[Point]
    left: int
    open: bool

    def follow(self, point: Point, last: bool) -> None:
        """Take one more look, unless there are enough. last: whether data jump or kink there."""
        if self.open:
            self.points.append(point)
            behind = len(self.points) - 1 - self.left
            self.open = not last and behind < (2 if self.left > 0 else 3)

    def time(self, level: float, most: int) -> Point:
        """(the time at which the level was reached, how far it may be wrong)."""
        if len(self.points) == 1:
            return self.points[0][0], 0.0
        n = min(most, len(self.points))
        (a, _), (b, _) = self.points[self.left : self.left + 2]
        if n == 1:
            return b, 0.0
        found = self._root(level, n)
        if n == 2:
            return found, max(found - a, b - found)
        return found, abs(found - self._root(level, n - 1))

    def _root(self, level: float, n: int) -> float:
        """The time between the two looks at which the polynomial through n values around it is at the level."""
        begin = min(max(self.left + 1 - n // 2, 0), len(self.points) - n)
        chosen = self.points[begin : begin + n]
        (a, va), (b, vb) = self.points[self.left : self.left + 2]
        nodes = [t - a for t, _ in chosen]
        coefficients = _divided_differences(nodes, [v - level for _, v in chosen])
        rises, low, high = va < vb, 0.0, b - a
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            if (_newton(nodes, coefficients, middle) < 0.0) == rises:
                low = middle
            else:
                high = middle
        return min(a + high, b)


def _divided_differences(nodes: Sequence[float], values: Sequence[float]) -> list[float]:
    """The coefficients of Newton's form of the polynomial through these points."""
    column, found = list(values), [values[0]]
    for order in range(1, len(nodes)):
        pairs = itertools.pairwise(column)
        column = [(d - c) / (nodes[i + order] - nodes[i]) for i, (c, d) in enumerate(pairs)]
        found.append(column[0])
    return found


def _newton(nodes: Sequence[float], coefficients: Sequence[float], t: float) -> float:
    value = coefficients[-1]
    for node, coefficient in zip(reversed(nodes[: len(coefficients) - 1]), reversed(coefficients[:-1])):
        value = value * (t - node) + coefficient
    return value


@dataclass
class Course:
    """What became of a condition so far. recent: the latest looks since data last jumped or kinked, at most three.
    largest, least: time and value of the extreme looks."""

    condition: Condition
    points: int
    count: int = 0
    crossings: list[Crossing] = field(default_factory=list)
    recent: list[Point] = field(default_factory=list)
    largest: Point = (math.nan, -math.inf)
    least: Point = (math.nan, math.inf)

    def look(self, t: float, before: float, after: float, breaks: bool) -> None:
        """Take the values of a look at time t: just before it and just after it, which are one but where the number
        jumps. breaks: whether data jump or kink then."""
        breaks = breaks or before != after
        for crossing in self.crossings:
            crossing.follow((t, before), breaks)
        if self.recent and self.condition.reached(self.recent[-1][1], before):
            smooth = self.points > ROUGH and not breaks
            self._note(Crossing([*self.recent, (t, before)], len(self.recent) - 1, smooth))
        if self.condition.reached(before, after):
            self._note(Crossing([(t, after)], 0, False))
        self.recent = [(t, after)] if breaks else [*self.recent, (t, before)][-(SMOOTH - 1) :]
        for value in (before, after):
            self.largest = (t, value) if value > self.largest[1] else self.largest
            self.least = (t, value) if value < self.least[1] else self.least

    def _note(self, crossing: Crossing) -> None:
        self.count += 1
        if len(self.crossings) < MOST:
            self.crossings.append(crossing)

    @property
    def times(self) -> list[Point]:
        """(time, how far it may be wrong) of each crossing that was kept."""
        return [crossing.time(self.condition.level, self.points) for crossing in self.crossings]

    def results(self) -> JsonObject:
        """What is told of the condition at the end of the run, as JSON."""
        times = self.times
        found: JsonObject = {
            "of": self.condition.of,
            "reaches": self.condition.level,
            "direction": self.condition.direction,
            "count": self.count,
            "first": times[0][0] if times else None,
            "times": [t for t, _ in times],
            "time_errors": [error for _, error in times],
        }
        if math.isfinite(self.largest[1]) and math.isfinite(self.least[1]):
            found |= {"max": self.largest[1], "max_time": self.largest[0]}
            found |= {"min": self.least[1], "min_time": self.least[0]}
        return found

    def to_keep(self) -> JsonObject:
        """All that changes, as JSON, for a checkpoint."""
        crossings = [[each.points, each.left, each.open] for each in self.crossings]
        kept: JsonObject = {"count": self.count, "crossings": crossings, "recent": self.recent}
        return kept | ({} if math.isnan(self.largest[0]) else {"largest": self.largest, "least": self.least})

    def take_up(self, kept: JsonObject) -> None:
        """Go on from what `to_keep` gave."""
        self.count = int(kept["count"])
        self.crossings = [Crossing(_points(each), int(left), bool(open)) for each, left, open in kept["crossings"]]
        self.recent = _points(kept["recent"])
        for name in ("largest", "least") if "largest" in kept else ():
            setattr(self, name, _points([kept[name]])[0])


def _points(kept: Iterable[Sequence[float]]) -> list[Point]:
    return [(float(t), float(v)) for t, v in kept]


def totals(looks: Looks, courses: Sequence[Course]) -> dict[str, HostArray]:
    """The values of the `variables` of the results file that are known at the end."""
    times = np.full((2, len(courses), MOST), np.nan)
    for i, course in enumerate(courses):
        for k, found in enumerate(course.times):
            times[:, i, k] = found
    counts = np.array([course.count for course in courses], np.int64)
    return {"event_count": counts, "event_time": times[0], "event_time_error": times[1]}


def spread(looks: int, steps: int, breaks: Iterable[int] = ()) -> tuple[int, ...]:
    """The steps of so many looks, evenly spaced among all, first and last included, and those of the breaks."""
    every = max(1, -(-steps // (looks - 1)))
    return tuple(sorted({*range(0, steps, every), steps, *(k for k in breaks if k <= steps)}))

"""What becomes of a condition in the course of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from simsuite.core import HostArray, JsonObject
from simsuite.crossings.interpolation import Crossing, Point
from simsuite.crossings.looks import MOST, ROUGH, SMOOTH, Condition, Reading


@dataclass
class Course:
    """What became of a condition so far. recent: the latest looks since data last jumped or kinked, at most three.
    largest, least: time and value of the extreme looks. slope: the derivative after the latest look, if it is known.
    """

    condition: Condition
    points: int
    count: int = 0
    crossings: list[Crossing] = field(default_factory=list)
    recent: list[Point] = field(default_factory=list)
    largest: Point = (math.nan, -math.inf)
    least: Point = (math.nan, math.inf)
    slope: float | None = None

    def look(self, t: float, reading: Reading, breaks: bool) -> None:
        """Take what is read at time t. breaks: whether data jump or kink then."""
        before, after, slopes = reading
        breaks = breaks or before != after
        for crossing in self.crossings:
            crossing.follow((t, before), breaks)
        if self.recent and self.condition.reached(self.recent[-1][1], before):
            smooth = self.points > ROUGH and not breaks
            both = None if self.slope is None or slopes is None else (self.slope, slopes[0])
            self._note(Crossing([*self.recent, (t, before)], len(self.recent) - 1, smooth, both))
        if self.condition.reached(before, after):
            self._note(Crossing([(t, after)], 0, False))
        self.recent = [(t, after)] if breaks else [*self.recent, (t, before)][-(SMOOTH - 1) :]
        self.slope = None if slopes is None else slopes[1]
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
        crossings = [[each.points, each.left, each.open, each.slopes] for each in self.crossings]
        kept: JsonObject = {"count": self.count, "crossings": crossings, "recent": self.recent, "slope": self.slope}
        return kept | ({} if math.isnan(self.largest[0]) else {"largest": self.largest, "least": self.least})

    def take_up(self, kept: JsonObject) -> None:
        """Go on from what `to_keep` gave."""
        self.count = int(kept["count"])
        self.crossings = [
            Crossing(_points(each), int(left), bool(open), None if slopes is None else (slopes[0], slopes[1]))
            for each, left, open, slopes in kept["crossings"]
        ]
        self.recent, self.slope = _points(kept["recent"]), kept["slope"]
        for name in ("largest", "least") if "largest" in kept else ():
            setattr(self, name, _points([kept[name]])[0])


def _points(kept: Iterable[Sequence[float]]) -> list[Point]:
    return [(float(t), float(v)) for t, v in kept]


def totals(courses: Sequence[Course]) -> dict[str, HostArray]:
    """The values of the `variables` of the results file that are known at the end."""
    times = np.full((2, len(courses), MOST), np.nan)
    for i, course in enumerate(courses):
        for k, found in enumerate(course.times):
            times[:, i, k] = found
    counts = np.array([course.count for course in courses], np.int64)
    return {"event_count": counts, "event_time": times[0], "event_time_error": times[1]}

"""What is watched in the course of a run: extremes of its rows of results, and whether numbers reach levels.

All of it is noted on the writer's thread, one observation after the other, and stored with each checkpoint, so that a
run that is continued finds the same times to the bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from simsuite.capabilities import Watched
from simsuite.core import HostArray, JsonObject, Problem, Snapshot, Stepper
from simsuite.crossings.course import Course, totals
from simsuite.crossings.looks import Looks
from simsuite.io.writer_thread import Writer

KEPT = "watched"  # the key of a checkpoint's `meta` that has the state of a `Watch`


class Watch:
    """Extremes and courses of a run so far. kept: what the checkpoint has under KEPT from which the run is continued;
    "" for a run that begins. Extremes of a run that began before they were noted are not known, and not told."""

    def __init__(self, problem: Problem, kept: str = "", begun: bool = False) -> None:
        self._problem = problem if isinstance(problem, Watched) else None
        self._position = problem.position
        self.looks: Looks | None = None if self._problem is None else self._problem.looks
        conditions = () if self.looks is None else self.looks.conditions
        points = 1 if self.looks is None else self.looks.points
        self._courses = [Course(condition, points) for condition in conditions]
        self._peaks: dict[str, tuple[float, JsonObject]] = {}
        self.last = -1  # the step of the latest look
        self._partial = begun and not kept
        if kept:
            self._take_up(json.loads(kept))

    def _take_up(self, kept: JsonObject) -> None:
        self._peaks = {name: (float(size), dict(told)) for name, (size, told) in kept["peaks"].items()}
        self.last = int(kept["last"])
        for course, each in zip(self._courses, kept["courses"], strict=True):
            course.take_up(each)

    def to_keep(self) -> dict[str, str]:
        """What a checkpoint keeps of it."""
        if self._problem is None or self._partial:
            return {}
        courses = [course.to_keep() for course in self._courses]
        return {KEPT: json.dumps({"peaks": self._peaks, "last": self.last, "courses": courses})}

    def row(self, observed: Snapshot) -> None:
        """Note the extremes of a row of results."""
        if self._problem is None or self._partial:
            return
        for name, (size, told) in self._problem.peaks(observed).items():
            if name not in self._peaks or size > self._peaks[name][0]:
                self._peaks[name] = size, told

    def look(self, observed: Snapshot) -> None:
        """Look whether numbers have reached levels. A state that is not finite is left to the rows of results."""
        assert self._problem is not None
        assert self.looks is not None
        self.row(observed)
        readings = self._problem.readings(observed)
        if not all(math.isfinite(value) for each in readings for value in (each.before, each.after)):
            return
        t, breaks = self._position(observed.step)[1], observed.step in self.looks.breaks
        self.last = observed.step
        for course, reading in zip(self._courses, readings, strict=True):
            course.look(t, reading, breaks)

    @property
    def over(self) -> str | None:
        """The name of the condition that ends the run; None as long as none does."""
        return next((each.condition.name for each in self._courses if each.condition.stop and each.count), None)

    def results(self) -> JsonObject:
        """What `run --json` has of it under "results"."""
        found: JsonObject = {"extremes": {name: told for name, (_, told) in self._peaks.items()}} if self._peaks else {}
        if self._courses and not self._partial:
            found["events"] = {course.condition.name: course.results() for course in self._courses}
        return found

    def totals(self) -> dict[str, HostArray]:
        """The values of `Looks.variables` at the end of the run."""
        return totals(self._courses) if self.looks is not None and not self._partial else {}


class LookOutput:
    """An `Output` that writes nothing: it has the watch look at the numbers of its conditions."""

    def __init__(self, watch: Watch, writer: Writer) -> None:
        self._watch, self._writer = watch, writer
        self._last = watch.last
        self._steps = None if watch.looks is None else watch.looks.steps
        self._next = 0
        self._stops = watch.looks is not None and any(condition.stop for condition in watch.looks.conditions)

    def next_step(self, step: int) -> int | None:
        if self._watch.looks is None:
            return None
        step = max(step, self._last + 1)
        if self._steps is None:
            return step
        while self._next < len(self._steps) and self._steps[self._next] < step:
            self._next += 1
        return self._steps[self._next] if self._next < len(self._steps) else None

    def due(self, step: int) -> bool:
        return self.next_step(step) == step

    def emit(self, stepper: Stepper) -> None:
        assert self._watch.looks is not None
        self._last = stepper.step
        self._writer.submit(stepper.observe(self._watch.looks.series), self._watch.look)
        if self._stops:
            self._writer.drain()

    @property
    def over(self) -> bool:
        """Whether a condition ends the run. The answer depends on the steps so far alone."""
        return self._stops and self._watch.over is not None


def each_of(*looks: Callable[[Snapshot], None]) -> Callable[[Snapshot], None]:
    """A function that has each of these look at a row of results."""

    def look(observed: Snapshot) -> None:
        for each in looks:
            each(observed)

    return look

"""How far a run is, told to the terminal that it was started from and to everybody who looks at its directory."""

from __future__ import annotations

import datetime
import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from simsuite.capabilities import Adaptive, Denominated, Staged, Stalling, taken
from simsuite.core import Backend, Problem, Stepper
from simsuite.errors import Advice
from simsuite.io.directory import RunDirectory
from simsuite.words import duration, measured, with_prefix

SETTLING = 0.05  # where steps control their error, the rate is known after this share of the run's work
PAUSE, SLOWER = (
    1.0,
    10.0,
)  # what a stretch takes in which kernels are compiled: so many seconds, times as long as others
SECONDS = 1.0  # the least number of seconds between two notes in progress.json


class Reporter(Protocol):
    """What is told how a run goes, such as a display on a terminal."""

    def message(self, text: str, advice: Advice | None = None) -> None:
        """Tell something about the run. advice: what to do about it, put at the end of the text."""

    def warning(self, text: str) -> None:
        """Warn of something that is probably not meant, although it can be run."""

    def begin(self, problem: Problem, step: int) -> None: ...

    def progress(self, step: int) -> None: ...

    def expect(self, end: int | None) -> None:
        """The run will be over at this step; None where it looks as if it would never come to its end."""

    def end(self) -> None: ...


class Silent:
    """A reporter that says nothing."""

    def message(self, text: str, advice: Advice | None = None) -> None: ...

    def warning(self, text: str) -> None: ...

    def begin(self, problem: Problem, step: int) -> None: ...

    def progress(self, step: int) -> None: ...

    def expect(self, end: int | None) -> None: ...

    def end(self) -> None: ...


class Meter:
    """The part of a run's work that is done, and how long the rest will take.

    work: done at a step of the clock, see `Problem.work`. step: where the run begins, or continues; end: where it will
    be over. effort: what the rate counts, where that is not this work. Both count from the first call of `reach` on, as
    kernels are compiled before it; a later stretch in which kernels are compiled takes no time, as the clock counts
    here: one that is long, and far slower than those before it. The rest is told by how far the run came lately, in the
    last quarter to half of that time, since steps may become longer or shorter on the way. least: share of the work
    that is done before the rest is told. foretold: whether it is only foretold how work is spread over the run, as
    where steps control their error; the rate since the first call then counts as much as the latest one. time: the
    share of a run's time that is over at a step; it is told where the run looks as if it would never come to its end,
    as nobody knows how much work that is.
    """

    def __init__(
        self,
        work: Callable[[int], float],
        step: int,
        end: int,
        clock: Callable[[], float] = time.monotonic,
        effort: Callable[[], float] | None = None,
        least: float = 0.0,
        foretold: bool = False,
        time: Callable[[int], float] | None = None,
    ) -> None:
        self._step, self._time = step, time
        self._least, self._foretold = least, foretold
        self._work, self._end, self._clock, self._effort = work, end, clock, effort
        self._done = work(step)
        self._first: tuple[float, float] | None = None
        self._seconds = self._made = 0.0
        self._last, self._paused, self._pausing = 0.0, 0.0, False
        self._lately = 0.0, 0.0
        self.endless = False

    def expect(self, end: int | None) -> None:
        """The run will be over at that step; None if it looks as if it would never be."""
        self.endless = end is None
        self._end = self._end if end is None else end

    def reach(self, step: int) -> None:
        """Note that the run is at `step`."""
        now, before, self._done, self._step = self._clock() - self._paused, self._done, self._work(step), step
        now = self._without_pause(now, before)
        made = self._done if self._effort is None else self._effort()
        if self._first is None:
            self._first = now, made
            self._before = self._since = self._begun = now, self._done
        self._seconds, self._made = now - self._first[0], made - self._first[1]
        self._lately = now - self._before[0], self._done - self._before[1]
        if now - self._since[0] >= 0.25 * self._seconds:
            self._before, self._since = self._since, (now, self._done)

    def _without_pause(self, now: float, before: float) -> float:
        """What the clock would show if the stretch that ended now had been no longer than others, where it is one in
        which kernels were compiled. before: the work that was done when it began. Two in a row are slow steps."""
        took, done = now - self._last, self._done - before
        self._pausing = (
            not self._pausing and self._first is not None and took > PAUSE and self._is_slow(took, done, before)
        )
        if self._pausing:
            self._paused += took
            now -= took
        self._last = now
        return now

    def _is_slow(self, took: float, done: float, before: float) -> bool:
        seconds, work = self._seconds, before - self._begun[1]
        return work > 0 and took * work > SLOWER * seconds * done

    @property
    def share(self) -> float:
        """The share of the run's work that is done, or of its time that is over, from 0 to 1."""
        if self.endless and self._time is not None:
            return self._time(self._step)
        whole = self._work(self._end)
        return min(self._done / whole, 1.0) if whole > 0 else 1.0

    @property
    def rate(self) -> float:
        """Work, or effort where that is counted, per second; 0 before that is known."""
        return self._made / self._seconds if self._seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """About how many seconds the run will still take; None before its rate is known, and where it hardly comes to
        its end."""
        seconds, done = self._lately
        if self.share < self._least or self.endless or not (done > 0 and seconds > 0):
            return None
        slowness = seconds / done
        if self._foretold:
            slowness = math.sqrt(slowness * self._seconds / (self._done - self._begun[1]))
        return (self._work(self._end) - self._done) * slowness


def meter_for(problem: Problem, step: int, effort: Callable[[], float] | None = None) -> Meter:
    """The meter for a run of the problem that begins, or continues, at a step. effort: see `Meter`."""
    least, end = SETTLING if problem.adaptive else 0.0, problem.clock.end

    def time(step: int) -> float:
        return problem.position(step)[1] / problem.position(end)[1]

    return Meter(problem.work, step, end, effort=effort, least=least, foretold=problem.adaptive, time=time)


def line_of(problem: Problem, meter: Meter, step: int) -> str:
    """How far a run is, at which rate it goes and how long it will still take, in a line."""
    unit = problem.layout.series[0].coordinate.attrs.get("units", "")
    left = meter.seconds_left
    rest = f"{'?' if left is None else duration(left)} left"
    if meter.endless:
        rest = "steps keep shrinking, the end is out of reach"
    at = f"t = {measured(f'{problem.position(step)[1]:.4g}', unit)} of {problem.position(problem.clock.end)[1]:.4g}"
    return f"{at}, {rest}" if problem.adaptive else f"{at}, {with_prefix(meter.rate, problem.rate_unit)}, {rest}"


class LiveProgress:
    """Keeps progress.json in a run's directory: where the run is, on which machine and as which process.

    The file is there from the moment that the directory is locked, and is removed when the run ends in order; a run
    that was killed leaves it behind. Writing it takes a tenth of a millisecond, once a second.
    """

    def __init__(self, directory: RunDirectory, backend: Backend, problem: Problem) -> None:
        self._directory, self._problem = directory, problem
        self._unit = problem.layout.series[0].coordinate.attrs.get("units", "")
        self._known: dict[str, Any] = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": _now(),
            "solver": problem.solver,
            "device": backend.name,
            "device_name": backend.device_name,
        }
        self._meter: Meter | None = None
        self._written = time.monotonic()
        directory.write_progress({**self._known, "phase": "starting", "updated": time.time()})

    def begin(self, stepper: Stepper) -> None:
        """The run begins, or continues, where the stepper is."""
        self._stepper = stepper
        effort = (lambda: stepper.work) if isinstance(stepper, Adaptive) else None
        self._meter = meter_for(self._problem, stepper.step, effort)
        self._write()

    def expect(self, end: int | None) -> None:
        if self._meter is not None:
            self._meter.expect(end)

    def reach(self) -> None:
        """A stretch of steps was queued."""
        if self._meter is None:
            return
        self._meter.reach(self._stepper.step)
        if time.monotonic() - self._written >= SECONDS:
            self._write()

    @property
    def share(self) -> float:
        """The share of the run's work that is done, from 0 to 1."""
        return 0.0 if self._meter is None else self._meter.share

    def end(self) -> None:
        self._directory.remove_progress()

    def _write(self) -> None:
        assert self._meter is not None
        self._written = time.monotonic()
        steps, at = position(self._problem, self._stepper)
        stage = self._problem.stage(self._stepper.step) if isinstance(self._problem, Staged) else None
        self._directory.write_progress(
            {
                **self._known,
                "phase": "stepping",
                "updated": time.time(),
                "steps": steps,
                "time": at,
                "time_unit": self._unit,
                "end": self._problem.position(self._problem.clock.end)[1],
                "percent": 100.0 * self._meter.share,
                "seconds_left": self._meter.seconds_left,
                "rate": self._meter.rate,
                "rate_unit": self._problem.rate_unit,
                **({} if stage is None else {"stage": stage}),
            }
        )


def position(problem: Problem, stepper: Stepper) -> tuple[int, float]:
    """The number of time steps taken, and the time reached."""
    return taken(problem, stepper), problem.position(stepper.step)[1]


def progress_made(problem: Problem, stepper: Stepper, results: Mapping[str, Any]) -> dict[str, Any]:
    """A dictionary with the steps taken, the time reached and, if a step was taken, "dt", the shortest and the longest
    one. results: the present results, which have the lengths of steps whose error is controlled."""
    steps, at = position(problem, stepper)
    made: dict[str, Any] = {"steps": steps, "time": at}
    if steps > 0 and problem.method.get("stepper") != "steady":
        made["dt"] = list(results["dt"] if isinstance(stepper, Adaptive) else problem.lengths(stepper.step))
    return made


def units(problem: Problem) -> dict[str, str]:
    """The units of the time and of each variable of the results file that has a unit, by name."""
    variables = [*(series.coordinate for series in problem.layout.series), *problem.layout.variables]
    found = {v.name: v.attrs["units"] for v in variables if "units" in v.attrs}
    return found | (dict(problem.denominated) if isinstance(problem, Denominated) else {})


def _now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


class Outlook:
    """Tells the user once if a run will hardly come to its end, and the progress displays whether that is so."""

    def __init__(
        self, stepper: Stepper, end: int, reporter: Reporter, live: LiveProgress, say: Callable[[str], None]
    ) -> None:
        self._stepper, self._end, self._told = stepper, end, (reporter.expect, live.expect)
        self._say: Callable[[str], None] | None = say
        self._stalled = False

    def look(self) -> None:
        why = self._stepper.stalled if isinstance(self._stepper, Stalling) else None
        if why is not None and self._say is not None:
            self._say(why)
            self._say = None
        if (why is not None) != self._stalled:
            self._stalled = why is not None
            for expect in self._told:
                expect(None if self._stalled else self._end)

"""What is written during a run, and when. An output knows the steps at which it is due and hands its work to the writer
when asked to."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol

from simsuite.capabilities import Dating, Staged
from simsuite.core import Problem, Series, Snapshot, Stepper
from simsuite.errors import NumericalFailure, SimsuiteError
from simsuite.io.checkpoint import write_checkpoint
from simsuite.io.results_file import ResultsFile
from simsuite.io.writer_thread import Writer
from simsuite.words import digits_apart


class Output(Protocol):
    """Something to be done at certain steps."""

    def next_step(self, step: int) -> int | None:
        """The next step, `step` or later, of which it is known now that the output will be due; None for none."""

    def due(self, step: int) -> bool:
        """Whether it is due now, at `step`."""

    def emit(self, stepper: Stepper) -> None:
        """Queue the writing of the stepper's present state. Raises the error of an earlier writing."""


DIGITS = 9  # digits of times in messages, unless more are needed to tell two times apart


def moment(problem: Problem, step: int, digits: int = DIGITS) -> str:
    """A step of the run's clock in words: "step 70, time 0.35 s", or just "time 0.35 s" where it is no time step, or
    how many paths there are of those that are made in batches."""
    stage = problem.stage(step) if isinstance(problem, Staged) else None
    if stage is not None:
        return stage
    at = _at(problem, problem.position(step)[1], digits)
    return at if problem.adaptive else f"step {step}, {at}"


def _at(problem: Problem, time: float, digits: int = DIGITS) -> str:
    unit = problem.layout.series[0].coordinate.attrs.get("units", "")
    return f"time {time:.{digits}g} {unit}".rstrip()


def when(problem: Problem, step: int, digits: int = DIGITS) -> str:
    """At which moment a row of results was taken, in words: "at time 0.35 s"; where there are no steps in time, which
    state it is."""
    if problem.method.get("stepper") != "steady":
        return f"at {moment(problem, step, digits)}"
    return "in the steady state" if step > 0 else "at the start"


class SeriesOutput:
    """One row of a series at each of its steps, beginning after the rows that the file already has.

    look: called on the writer's thread with what was measured for each row, once that is known to be finite.
    """

    def __init__(
        self,
        problem: Problem,
        results: ResultsFile,
        writer: Writer,
        series: Series,
        look: Callable[[Snapshot], None] = lambda observed: None,
    ) -> None:
        self._problem, self._results, self._writer, self._series = problem, results, writer, series
        self._look = look
        self._next = results.rows(series.dim)
        self._good: int | None = None  # the last step at which the whole state was finite

    def next_step(self, step: int) -> int | None:
        if self._next == len(self._series.steps):
            return None
        following = self._series.steps[self._next]
        if following < step:
            raise SimsuiteError(f"row {self._next} along {self._series.dim} belongs to step {following}, before {step}")
        return following

    def due(self, step: int) -> bool:
        return self.next_step(step) == step

    def emit(self, stepper: Stepper) -> None:
        self._writer.submit(stepper.observe(self._series.dim), self._append)
        self._next += 1

    def end(self, stepper: Stepper) -> None:
        """Queue one more row where the run ends between two of them."""
        if stepper.step != self._series.steps[self._next - 1]:
            self.emit(stepper)

    def _append(self, observed: Snapshot) -> None:
        where = self._problem.fault(observed)
        if where is not None:
            raise NumericalFailure(f"NaN or Inf in {where} {self._since(observed)}")
        self._good = observed.step
        self._look(observed)
        self._results.append(self._series.dim, self._problem.rows(self._series.dim, observed))

    def _since(self, observed: Snapshot) -> str:
        """When a state was found not to be finite, and when it was last."""
        problem, good = self._problem, self._good
        known = problem.fault_time(observed) if isinstance(problem, Dating) else None
        found = problem.position(observed.step)[1] if known is None else known
        digits = DIGITS if good is None else digits_apart(found, problem.position(good)[1], DIGITS)
        at = when(problem, observed.step, digits) if known is None else f"at {_at(problem, known, digits)}"
        return at if good is None else f"{at}; {when(problem, good, digits)} there was none"


class CheckpointOutput:
    """A checkpoint every `minutes` of wall clock and every `every` time steps (0 turns either off), and whenever `emit`
    is called.

    taken: time steps so far, where they are not the clock's; a checkpoint is then due when so many have been taken, or
    soon after, as steps are queued many at once. unbounded: arrays in which an Inf is no failure. start: the step
    the run begins or continues at, which needs no checkpoint. meta: stored with each checkpoint. moment: names a step
    in the error about a state that is not finite. position: time steps and time of the stepper's present state, stored
    too, as "steps" and "time". stage: says how far that is where these do not, stored as "stage". noted: what was noted
    on the writer's thread up to this state, stored too.
    """

    def __init__(
        self,
        directory: Path,
        results: ResultsFile,
        writer: Writer,
        minutes: float,
        every: int,
        meta: Mapping[str, str | int | float],
        clock: Callable[[], float] = time.monotonic,
        start: int = 0,
        moment: Callable[[int], str] = "step {}".format,
        unbounded: Collection[str] = (),
        taken: Callable[[], int] | None = None,
        position: Callable[[Stepper], tuple[int, float]] | None = None,
        stage: Callable[[int], str | None] = lambda step: None,
        noted: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._stage, self._noted = stage, noted
        self._moment, self._unbounded, self._taken, self._position = moment, unbounded, taken, position
        self._last_taken = 0 if taken is None else taken()
        self._directory, self._results, self._writer = directory, results, writer
        self._seconds, self._every, self._meta, self._clock = 60 * minutes, every, meta, clock
        self._last_step, self._last_time = start, clock()

    def next_step(self, step: int) -> int | None:
        if self._every == 0 or self._taken is not None:
            return None
        following = -(-max(step, 1) // self._every) * self._every
        return following + self._every if following == self._last_step else following

    def due(self, step: int) -> bool:
        if step in (0, self._last_step):
            return False
        if self._taken is not None and 0 < self._every <= self._taken() - self._last_taken:
            return True
        return self.next_step(step) == step or 0 < self._seconds <= self._clock() - self._last_time

    @property
    def is_old(self) -> bool:
        """Whether a tenth of the time from one checkpoint to the next is over, as must be for one at the end of a run,
        from which it can go on to a later end."""
        return 0 < self._seconds <= 10 * (self._clock() - self._last_time)

    def emit(self, stepper: Stepper) -> None:
        self._last_step, self._last_time = stepper.step, self._clock()
        if self._taken is not None:
            self._last_taken = self._taken()
        meta = dict(self._meta)
        if self._position is not None:
            meta["steps"], meta["time"] = self._position(stepper)
        if (stage := self._stage(stepper.step)) is not None:
            meta["stage"] = stage
        self._writer.submit(stepper.snapshot(), lambda snapshot: self._write(snapshot, meta))

    def _write(self, snapshot: Snapshot, meta: Mapping[str, str | int | float]) -> None:
        # On the writer's thread every row of before is in the file by now, and none of after. It must be on the disk
        # before the checkpoint that counts on it.
        self._results.flush_to_disk()
        try:
            rows, results = self._results.all_rows(), self._results.copy_metadata()
            write_checkpoint(self._directory, snapshot, rows, {**meta, **self._noted()}, self._unbounded, results)
        except NumericalFailure as failure:
            raise NumericalFailure(f"{failure} at {self._moment(snapshot.step)}") from None

"""When a run is over before its end, as its problem says."""

from __future__ import annotations

from simsuite.core import Problem, Stepper
from simsuite.parallel.crew import Crew
from simsuite.progress import LiveProgress, Reporter
from simsuite.running.stopwatch import Stopwatch


class Settling:
    """An `Output` that writes nothing: it asks the problem whether the run is over before its end."""

    def __init__(
        self, problem: Problem, reporter: Reporter, live: LiveProgress, stopwatch: Stopwatch, crew: Crew
    ) -> None:
        self._problem, self._reporter, self._live, self._stopwatch = problem, reporter, live, stopwatch
        self._crew = crew
        self.over = False

    def next_step(self, step: int) -> int | None:
        return self._problem.next_look(step)

    def due(self, step: int) -> bool:
        return self.next_step(step) == step

    def emit(self, stepper: Stepper) -> None:
        step = stepper.step
        end = self._problem.settle(stepper)
        self._crew.settled(stepper)
        if stepper.step != step:  # steps were left out, which do not count as work
            self._stopwatch.stop(step)
        self._reporter.expect(end)
        self._live.expect(end)
        self.over = end <= stepper.step

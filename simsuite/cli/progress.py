"""How a run tells what it does: a bar on a terminal, one plain line every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simsuite.cli.console import say
from simsuite.cli.streams import give_up_stderr
from simsuite.summaries.lines import short_stepper
from simsuite.words import about, measured, printable, steps_in_words

if TYPE_CHECKING:
    from simsuite.core import Problem
    from simsuite.errors import Advice

PLAIN_SECONDS = 10.0
BAR_SECONDS = 0.1


class _Progress:
    """A reporter that knows how far the run is and how long it will still take; subclasses show that."""

    every: float

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._shown: float | None = None

    def message(self, text: str, advice: Advice | None = None) -> None:
        self._say(text if advice is None else text + advice.command)

    def warning(self, text: str) -> None:
        self._say(f"warning: {text}")

    def _say(self, text: str) -> None:
        say(text)

    def begin(self, problem: Problem, step: int) -> None:
        from simsuite.progress import meter_for

        self._problem = problem
        self._meter = meter_for(problem, step)
        if step == 0:
            self._say(_plan(problem))

    def expect(self, end: int | None) -> None:
        self._meter.expect(end)

    def progress(self, step: int) -> None:
        now = time.monotonic()
        self._meter.reach(step)
        if self._shown is None:  # kernels are compiled in the first stretch, which says nothing about the rate
            self._shown = now
        elif now - self._shown >= self.every:
            self._shown = now
            self.show(step)

    def line(self, step: int) -> str:
        from simsuite.progress import line_of

        assert self._problem is not None
        return line_of(self._problem, self._meter, step)

    def show(self, step: int) -> None:
        raise NotImplementedError

    def end(self) -> None: ...


def _plan(problem: Problem) -> str:
    """What is about to be computed, in a line."""
    from simsuite.capabilities import steps_expected

    steps, end = problem.position(problem.clock.end)
    unit = problem.layout.series[0].coordinate.attrs.get("units", "")
    method = short_stepper({"solver": problem.solver, **problem.method}, problem.adaptive)
    if problem.method.get("stepper") == "steady":
        return f"{problem.solver}: {method}"
    length = steps_in_words(steps, problem.lengths(0), unit)
    if problem.adaptive:
        length = f"{about(*steps_expected(problem))} steps"
    return f"{problem.solver}: {length} to t = {measured(format(end, '.6g'), unit)}, by {method}"


class Lines(_Progress):
    """Shows progress in plain lines, for pipes and log files."""

    every = PLAIN_SECONDS

    def show(self, step: int) -> None:
        say(f"{100 * self._meter.share:5.1f} %  {self.line(step)}")


class Bar(_Progress):
    """Shows progress as a bar, for terminals."""

    every = BAR_SECONDS

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None

    def _say(self, text: str) -> None:
        if self._bar is not None:
            with self._terminal():
                self._bar.console.print(printable(text, "\n"), markup=False, highlight=False)
        else:
            say(text)

    @contextlib.contextmanager
    def _terminal(self) -> Iterator[None]:
        """A context in which to draw on the terminal; if the terminal has been closed, nothing is drawn any more."""
        try:
            yield
        except OSError:
            self._bar = None
            give_up_stderr()

    def begin(self, problem: Problem, step: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        super().begin(problem, step)
        columns = (BarColumn(bar_width=30), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("compiling", total=1.0, completed=self._meter.share)
        with self._terminal():
            self._bar.start()

    def show(self, step: int) -> None:
        if self._bar is not None:
            with self._terminal():
                self._bar.update(self._task, completed=self._meter.share, description=self.line(step))

    def end(self) -> None:
        if self._bar is not None:
            with self._terminal():
                self._bar.stop()
            self._bar = None


class Quiet(_Progress):
    """Says nothing but warnings of what is probably not meant."""

    def message(self, text: str, advice: Advice | None = None) -> None: ...

    def begin(self, problem: Problem, step: int) -> None: ...

    def expect(self, end: int | None) -> None: ...

    def progress(self, step: int) -> None: ...


def reporter(quiet: bool) -> _Progress:
    """The reporter that suits stderr: a bar on a terminal, lines elsewhere, or only warnings if `quiet`."""
    if quiet:
        return Quiet()
    return Bar() if sys.stderr.isatty() else Lines()

"""How a run tells what it does: a bar on a terminal, one plain line every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simsuite.cli.console import say
from simsuite.cli.streams import give_up_stderr
from simsuite.cli.terminals.wrapping import fitted
from simsuite.summaries.lines import short_stepper
from simsuite.words import about, measured, printable, steps_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simsuite.core import Problem
    from simsuite.errors import Advice

PLAIN_SECONDS = 10.0
BAR_SECONDS = 0.1
BAR_COLUMNS = 30
BESIDE = 100  # columns of a terminal from which on the line on progress is beside the bar


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
                console = self._bar.console
                console.print(fitted(printable(text, "\n"), console.width), markup=False, highlight=False)
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
        from rich.live import Live

        super().begin(problem, step)
        self._line, console = "compiling", Console(stderr=True)
        self._bar = Live(get_renderable=lambda: self._drawn(console.width), console=console, transient=True)
        with self._terminal():
            self._bar.start()

    def _drawn(self, width: int) -> RenderableType:
        """The bar, the part of the work that is done, and beside them, or below where the terminal is narrow, the line
        on it."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        share = self._meter.share
        percent = f"{100 * share:3.0f} %"
        bar_width = max(min(BAR_COLUMNS, width - len(percent) - 1), 1)
        beside = width >= BESIDE and bar_width + len(percent) + 2 + len(self._line) <= width
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(ProgressBar(1.0, share, width=bar_width), Text(percent), Text(self._line if beside else ""))
        return row if beside else Group(row, Text(fitted(self._line, width)))

    def show(self, step: int) -> None:
        if self._bar is not None:
            self._line = self.line(step)
            with self._terminal():
                self._bar.refresh()

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

"""How a run tells what it does: a bar on a terminal, one plain line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simsuite.cli.console import duration, say, with_prefix

if TYPE_CHECKING:
    from simsuite.core import Problem

PLAIN_SECONDS = 10.0
BAR_SECONDS = 0.1


class _Progress:
    """Counts work and knows rate and remaining time; subclasses show them."""

    every: float

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._work: Callable[[int], float] = float
        self._shown = 0.0

    def message(self, text: str) -> None:
        say(text)

    def begin(self, problem: Problem, step: int) -> None:
        self._problem, self._work, self._began, self._end = problem, problem.work, 0.0, problem.clock.end

    def expect(self, end: int) -> None:
        self._end = end

    def progress(self, step: int) -> None:
        now = time.monotonic()
        if not self._began:  # kernels are compiled in the first stretch, which says nothing about the rate
            self._first, self._began, self._shown = step, now, now
        elif now - self._shown >= self.every:
            self._shown = now
            self.show(step, now - self._began)

    def line(self, step: int, seconds: float) -> str:
        p = self._problem
        assert p is not None
        unit = p.layout.series[0].coordinate.attrs.get("units", "")
        done = self._work(step)
        rate = (done - self._work(self._first)) / seconds if seconds > 0 else 0.0
        left = duration((self._work(self._end) - done) / rate) if rate > 0 else "?"
        at = f"t = {p.position(step)[1]:.4g} {unit} of {p.position(p.clock.end)[1]:.4g}"
        return f"{at}, {left} left" if p.adaptive else f"{at}, {with_prefix(rate, p.rate_unit)}, {left} left"

    def show(self, step: int, seconds: float) -> None:
        raise NotImplementedError

    def end(self) -> None: ...


class Lines(_Progress):
    """For pipes and log files."""

    every = PLAIN_SECONDS

    def show(self, step: int, seconds: float) -> None:
        say(f"{100 * self._work(step) / self._work(self._end):5.1f} %  {self.line(step, seconds)}")


class Bar(_Progress):
    """For terminals."""

    every = BAR_SECONDS

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None

    def message(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            say(text)

    def begin(self, problem: Problem, step: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        super().begin(problem, step)
        columns = (BarColumn(bar_width=30), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("compiling", total=self._work(self._end), completed=self._work(step))
        self._bar.start()

    def expect(self, end: int) -> None:
        super().expect(end)
        self._bar.update(self._task, total=self._work(end))

    def show(self, step: int, seconds: float) -> None:
        self._bar.update(self._task, completed=self._work(step), description=self.line(step, seconds))

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def reporter(quiet: bool) -> Any:
    """The one that suits where stderr goes."""
    from simsuite.execution import Silent

    if quiet:
        return Silent()
    return Bar() if sys.stderr.isatty() else Lines()

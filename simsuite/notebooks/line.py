"""A line in a notebook that says how far a run is, and is replaced as the run goes on."""

from __future__ import annotations

import contextlib
import html
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simsuite.errors import Advice
from simsuite.progress import Reporter, line_of, meter_for
from simsuite.words import printable

if TYPE_CHECKING:
    from simsuite.core import Problem

SECONDS = 0.5  # between two changes of the line


def for_notebooks(reporter: Reporter) -> Reporter:
    """A reporter that also shows a line where this is a notebook: in a kernel of IPython's. Elsewhere `reporter`."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:
        return reporter
    from IPython.display import display

    return Line(reporter, display)


class Line:
    """Tells another reporter all that it is told, and shows how far the run is by `display`, IPython's. Where showing
    fails, as when the kernel has lost its front end, the run goes on without a line."""

    def __init__(self, reporter: Reporter, display: Callable[..., Any], clock: Callable[[], float] = time.monotonic):
        self._reporter, self._display, self._clock = reporter, display, clock
        self._handle: Any = None
        self._problem: Problem | None = None

    def message(self, text: str, advice: Advice | None = None) -> None:
        self._reporter.message(text, advice)

    def warning(self, text: str) -> None:
        self._reporter.warning(text)

    def begin(self, problem: Problem, step: int) -> None:
        self._reporter.begin(problem, step)
        self._problem, self._meter, self._shown = problem, meter_for(problem, step), self._clock()
        with contextlib.suppress(Exception):
            self._handle = self._display(_bundle(f"{problem.solver}: compiling"), raw=True, display_id=True)

    def progress(self, step: int) -> None:
        self._reporter.progress(step)
        if self._problem is None:
            return
        self._meter.reach(step)
        if self._clock() - self._shown >= SECONDS:
            self._shown = self._clock()
            self._show(f"{100 * self._meter.share:.1f} %, {line_of(self._problem, self._meter, step)}")

    def expect(self, end: int | None) -> None:
        self._reporter.expect(end)
        self._meter.expect(end)

    def end(self) -> None:
        self._reporter.end()
        if self._problem is not None:
            self._show(f"{100 * self._meter.share:.1f} %")

    def _show(self, text: str) -> None:
        assert self._problem is not None
        if self._handle is not None:
            try:
                self._handle.update(_bundle(f"{self._problem.solver}: {text}"), raw=True)
            except Exception:
                self._handle = None


def _bundle(text: str) -> dict[str, str]:
    """A line for front ends of all kinds."""
    text = printable(text)
    return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}

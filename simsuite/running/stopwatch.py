"""The rate of a run, measured after the first stretches of its steps."""

from __future__ import annotations

import time
from collections.abc import Callable

from simsuite.core import Backend
from simsuite.loop import ALONE

_WARMING = 16  # at most one in so many steps is taken before the stopwatch starts, unless the first stretch has more


class Stopwatch:
    """Separates the first stretches of steps, in which kernels are loaded and their speed is learnt, from the rest."""

    def __init__(self, backend: Backend, step: int, end: int, work: Callable[[int], float]) -> None:
        """work: a function that gives the work done up to a step of the clock, called just after that step has been
        queued."""
        self._backend, self._end, self._work = backend, end, work
        self._most = step + (end - step) // _WARMING
        self._stretches = 0
        self._stopped = False
        self._first = self._last = work(step)
        self._begin = self._end_of_last = backend.fence()
        self._entered = self._started = time.monotonic()

    def stretch(self, step: int) -> None:
        """A stretch up to `step` was queued. The stopwatch starts after it if it is one of the first, and stops if it
        is the last."""
        if self._stretches == 0 or (self._stretches <= ALONE and step <= self._most):
            self._first, self._begin = self._work(step), self._backend.fence()
        if self._stretches == 0:
            self._begin.wait()
            self._started = time.monotonic()
        self._stretches += 1
        if step == self._end:
            self.stop(step)

    def stop(self, step: int) -> None:
        if not self._stopped:
            self._last, self._end_of_last, self._stopped = self._work(step), self._backend.fence(), True

    @property
    def started(self) -> float:
        """When the first stretch was over, by `time.monotonic`; when it began if it did all the work."""
        return self._started if self._last > self._first else self._entered

    def rate(self) -> float | None:
        """Work a second between the first stretches and the last, by the device's clock; None where there was none."""
        done, seconds = self._last - self._first, self._end_of_last.seconds_since(self._begin)
        return done / seconds if done and seconds > 0 else None

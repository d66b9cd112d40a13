"""When to stop early: Ctrl-C, another signal that asks a process to end, or the time allowed is over.

A handler only sets a flag: an exception raised in the middle of a library call may be lost or do damage there. Further
signals change nothing. They are common: when a terminal closes, both the system and the shell send one, and a job that
is to end gets signals from several places. Only keys, Ctrl-C or Ctrl-\\, that are pressed again after some seconds end
the process at once, which is as safe as a power cut: what it is busy with may take long.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType

_ASKED = (signal.SIGINT, signal.SIGTERM)
# Signals that end a process that does not handle them, and may be meant to warn it that a terminal closes or that a
# job's time ends. Where the calling program or `nohup` has set how they are handled, that is left as it is.
_WARNED = (signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
_KEYS = (signal.SIGINT, signal.SIGQUIT)
PATIENCE = 5.0  # Ctrl-C or Ctrl-\ ends the process at once from so many seconds after the first signal on


class Stopping:
    """Called by the loop; gives the reason to stop, or None. A context manager that installs the handlers.

    signal: the one that came, if any. Python delivers signals to its main thread only; elsewhere none is handled.
    last: whether the process has nothing to do after this but to end; once a signal came, it then ignores others. The
    time allowed is never over before the loop asks for the second time, so that however long the start took, a run gets
    on by a stretch of steps.
    """

    def __init__(self, max_minutes: float | None = None, last: bool = False) -> None:
        self._last, self._asked, self._since = last, False, 0.0
        self._deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self.signal: signal.Signals | None = None
        self._before: dict[int, object] = {}

    def __call__(self) -> str | None:
        if self.signal is not None:
            return self.signal.name
        before, self._asked = self._asked, True
        if self._deadline is not None and before and time.monotonic() >= self._deadline:
            return "max-minutes"
        return None

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():
            for number in (*_ASKED, *(n for n in _WARNED if signal.getsignal(n) is signal.SIG_DFL)):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            left = signal.SIG_IGN if self._last and self.signal is not None else handler
            signal.signal(number, left)  # type: ignore[arg-type]

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal, self._since = signal.Signals(number), time.monotonic()
        elif number in _KEYS and time.monotonic() - self._since >= PATIENCE:
            os._exit(128 + number)

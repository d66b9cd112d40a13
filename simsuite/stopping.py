"""When to stop early: Ctrl-C, another signal that asks a process to end, or the time allowed is over.

A handler only sets a flag: an exception raised in the middle of a library call may be lost or do damage there. A second
Ctrl-C, SIGTERM or SIGQUIT ends the process at once, which is as safe as a power cut. Other signals may come again and
again: of a terminal that closes, a process may hear SIGHUP from the system and from the shell.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType

_ASKED = (signal.SIGINT, signal.SIGTERM)
# Those that end a process that does not handle them, and may be meant to warn it: of a terminal that closes, of the end
# of a job's time. What a program or `nohup` has said of them holds.
_WARNED = (signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
_AT_ONCE = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)


class Stopping:
    """Called by the loop; gives the reason to stop, or None. A context manager that installs the handlers.

    signal: the one that came, if any. Python delivers signals to its main thread only; elsewhere none is handled.
    """

    def __init__(self, max_minutes: float | None = None) -> None:
        self._deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self.signal: signal.Signals | None = None
        self._before: dict[int, object] = {}

    def __call__(self) -> str | None:
        if self.signal is not None:
            return self.signal.name
        if self._deadline is not None and time.monotonic() >= self._deadline:
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
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = signal.Signals(number)
        elif number in _AT_ONCE:
            os._exit(128 + number)

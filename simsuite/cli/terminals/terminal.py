"""A terminal taken over for a while: a screen of its own, no cursor, single keys; given back whatever happens."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

from simsuite.watching.newest import Size

# the alternate screen, the cursor, and whether lines wrap: as of xterm, which all others follow
_ENTER, _LEAVE = "\033[?1049h\033[?25l\033[?7l\033[2J", "\033[0m\033[?7h\033[?25h\033[?1049l"
_BEGIN, _END = "\033[?2026h", "\033[?2026l"  # what comes between is shown at once, by terminals that know this
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Terminal:
    """The terminal of standard input and output. A context manager.

    ended: the signal that asked the process to end, if one came.
    """

    def __init__(self) -> None:
        self._out, self._in = sys.stdout.fileno(), sys.stdin.fileno()
        self._keys = os.isatty(self._in)
        self._modes: Any = None  # Any: a nested list of termios, whose type differs between Pythons
        self._shown: Sequence[str] = ()
        self._before: dict[int, object] = {}
        self._woken, self._wake = os.pipe()
        self.ended: signal.Signals | None = None

    @property
    def size(self) -> Size:
        """Columns and rows, as they are now."""
        try:
            columns, rows = os.get_terminal_size(self._out)
        except OSError:
            columns, rows = 80, 24
        return Size(columns if columns > 0 else 80, rows if rows > 0 else 24)

    def __enter__(self) -> Terminal:
        for fd in (self._woken, self._wake):
            os.set_blocking(fd, False)
        for number in (*_ENDING, signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
            self._before[number] = signal.signal(number, self._handle)
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # the terminal may have been closed
            self._give_back()
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        os.close(self._woken)
        os.close(self._wake)

    def _take(self) -> None:
        if self._keys:
            with contextlib.suppress(termios.error):  # a process in the background may not
                if self._modes is None:
                    self._modes = termios.tcgetattr(self._in)
                tty.setcbreak(self._in, termios.TCSANOW)
        self._write(_ENTER)
        self._shown = ()

    def _give_back(self) -> None:
        try:
            self._write(_LEAVE)
        finally:
            if self._modes is not None:
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self._in, termios.TCSADRAIN, self._modes)
                self._modes = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number in _ENDING:
            self.ended = signal.Signals(number)
        elif number == signal.SIGTSTP:  # Ctrl-Z: the shell gets its screen for as long as this process is stopped
            self._give_back()
            os.kill(os.getpid(), signal.SIGSTOP)
        elif number == signal.SIGCONT:
            self._take()
        else:
            self._shown = ()  # a terminal of another size has moved what it showed
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b"\0")

    def wait(self, seconds: float) -> str:
        """Wait for a key, a signal or that long. Returns the keys that were pressed, "" for none."""
        with contextlib.suppress(InterruptedError):
            ready, _, _ = select.select([self._woken, *([self._in] if self._keys else [])], [], [], seconds)
            if self._woken in ready:
                os.read(self._woken, 4096)
            if self._in in ready:
                pressed = os.read(self._in, 4096)
                if not pressed:  # the terminal has gone
                    self.ended = signal.SIGHUP
                return pressed.decode(errors="replace")
        return ""

    def show(self, lines: Sequence[str]) -> None:
        """Show these lines, from the top; only those that differ from what is there are sent."""
        text, before = [], self._shown
        if not before:
            text.append("\033[0m\033[2J")
        for row in range(max(len(lines), len(before))):
            now = lines[row] if row < len(lines) else ""
            if row >= len(before) or before[row] != now:
                # cleared before: after a line as wide as the terminal the cursor is on its last character
                text.append(f"\033[{row + 1};1H\033[0m\033[K{now}\033[0m")
        if text:
            self._shown = list(lines)
            self._write(_BEGIN + "".join(text) + _END)

    def _write(self, text: str) -> None:
        data = text.encode(sys.stdout.encoding or "utf-8", errors="replace")
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:  # somebody has set the terminal to not block
                select.select([], [self._out], [], 1.0)

"""Programs in a terminal of a given size, and what its screen shows, by pyte's model of a VT100 with colours."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyte
import pytest

LIMIT = 60.0  # seconds that nothing here comes near
TALL = 150  # rows of a terminal from which nothing scrolls away


class Screen(pyte.Screen):
    """A screen that is empty when a program has left its own one; of pyte it has one only."""

    def reset_mode(self, *modes: int, **how: bool) -> None:
        super().reset_mode(*modes, **how)
        if 1049 in modes:
            self.erase_in_display(2)
            self.cursor_position()


class InTerminal:
    """`python -m simsuite ARGS` with a pseudo-terminal for its standard streams, which is its controlling one."""

    def __init__(
        self, *args: object, cwd: Path, columns: int = 80, rows: int = 24, environment: Mapping[str, str] | None = None
    ) -> None:
        self._master, slave = os.openpty()
        self._resize(columns, rows)
        self.screen = Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.sent = b""  # all that the program has written
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM", "COLUMNS", "LINES")}
        chosen = {"TERM": "xterm-256color", "COLORTERM": "truecolor"} if environment is None else environment
        self.modes = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simsuite", *map(str, args)],
            cwd=cwd,
            env=kept | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])} | dict(chosen),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._slave = slave

    def _resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal another size, of which the system tells the program by SIGWINCH."""
        self.screen.resize(rows, columns)
        self._resize(columns, rows)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read(self, seconds: float = 0.05) -> None:
        """Take over what the program has written, within so many seconds."""
        while select.select([self._master], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                data = os.read(self._master, 1 << 16)
                self.sent += data
                self._stream.feed(data)
            seconds = 0.0

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, *words: str) -> None:
        """Read until the screen shows all of the words."""
        self.wait_until(lambda: all(each in self.text for each in words))

    def wait_until(self, done: Callable[[], bool]) -> None:
        began = time.monotonic()
        while not done():
            assert time.monotonic() - began < LIMIT, self.text
            self.read()

    def end(self) -> int:
        """Read until the program has ended; returns its exit code."""
        began = time.monotonic()
        while self.process.poll() is None:
            assert time.monotonic() - began < LIMIT, self.text
            self.read()
        self.read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self._slave)
        os.close(self._master)

    def given_back(self) -> bool:
        """Whether the terminal is as it was: its modes, its main screen, its cursor."""
        modes = termios.tcgetattr(self._slave)
        left, entered = self.sent.rfind(b"\033[?1049l"), self.sent.rfind(b"\033[?1049h")
        visible = self.sent.rfind(b"\033[?25h") >= self.sent.rfind(b"\033[?25l")
        return modes == self.modes and left >= entered and visible


@contextlib.contextmanager
def in_terminal(*args: object, cwd: Path, **options: object) -> Iterator[InTerminal]:
    """The program under way, which is not left behind."""
    program = InTerminal(*args, cwd=cwd, **options)  # type: ignore[arg-type]
    try:
        yield program
    finally:
        program.close()


@dataclass
class Shown:
    """What was written to a terminal, and what its screen then shows."""

    sent: bytes = b""
    lines: list[str] = field(default_factory=list)


@contextlib.contextmanager
def terminal_in_place_of_streams(columns: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """A terminal for what this process prints inside; what came is known after it."""
    master, slave = os.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", TALL, columns, 0, 0))
    shown, chunks = Shown(), []

    def collect() -> None:
        with contextlib.suppress(OSError):  # as soon as nobody has the other end open
            while data := os.read(master, 1 << 16):
                chunks.append(data)

    reader = threading.Thread(target=collect)
    reader.start()
    out, err = (os.fdopen(os.dup(slave), "w", encoding="utf-8") for _ in range(2))
    os.close(slave)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setenv("COLUMNS", str(columns))  # Rich asks the first streams of the process, which are others here
            patch.setenv("TERM", "xterm-256color")
            yield shown
    finally:
        out.close()
        err.close()
        reader.join()
        os.close(master)
    screen = Screen(columns, TALL)
    stream = pyte.ByteStream(screen)
    shown.sent = b"".join(chunks)
    stream.feed(shown.sent)
    shown.lines = "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n")

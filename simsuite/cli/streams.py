"""Standard streams that are closed, or whose other end goes away, while a command runs."""

from __future__ import annotations

import os
import sys


def open_missing_standard_files() -> None:
    """Send to the null device what goes to standard streams that the caller closed. Without that the next file that is
    opened, which may be one of results, would take the number of the stream, and libraries would write into it."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the descriptor that is opened gets the lowest number that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def give_up_stderr() -> None:
    """Write messages nowhere from now on: the terminal was closed, or the disk that takes them is full."""
    sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")

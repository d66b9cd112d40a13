"""Commands of simsuite in children of this process, which has imported and compiled all that they need."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT = 60.0  # seconds, after which a child hangs


@dataclass(frozen=True)
class Ended:
    """How a child ended. code: its exit code, or minus the signal that ended it; None if it did not end at all."""

    code: int | None
    output: str

    @property
    def crashed(self) -> bool:
        """By itself, and not by a kill."""
        return self.code is None or (self.code < 0 and self.code != -signal.SIGKILL) or "Traceback" in self.output


def command(*words: object) -> int:
    """The exit code of `simsuite WORDS`, run in this process."""
    from simsuite.cli import main

    sys.argv = ["simsuite", *map(str, words)]
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextlib.contextmanager
def forked(action: Callable[[], int], output: Path, fault: str | None = None) -> Iterator[int]:
    """The number of a child that does `action` and exits with the code that this gives.

    output: where its messages go. fault: what is to fail in it, see `record.c`.
    """
    child = os.fork()
    if child:
        yield child
        return
    code = 70
    try:
        fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        os.close(fd)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        if fault is not None:
            os.environ["FAULTS_FAIL"] = fault
        code = action()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        ctypes.CDLL(None).exit(code)  # as at the end of a program HDF5 closes what is open


def ended(child: int, output: Path, limit: float = LIMIT, poll: Callable[[], None] = lambda: None) -> Ended:
    """Wait for a child, and kill it if it hangs. poll: called while it runs."""
    began = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return Ended(os.waitstatus_to_exitcode(status), output.read_text(errors="replace"))
        if time.monotonic() - began > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Ended(None, output.read_text(errors="replace"))
        poll()
        time.sleep(0.002)


def simsuite(*words: object, output: Path, fault: str | None = None) -> Ended:
    """`simsuite WORDS` in a child, at its end."""
    output.write_text("")
    with forked(lambda: command(*words), output, fault) as child:
        return ended(child, output)

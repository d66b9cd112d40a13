"""The lock by which one process at a time writes in the directory of a run; a kill releases it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

_ATTEMPTS, _PAUSE = 20, 0.01  # the number of attempts at locking a directory, and the seconds between them


class Lock:
    """Locks the file `lock` in a directory, and the directory itself where its file system can do that, so that the
    lock holds although somebody deletes the file."""

    def __init__(self, directory: Path) -> None:
        self._directory, self.path = directory, directory / "lock"

    @contextlib.contextmanager
    def held(self) -> Iterator[int]:
        """A context that holds the lock and gives the descriptor of the file. Raises BlockingIOError where another
        process has it, and OSError where there can be none."""
        with _opened(self.path, os.O_RDWR | os.O_CREAT) as file, _opened(self._directory, os.O_RDONLY) as directory:
            for attempt in range(_ATTEMPTS):
                try:
                    _lock(file, directory)
                    break
                except BlockingIOError:
                    if attempt == _ATTEMPTS - 1:
                        raise
                time.sleep(_PAUSE)
            yield file

    @property
    def in_use(self) -> bool:
        """Whether a simsuite holds the lock. Asking takes a shared lock for some microseconds, which is why `held`
        tries more than once."""
        for path in (self.path, self._directory):
            try:
                with _opened(path, os.O_RDONLY) as fd:
                    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # there is no such file, or its file system has no such lock
                pass
        return False


def _lock(file: int, directory: int) -> None:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # network file systems lock files only
        pass


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    fd = os.open(path, flags, 0o666)
    try:
        yield fd
    finally:
        os.close(fd)

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
    """Locks the file `lock`, or another one, in a directory, and the directory itself where its file system can do
    that, so that the lock holds although somebody deletes the file."""

    def __init__(self, directory: Path, name: str = "lock") -> None:
        self._directory, self.path = directory, directory / name

    @contextlib.contextmanager
    def held(self, shared: bool = False) -> Iterator[int]:
        """A context that holds the lock and gives the descriptor of the file. shared: together with others who share
        it. Raises BlockingIOError where another process has it, and OSError where there can be none."""
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        with _opened(self.path, os.O_RDWR | os.O_CREAT) as file, _opened(self._directory, os.O_RDONLY) as directory:
            for attempt in range(_ATTEMPTS):
                try:
                    _lock(file, directory, how)
                    break
                except BlockingIOError:
                    if attempt == _ATTEMPTS - 1:
                        raise
                time.sleep(_PAUSE)
            yield file

    @contextlib.contextmanager
    def awaited(self) -> Iterator[None]:
        """A context that holds the lock of the file alone, as soon as no other process has it. Raises OSError where
        there can be none."""
        with _opened(self.path, os.O_RDWR | os.O_CREAT) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def in_use(self) -> bool:
        """Whether a simsuite is known to hold the lock alone."""
        return self.tested() is True

    def tested(self) -> bool | None:
        """Whether a simsuite holds the lock alone; None where that cannot be found out, as on a file system without
        such locks. Asking takes a shared lock for some microseconds, which is why `held` tries more than once."""
        return self._taken(fcntl.LOCK_SH, os.O_RDONLY)

    @property
    def in_use_or_shared(self) -> bool:
        """Whether a simsuite is known to hold the lock, alone or together with others. Asking takes it for some
        microseconds."""
        return self._taken(fcntl.LOCK_EX, os.O_RDWR) is True

    def _taken(self, how: int, flags: int) -> bool | None:
        there = [path for path in (self.path, self._directory) if os.path.exists(path)]
        answers = [_taken(path, how, flags) for path in there]
        if True in answers:
            return True
        return False if False in answers or not there else None


def _taken(path: Path, how: int, flags: int) -> bool | None:
    try:
        with _opened(path, flags) as fd:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # its file system has no such lock, or the file may not be read, or has just gone
        return None
    return False


def _lock(file: int, directory: int, how: int) -> None:
    fcntl.flock(file, how | fcntl.LOCK_NB)
    try:
        fcntl.flock(directory, how | fcntl.LOCK_NB)
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

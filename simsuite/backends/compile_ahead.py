"""A second process that compiles kernels of a run while the run compiles others.

Numba compiles one function after the other. When the first kernel of a run is found to be missing from the cache, this
process is forked. The copy rehearses the run: it calls what the run will call, but no kernel is run. Then it compiles
the kernels that were called, the last one first, into the cache, where the run finds them when it comes to them. A
kernel that one process is compiling is claimed by it: the copy leaves out what the run is compiling, and the run waits
for what the copy is compiling. So they meet somewhere in the middle, and each kernel is compiled once.

Claims are locks on bytes of a file without a name, which end with the process that has them. Whatever happens to the
copy, the run compiles what it does not find. The copy writes nothing but kernels. It ends when it has compiled all that
it knows of, at the latest with the run, or when it has computed for IDLE seconds without beginning to compile.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import gc
import hashlib
import logging
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from simsuite.core import Kernel

IDLE = 20.0  # seconds of a CPU
PATIENCE = 60.0  # seconds that the run waits for a kernel at most; then it ends the copy, and compiles itself
_LARGEST = 4 << 30  # bytes of a process, the pages of which take a second to copy
_ASKED_EVERY = 0.01  # seconds
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class Claimed(Exception):
    """The other process is compiling this kernel."""


def can_help() -> bool:
    """Whether a copy of this process can be made that compiles: this is Linux, no other thread of Python may hold a
    lock that would stay locked in the copy, and the process is not so large that copying it takes long."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() <= _LARGEST


class _Claims:
    """Which kernels this process and its copy are compiling."""

    def __init__(self) -> None:
        self._file = os.memfd_create("simsuite")
        self.held: list[str] = []

    def take(self, name: str, wait: bool) -> bool:
        """Claim a kernel. Returns whether this process has it now. wait: until the other process does not."""
        how = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
        try:
            fcntl.lockf(self._file, how, 1, _byte(name))
        except OSError:
            return False
        self.held.append(name)
        return True

    def leave(self, name: str) -> None:
        if name in self.held:
            self.held.remove(name)
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte(name))

    def inherit(self) -> None:
        """Begin anew in the copy of a process, whose claims are not the copy's, and close all its other files, of which
        some are locked."""
        self.held.clear()
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        os.closerange(3, self._file)
        os.closerange(self._file + 1, 1 << 20 if most == resource.RLIM_INFINITY else min(most, 1 << 20))

    def close(self) -> None:
        os.close(self._file)


def _byte(name: str) -> int:
    """The place of a kernel's lock in the file: the first 60 bits of a hash of its name."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:15], 16)


class CompileAhead:
    """Forks the process that rehearses when the first kernel is missing. rehearse: a function that goes through the
    run."""

    def __init__(self, rehearse: Callable[[], None]) -> None:
        self._rehearse = rehearse
        self._claims: _Claims | None = None  # as long as there is no other process to claim anything from
        self._copy: int | None = None  # the number of the process that rehearses; 0 in that process itself
        self._handle: int | None = None  # an open file that stands for that process, while it is needed

    def missing(self, name: str) -> None:
        """A kernel is not in the cache. Returns when this process has claimed it: the other one may have compiled it
        meanwhile, so the cache has to be looked at again."""
        if self._copy is None:
            self._start(name)
        claims = self._claims
        if claims is None or name in claims.held:
            return
        if self._copy == 0:
            signal.setitimer(signal.ITIMER_PROF, IDLE)
            # what another kernel needs has to be waited for
            if not claims.take(name, wait=bool(claims.held)) and not claims.held:
                raise Claimed(name)
            return
        late = time.monotonic() + PATIENCE
        while not claims.take(name, wait=False) and self._handle is not None:
            time.sleep(_ASKED_EVERY)
            if time.monotonic() >= late:
                self._end()

    def found(self, name: str) -> None:
        """The kernel is in the cache now."""
        if self._claims is not None:
            self._claims.leave(name)

    def _start(self, name: str) -> None:
        """Make the copy, if that is possible. name: the first kernel, which this process compiles."""
        self._copy = -1  # not asked again, whatever happens
        if not can_help():
            return
        with warnings.catch_warnings(), contextlib.suppress(OSError):
            self._claims = _Claims()
            self._claims.take(name, wait=False)
            # from Python 3.12 on there is a warning wherever libraries have threads, such as those of OpenBLAS
            warnings.simplefilter("ignore", DeprecationWarning)
            self._copy = os.fork()
        if self._copy == 0:
            self._help()
        if self._copy > 0:
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(self._copy)

    def _help(self) -> NoReturn:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for number in (signal.SIGTERM, signal.SIGPROF):
                signal.signal(number, signal.SIG_DFL)
            ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
            signal.setitimer(signal.ITIMER_PROF, IDLE)
            assert self._claims is not None
            self._claims.inherit()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(nowhere, standard)
            logging.disable()
            gc.disable()
            for compile_kernel in reversed(_called_by(self._rehearse)):
                with contextlib.suppress(Claimed):
                    compile_kernel()
        finally:
            os._exit(0)

    def _end(self) -> None:
        """End the copy, if there is one. Its number may be that of another process by now, if somebody has waited for
        it; its handle is not."""
        if self._handle is None:
            return
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self._copy or 0, 0)
        os.close(self._handle)
        self._handle = None

    def close(self) -> None:
        self._end()
        if self._claims is not None:
            self._claims.close()


def _called_by(rehearse: Callable[[], None]) -> list[Callable[[], object]]:
    """Functions that compile the kernels which a function calls, in the order of the calls, one for each combination of
    a kernel and types of arguments. From now on kernels are not run in this process, and return None."""
    from numba.core.dispatcher import Dispatcher

    calls: dict[tuple[object, ...], Callable[[], object]] = {}

    def call(kernel: Kernel, *arguments: object) -> None:
        types = map(kernel.typeof_pyval, arguments)
        calls.setdefault((kernel, *types), functools.partial(kernel._compile_for_args, *arguments))

    Dispatcher.__call__ = call  # type: ignore[assignment]
    with contextlib.suppress(Exception):
        rehearse()
    return list(calls.values())


@contextlib.contextmanager
def compile_ahead(rehearse: Callable[[], None]) -> Iterator[CompileAhead]:
    """In this context, the process that rehearses is there as soon as it is needed."""
    helper = CompileAhead(rehearse)
    try:
        yield helper
    finally:
        helper.close()

"""A command that several processes run: how they begin together and end together."""

from __future__ import annotations

import atexit
import os
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from simsuite.core import JsonObject
from simsuite.errors import DeviceError, NumericalFailure, ProcessFailure, SimsuiteError, UsageError
from simsuite.parallel.crew import Crew, Single
from simsuite.parallel.launch import give_up, rank_and_size
from simsuite.parallel.leader import Leader
from simsuite.parallel.mpi import NOTHING, OVER, REPORT, Mpi

if TYPE_CHECKING:
    from simsuite.scenario import Scenario
    from simsuite.stopping import Stopping

_PATIENCE = 5.0  # seconds that processes are given to end by themselves
_ASKED_EVERY = 1.0  # seconds between two looks whether the first process is still there

_KINDS: tuple[type[SimsuiteError], ...] = (UsageError, NumericalFailure, DeviceError)

T = TypeVar("T")


class Over(BaseException):
    """The first process has ended the run. No Exception: nothing but the end of the command is to handle it. code: the
    exit code; error: why that is not 0, where it is known; summary: of the run."""

    def __init__(self, code: int, error: str | None, summary: JsonObject | None) -> None:
        super().__init__(code)
        self.code, self.error, self.summary = code, error, summary


class Session(AbstractContextManager["Session"]):
    """The processes that were started together, from the beginning of a command, or of a call from Python, to its end;
    or this one alone.

    The first process leads (`crew`); in others, `follows` is what connects them with it. Whatever ends the command in
    the first process ends it in all, with the same exit code. An error of another process becomes an error of the
    first; if that does not answer, all are ended at once.

    in_python: whether other processes than the first go on after the run, with an error like its own if it raised one,
    instead of exiting. shared: whether processes that were started together share what is done. summary: of the run, as
    the first process has told it.
    """

    def __init__(self, in_python: bool = False, shared: bool = True) -> None:
        self._in_python, self._shared = in_python, shared
        self.summary: JsonObject | None = None
        self.crew: Crew = Single()
        self.follows: Mpi | None = None
        self._leader: Leader | None = None
        self._over: Over | None = None
        self._asked = time.monotonic()

    def __enter__(self) -> Session:
        rank, size = rank_and_size()
        if size > 1 and self._shared:
            try:
                mpi = Mpi()
            except SimsuiteError as error:
                self._without_mpi(error, rank, size)
                raise
            if mpi.rank == 0:
                self.crew = self._leader = Leader(mpi)
            else:
                self.follows = mpi
                mpi.look = self._look
        return self

    def take_part(self, scenario: Scenario, stopping: Stopping) -> None:
        """In another process than the first: make this process's part of a run, until that is over, which raises Over.
        In the first: make sure that all have read the same scenario, or raise UsageError."""
        from simsuite.parallel.follower import Follower, signature

        if self.follows is not None:
            Follower(self.follows, scenario, stopping).run()
        if self.crew.size > 1:
            self.crew.require_alike(signature(scenario), scenario.differences)

    @staticmethod
    def _without_mpi(error: SimsuiteError, rank: int, size: int) -> None:
        """Have all processes end, as this one does, since it cannot take part in MPI. The first one tells why at the
        end of its command; another one only if the first one, which would have ended all, seems to be well."""
        if rank > 0:
            time.sleep(_PATIENCE)
            os.write(2, f"error: process {rank} of {size}, on {socket.gethostname()}: {error}\n".encode())
        atexit.register(give_up, error.exit_code)

    def from_first(self, make: Callable[[], T]) -> T:
        """See `Communicator.from_first`."""
        mpi = self.follows if self._leader is None else self._leader.mpi
        return make() if mpi is None else mpi.from_first(make)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Returns whether the error is one of those that only end a run in another process than the first."""
        code = _exit_code(error)
        if self._leader is not None:
            text = str(error) if isinstance(error, SimsuiteError) else None
            if self._leader.end((code, text, self.summary), _PATIENCE):
                self._leader.mpi.close()
            else:  # once the command line has told the error
                atexit.register(self._leader.mpi.abort, code or 1)
        elif self.follows is not None:
            own = None if isinstance(error, Over) else error
            over = error if error is None or isinstance(error, Over) else self._tell(self.follows, error, code)
            if isinstance(over, Over):
                self.follows.send((self.follows.rank, "ended", None), 0, REPORT)
                self.follows.close()
                if not self._in_python:
                    raise SystemExit(over.code) from None
                if own is None and over.code and over.summary is None:
                    raise _like(over) from None
                self.summary = over.summary
                return own is None
        return False

    def _look(self) -> None:
        """Called while another process than the first waits. Raises Over from when the first one has ended the run."""
        assert self.follows is not None
        if self._over is None and (told := self.follows.poll(OVER, 0)) is not NOTHING:
            self._over = Over(*told)
        if self._over is not None:
            raise self._over
        if time.monotonic() - self._asked > _ASKED_EVERY:
            self._asked = time.monotonic()
            if self.follows.gone() == 0:
                raise SimsuiteError("process 0 has ended before the run did")

    def _tell(self, mpi: Mpi, error: BaseException, code: int) -> BaseException | None:
        """Tell the first process of an error, and wait until that ends the run. Returns what ends this process."""
        known = isinstance(error, SimsuiteError)
        text = str(error).removeprefix("error: ") if known else "".join(traceback.format_exception(error)).rstrip()
        mpi.send((mpi.rank, "failed", (text, code)), 0, REPORT)
        late = time.monotonic() + _PATIENCE
        try:
            while time.monotonic() < late:
                self._look()
                time.sleep(1e-3)
        except (Over, SimsuiteError) as end:
            if isinstance(end, Over):
                return end
        os.write(2, f"error: process {mpi.rank} of {mpi.size}: {text}\n".encode())
        mpi.abort(code or 1)
        return error


def _exit_code(error: BaseException | None) -> int:
    """The exit code of a command that ends with this error, or with one of the command line's own ways to end."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    code = getattr(error, "exit_code", getattr(error, "code", None))
    return code if isinstance(code, int) else int(error is not None)


def _like(over: Over) -> SimsuiteError:
    """An error like the one that ended the run in the first process."""
    error = ProcessFailure(over.error or "process 0 ended the run by an error of its own", over.code)
    return next((kind(str(error)) for kind in _KINDS if kind.exit_code == over.code), error)

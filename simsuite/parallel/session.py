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
from typing import TypeVar

from simsuite.errors import SimsuiteError
from simsuite.parallel.crew import Crew, Single
from simsuite.parallel.launch import give_up, rank_and_size
from simsuite.parallel.leader import Leader
from simsuite.parallel.mpi import NOTHING, OVER, REPORT, Mpi

_PATIENCE = 5.0  # seconds that processes are given to end by themselves
_ASKED_EVERY = 1.0  # seconds between two looks whether the first process is still there

T = TypeVar("T")


class Over(BaseException):
    """The first process has ended the run. No Exception: nothing but the end of the command is to handle it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Session(AbstractContextManager["Session"]):
    """The processes that were started together, from the beginning of a command to its end, or this one alone.

    The first process leads (`crew`); in others, `follows` is what connects them with it. Whatever ends the command in
    the first process ends it in all, with the same exit code. An error of another process becomes an error of the
    first; if that does not answer, all are ended at once.
    """

    def __init__(self) -> None:
        self.crew: Crew = Single()
        self.follows: Mpi | None = None
        self._leader: Leader | None = None
        self._over: Over | None = None
        self._asked = time.monotonic()

    def __enter__(self) -> Session:
        rank, size = rank_and_size()
        if size > 1:
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
    ) -> None:
        code = _exit_code(error)
        if self._leader is not None:
            if not self._leader.end(code, _PATIENCE):  # once the command line has told the error
                atexit.register(self._leader.mpi.abort, code or 1)
        elif self.follows is not None:
            if error is not None and not isinstance(error, Over):
                error = self._tell(self.follows, error, code)
            if isinstance(error, Over):
                self.follows.send((self.follows.rank, "ended", None), 0, REPORT)
                raise SystemExit(error.code) from None

    def _look(self) -> None:
        """Called while another process than the first waits. Raises Over from when the first one has ended the run."""
        assert self.follows is not None
        if self._over is None and (code := self.follows.poll(OVER, 0)) is not NOTHING:
            assert isinstance(code, int)
            self._over = Over(code)
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

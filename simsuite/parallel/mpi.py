"""MPI between the processes of a run, by mpi4py: messages between the first process and the others, parts of states,
and rows of arrays on the host.

Nothing here blocks within MPI: a library that waits keeps a core busy, and could not be told that another process has
failed. Requests are tested, with pauses that grow, and `look` is called meanwhile. Calls of MPI are made one at a time,
as threads of two kinds make them: the one that steps, and the one that writes.
"""

from __future__ import annotations

import copy
import os
import socket
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from simsuite.communication.communicator import Halos, Seat
from simsuite.core import DeviceArray, Snapshot
from simsuite.errors import PackageMissing, UsageError
from simsuite.parallel.launch import rank_and_size

# Tags of messages: what the first process asks for; values that it decides (`from_first`); that the run is over;
# what the others report to it; and what it has measured.
ASK, FIRST, OVER, REPORT, MEASURED = 1, 2, 3, 4, 5
# tags of rows, by the direction in which they go, and of what is swapped
_TOWARDS_LAST, _TOWARDS_FIRST, _SWAPPED, _GATHERED = 1, 2, 3, 4
_PARTS = 1 << 14  # parts of so many states can be under way at a time; tags of them are used again after that
_PIECE = 1 << 30  # bytes of a message at most: some libraries count no further than 2^31
_AT_ONCE = 50  # times that a request is tested before the first pause
_SHORTEST, _LONGEST = 2e-5, 1e-3  # seconds between two tests

T = TypeVar("T")


class Nothing:
    """Stands for no message."""


NOTHING = Nothing()


class Person(NamedTuple):
    """What the other processes know of one. gpus: what CUDA_VISIBLE_DEVICES says there."""

    host: str
    pid: int
    cores: Hashable
    gpus: str | None


class Mpi:
    """A `Communicator`. look: called again and again while this process waits; may raise an error."""

    def __init__(self) -> None:
        try:
            PackageMissing.unless(["mpi4py"], "mpi", "a run that several processes share")
            from mpi4py import MPI
        except PackageMissing as error:
            raise UsageError(str(error)) from None
        except (ImportError, RuntimeError) as error:
            why = " ".join(str(error).split())
            raise UsageError(
                f"MPI cannot be loaded ({why}): `pip install mpich`, or install your machine's MPI"
            ) from None
        world, started = MPI.COMM_WORLD, rank_and_size()
        if world.size != started[1]:
            message = f"{started[1]} processes were started together, but MPI sees {world.size}"
            raise UsageError(f"{message}: mpiexec belongs to another MPI than mpi4py ({_library(MPI)}) uses")
        self._mpi, self.rank, self.size = MPI, world.rank, world.size
        self._control, self._parts, self._rows = (world.Dup() for _ in range(3))
        self._lock = threading.RLock()
        self._sent: list[Any] = []  # Any: requests of mpi4py; kept until their messages have gone
        self._measured: dict[str, Any] = {}  # by question; Any: what `measured` returned
        self.look: Callable[[], None] = lambda: None
        cores = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
        self.people: list[Person] = world.allgather(Person(socket.gethostname(), os.getpid(), cores, gpus))
        # processes in other containers of the same name are not seen from here
        near = (rank for rank, other in enumerate(self.people) if other.host == self.people[self.rank].host)
        self._seen = [rank for rank in near if _runs(self.people[rank].pid)]

    @property
    def seat(self) -> Seat:
        """Where this process works: GPUs of a machine go to its processes in turn, and those that may run on the same
        cores share these evenly."""
        own = self.people[self.rank]
        near = [(rank, other) for rank, other in enumerate(self.people) if other.host == own.host]
        before = sum(other.gpus == own.gpus for rank, other in near if rank < self.rank)
        return Seat(before, sum(other.cores == own.cores for _, other in near))

    def gone(self) -> int | None:
        """The number of a process of this machine that has ended; None while there is none."""
        return next((rank for rank in self._seen if not _runs(self.people[rank].pid)), None)

    def abort(self, code: int) -> None:
        """End all processes at once."""
        self._mpi.COMM_WORLD.Abort(code)

    def close(self) -> None:
        """Give back what MPI keeps for this object, once all processes have nothing to say any more; all have to."""
        with self._lock:
            self._mpi.Request.Waitall(self._sent)
            for communicator in (self._control, self._parts, self._rows):
                communicator.Free()

    # ---- messages

    def send(self, message: object, to: int, tag: int) -> None:
        """Send a small message; returns at once."""
        with self._lock:
            self._sent = [request for request in self._sent if not request.Test()]
            self._sent.append(self._control.isend(message, dest=to, tag=tag))

    def poll(self, tag: int, source: int | None = None) -> Any:
        """The next message of a kind, from any process unless `source` is given; NOTHING if none has come. Any:
        whatever was sent."""
        with self._lock:
            found = self._control.improbe(self._mpi.ANY_SOURCE if source is None else source, tag)
            return NOTHING if found is None else found.recv()

    def receive(self, tag: int, source: int) -> Any:
        """Wait for the next message of a kind. Any: whatever was sent."""
        pause = Pause()
        while (message := self.poll(tag, source)) is NOTHING:
            self.look()
            pause()
        return message

    def from_first(self, make: Callable[[], T]) -> T:
        if self.rank > 0:
            found: T = self.receive(FIRST, 0)
            return found
        made = make()
        for other in range(1, self.size):
            self.send(made, other, FIRST)
        return made

    def measured(self, question: str, measure: Callable[[], T]) -> T:
        """What `measure` returned in the first process when that asked this question. Unlike with `from_first`, it may
        ask while it decides something else, and others later."""
        if self.rank == 0 and question not in self._measured:
            self._measured[question] = measure()
            for other in range(1, self.size):
                self.send((question, self._measured[question]), other, MEASURED)
        while question not in self._measured:
            asked, answer = self.receive(MEASURED, 0)
            self._measured[asked] = answer
        found: T = self._measured[question]
        return found

    # ---- parts of states

    def send_part(self, part: Snapshot, to: int, number: int) -> None:
        """Send a part of a state, and wait until its memory may be used again. number: that of the state."""
        arrays = {name: np.ascontiguousarray(a) for name, a in part.arrays.items()}
        about = [(name, a.shape, a.dtype.str) for name, a in arrays.items()]
        tag = number % _PARTS
        with self._lock:
            requests = [self._parts.isend((part.step, about), dest=to, tag=tag)]
            for a in arrays.values():
                requests += [self._parts.Isend([piece, self._mpi.BYTE], to, tag) for piece in _pieces(a)]
        self._wait(requests)

    def receive_part(self, source: int, number: int) -> Snapshot:
        tag, pause = number % _PARTS, Pause()
        while True:
            with self._lock:
                found = self._parts.improbe(source, tag)
                if found is not None:
                    step, about = found.recv()
                    break
            self.look()
            pause()
        arrays = {name: np.empty(shape, dtype) for name, shape, dtype in about}
        with self._lock:
            pieces = [piece for a in arrays.values() for piece in _pieces(a)]
            requests = [self._parts.Irecv([piece, self._mpi.BYTE], source, tag) for piece in pieces]
        self._wait(requests)
        return Snapshot(step, arrays)

    # ---- rows of arrays

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        row, byte, requests = self._rows, self._mpi.BYTE, []
        with self._lock:
            if before is not None:
                requests.append(row.Irecv([halos.before, byte], before, _TOWARDS_LAST))
                requests.append(row.Isend([halos.first, byte], before, _TOWARDS_FIRST))
            if after is not None:
                requests.append(row.Irecv([halos.after, byte], after, _TOWARDS_FIRST))
                requests.append(row.Isend([halos.last, byte], after, _TOWARDS_LAST))
        self._wait(requests)

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        row, byte, requests = self._rows, self._mpi.BYTE, []
        with self._lock:
            for other in range(len(given)):
                if other != self.rank:
                    requests += [row.Irecv([a, byte], other, _SWAPPED) for a in _pieces(taken[other])]
                    requests += [row.Isend([a, byte], other, _SWAPPED) for a in _pieces(given[other])]
        taken[self.rank][...] = given[self.rank]
        self._wait(requests)

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        row, byte, requests = self._rows, self._mpi.BYTE, []
        own, others = _pieces(parts[self.rank]), [other for other in range(len(parts)) if other != self.rank]
        with self._lock:
            for other in others:
                requests += [row.Irecv([a, byte], other, _GATHERED) for a in _pieces(parts[other])]
            for other in others:
                requests += [row.Isend([a, byte], other, _GATHERED) for a in own]
        self._wait(requests)

    def gather(self, values: np.ndarray) -> np.ndarray:
        own = np.ascontiguousarray(values, np.float64)
        found = np.empty((self.size, *own.shape))
        with self._lock:
            request = self._rows.Iallgather(own, found)
        self._wait([request])
        return found

    def first(self, processes: int) -> Mpi:
        if processes == self.size:
            return self
        some = copy.copy(self)
        with self._lock:
            some._rows = self._rows.Create_group(self._rows.Get_group().Incl(range(processes)))
        some.size = processes
        return some

    def _wait(self, requests: list[Any]) -> None:
        pause = Pause()
        while True:
            with self._lock:
                if self._mpi.Request.Testall(requests):
                    return
            self.look()
            pause()


class Pause:
    """Called between two tests of a request: the first ones follow at once, later ones after ever longer pauses."""

    def __init__(self) -> None:
        self._times, self._seconds = 0, _SHORTEST

    def __call__(self) -> None:
        self._times += 1
        if self._times > _AT_ONCE:
            time.sleep(self._seconds)
            self._seconds = min(1.1 * self._seconds, _LONGEST)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _pieces(array: np.ndarray) -> list[np.ndarray]:
    """An array in C order as bytes, in pieces that fit into a message."""
    flat = array.reshape(-1).view(np.uint8)
    return [flat[begin : begin + _PIECE] for begin in range(0, flat.size, _PIECE)]


def _library(mpi: Any) -> str:
    return str(mpi.Get_library_version()).strip("\0\n ").partition("\n")[0].replace("\t", " ")

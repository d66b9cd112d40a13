"""The first process of a run that several share: it asks the others to do what it does, and joins what they have.

The methods of its stepper are replaced by ones that first ask the others to call the same method of theirs, so that
all decisions about the run (how many steps at once, when to look, when to stop) are its own, at the same step
everywhere. Others report what they have done, so that none falls behind by more than AHEAD stretches of steps, and
what goes wrong with them: then an error is raised here, wherever this process waits or asks.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from simsuite.assembly import require_divisible
from simsuite.capabilities import Adaptive, Divisible, Meeting, Steered
from simsuite.core import Backend, JsonObject, Pending, Problem, Snapshot, Stepper
from simsuite.errors import DeviceError, ProcessFailure, SimsuiteError, UsageError
from simsuite.parallel.between_devices import communicator_for
from simsuite.parallel.mpi import ASK, NOTHING, OVER, REPORT, Mpi, Pause

AHEAD = 2  # stretches of steps that this process is ahead of another one at most
_ASKED_EVERY = 1.0  # seconds between two looks whether other processes are still there


class Leader:
    """A `Crew`."""

    def __init__(self, mpi: Mpi) -> None:
        self.mpi, self.size, self.seat = mpi, mpi.size, mpi.seat
        self._lock = threading.Lock()
        self._others = range(1, mpi.size)
        self._done = dict.fromkeys(self._others, 0)  # stretches that others have finished
        self._told: dict[str, dict[int, Any]] = {}  # what others have reported, by subject; Any: a value of each kind
        self._stretches, self._looks, self._course = 0, 0, None
        self._failure: SimsuiteError | None = None
        self._asked = time.monotonic()
        mpi.look = self.look

    # ---- what others report

    def look(self) -> None:
        """Take notice of what others report. Raises what has gone wrong with one of them."""
        with self._lock:
            while (report := self.mpi.poll(REPORT)) is not NOTHING:
                rank, subject, value = report
                if subject == "done":
                    self._done[rank] = value
                elif subject == "failed":
                    text, code = value
                    self._failure = self._failure or ProcessFailure(f"{self._name(rank)}: {text}", code)
                else:
                    self._told.setdefault(subject, {})[rank] = value
            if self._failure is None and time.monotonic() - self._asked > _ASKED_EVERY:
                self._asked = time.monotonic()
                if (rank := self.mpi.gone()) is not None:
                    self._failure = ProcessFailure(f"{self._name(rank)} has ended before the run did", 1)
            if self._failure is not None:
                raise self._failure

    def _name(self, rank: int) -> str:
        return f"process {rank} of {self.size}, on {self.mpi.people[rank].host}"

    def reported(self, subject: str) -> dict[int, Any]:
        """What all others report on a subject. Waits for it. Any: a value of each kind."""
        self._wait(lambda: len(self._told.get(subject, {})) == len(self._others))
        return self._told[subject]

    def _wait(self, ready: Callable[[], bool]) -> None:
        pause = Pause()
        self.look()
        while not ready():
            pause()
            self.look()

    def ask(self, *what: object) -> None:
        for other in self._others:
            self.mpi.send(what, other, ASK)

    # ---- the run

    def require_alike(self, own: tuple[str, ...], differences: Callable[[str], list[str]]) -> None:
        for rank, other in sorted(self.reported("scenario").items()):
            if other == own:
                continue
            if other[0] != own[0]:
                what = f"is simsuite {other[0]}, process 0 {own[0]}"
            else:
                keys = differences(other[1])
                what = f"has read another scenario: {', '.join(keys)}" if keys else "has read other data files"
            raise UsageError(f"{self._name(rank)} {what}\n  = help: let all processes see the same files")

    def require_divisible(self, problem: Problem) -> None:
        require_divisible(problem, self.size)

    def stepper(self, problem: Problem, backend: Backend, start: Snapshot) -> Stepper:
        assert isinstance(problem, Divisible)
        self.ask("begin", problem.decided)
        for rank, (dialect, name) in sorted(self.reported("device").items()):
            if dialect != backend.dialect:
                help = "start at most one process a GPU (mpiexec -n ..), or all on the CPU (--device cpu)"
                raise DeviceError(f"{self._name(rank)} is on {name}, process 0 on {backend.name}\n  = help: {help}")
        agree(backend, self.mpi)
        meeting = isinstance(problem, Meeting) and problem.meets(self.size)
        if meeting:
            self._hand_out(problem, start)
        stepper = problem.part(backend, problem.cut(start, 0, self.size), communicator_for(backend, self.mpi))
        if not meeting:  # only now: kernels that this process has compiled are in the cache for all
            self._hand_out(problem, start)
        for name in ("advance", "advance_for") if isinstance(stepper, Adaptive) else ("advance",):
            setattr(stepper, name, self._stepping(name, getattr(stepper, name)))
        for name in ("snapshot", "observe"):
            setattr(stepper, name, self._looking(name, getattr(stepper, name), problem))
        self._course = self._course_of(stepper)
        return stepper

    def _hand_out(self, problem: Divisible, start: Snapshot) -> None:
        for other in self._others:
            self.mpi.send_part(problem.cut(start, other, self.size), other, 0)

    def _stepping(self, name: str, method: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(method)
        def stepping(*arguments: object) -> None:
            self._wait(lambda: min(self._done.values()) >= self._stretches - AHEAD)
            self._stretches += 1
            self.ask(name, *arguments)
            method(*arguments)

        return stepping

    def _looking(self, name: str, method: Callable[..., Pending], problem: Divisible) -> Callable[..., Pending]:
        @functools.wraps(method)
        def looking(*arguments: object) -> Pending:
            self.look()
            self._looks += 1
            self.ask(name, self._looks, *arguments)
            return _Joining(method(*arguments), self.mpi, self._looks, problem)

        return looking

    def settled(self, stepper: Stepper) -> None:
        if (course := self._course_of(stepper)) != self._course:
            self.ask("settle", course)
            self._course = course

    @staticmethod
    def _course_of(stepper: Stepper) -> Any:
        return stepper.course if isinstance(stepper, Steered) else None

    def stopped(self, own: Callable[[], str | None]) -> Callable[[], str | None]:
        def stopped() -> str | None:
            self.look()
            return own() or next(iter(self._told.get("signal", {}).values()), None)

        return stopped

    def end(self, over: tuple[int, str | None, JsonObject | None], seconds: float) -> bool:
        """Let others end, see `parallel.session.Over`. Returns whether all have said that they do, within so many
        seconds."""
        for other in self._others:
            self.mpi.send(over, other, OVER)
        late, pause, left = time.monotonic() + seconds, Pause(), set(self._others)
        while left and time.monotonic() < late:
            while (report := self.mpi.poll(REPORT)) is not NOTHING:
                rank, subject, _ = report
                left -= {rank} if subject == "ended" else set()
            pause()
        return not left


def agree(backend: Backend, mpi: Mpi) -> None:
    """Let the first process's measurements of what is fast hold in all processes."""
    fastest, times = backend.fastest, backend.times

    def agreed_fastest(question: str, trials: Sequence[Callable[[], None]]) -> int:
        return mpi.measured(f"fastest {question}", lambda: fastest(question, trials))

    def agreed_times(question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        return mpi.measured(f"times {question}", lambda: times(question, trials))

    backend.fastest, backend.times = agreed_fastest, agreed_times  # type: ignore[method-assign]


class _Joining(AbstractContextManager[Snapshot]):
    """A part of a state on its way to the host, joined there with those of the other processes."""

    def __init__(self, own: Pending, mpi: Mpi, number: int, problem: Divisible) -> None:
        self._own, self._mpi, self._number, self._problem = own, mpi, number, problem

    def __enter__(self) -> Snapshot:
        parts = [self._own.__enter__()]
        parts += [self._mpi.receive_part(other, self._number) for other in range(1, self._mpi.size)]
        return self._problem.join(parts)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._own.__exit__(kind, error, trace)

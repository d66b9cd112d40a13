"""What the processes of a shared run do, other than the first one: they make their part of it, as the first one asks.

They open no file of the run, and say nothing: what is to be said goes to the first process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from simsuite.assembly import computing, device_of, make_backend, make_problem, threads_of_libraries
from simsuite.capabilities import Divisible, Steered
from simsuite.core import Backend, Fence, Snapshot, Stepper
from simsuite.io.writer_thread import Writer
from simsuite.parallel.between_devices import communicator_for
from simsuite.parallel.leader import agree
from simsuite.parallel.mpi import ASK, NOTHING, REPORT, Mpi, Pause
from simsuite.scenario import Scenario
from simsuite.stopping import Stopping
from simsuite.version import VERSION

_UNDER_WAY = 2  # stretches of steps that are queued on a device at once


class Follower:
    """One of the other processes. stopping: knows of signals that come to it, which the first process is told of."""

    def __init__(self, mpi: Mpi, scenario: Scenario, stopping: Stopping) -> None:
        self._mpi, self._scenario, self._stopping = mpi, scenario, stopping
        self._told = False  # of a signal
        self._look = mpi.look
        mpi.look = self.look

    def look(self) -> None:
        """Called while this process waits."""
        if self._stopping.signal is not None and not self._told:
            self._told = True
            self._report("signal", self._stopping.signal.name)
        self._look()

    def _report(self, subject: str, value: object) -> None:
        self._mpi.send((self._mpi.rank, subject, value), 0, REPORT)

    def run(self) -> None:
        """Do what the first process asks for, until that ends the run, which raises `parallel.session.Over`."""
        scenario, mpi = self._scenario, self._mpi
        self._report("scenario", signature(scenario))
        with threads_of_libraries(scenario):
            device = device_of(scenario, seat=mpi.seat, processes=mpi.size)
            _, decided = mpi.receive(ASK, 0)
            problem = make_problem(scenario, None, decided)
            assert isinstance(problem, Divisible)
            backend = make_backend(device, problem, mpi.size)
            self._report("device", (backend.dialect, backend.name))
            agree(backend, mpi)
            with computing(problem, backend, ahead=False), Writer() as writer:
                start = mpi.receive_part(0, 0)
                stepper = problem.part(backend, start, communicator_for(backend, mpi))
                _Part(mpi, stepper, backend, writer, self._report).follow()


class _Part:
    """A stepper of a part, which does what the first process asks for."""

    def __init__(
        self, mpi: Mpi, stepper: Stepper, backend: Backend, writer: Writer, report: Callable[[str, object], None]
    ) -> None:
        self._mpi, self._stepper, self._backend, self._writer, self._report = mpi, stepper, backend, writer, report
        self._under_way: deque[Fence] = deque()
        self._done = 0

    def follow(self) -> None:
        pause = Pause()
        while True:
            self._writer.check()
            self._mpi.look()
            asked = self._mpi.poll(ASK, 0)
            if asked is NOTHING:
                if self._under_way:
                    self._finish()
                else:
                    pause()
                continue
            pause = Pause()
            self._do(*asked)

    def _do(self, name: str, *arguments: Any) -> None:
        stepper = self._stepper
        if name in ("snapshot", "observe"):
            number, *arguments = arguments  # type: ignore[assignment]
            pending = getattr(stepper, name)(*arguments)
            self._writer.submit(pending, lambda part: self._send(part, number))
        elif name == "settle":
            assert isinstance(stepper, Steered)
            stepper.course = arguments[0]
        else:
            getattr(stepper, name)(*arguments)
            self._under_way.append(self._backend.fence())
            if len(self._under_way) >= _UNDER_WAY:
                self._finish()

    def _send(self, part: Snapshot, number: int) -> None:
        self._mpi.send_part(part, 0, number)

    def _finish(self) -> None:
        """Wait until the stretch of steps that was queued first is done, and report that."""
        self._under_way.popleft().wait()
        self._done += 1
        self._report("done", self._done)


def signature(scenario: Scenario) -> tuple[str, ...]:
    """The version of the program, the scenario as text, and the contents of its data files: alike in all processes of a
    run."""
    return VERSION, scenario.resolved_toml(), *(f"{key} {found}" for key, found in sorted(scenario.files().items()))

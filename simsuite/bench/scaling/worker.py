"""What one of the processes of a measurement does: `python -m simsuite.bench.scaling.worker REQUEST`, alone or started
by MPI. The first one prints a JSON object for each case that the request asks for.

Times are those from the moment at which all processes begin to that at which all are done."""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from simsuite.assembly import computing, device_of, make_backend, make_problem
from simsuite.bench.scaling.problems import SCENARIOS
from simsuite.capabilities import Divisible
from simsuite.communication.communicator import ALONE, ONLY_SEAT, Communicator, Halos, neighbours
from simsuite.core import Backend, DeviceArray, Fence, Problem, Snapshot, Stepper
from simsuite.parallel.between_devices import communicator_for
from simsuite.parallel.launch import rank_and_size
from simsuite.parallel.leader import agree
from simsuite.parallel.mpi import Mpi
from simsuite.scenario.load import load_table

_REPEATS = 3
_CHECKED = 20  # steps after which the state is compared with that of one process
_EXCHANGED = tuple(1 << k for k in range(10, 25, 2))  # bytes that are exchanged with each neighbour
_WITHOUT_END = ("heat", "linear")  # whose steps are as many as a measurement takes
T = TypeVar("T")
_Report = Callable[[Mapping[str, object]], None]


@dataclass
class _Waits:
    """How long steps wait for what they exchange. On a GPU that is the time between two moments of its queue. count:
    exchanges so far. size: the bytes that the last one sent to each neighbour."""

    backend: Backend
    count: int = 0
    size: int = 0
    _noted: list[tuple[Fence, Fence]] = field(default_factory=list)

    def note(self, exchange: Callable[[], None], size: int) -> None:
        self.count, self.size = self.count + 1, size
        began_at = self.backend.fence()
        exchange()
        self._noted.append((began_at, self.backend.fence()))

    def seconds(self) -> float:
        """Seconds since this was called last."""
        found = sum(end.seconds_since(begin) for begin, end in self._noted)
        self._noted = []
        return found


class _Timed:
    """A `Communicator` whose exchanges are noted."""

    def __init__(self, communicator: Communicator, waits: _Waits) -> None:
        self.rank, self.size = communicator.rank, communicator.size
        self._communicator, self._waits = communicator, waits

    def from_first(self, make: Callable[[], T]) -> T:
        return self._communicator.from_first(make)

    def exchange(self, halos: Halos, before: int | None, after: int | None) -> None:
        self._waits.note(lambda: self._communicator.exchange(halos, before, after), halos.first.nbytes)

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        self._waits.note(lambda: self._communicator.swap(given, taken), max(a.nbytes for a in given))

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        self._waits.note(lambda: self._communicator.allgather(parts), max(a.nbytes for a in parts))

    def gather(self, values: np.ndarray) -> np.ndarray:
        return self._communicator.gather(values)

    def first(self, processes: int) -> Communicator:
        return _Timed(self._communicator.first(processes), self._waits)


class _Team:
    """All processes of the measurement, or this one alone."""

    def __init__(self, mpi: Mpi | None) -> None:
        self._mpi = mpi
        self.rank, self.size = (0, 1) if mpi is None else (mpi.rank, mpi.size)

    def together(self) -> None:
        """Wait until all processes have come here."""
        if self._mpi is not None:
            self._mpi.gather(np.zeros(1))

    def decided(self, make: Callable[[], Any]) -> Any:
        """What the first process makes."""
        return make() if self._mpi is None else self._mpi.from_first(make)

    def seconds(self, backend: Backend, work: Callable[[], None]) -> float:
        backend.fence().wait()
        self.together()
        began = time.perf_counter()
        work()
        backend.fence().wait()
        self.together()
        return time.perf_counter() - began

    def joined(self, problem: Problem, state: Snapshot) -> Snapshot | None:
        """The whole of a state, in the first process; None in others."""
        assert isinstance(problem, Divisible)
        if self._mpi is None:
            return problem.join([state])
        if self.rank > 0:
            self._mpi.send_part(state, 0, 1)
            return None
        return problem.join([state, *(self._mpi.receive_part(other, 1) for other in range(1, self.size))])


def main() -> None:
    request = json.loads(sys.argv[1])
    mpi = Mpi() if rank_and_size()[1] > 1 else None
    team = _Team(mpi)

    def report(row: Mapping[str, object]) -> None:
        if team.rank == 0:
            print(json.dumps(row), flush=True)

    for case in request["cases"]:
        _measure(case, team, mpi, float(request["seconds"]), report)


def _measure(case: dict[str, Any], team: _Team, mpi: Mpi | None, seconds: float, report: _Report) -> None:
    times = team.size if case["scaling"] == "weak" else 1
    table = SCENARIOS[case["problem"]](case["size"], times, case["device"], case["precision"])
    scenario = load_table(table, Path("scaling.toml"))
    device = device_of(scenario, seat=ONLY_SEAT if mpi is None else mpi.seat, processes=team.size)
    problem = make_problem(scenario)
    assert isinstance(problem, Divisible)
    backend = make_backend(device, problem, team.size)
    if mpi is None:
        communicator: Communicator = ALONE
    else:
        agree(backend, mpi)
        communicator = communicator_for(backend, mpi)
    waits = _Waits(backend)
    with computing(problem, backend, ahead=False):

        def begun() -> Stepper:
            return problem.part(
                backend, problem.cut(problem.initial(), team.rank, team.size), _Timed(communicator, waits)
            )

        stepper = begun()
        endless = case["problem"] in _WITHOUT_END
        stepper.advance(_CHECKED if endless else problem.clock.end)
        with stepper.snapshot() as state:
            whole = team.joined(problem, state)
        row = {**case, "processes": team.size, "digest": "" if whole is None else digest(whole)}
        with stepper.observe(problem.layout.series[0].dim) as seen:
            looked = sum(a.nbytes for a in seen.arrays.values())
        n, took, waited, exchanges = _timed(stepper, begun, endless, problem, team, backend, waits, seconds)
        work = problem.work(n) if endless else problem.work(problem.clock.end)
        report({**row, "steps": n, "seconds": took, "rate": work / took, "rate_unit": problem.rate_unit,
                "waited": waited / took, "exchanges": exchanges / n, "bytes": waits.size, "look_bytes": looked,
                "device_name": backend.device_name})  # fmt: skip
        if case["problem"] == "heat" and case["scaling"] == "weak" and team.size > 1:
            for size, each in _exchanges(team, backend, communicator):
                report({"exchanged": size, "seconds": each})


def _timed(
    stepper: Stepper, begun: Callable[[], Stepper], endless: bool, problem: Problem, team: _Team, backend: Backend,
    waits: _Waits, seconds: float,
) -> tuple[int, float, float, int]:  # fmt: skip
    """(steps, the median of the seconds that they take, the seconds of these in which this process waits for what it
    exchanges, how often it exchanges anything). Of a run without an end as many steps as take so many seconds, else all
    of them."""
    n = 64 if endless else problem.clock.end

    def once() -> tuple[float, float]:
        waits.seconds()
        at = stepper if endless else begun()
        return team.seconds(backend, lambda: at.advance(n)), waits.seconds()

    once()
    if endless:
        while (took := _agreed(team, once)) < seconds:
            n *= 2 if took > seconds / 4 else 4
    before = waits.count
    found = sorted(once() for _ in range(_REPEATS))
    took, waited = found[len(found) // 2]
    return n, took, waited, (waits.count - before) // _REPEATS


def _agreed(team: _Team, once: Callable[[], tuple[float, float]]) -> float:
    took = once()[0]
    return float(team.decided(lambda: took))


def _exchanges(team: _Team, backend: Backend, communicator: Communicator) -> Iterator[tuple[int, float]]:
    """(bytes, seconds) of exchanges with both neighbours in a ring."""
    beside = neighbours(team.rank, team.size, periodic=True)
    for size in _EXCHANGED:
        arrays = [backend.zeros(size, np.uint8) for _ in range(4)]
        halos, many = Halos(*arrays), max(10, min(1000, (1 << 24) // size))

        def exchange(halos: Halos = halos, many: int = many) -> None:
            for _ in range(many):
                communicator.exchange(halos, *beside)

        team.seconds(backend, exchange)
        yield size, statistics.median(team.seconds(backend, exchange) for _ in range(_REPEATS)) / many


def digest(state: Snapshot) -> str:
    """Of all bits of a state."""
    found = hashlib.sha256()
    for name in sorted(state.arrays):
        found.update(name.encode() + np.ascontiguousarray(state.arrays[name]).tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()

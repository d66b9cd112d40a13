"""What some problems and steppers can do besides what all can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, DeviceArray, Fence, JsonObject, Problem, Snapshot, Stepper
from simsuite.crossings.looks import Looks, Reading


@runtime_checkable
class Extensible(Protocol):
    """A problem that leaves a checkpoint at its end, from which a larger one of its kind can go on."""

    def extended(self, before: Problem, end: Snapshot, backend: Backend) -> Snapshot:
        """The state from which this problem goes on if the problem `before` ended in the state `end`. The results are
        the same, bit for bit, as if this problem had been run from its start."""


@runtime_checkable
class Lengthening(Protocol):
    """A problem whose run may begin with that of one with an earlier end."""

    of_whole_run: frozenset[str]  # arrays of a snapshot that depend on where the run ends, but change nothing else

    def unlike(self, shorter: Problem) -> str | None:
        """Why the run of this problem does not begin with the run of a shorter one of the same scenario, whose frames
        and samples it has, to the bit; None if it does."""


@runtime_checkable
class Adaptive(Protocol):
    """A stepper whose steps take as many ticks of the clock as its error allows. `advance(n)` takes time steps until n
    ticks are over; the last may go further, but not beyond the next of the clock's times."""

    @property
    def taken(self) -> int:
        """How many time steps the stepper has taken so far."""

    def advance_for(self, n: int, seconds: float) -> None:
        """Like `advance(n)`, but returns earlier once so many seconds have gone by, since nobody knows beforehand how
        many time steps n ticks take."""

    @property
    def work(self) -> float:
        """The work that this stepper has done so far, in the problem's unit."""


class DeviceProfiler(Protocol):
    """What tells a device's profilers of a run, and times what only the device sees."""

    def range(self, name: str) -> AbstractContextManager[None]:
        """A context that a profiler shows as a range of this name."""

    def start(self) -> None:
        """Let profilers begin that wait for it."""

    def stop(self) -> None:
        """Let them end."""

    def copies(self, since: Fence) -> Sequence[tuple[float, float, int]]:
        """(seconds from a fence to its begin, seconds that it took, bytes) of each copy of a snapshot to the host."""


@runtime_checkable
class Driven(Protocol):
    """A backend whose device has a driver."""

    @property
    def driver(self) -> str:
        """The newest version of CUDA that the driver knows, and its own version where that is known."""


@runtime_checkable
class Profiled(Protocol):
    """A backend whose device has profilers."""

    def profiler(self) -> DeviceProfiler:
        """A new one, which watches this backend from now on."""


class Link(Protocol):
    """Connects a device with those of other processes."""

    def exchange(
        self, to_before: DeviceArray, from_before: DeviceArray, before: int | None,
        to_after: DeviceArray, from_after: DeviceArray, after: int | None,
    ) -> None:  # fmt: skip
        """Queue sending and receiving of arrays in C order, all of one size. before, after: numbers of the processes on
        both sides; None for none."""

    def swap(self, given: Sequence[DeviceArray], taken: Sequence[DeviceArray]) -> None:
        """Queue sending of array number p of the first ones to process p, and receiving of the other one from it.
        Arrays are in C order."""

    def allgather(self, parts: Sequence[DeviceArray]) -> None:
        """Queue sending of this process's part to all others, and receiving of part number p from process p. Parts are
        in C order."""


@runtime_checkable
class Linking(Protocol):
    """A backend whose device can send arrays to those of other processes.

    bus_address: where the device is in its machine, alike for processes that use the same device."""

    bus_address: int

    def lacks_links(self) -> str | None:
        """Why there can be no links here, as a library is missing; None if there can be."""

    def link_identity(self) -> tuple[int, ...]:
        """What processes tell each other to find each other."""

    def link(self, identity: tuple[int, ...], rank: int, size: int) -> Link:
        """Connect the devices of so many processes, of which this is number `rank`. Waits for all of them. identity:
        what `link_identity` gave in one of them."""


@runtime_checkable
class Stalling(Protocol):
    """A stepper that can tell while it runs that it will hardly get to its end."""

    @property
    def stalled(self) -> str | None:
        """Why the run will hardly get to its end, in a sentence, as it looks now; None while it looks as if it will."""


@runtime_checkable
class CompilesAhead(Protocol):
    """A backend that can compile kernels before they are called."""

    def compiling_ahead(self, rehearse: Callable[[Backend], None]) -> AbstractContextManager[None]:
        """A context in which kernels that are missing from the cache are compiled ahead, in another process.
        rehearse: a function that calls there what a run will call, on the backend that it is given, where kernels do
        nothing and arrays hold no data."""


@runtime_checkable
class Rehearsing(Protocol):
    """A stepper that takes steps of several kinds, as it finds out on the way."""

    def rehearse(self) -> Iterator[Callable[[], object]]:
        """Functions that call what the steps of each kind call. They may fail where arrays hold no data."""


@runtime_checkable
class Advising(Protocol):
    """A problem that knows what people often get wrong in scenarios of its kind."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is probably not meant, although it can be run: one sentence each."""

    @property
    def remedies(self) -> Sequence[str]:
        """What to change in the scenario where a run comes to NaN or Inf."""


@runtime_checkable
class SelfChecking(Protocol):
    """A problem that can tell by its results whether they are as accurate as its scenario asks for."""

    def shortcomings(self, results: Mapping[str, Any], complete: bool = True) -> Sequence[str]:
        """In what the results of a run are less accurate than the scenario asks for, and what to change in it: one
        sentence each. complete: whether the run came to its end; one that was stopped may have few results yet."""


@runtime_checkable
class Doubting(Protocol):
    """A problem that can tell when a state, although it is finite, is one that its equation is not valid for."""

    def doubt(self, observed: Snapshot) -> str | None:
        """What is wrong with what was measured for a row of results, in a sentence; None if nothing is."""


@runtime_checkable
class Dating(Protocol):
    """A problem that may know at what time its state ceased to be finite; rows of results show that only later."""

    def fault_time(self, observed: Snapshot) -> float | None:
        """The time that steps had reached when the first NaN or Inf came up; None where that is not known."""


@runtime_checkable
class Locating(Protocol):
    """A problem on a grid, which can tell the cell in which its state ceased to be finite."""

    def fault_cell(self, observed: Snapshot) -> tuple[int, int] | None:
        """The first such cell, along x and along y from 0; None where no single cell is to blame."""


@runtime_checkable
class Staged(Protocol):
    """A problem whose clock may count the steps of several batches, one after another."""

    def stage(self, step: int) -> str | None:
        """How far the run is at a step of the clock, in words; None where the step and its time say enough."""


@runtime_checkable
class Watched(Protocol):
    """A problem whose extremes in the course of a run are told, and some of whose numbers may be to reach levels."""

    @property
    def looks(self) -> Looks | None:
        """The levels, and when it is looked whether they are reached; None where there are none."""

    def readings(self, observed: Snapshot) -> Sequence[Reading]:
        """For each of the conditions, the number that it is about, at a look."""

    def peaks(self, observed: Snapshot) -> Mapping[str, tuple[float, JsonObject]]:
        """By name of each extreme that is told of a whole run: how large it is in this state, of which the largest
        counts, and what is told of it."""


@runtime_checkable
class Denominated(Protocol):
    """A problem with results in a unit that files, whose units are those of UDUNITS, have no name for."""

    @property
    def denominated(self) -> Mapping[str, str]:
        """The units of those variables, by the name of the variable, as people write them."""


@runtime_checkable
class Foreseeable(Protocol):
    """A problem that can tell about how long its run will take."""

    def usual_seconds(self, gpu: bool) -> float | None:
        """Seconds that the run takes at rates that are usual on an H200 (`gpu`) or on two CPU cores, without the time
        for compiling; None where nothing is known."""


@runtime_checkable
class Expecting(Protocol):
    """A problem whose time steps may be chosen during the run, so that their number is not known before."""

    @property
    def steps_expected(self) -> tuple[int, int | None]:
        """The fewest and the most time steps that are likely; None where there may be any number of them."""


@runtime_checkable
class MemorySaving(Protocol):
    """A problem that can be computed in less memory, with the same results."""

    @property
    def less_memory(self) -> str:
        """What to change in the scenario so that the run needs less memory."""


@runtime_checkable
class Joining(Protocol):
    """A problem that may be one run with others of its kind, whose numbers differ."""

    @property
    def joined_by(self) -> Sequence[str]:
        """The keys, or sections, of the scenario in which the others may differ; () if it has to run alone."""


@runtime_checkable
class Parallel(Protocol):
    """A problem that knows for how many threads of a CPU its steps are work enough."""

    @property
    def threads_fed(self) -> int:
        """The number of threads beyond which a run takes no less time."""


def threads_for(problem: Problem, backend: Backend) -> int:
    """The number of threads that kernels of a problem are to run on."""
    return min(backend.threads, problem.threads_fed) if isinstance(problem, Parallel) else backend.threads


def steps_expected(problem: Problem) -> tuple[int, int | None]:
    """The fewest and the most time steps of a run that are likely: one number, where that is known."""
    steps = problem.position(problem.clock.end)[0]
    return problem.steps_expected if isinstance(problem, Expecting) else (steps, steps)


class Positioned(Protocol):
    """Anything that can tell how many time steps are taken at a step of the clock, as every problem can."""

    def position(self, step: int) -> tuple[int, float]:
        """Time steps taken and simulated time at a step of the clock."""


def taken(problem: Positioned, stepper: Stepper) -> int:
    """How many time steps the stepper has taken so far."""
    return stepper.taken if isinstance(stepper, Adaptive) else problem.position(stepper.step)[0]


@runtime_checkable
class Divisible(Protocol):
    """A problem that several processes can share, each with a stepper of its part. Results are those of one process, to
    the bit, whatever their number."""

    def indivisible(self, processes: int) -> str | None:
        """Why so many processes cannot share this very problem, in a clause; None if they can."""

    def part_bytes(self, processes: int) -> int:
        """Bytes that each of so many processes allocates on its device at most."""

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        """The part of a state with which one of so many processes begins, or goes on."""

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        """What one process alone would have, from the parts of a state, or of an observation, of all processes."""

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        """The stepper of a process's part. start: as `cut` gives it."""


@runtime_checkable
class Meeting(Protocol):
    """A `Divisible` problem whose parts may have to meet before they take steps."""

    def meets(self, processes: int) -> bool:
        """Whether the steppers of so many processes exchange arrays while they are made, so that all have to be made at
        the same time."""


@runtime_checkable
class Steered(Protocol):
    """A stepper whose course `Problem.settle` may change: what it says of its course in one process, all others are
    given."""

    course: Mapping[str, Any]

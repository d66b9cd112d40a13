"""The interfaces between the parts of the program: problems, steppers, backends, snapshots, layouts.

`Problem` (frozen: equation, parameters, initial state) makes a `Stepper` (mutable: owns the device buffers), which
works through a `Backend` (arrays, launches, streams) and yields `Snapshot`s; `Layout` says as data what a result file
holds, `Clock` when things are due. Nothing here imports anything heavier than NumPy.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

HostArray: TypeAlias = "npt.NDArray[Any]"
"""An array of NumPy's. Any: the data type of its elements follows from the scenario, so no checker can know it."""
DeviceArray: TypeAlias = Any
"""An array of a backend, or the view of one that kernels take: NumPy's on the CPU, CuPy's or Numba's on a GPU. Any:
neither CuPy nor Numba says what types its own arrays have."""
Kernel: TypeAlias = Any
"""A function that Numba compiles. Any: Numba does not say what types its functions have."""
JsonObject: TypeAlias = dict[str, Any]
"""What JSON calls an object. Any: its values are of any type that JSON has, as `json.loads` says, too."""

# Data that jump at some time are evaluated this far before or after that time, as a share of the whole run's time. That
# is more than rounding may move such times, and more than two times may differ that count as one.
BESIDE = 1.5e-12
SNAPSHOTS = 3  # snapshots on their way to a file at once: one being written, one waiting, one being copied


@dataclass(frozen=True)
class Clock:
    """Time as a function of an integer step: never accumulated, so exact at any step.

    steps: the steps at which frames fall, first 0, last the end of the run. times: the time at each of them. Between
    two neighbouring frames all steps are equal and land exactly on the later frame's time. changes: those of these
    times at which data that depend on time jump or kink.
    """

    steps: tuple[int, ...]
    times: tuple[float, ...]
    changes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.times) or self.steps[0] != 0:
            raise ValueError("a clock needs as many steps as times, the first step 0")
        if any(b <= a for a, b in itertools.pairwise(self.steps)):
            raise ValueError("frame steps must increase")

    @classmethod
    def filling(cls, times: Sequence[float], largest_dt: float) -> Clock:
        """A clock with the fewest equal steps of at most `largest_dt` between each two neighbours of `times`. The times
        are rounded, so late in a run of many frames the span between two of them may exceed the intended one by much
        more than the rounding of a number of its size; that makes no further step."""
        steps = [0]
        for a, b in itertools.pairwise(times):
            rounding = min(2 * math.ulp(b), 1e-9 * (b - a))
            steps.append(steps[-1] + max(1, math.ceil((b - a - rounding) / largest_dt * (1 - 1e-12))))
        return cls(tuple(steps), tuple(times))

    @property
    def end(self) -> int:
        """The last step, at which the run ends."""
        return self.steps[-1]

    def time(self, step: int) -> float:
        """The time at `step`."""
        if len(self.steps) == 1:
            return self.times[0]
        begin, span, k, n = self.interval(step)
        return self.times[-1] if step == self.end else begin + span * k / n

    def dt(self, step: int) -> float:
        """The length of the step that begins at `step`."""
        _, span, _, n = self.interval(step)
        return span / n

    def interval(self, step: int) -> tuple[float, float, int, int]:
        """(begin, span, k, n) of the interval between two frames that has `step`, whose time is begin + span * k /
        n."""
        i = min(max(bisect.bisect_right(self.steps, step) - 1, 0), len(self.steps) - 2)
        begin, end = self.times[i], self.times[i + 1]
        return begin, end - begin, step - self.steps[i], self.steps[i + 1] - self.steps[i]

    def inside(self, step: int) -> tuple[float, float, int, int]:
        """As `interval`, for the evaluation of data that depend on time: the interval begins a little after a time at
        which data jump and ends a little before the next such time, so that a step uses the data as they are within
        it."""
        begin, span, k, n = self.interval(step)
        if self.changes:
            end, small = begin + span, min(BESIDE * self.times[-1], 0.25 * span)
            after = begin + small if self._changes(begin, small) else begin
            before = end - small if self._changes(end, small) else end
            return after, before - after, k, n
        return begin, span, k, n

    def _changes(self, time: float, small: float) -> bool:
        i = bisect.bisect_left(self.changes, time - small)
        return i < len(self.changes) and self.changes[i] <= time + small

    def lengths(self, step: int) -> tuple[float, float]:
        """The shortest and the longest of the steps up to `step`; at step 0, of all."""
        last = step if step > 0 else self.end
        found = [
            (b - a) / (n - m)
            for (m, n), (a, b) in zip(itertools.pairwise(self.steps), itertools.pairwise(self.times))
            if m < last
        ]
        return min(found), max(found)

    def equal_steps(self, step: int) -> int:
        """How many steps from `step` on have the same length as the one that begins there."""
        _, _, k, n = self.interval(step)
        return n - k


@dataclass(frozen=True)
class Snapshot:
    """The state at a step, on the host. `arrays` may view reused memory: valid while its `Pending` is held."""

    step: int
    arrays: Mapping[str, HostArray]


class Pending(AbstractContextManager[Snapshot], Protocol):
    """A snapshot on its way to the host. Entering waits for it; leaving gives its memory back for the next one."""


class Fence(Protocol):
    """A point in the queue of device work."""

    def wait(self) -> None:
        """Wait until all work is done that was queued before."""

    def seconds_since(self, earlier: Self) -> float:
        """Seconds that the device took from an earlier fence to this one. Waits until this one is reached."""


class Recorder(Protocol):
    """Queues launches, and may record them once and replay the recording."""

    def replay(self, key: Hashable, launches: Callable[[], None]) -> None:
        """Queue what `launches` queues. The same `key` must always mean the same launches with the same arguments."""

    def prepare(self, key: Hashable, launches: Callable[[], None]) -> None:
        """Record what `launches` queues, and queue nothing. Its kernels must have been loaded."""


class Program(Protocol):
    """Source compiled for a device."""

    def launcher(
        self, kernel: str, blocks: int | tuple[int, ...], threads: int, shared_bytes: int = 0, waits_for: str = ""
    ) -> Callable[..., None]:
        """`kernel` bound to a launch of so many blocks, or rows of them. Its arguments are arrays in C order, and NumPy
        scalars of the types it declares.

        waits_for: "blocks" if the blocks wait for each other, so that all must run at once; "launches" if the kernel
        itself waits for the launches before it, and so may begin before they have ended (`solvers/overlap.cuh`)."""


class Fourier(Protocol):
    """A library of Fourier transforms, none of which is scaled: a transform and its inverse multiply by the length."""

    name: str

    def plan(self, kind: str, rows: int, n: int, dtype: npt.DTypeLike) -> Callable[[DeviceArray, DeviceArray], None]:
        """A function f(source, target) that queues the transforms of all rows; memory for them is allocated here.

        kind: "real" for (rows, n) to the half spectrum (rows, n // 2 + 1), "back" for the inverse, which may spoil the
        source, or "complex" for (rows, n) to the same. dtype: of the real numbers, or of real and imaginary parts."""


class Products(Protocol):
    """A library of matrix products."""

    name: str

    def multiply(self, A: DeviceArray, B: DeviceArray, out: DeviceArray) -> None:
        """Queue out = A B. Each of them is an array of the device, in C order, or the transpose (`.T`) of one."""

    def multiply_add(self, A: DeviceArray, B: DeviceArray, out: DeviceArray, add: bool) -> None:
        """Queue out = A B, or out + A B if `add`, for views of arrays in C order."""


class Backend(Protocol):
    """Where arrays live and kernels run. The same calls for CPU, CUDA and the CUDA simulator."""

    name: str  # "cpu", "cuda:0", "cudasim"
    device_name: str  # the name of the device that its vendor gives it
    dialect: str  # which variant of the kernels it runs: "cpu" or "cuda"
    libraries: tuple[str, ...]  # those that make its kernels or compute themselves, by their names on PyPI
    simulated: bool  # whether Python runs kernels as they are, without compiling them
    note: str | None  # what the user should know about the choice of this device
    processors: int  # how many processors work at the same time: multiprocessors of a GPU
    block_memory: int  # bytes that threads of a program can share
    compiles: bool  # whether it can compile programs in CUDA C++ (`program`)
    timed: bool  # whether it has `times`: how long its work takes means something
    announce: Callable[[str], None]  # called with a text about what takes long before a run begins
    threads: int  # how many threads of a CPU a run may take; 1 on other devices

    def array(self, host: HostArray) -> DeviceArray:
        """A copy of `host` on the device."""

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
        """An array of zeros on the device, in C order."""

    def view(self, array: DeviceArray) -> DeviceArray:
        """The object that kernels take as argument for `array`. It is made once and passed many times."""

    def address(self, array: DeviceArray) -> int:
        """Where an array in C order begins in this device's memory, for structs that programs take."""

    def to_host(self, array: DeviceArray) -> HostArray:
        """A copy on the host; waits for all queued work. For set-up and tests, never inside `advance`."""

    def copy(self, source: DeviceArray, target: DeviceArray) -> None:
        """Queue the copying of an array to another of the same shape and type."""

    def arithmetic(self) -> AbstractContextManager[None]:
        """A context in which arithmetic on whole arrays of the device is queued in order with launches."""

    def kernels(self, module: str, functions: Mapping[str, str] | None = None) -> ModuleType:
        """The module `<module>_<dialect>`: one method's kernels for this kind of device. functions: if the module is a
        template (`solvers.expression_placeholders`), the text of each function that it calls."""

    def launcher(self, kernel: Kernel, extent: tuple[int, ...], block: tuple[int, ...]) -> Callable[..., None]:
        """`kernel` bound to enough `block`s to cover `extent` (x first) and to this backend's compute stream."""

    def program(self, source: Path, macros: Mapping[str, str | int]) -> Program:
        """Compile CUDA C++ for this device, which is possible if `compiles` is true. Compiling goes on in the
        background until the program's first launcher waits for it."""

    def fastest(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        """The index of the fastest of `trials`, as found before on this kind of device or measured now. question: a
        text that names all else that the answer depends on."""

    def times(self, question: str, trials: Sequence[Callable[[], None]]) -> Sequence[float]:
        """Seconds that each of `trials` takes: as found before on this kind of device, or measured now. question: a
        text that names what is timed and all else that the answer depends on."""

    def on_threads(self, n: int) -> AbstractContextManager[None]:
        """Kernels of a CPU run on n threads in here, or on as many as there are; of no effect on other devices."""

    def fourier(self) -> Fourier:
        """The device's library of Fourier transforms. Raises LibraryMissing where it is not installed."""

    def products(self) -> Products | None:
        """The device's library of matrix products, if it gives the same bits every time; None if there is nothing
        better than the kernels of `solvers.matmul`. Raises LibraryMissing where it is not installed."""

    def recorder(self) -> Recorder:
        """A recorder for the launches of one stepper. It may outlive the stepper's buffers without harm."""

    def stage(self, step: int, arrays: Mapping[str, DeviceArray]) -> Pending:
        """Start copying `arrays` to the host; later work may overwrite them at once."""

    def fence(self) -> Fence:
        """A mark after all work queued so far."""

    def follow(self) -> None:
        """Let work queued from here on wait for what the caller has queued elsewhere, such as in CuPy's current
        stream."""

    def memory_free(self) -> int:
        """Bytes that can still be allocated, as far as that can be known."""


Device = Callable[[], Backend]
"""Opens the device of a run when it is first asked, and gives the same each time. Raises DeviceError."""


class Stepper(Protocol):
    """What advances the state; the only mutable object of a run. It owns the device buffers from the first step to the
    last."""

    step: int
    chosen: Mapping[str, str]  # what it decided on its device, beyond what `Problem.method` says: at least "kernel"

    def advance(self, n: int) -> None:
        """Queue n steps: no host copy, no allocation, no synchronisation."""

    def snapshot(self) -> Pending:
        """A snapshot of the whole state that evolves, from which `Problem.stepper` continues bit for bit."""

    def observe(self, series: str) -> Pending:
        """A snapshot of what `Problem.rows` needs for one row of `series`."""

    @property
    def state(self) -> Mapping[str, DeviceArray]:
        """The live device arrays by name."""


@dataclass(frozen=True)
class Variable:
    """One dataset in the results file. dims: names of its dimensions; one of them may be a series, along which it grows
    by a row at a time. values: for coordinates and constants, known from the start. attrs: CF attributes."""

    name: str
    dims: tuple[str, ...]
    dtype: npt.DTypeLike = np.float64
    attrs: Mapping[str, str] = field(default_factory=dict)
    values: HostArray | None = None


@dataclass(frozen=True)
class Series:
    """A dimension that grows: `dim`, its coordinate variable, and the steps at which it gets a row."""

    dim: str
    coordinate: Variable
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Image:
    """Which variable is a picture (time, y, x), for viewers: origin and spacing of its points in metres."""

    variable: str
    origin: tuple[float, float]
    spacing: tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """What a result file holds. `sizes`: length of every fixed dimension."""

    sizes: Mapping[str, int]
    series: tuple[Series, ...]
    variables: tuple[Variable, ...]
    image: Image | None = None


class Problem(Protocol):
    """A validated, frozen statement of what is to be solved."""

    @classmethod
    def from_scenario(cls, model: Any, base: Path, device: Device | None = None, decided: Any = None) -> Self:
        """What a scenario states. Any: each solver has its model. base: where names of files start from. device: for
        choices by what is fast there. decided: before, so that it holds. Raises ScenarioError for further mistakes."""

    solver: str
    decided: Mapping[str, object]  # decisions that do not follow from the scenario alone, as JSON; {} if there are none
    clock: Clock
    layout: Layout
    method: Mapping[str, str]  # what was chosen: {"stepper": .., "precision": ..}
    rate_unit: str  # e.g. "cell-steps/s"
    dt: float  # the length of the first step, in the unit of time

    def lengths(self, step: int) -> tuple[float, float]:
        """The shortest and the longest time step up to a step of the clock; at step 0, of the whole run."""

    def work(self, step: int) -> float:
        """The work done up to a step of the clock, in the unit that `rate_unit` has before "/s"."""

    adaptive: bool  # whether an `Adaptive` stepper finds its time steps; `work` and `position` then say about how many

    def position(self, step: int) -> tuple[int, float]:
        """Time steps taken and simulated time at a step of the clock: what people are told. A clock may count the steps
        of several batches, one after another."""

    unbounded: frozenset[str]  # arrays of the state in which an Inf has a meaning

    def next_look(self, step: int) -> int | None:
        """The next step, `step` or later, at which `settle` is to be asked; None for none."""

    def settle(self, stepper: Stepper) -> int:
        """The step at which the run will be complete, as far as can be told: this one, if it is now. It may let the
        stepper leave out steps. It depends on the state alone, not on where the run was stopped and continued."""

    def initial(self) -> Snapshot:
        """Everything that evolves, as it is at step 0."""

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        """What goes on from a snapshot of any step, on a device, to the bits of a run that never stopped there."""

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, HostArray]:
        """One row for each variable that grows along `series`, its coordinate included."""

    def totals(self, observed: Snapshot) -> Mapping[str, HostArray]:
        """The fixed variables without `values`, known at the end of the run."""

    def results(self, observed: Snapshot) -> JsonObject:
        """What `run --json` prints under "results", from the last observation of the first series."""

    def fault(self, observed: Snapshot) -> str | None:
        """Where the first NaN or Inf is ("cell 3 along x, 7 along y"), or None."""

    def device_bytes(self) -> int:
        """Bytes the stepper allocates on its device."""

"""The steppers of a batch of states, and of the part that each of several processes has: columns of the batch, or rows
of all its states.

Columns need nothing of each other, but each process holds all of A, and reads it in each step, for however few columns.
So rows are shared where there is a single state, where A is large and there are few columns for each process, and
where A is so large that it should not be held as a whole; then processes exchange states in each step (see
`stepping.panel`), and powers of A are made of panels, too (see `powers.squares`). Where these turn out not to do, and
modes do, each process has all states: what takes long are modes, which are found by the first one.

Columns: every entry of a product is a chain of multiplications and additions along a row of A and a column of X,
whatever the other columns (see `matmul.product`), so that each process has the bits that one process has there. All
have the same number of columns, hence the same kernels: where a batch does not divide, or has fewer columns than there
are processes, the last column of a process is stepped again in place of those that are missing, and left out in the
end.

Each process computes powers of A itself. Whether powers or modes do, and how much they lose, is found by the first
process, as is the decomposition into modes: libraries on other machines may give other bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.communication.communicator import ALONE, Communicator
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.solvers.linear.method_choice.method import Plan, columns_of_steps
from simsuite.solvers.linear.method_choice.on_device import method_bytes
from simsuite.solvers.linear.method_choice.refusal import modes_or_not, powers_or_not
from simsuite.solvers.linear.powers.estimate import Estimate
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import ANCHOR, PowerStepper
from simsuite.solvers.linear.powers.powers import Powers
from simsuite.solvers.linear.powers.squares import SquarePanels
from simsuite.solvers.linear.spectral.cost import gain_by_modes, pace
from simsuite.solvers.linear.spectral.prepare import START, prepare
from simsuite.solvers.linear.spectral.stepper import SpectralStepper
from simsuite.solvers.linear.stepping.panel import panel_stepper
from simsuite.solvers.linear.stepping.step import LinearStepper
from simsuite.solvers.linear.system import LinearSystem
from simsuite.solvers.matmul.shared_rows import Panel

_BY_COLUMN = ("state", "output", ANCHOR, START)  # arrays with a column for each state; others belong to A
# Rows of a dense A are shared from LARGE on, where each process would have less than FEW columns: a product with fewer
# columns takes about as long as with FEW, as it has to read A anyway. From HUGE rows on they always are; but with more
# than n/2 columns it takes less memory to share these.
FEW, LARGE, HUGE = 16, 2048, 32768


class Batch:
    """What makes the steppers of a linear problem, whole or in parts: see `capabilities.Divisible`."""

    system: LinearSystem
    dtype: Any
    dt: float
    frames: tuple[int, ...]
    kernel: str
    plan: Plan
    tolerance: float

    @cached_property
    def _jumps(self) -> Jumps:
        return Jumps.between(self.system.stops(self.frames), *self.system.start.shape)

    # ---- parts

    def indivisible(self, processes: int) -> str | None:
        if self.kernel == "cublas":
            return 'kernel = "cublas" sums in an order that depends on how many rows and columns a process has'
        if self.system.start.shape[1] == 1 and not self.by_rows(processes):
            return 'it takes a single state by modes of A; by "step" or "power", method in [time], rows of A are shared'
        return None

    def by_rows(self, processes: int) -> bool:
        """Whether so many processes share the rows of A, rather than the columns of the batch."""
        n, m = self.system.start.shape
        if processes == 1 or self.plan.method == "spectral":
            return False
        few = m < FEW * processes or self.plan.method == "power"
        large = n >= HUGE or (n >= LARGE and few)
        return m == 1 or (large and 2 * m <= n and not self.system.sparse)

    def meets(self, processes: int) -> bool:
        """See `capabilities.Meeting`: powers of panels are made together."""
        return self.plan.method == "power" and self.by_rows(processes)

    def part_bytes(self, processes: int) -> int:
        if self.by_rows(processes):
            return self._bytes_of(self.system, Panel(self.system.A.shape[0], 0, processes))
        own = self.system.start[:, _taken(self.system.start.shape[1], 0, processes)]
        return self._bytes_of(replace(self.system, start=own))

    def device_bytes(self) -> int:
        """The bytes that a run may allocate on its device."""
        return self._bytes_of(self.system)

    def _bytes_of(self, system: LinearSystem, panel: Panel | None = None) -> int:
        """Bytes for a system with some of the states, or for a panel of its rows. A run by powers or modes may have to
        fall back to steps, or to change from powers to modes or back, so the largest need counts."""
        name = self.plan.method
        methods = {"step", name, *(() if self.plan.asked or name == "step" else ("power", "spectral"))}
        return max(method_bytes(each, system, self._jumps, self.dtype, self.frames[-1], panel) for each in methods)

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        if self.by_rows(processes):
            return state
        taken = _taken(self.system.start.shape[1], process, processes)
        arrays = {name: a[:, taken] if name in _BY_COLUMN else a for name, a in state.arrays.items()}
        return Snapshot(state.step, arrays)

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        if self.by_rows(len(parts)):
            return parts[0]
        m = self.system.start.shape[1]
        own = [len(_own(m, process, len(parts))) for process in range(len(parts))]

        def joined(name: str) -> np.ndarray:
            if name not in _BY_COLUMN:
                return parts[0].arrays[name]
            return np.concatenate([part.arrays[name][:, :n] for part, n in zip(parts, own)], axis=1)

        return Snapshot(parts[0].step, {name: joined(name) for name in parts[0].arrays})

    # ---- steppers

    def stepper(self, backend: Backend, start: Snapshot) -> Stepper:
        """The stepper of the run. Raises NumericalFailure where powers or modes are asked for and cannot be used."""
        return self.part(backend, start, ALONE)

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        arguments = backend, start, self.system, self.frames[-1], self.kernel
        steps: Callable[[], LinearStepper]
        if self.by_rows(communicator.size):
            steps = functools.partial(panel_stepper, *arguments, communicator)
        else:
            own = _own(self.system.start.shape[1], communicator.rank, communicator.size)
            steps = functools.partial(LinearStepper, *arguments, column=own.start)
        if self.plan.method == "step":
            return steps()
        name, stepper, why = self._leaping(backend, start, communicator)
        stepper = stepper or steps()
        stepper.chosen = {**stepper.chosen, "stepper": name, "stepper_reason": why}
        return stepper

    def _leaping(
        self, backend: Backend, start: Snapshot, communicator: Communicator
    ) -> tuple[str, Stepper | None, str]:
        """(method, the stepper that takes many steps at once by it, the reason), or ("step", None, the reason) where
        neither powers nor modes can be used.
        """
        found: list[str] = []
        for name in self._tries(backend, start, communicator):
            make = self._with_powers if name == "power" else self._with_modes
            stepper, why = make(backend, start, communicator)
            if stepper is not None:
                return name, stepper, "; ".join([*(found or [self.plan.reason]), why])
            found.append(why)
        return "step", None, "; ".join(found)

    def _tries(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Iterator[str]:
        """The methods to try in turn: that of the plan and, unless the scenario asks for that one, the other of powers
        and modes. Modes are tried only where they are less work than steps, as the first process has timed them.
        """
        yield self.plan.method
        if self.plan.asked or self.system.moves:
            return
        if self.plan.method == "spectral":
            yield "power"
            return
        timed = functools.partial(pace, backend, self._jumps, self.dtype, self.kernel)
        steps = columns_of_steps(self._jumps, self.system.share)
        if start.step > 0:
            yield "spectral"
            return
        gain = gain_by_modes(self._jumps, steps, timed)
        if communicator.from_first(lambda: gain) > 1:
            yield "spectral"

    def _with_powers(self, backend: Backend, start: Snapshot, communicator: Communicator) -> tuple[Stepper | None, str]:
        columns = start.arrays["state"].shape[1]
        make: Callable[..., Powers] = functools.partial(
            Powers, backend, self.system.dense(), self._jumps, self.frames, self.dtype, self.kernel, columns
        )
        if self.by_rows(communicator.size):
            return self._with_shared_powers(make, backend, start, communicator)
        found: list[Powers] = []

        def judge() -> tuple[Estimate | None, str]:
            powers, why = powers_or_not(make, start, self.plan, self.tolerance)
            if powers is None:
                return None, why
            found.append(powers)
            return powers.estimate, why

        estimate, why = communicator.from_first(judge)
        if estimate is None:
            return None, why
        return self._by_powers(backend, start, found[0] if found else make(estimate), self.system), why

    def _with_shared_powers(
        self, make: Callable[..., Powers], backend: Backend, start: Snapshot, communicator: Communicator
    ) -> tuple[Stepper | None, str]:
        """The same where processes share rows: all of them make the powers together, and judge them by the same
        numbers, so that they agree."""
        n, m = self.system.start.shape
        panel = Panel(n, communicator.rank, communicator.size)

        def together() -> Powers:
            return make(squares=SquarePanels(backend, panel, m, self.dtype, self.kernel, communicator))

        powers, why = powers_or_not(together, start, self.plan, self.tolerance)
        system = self.system if communicator.rank == 0 else replace(self.system, C=None)
        return (None if powers is None else self._by_powers(backend, start, powers, system)), why

    def _by_powers(self, backend: Backend, start: Snapshot, powers: Powers, system: LinearSystem) -> PowerStepper:
        return PowerStepper(backend, start, system, system.stops(self.frames), powers, self.kernel)

    def _with_modes(self, backend: Backend, start: Snapshot, communicator: Communicator) -> tuple[Stepper | None, str]:
        make = functools.partial(prepare, self.system, self.dt, self.frames, self.dtype)
        judge = functools.partial(modes_or_not, make, start, self.plan, self.tolerance, self.frames[-1])
        if start.step > 0:  # all have the modes, with their own columns of the coordinates, in what they start from
            modes, why = judge()
        else:
            modes, why = communicator.from_first(judge)
            if modes is not None and not self.by_rows(communicator.size):
                taken = _taken(self.system.start.shape[1], communicator.rank, communicator.size)
                modes = replace(modes, start=np.ascontiguousarray(modes.start[:, taken]))
        return (None if modes is None else SpectralStepper(backend, start, self.system, modes, self.kernel)), why


def _own(m: int, process: int, processes: int) -> range:
    """The columns of a process, of m."""
    each = -(-m // processes)
    return range(min(process * each, m), min((process + 1) * each, m))


def _taken(m: int, process: int, processes: int) -> np.ndarray:
    """The columns that a process steps: its own, and copies of the last one up to the number that all have."""
    begin = process * -(-m // processes)
    return np.minimum(np.arange(begin, begin + -(-m // processes)), m - 1)

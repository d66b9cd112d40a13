"""Steps of a batch that several processes share: each steps some of its columns.

Every entry of a product is a chain of multiplications and additions along a row of A and a column of X, whatever the
other columns (see `matmul.product`), so that each process has the bits that one process has there. All have the same
number of columns, hence the same kernels: where a batch does not divide, or has fewer columns than there are processes,
the last column of a process is stepped again in place of those that are missing, and left out in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.solvers.linear.method_choice.method import Plan
from simsuite.solvers.linear.stepping.step import LinearStepper, device_bytes
from simsuite.solvers.linear.system import LinearSystem

_REASONS = {
    "power": 'its states go from frame to frame by powers of A (time.method = "step" can be shared)',
    "spectral": 'its states go from frame to frame by modes of A (time.method = "step" can be shared)',
}


class SharedColumns:
    """A linear problem that processes share: see `capabilities.Divisible`."""

    system: LinearSystem
    dtype: Any
    frames: tuple[int, ...]
    kernel: str
    plan: Plan

    def indivisible(self, processes: int) -> str | None:
        if self.plan.method != "step":
            return _REASONS[self.plan.method]
        if self.system.noise is not None:
            return "the noise of a step is drawn for a whole batch"
        if self.system.start.shape[1] == 1:
            return "it has a single state, and processes share the states of a batch"
        return None

    def part_bytes(self, processes: int) -> int:
        own = self.system.start[:, _taken(self.system.start.shape[1], 0, processes)]
        return device_bytes(replace(self.system, start=own), self.dtype, self.frames[-1])

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        taken = _taken(self.system.start.shape[1], process, processes)
        return Snapshot(state.step, {name: a[:, taken] for name, a in state.arrays.items()})

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        m = self.system.start.shape[1]
        own = [_own(m, process, len(parts)) for process in range(len(parts))]
        arrays = {
            name: np.concatenate([part.arrays[name][:, : len(each)] for part, each in zip(parts, own)], axis=1)
            for name in parts[0].arrays
        }
        return Snapshot(parts[0].step, arrays)

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        return LinearStepper(backend, start, self.system, self.frames[-1], self.kernel)


def _own(m: int, process: int, processes: int) -> range:
    """The columns of a process, of m."""
    each = -(-m // processes)
    return range(min(process * each, m), min((process + 1) * each, m))


def _taken(m: int, process: int, processes: int) -> np.ndarray:
    """The columns that a process steps: its own, and copies of the last one up to the number that all have."""
    begin = process * -(-m // processes)
    return np.minimum(np.arange(begin, begin + -(-m // processes)), m - 1)

"""A heat run that processes share: each has a slab of rows, see `grid.slabs` and `capabilities.Divisible`.

What is measured is measured for each row, and what comes in for each edge point; so a process measures and books for
its own rows what one process would, in the same order, and the host adds up exactly (`math.fsum`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper, is_plain
from simsuite.solvers.heat.explicit.slab_steps import SlabStepper
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.slabs import Slab, edge_points, held_entries, plate_of, slab_of
from simsuite.solvers.heat.operator.compensated import LOW
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.results.measure import Wanted, row_before
from simsuite.solvers.heat.steppers import stepper_record

_FIELDS, _LEDGER, _PROBES = ("temperature", LOW), ("ledger", "ledger_total"), "probes"


class SharedSlabs:
    scenario: HeatScenario
    made: Discretisation
    plan: Plan

    def indivisible(self, processes: int) -> str | None:
        time, plan = self.scenario.time, self.plan
        if time.steady or plan.control is not None or plan.stepper != "explicit":
            steps = "a steady state is not stepped to" if time.steady else f"it is stepped by {plan.stepper}"
            return f'{steps} (time.stepper = "explicit" can be shared)'
        if self.made.law is not None:
            return "its conductivity depends on temperature"
        if not all(self.made.static):
            return "its sources depend on time or temperature"
        if self.made.ny < processes:
            return f"its grid has {self.made.ny} rows"
        return None

    def _slab(self, process: int, processes: int) -> Slab:
        return slab_of(self.made.ny, process, processes, self.made.wrap_y)

    def part_bytes(self, processes: int) -> int:
        plate = plate_of(self.made, self._slab(0, processes))
        return stepper_record(self.plan.stepper).device_bytes(plate, is_plain(self.made), self.scenario.run)

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        slab, arrays = self._slab(process, processes), {}
        entries, _ = self._entries(slab)
        for name, a in state.arrays.items():
            own = a[slab.rows] if name in _FIELDS else np.where(entries >= 0, a[..., entries], 0)
            arrays[name] = own.astype(a.dtype)
        return Snapshot(state.step, arrays)

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        slabs = [self._slab(process, len(parts)) for process in range(len(parts))]
        arrays = {}
        for name, first in parts[0].arrays.items():
            each = [part.arrays[name] for part in parts]
            if name in _LEDGER:
                arrays[name] = self._ledger(slabs, each)
            elif name == _PROBES:
                arrays[name] = self._probes(slabs, each)
            else:
                arrays[name] = np.concatenate([a[slab.own] for slab, a in zip(slabs, each)])
            assert arrays[name].dtype == first.dtype
        return Snapshot(parts[0].step, arrays)

    def _ledger(self, slabs: Sequence[Slab], each: Sequence[np.ndarray]) -> np.ndarray:
        whole = np.zeros((*each[0].shape[:-1], ledger_entries(self.made)), each[0].dtype)
        for slab, a in zip(slabs, each):
            entries, own = self._entries(slab)
            whole[..., entries[own]] = a[..., own]
        return whole

    def _entries(self, slab: Slab) -> tuple[np.ndarray, np.ndarray]:
        """For each entry of a slab's ledger its number in the whole one, -1 where it has none, and whether it is the
        slab's own: edge points beside own rows or at the slab's end, and held cells in own rows."""
        points, n = edge_points(slab, self.made.nx), len(slab.rows)
        own = points >= 0
        for side in (0, n):
            own[side : side + n] = False
            own[side + slab.own.start : side + slab.own.stop] = True
        held, held_own = held_entries(self.made, slab)
        return np.concatenate([points, self.made.edges.size + held]), np.concatenate([own, held_own])

    def _probes(self, slabs: Sequence[Slab], each: Sequence[np.ndarray]) -> np.ndarray:
        """Each probe as the slab has measured it in which the row before it lies."""
        found = each[0].copy()
        rows = row_before(np.array([p.y for p in self.scenario.probe]), self.made.ny, self.made.dy)
        for slab, a in zip(slabs, each):
            inside = (np.maximum(rows, 0) >= slab.begin) & (np.maximum(rows, 0) < slab.end)
            found[inside] = a[inside]
        return found

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        slab = self._slab(communicator.rank, communicator.size)
        probes = [(p.x, p.y) for p in self.scenario.probe]
        rate = self.scenario.time.steady_tolerance > 0
        wanted = Wanted(probes, rate, slab.first_row, self.made.ny)
        plate, kernel = plate_of(self.made, slab), self.scenario.run.kernel
        stepper = ExplicitStepper(plate, wanted, self.plan.clock, backend, start, kernel)
        return SlabStepper(stepper, slab, communicator, self.made.wrap_y)

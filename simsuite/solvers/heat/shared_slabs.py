"""A heat run that processes share: each has a slab of rows, see `grid.slabs` and `capabilities.Divisible`.

What is measured is measured for each row, and what comes in for each edge point; so a process measures and books for
its own rows what one process would, in the same order, and the host adds up exactly (`math.fsum`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.communicator import Communicator
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper, is_plain
from simsuite.solvers.heat.explicit.slab_steps import SlabStepper
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.slabs import Slab, edge_points, plate_of, slab_of
from simsuite.solvers.heat.operator.compensated import LOW
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.results.measure import Wanted, row_before
from simsuite.solvers.heat.stepper_record import Ingredients
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
        if not is_plain(self.made) or time.steady_tolerance > 0:
            return "only explicit steps with constant coefficients and without sources are shared out yet"
        if self.made.ny < processes:
            return f"its grid has {self.made.ny} rows"
        return None

    def _slab(self, process: int, processes: int) -> Slab:
        return slab_of(self.made.ny, process, processes, self.made.wrap_y)

    def part_bytes(self, processes: int) -> int:
        plate = plate_of(self.made, self._slab(0, processes))
        return stepper_record(self.plan.stepper).device_bytes(plate, True, self.scenario.run)

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        slab, arrays = self._slab(process, processes), {}
        points = edge_points(slab, self.made.nx)
        for name, a in state.arrays.items():
            arrays[name] = a[slab.rows] if name in _FIELDS else np.where(points >= 0, a[..., points], 0).astype(a.dtype)
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
        """The entries of all edge points: of each side those beside own rows, or those at the slab's end."""
        whole = np.zeros((*each[0].shape[:-1], self.made.edges.size), each[0].dtype)
        for slab, a in zip(slabs, each):
            points, n = edge_points(slab, self.made.nx), len(slab.rows)
            own = np.zeros(points.size, bool)
            for side in (0, n):
                own[side + slab.own.start : side + slab.own.stop] = True
            own[2 * n :] = points[2 * n :] >= 0
            whole[..., points[own]] = a[..., own]
        return whole

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
        wanted = Wanted(probes, first_row=slab.first_row, rows=self.made.ny)
        plate = plate_of(self.made, slab)
        of = Ingredients(plate, wanted, self.plan.clock, backend, start, self.plan.stages, self.scenario.run.kernel)
        stepper = stepper_record(self.plan.stepper).make(of)
        assert isinstance(stepper, ExplicitStepper)
        return SlabStepper(stepper, slab, communicator, self.made.wrap_y)

"""A heat run that processes share: each has a slab of rows, see `grid.slabs` and `capabilities.Divisible`.

What is measured is measured for each row, and what comes in for each edge point, and each row for a source; so a
process measures and books for its own rows what one process would, in the same order, and the host adds up exactly
(`math.fsum`). What steps go by, such as estimates of their error, are the largest numbers of all rows, which are
gathered.

Where a grid has fewer rows than slabs are to have, further processes do all that one process alone would; nobody asks
them for what they have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from simsuite.communication.communicator import Communicator
from simsuite.core import Backend, Snapshot, Stepper
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.adi.shared_lines import SHARED_FIELDS
from simsuite.solvers.heat.explicit.explicit import ExplicitStepper
from simsuite.solvers.heat.explicit.slab_steps import SlabStepper
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import Neighbours, NoNeighbours
from simsuite.solvers.heat.grid.slabs import Slab, edge_points, held_entries, plate_of, slab_of, slabs_among
from simsuite.solvers.heat.operator.compensated import LOW
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.plan import Plan
from simsuite.solvers.heat.results.measure import row_before

_FIELDS, _LEDGER, _PROBES = ("temperature", LOW, "lasting_error"), ("ledger", "ledger_total"), "probes"
_ALIKE = ("control", "iteration_change")  # arrays that are the same in all processes
# the least number of rows of a slab: steps of adi extrapolate along edges, see `adi_cpu`
_LEAST, _LEAST_OF_ADI = 1, 2


class SharedSlabs:
    scenario: HeatScenario
    made: Discretisation
    plan: Plan

    @abstractmethod
    def stepper_of(self, made: Discretisation, backend: Backend, start: Snapshot, beside: NoNeighbours) -> Stepper:
        """The stepper of the plate, or of a slab of it."""

    @abstractmethod
    def bytes_of(self, made: Discretisation) -> int:
        """Bytes that the stepper of the plate, or of a slab of it, allocates on its device at most."""

    def indivisible(self, processes: int) -> str | None:
        if self.scenario.time.steady:
            return "a steady state is solved for by one process (without `steady = true`, time steps can be shared)"
        return None

    def _slabs(self, processes: int) -> list[Slab]:
        """The slabs of the first processes; one that is the whole plate where there are to be none."""
        ny, periodic = self.made.ny, self.made.wrap_y
        count = slabs_among(ny, processes, _LEAST_OF_ADI if self._implicit else _LEAST)
        return [slab_of(ny, p, count, periodic) for p in range(count)] if count > 1 else [Slab(0, ny, 0, 0, ny)]

    def _slab(self, process: int, processes: int) -> Slab | None:
        """None for a process that steps the whole plate."""
        slabs = self._slabs(processes)
        return slabs[process] if 1 < len(slabs) > process else None

    def cut(self, state: Snapshot, process: int, processes: int) -> Snapshot:
        slab, arrays = self._slab(process, processes), {}
        if slab is None:
            return state
        entries, _ = self._entries(slab)
        for name, a in state.arrays.items():
            if name in _ALIKE:
                arrays[name] = a
            else:
                own = a[slab.rows] if name in _FIELDS else np.where(entries >= 0, a[..., entries], 0)
                arrays[name] = own.astype(a.dtype)
        return Snapshot(state.step, arrays)

    def join(self, parts: Sequence[Snapshot]) -> Snapshot:
        slabs, arrays = self._slabs(len(parts)), {}
        for name, first in parts[0].arrays.items():
            each = [part.arrays[name] for part in parts[: len(slabs)]]
            if name in _ALIKE:
                arrays[name] = first
            elif name in _LEDGER:
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
        slab's own: edge points beside own rows or at the slab's end, sources in own rows, and held cells in them."""
        points, n = edge_points(slab, self.made.nx), len(slab.rows)
        own = points >= 0
        for side in (0, n):
            own[side : side + n] = False
            own[side + slab.own.start : side + slab.own.stop] = True
        moving, first = sum(not static for static in self.made.static), self.made.edges.size
        heated = (first + self.made.ny * np.arange(moving)[:, None] + slab.rows).ravel()
        inside = np.zeros(n, bool)
        inside[slab.own] = True
        held, held_own = held_entries(self.made, slab)
        numbers = points, heated, first + self.made.ny * moving + held
        return np.concatenate(numbers), np.concatenate([own, np.tile(inside, moving), held_own])

    def _probes(self, slabs: Sequence[Slab], each: Sequence[np.ndarray]) -> np.ndarray:
        """Each probe as the slab has measured it in which the row before it lies."""
        found = each[0].copy()
        rows = row_before(np.array([p.y for p in self.scenario.probe]), self.made.ny, self.made.dy)
        for slab, a in zip(slabs, each):
            inside = (np.maximum(rows, 0) >= slab.begin) & (np.maximum(rows, 0) < slab.end)
            found[inside] = a[inside]
        return found

    def part_bytes(self, processes: int) -> int:
        slab = self._slab(0, processes)
        if slab is None:
            return self.bytes_of(self.made)
        plate = plate_of(self.made, slab)
        return self.bytes_of(plate) + SHARED_FIELDS * plate.T0.nbytes * (self._implicit or self.plan.stepper == "exact")

    @property
    def _implicit(self) -> bool:
        """Whether there may be steps of adi."""
        return self.plan.control is not None or self.plan.stepper == "adi"

    def part(self, backend: Backend, start: Snapshot, communicator: Communicator) -> Stepper:
        slabs, slab = self._slabs(communicator.size), self._slab(communicator.rank, communicator.size)
        if slab is None:
            return self.stepper_of(self.made, backend, start, NoNeighbours(communicator))
        beside = Neighbours(slab, len(slabs), self.made.wrap_y, communicator)
        stepper = self.stepper_of(plate_of(self.made, slab), backend, start, beside)
        return SlabStepper(stepper, beside) if isinstance(stepper, ExplicitStepper) else stepper

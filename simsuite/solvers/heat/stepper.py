"""What all heat steppers have in common: fields that are used in turn, measurements and snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from simsuite.core import Backend, Clock, Pending, Snapshot
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.operator.compensated import LOW, State, is_compensated, whole_field
from simsuite.solvers.heat.operator.edge_table import EdgeTable
from simsuite.solvers.heat.operator.ledger import Ledger
from simsuite.solvers.heat.operator.operator import Operator
from simsuite.solvers.heat.results.measure import Measure, Wanted
from simsuite.solvers.heat.smooth_rate import SmoothRate


class Engine(Protocol):
    """What takes a stepper's steps. It has an edge table and a ledger, and an `operator` if it needs one."""

    @property
    def edges(self) -> EdgeTable: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def operator(self) -> Operator | None: ...


class FieldStepper:
    """Owns the field of `start` and `spare` further ones. `views[now]` is the present field as kernels take it, and
    `states[now]` also has everything else that a step changes. beside: what is stepped by other processes."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        engine: Engine,
        spare: int = 1,
        beside: NoNeighbours = ALL_ROWS,
    ) -> None:
        self.step = start.step
        self.chosen: Mapping[str, str] = {"kernel": "numba"}
        self.clock, self.backend = clock, backend
        first = whole_field(start.arrays)
        whole = [backend.array(first), *(backend.zeros(first.shape, first.dtype) for _ in range(spare))]
        compensated = is_compensated(start.arrays)
        self.fields = [a[0] for a in whole] if compensated else whole
        self._lows = [a[1] for a in whole] if compensated else []
        self.views, self._low_views = ([backend.view(a) for a in arrays] for arrays in (self.fields, self._lows))
        self.states = [State(T, backend.view(a) if compensated else T) for T, a in zip(self.views, whole)]
        self.now = 0
        self.recorder = beside.recorder(backend)
        beside.remember(self.views, self.fields)
        self._engine = engine
        self._measure = Measure(made, wanted, backend, engine.edges, engine.operator, compensated)
        self._smooth_rate: SmoothRate | None = None  # not None only for steps that leave waves from cell to cell

    @property
    def state(self) -> Mapping[str, Any]:
        low = {LOW: self._lows[self.now]} if self._lows else {}
        return {"temperature": self.fields[self.now], **low, **self._engine.ledger.arrays}

    def check_end(self, n: int) -> None:
        """Raises ValueError when n steps lead past the end."""
        if self.step + n > self.clock.end:
            raise ValueError(f"{n} steps from step {self.step} lead past the end, {self.clock.end}")

    def snapshot(self) -> Pending:
        return self.backend.stage(self.step, self.state)

    @property
    def measured(self) -> Mapping[str, Any]:
        """What an observation holds besides the state."""
        rate = {} if self._smooth_rate is None else {"row_rate": self._smooth_rate.largest}
        return {**self._measure.arrays, **rate}

    @property
    def smoothed_step(self) -> float:
        """The length of steps, s, that leave waves which do not count in rates of change; 0 if all waves count."""
        return 0.0

    def observe(self, series: str) -> Pending:
        """For a row along "time" the field and all measurements; along "sample" the measurements alone. Data are as at
        that very time, while steps see them as they are before or after a jump."""
        (self._engine.operator or self._engine.edges).look(self.clock.time(self.step))
        self._measure.queue(self.views[self.now], self._low_views[self.now] if self._lows else None)
        if self._smooth_rate is not None:
            self._smooth_rate.queue(self.views[self.now], self.smoothed_step)
        arrays = {**self.state, **self.measured}
        arrays.pop(LOW, None)
        if series != "time":
            del arrays["temperature"]
        return self.backend.stage(self.step, arrays)

"""The steady state as a run of one step: from the initial field to the solution (see `steady`).

The ledger books what then comes in at edges, from sources and from held cells in one second: the clock has to say that
the step takes 1 s, so that energies are powers, W per metre of depth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.operator import Operator
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.stepper import FieldStepper

STEADY_CLOCK = Clock((0, 1), (0.0, 1.0))
STEADY_FIELDS = 7  # the number of fields that this stepper takes memory for


class SteadyStepper(FieldStepper):
    """Solves when it is made, on the host; its step shows the solution. Raises NumericalFailure where there is none.

    Its state and observations also have the array "steady": residual and iterations of the solution, and the rate at
    which deviations from it grow (see `stability`), NaN if unknown; float64, and 0 before the step."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        scenario: HeatScenario,
    ) -> None:
        T = start.arrays["temperature"]
        self.operator = Operator(made, clock, backend, T.dtype, start.arrays)
        self.edges, self.ledger = self.operator.edges, self.operator.ledger
        super().__init__(made, wanted, clock, backend, start, self, spare=0)
        self._reports = [backend.array(np.asarray(start.arrays.get("steady", np.zeros(3)), np.float64))]
        if start.step < clock.end:
            # these are slow to import and rarely needed
            from simsuite.solvers.heat.steady.stability import growth_rate
            from simsuite.solvers.heat.steady.steady import solve_steady

            solution = solve_steady(made, scenario)
            grows = growth_rate(made, solution.T)
            self.fields.append(backend.array(solution.T.astype(T.dtype)))
            self.views.append(backend.view(self.fields[1]))
            report = [solution.residual, solution.iterations, math.nan if grows is None else grows]
            self._reports.append(backend.array(np.array(report)))
        self._measure.arrays["steady"] = self._reports[0]

    @property
    def state(self) -> Mapping[str, Any]:
        return {**super().state, "steady": self._reports[self.now]}

    def advance(self, n: int) -> None:
        self.check_end(n)
        if n > 0:
            self.operator.begin(self.step, 1)
            self.now = 1
            self._measure.arrays["steady"] = self._reports[1]
            self.step += 1
            self.operator.refresh(self.views[1], 0)
            self.operator.book(self.views[1], 0, 1.0, 1.0, 1.0)
            self.ledger.fold(self.step)

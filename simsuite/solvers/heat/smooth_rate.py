"""The rate of change of the temperature without waves that diffusion smooths out within a small part of a step.

Long steps of adi leave waves from cell to cell that die out over many steps only: in a step of Δt a mode of eigenvalue
κ is multiplied by (1 - κ Δt/2)/(1 + κ Δt/2), which is close to -1 where κ Δt is large. Such a wave may be 1e-9 K high
and yet have a large rate, κ·1e-9 K, although it moves no temperature by more than 2e-9 K in a step. Rounding has the
same effect. So the rate L·T + q is smoothed as diffusion does it in a time s = SHARE·Δt, by one implicit step along
each direction. That divides a mode by about 1 + κ s: of a wave of height δ no more than δ/s is left, and rates of modes
with κ Δt < 1 stay nearly as they are. It never makes the largest rate larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simsuite.solvers.heat.operator.operator import OPERATOR, Operator, block_for

SHARE = 0.125  # of a step


class SmoothRate:
    """Measures the largest |dT/dt| of each row of cells, K/s.

    field: view of (ny, nx), whose contents are lost. smooth: the function `AdiSteps.smooth`."""

    def __init__(self, operator: Operator, field: Any, smooth: Callable[[Any, Any, int, float], None]) -> None:
        made, backend = operator.made, operator.backend
        estimates = backend.kernels("simsuite.solvers.heat.operator.defect")
        self._operator, self._field, self._smooth = operator, field, smooth
        self._rate = backend.launcher(backend.kernels(OPERATOR).rate, (made.nx, made.ny), block_for(made))
        self._judge = backend.launcher(estimates.judge, (made.ny * estimates.THREADS,), (estimates.THREADS,))
        self._rows = backend.zeros((3, made.ny), np.float64)
        self._rows_view = backend.view(self._rows)

    @property
    def largest(self) -> Any:
        """The largest |dT/dt| of each row of cells, as measured last."""
        return self._rows[0]

    def queue(self, T: Any, dt: float) -> None:
        """Queue the measurement at temperatures T, for which row 0 of the operator's tables is filled and refreshed.
        dt: the length of a step, s; 0 after data have jumped or kinked, when rates are not smoothed because they change
        at once."""
        o, W = self._operator, self._field
        self._rate(T, W, o.plate, o.edges.at(0))
        if dt > 0:
            self._smooth(W, T, 0, 2.0 * SHARE * dt)
        self._judge(W, W, o.zero, W, o.zero, self._rows_view)

"""What is measured of a temperature field when a row of the results is due.

- Sum, smallest and largest value of every row of cells, in float64 in a fixed order; the host adds up the rows exactly
  (`math.fsum`). With them, the first cell of the row that is NaN or Inf.
- Probes: bilinear between the four nearest cell centres, of which those outside the domain are ghosts, so that edges
  and corners are as legal as any place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.table import FunctionTable


def _axis(at: np.ndarray, n: int, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Index of the cell centre at or before `at` (-1 .. n-1), and how far on the way to the next one `at` is."""
    position = at / delta - 0.5
    index = np.clip(np.floor(position), -1, n - 1).astype(np.int64)
    return index, position - index


class Measure:
    """Owns the buffers for the measurements of one field."""

    def __init__(self, scenario: HeatScenario, backend: Backend, edges: FunctionTable) -> None:
        g = scenario.grid
        kernels = backend.kernels("simsuite.solvers.heat.measure")
        self._edges = edges
        self._wrap = (scenario.boundary.left.kind == "periodic", scenario.boundary.bottom.kind == "periodic")
        self.arrays = {name: backend.zeros(g.ny, np.float64) for name in ("row_sum", "row_min", "row_max")}
        self.arrays["row_bad"] = backend.zeros(g.ny, np.int64)
        self._rows_out = [backend.view(a) for a in self.arrays.values()]
        self._rows = backend.launcher(kernels.rows, (g.ny * kernels.THREADS,), (kernels.THREADS,))
        self._points: list[Any] = []
        self.arrays["probes"] = backend.zeros(len(scenario.probe), np.float64)
        if scenario.probe:
            x, fx = _axis(np.array([p.x for p in scenario.probe]), g.nx, g.lx / g.nx)
            y, fy = _axis(np.array([p.y for p in scenario.probe]), g.ny, g.ly / g.ny)
            self._held = [backend.array(a) for a in (x, y, fx, fy)]
            self._points = [backend.view(a) for a in (*self._held, self.arrays["probes"])]
            self._probe = backend.launcher(kernels.probe, (len(scenario.probe),), (32,))

    def queue(self, T: Any, step: int) -> None:
        """Queue all measurements of the field whose kernel view is T."""
        self._rows(T, *self._rows_out)
        if self._points:
            self._edges.fill(step, 1)
            self._probe(T, self._edges.flat, 0, *self._wrap, *self._points)

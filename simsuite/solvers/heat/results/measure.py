"""What is measured of a temperature field when a row of the results is due.

- Sum, smallest and largest value of every row of cells, with the first cells that have these two, in float64 in a
  fixed order; the host adds up the rows exactly (`math.fsum`). With them, the first cell of the row that is NaN or Inf.
  Where the capacity differs from cell to cell, the heat of every row as well, Σ ρc T without the cells that are held.
- Probes: bilinear between the four nearest cell centres, of which those outside the domain are ghosts, so that edges
  and corners are as legal as any place.
- Sum and heat of what rounding has lost of the temperatures of every row, where steps are compensated: the ledger's
  cells have that as well.
- The largest |dT/dt| of every row, where somebody waits for the steady state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.edge_table import EdgeTable
from simsuite.solvers.heat.operator.operator import Operator


@dataclass(frozen=True)
class Wanted:
    """What is to be measured. probes: their (x, y), m. rate: whether |dT/dt| is wanted. first_row, rows: where the
    field is a part of a grid of so many rows, as which of them it begins; probes elsewhere get any number."""

    probes: Sequence[tuple[float, float]] = ()
    rate: bool = False
    first_row: int = 0
    rows: int | None = None


def _axis(at: np.ndarray, n: int, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Index of the cell centre at or before `at` (-1 .. n-1), and how far on the way to the next one `at` is."""
    position = at / delta - 0.5
    index = np.clip(np.floor(position), -1, n - 1).astype(np.int64)
    return index, position - index


def row_before(y: np.ndarray, ny: int, dy: float) -> np.ndarray:
    """The rows whose centres are at or before y, m; -1 below the first one."""
    return _axis(y, ny, dy)[0]


def _row_arrays(backend: Backend, ny: int) -> dict[str, Any]:
    """The arrays for the measurements of ny rows, in the order of the kernel's arguments."""
    numbers, places = ("row_sum", "row_heat", "row_min", "row_max"), ("row_bad", "row_min_at", "row_max_at")
    found = {name: backend.zeros(ny, np.float64) for name in numbers}
    return found | {name: backend.zeros(ny, np.int64) for name in places}


class Measure:
    """Owns the buffers for the measurements of one field. operator: None where the coefficients are constant.
    compensated: whether steps are compensated."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        backend: Backend,
        edges: EdgeTable,
        operator: Operator | None,
        compensated: bool = False,
    ) -> None:
        kernels = backend.kernels(__name__)
        self._edges, self._operator, self._wanted = edges, operator, wanted
        self._wrap = (made.wrap_x, made.wrap_y)
        self.arrays = _row_arrays(backend, made.ny)
        self._rows_out = [backend.view(a) for a in self.arrays.values()]
        if compensated:
            low = _row_arrays(backend, made.ny)
            self._low_rows = list(low.values())
            self._low_rows_out = [backend.view(a) for a in self._low_rows]
            self.arrays |= {"low_sum": low["row_sum"], "low_heat": low["row_heat"]}
        self._rows = backend.launcher(kernels.rows, (made.ny * kernels.THREADS,), (kernels.THREADS,))
        self._points: list[Any] = []
        self.arrays["probes"] = backend.zeros(len(wanted.probes), np.float64)
        if wanted.rate and operator is not None:
            self.arrays["row_rate"] = operator.rate_max
        if wanted.probes:
            x, fx = _axis(np.array([x for x, _ in wanted.probes]), made.nx, made.dx)
            y, fy = _axis(np.array([y for _, y in wanted.probes]), wanted.rows or made.ny, made.dy)
            y = np.clip(y - wanted.first_row, -1, made.ny - 1)
            self._held = [backend.array(a) for a in (x, y, fx, fy)]
            self._points = [backend.view(a) for a in (*self._held, self.arrays["probes"])]
            self._probe = backend.launcher(kernels.probe, (len(wanted.probes),), (32,))

    def queue(self, T: Any, low: Any = None) -> None:
        """Queue all measurements of the field whose kernel view is T, at the time of row 0 of the edge table. low: a
        view of what rounding has lost of the field, where steps are compensated."""
        operator = self._operator
        weights = (T if operator is None else operator.c, operator is not None)
        self._rows(T, *weights, *self._rows_out)
        if low is not None:
            self._rows(low, *weights, *self._low_rows_out)
        if operator is not None:
            operator.refresh(T, 0)
        if self._points:
            self._probe(T, self._edges.flat, 0, *self._wrap, *self._points)
        if self._wanted.rate and operator is not None:
            operator.measure_rate(T, 0)

"""β and γ of all edge points (see `edges`) at a few times, in device memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.table import ROWS, FunctionTable, Moments, RowLauncher


class EdgeTable:
    """Rows of β, then γ, at all edge points, for the times `offsets` steps after the step they are filled for.

    array: the rows one after another; flat: the same as kernels take them; `at(k)`: where row k begins. data: the
    numbers that the conditions give, (rows or 1, 2 points), see `edges.Piece`. scratch: how many further rows there are
    for the stepper to fill itself, which begin at `scratch_at(i)`. Where nothing depends on time or temperature there
    is one row."""

    def __init__(
        self,
        made: Discretisation,
        clock: Moments,
        backend: Backend,
        dtype: Any,
        offsets: Sequence[float] | None = None,
        scratch: int = 0,
    ) -> None:
        edges = made.edges
        pieces = [(p.first, p.x, p.y) for p in edges.pieces] + [(p.second, p.x, p.y) for p in edges.pieces]
        self._data = FunctionTable(backend, clock, np.float64, pieces, offsets)
        self._follows = made.law is not None or edges.radiates  # whether rows follow the temperature
        self.steady = self._data.steady and not self._follows
        self._count = 1 if self.steady else (ROWS if offsets is None else len(offsets))
        self.data = self._data.values
        self.points, self.dtype = edges.size, np.dtype(dtype)
        self._rows = backend.zeros((self._count + scratch, 2 * self.points), dtype)
        self.array = self._rows.reshape(-1)
        self.flat, self.rows = backend.view(self.array), backend.view(self._rows)
        self._held = [backend.array(a) for a in (edges.kinds, made.edge_k(), edges.delta)]
        self.kinds, self.k, self._delta = (backend.view(a) for a in self._held)
        self._nowhere_array = backend.zeros((1, 1), dtype)
        self._nowhere = backend.view(self._nowhere_array)
        kernel = backend.kernels("simsuite.solvers.heat.operator.edges").edge_rows
        self._launch = RowLauncher(backend, kernel, self.points, self._count)
        if self.steady:
            self._launch(1, *self._arguments(self._nowhere, False), 0)

    def _arguments(self, T: Any, radiating: bool) -> tuple[Any, ...]:
        return (self.kinds, self._data.values, self.k, self._delta, T, radiating, self.rows)

    def fill(self, step: int, n: int, offsets: Any = None) -> None:
        """Queue the evaluation of rows 0 .. n-1 for `step`; if rows follow the temperature, only of the conditions'
        data. offsets: see `FunctionTable.fill`."""
        self._data.fill(step, n, offsets)
        self._evaluate(n)

    def look(self, t: float) -> None:
        """Queue the evaluation of row 0, or of its data, for the time t itself, even where data jump there."""
        self._data.look(t)
        self._evaluate(1)

    def _evaluate(self, n: int) -> None:
        if not self.steady and not self._follows:
            self._launch(n, *self._arguments(self._nowhere, False), 0)

    def refresh(self, T: Any, k: int) -> None:
        """Queue the evaluation of row k at the temperatures T, if it follows them."""
        if self._follows:
            self._launch(1, *self._arguments(T, True), k)

    def at(self, k: int) -> int:
        """Where row k begins in `flat`."""
        return 0 if self.steady else k * 2 * self.points

    def scratch_at(self, i: int) -> int:
        """Where scratch row i begins in `flat`."""
        return (self._count + i) * 2 * self.points

"""Time-dependent data of a problem, evaluated where it is used.

Edge values and inputs are expressions in x, y and t. A `FunctionTable` holds their values at the next few steps, one
row a step; a kernel made from the expression fills the rows on the device, in float64, so that no host copy is needed
between steps and the time does not lose digits in float32 runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from simsuite.core import Backend
from simsuite.expressions import Expression
from simsuite.solvers.expression_placeholders import written_kernels

ROWS = 64  # how many steps are evaluated at once, and replayed as one graph
# For so few rows there are launches of their own, as most threads of a full one would have nothing to do.
_FEWER = 4, 16


class Moments(Protocol):
    """The part of a clock that a table needs."""

    @property
    def times(self) -> Sequence[float]:
        """The times of a run: the first is its beginning, the last its end."""

    def inside(self, step: int) -> tuple[float, float, int, int]:
        """See `Clock.inside`."""


class RowLauncher:
    """A launcher of a kernel over `points` and up to `rows` rows of a table, with a thread for each entry; a call asks
    for `n` rows.
    """

    def __init__(self, backend: Backend, kernel: Any, points: int, rows: int) -> None:
        block = (min(points, 128), 1)
        counts = sorted({min(k, rows) for k in (*_FEWER, rows)})
        self._launches = [(k, backend.launcher(kernel, (points, k), block)) for k in counts]

    def __call__(self, n: int, *arguments: Any) -> None:
        next(launch for k, launch in self._launches if n <= k)(*arguments, n)


class FunctionTable:
    """A table values[k, j] = f(x_j, y_j, t at step `first` + offsets[k]), where each piece of the points j has its own
    f.

    pieces: (expression in x, y, t; x; y) in order of j, with x and y float64 vectors of equal length. offsets: in
    steps, by default those of the next ROWS steps. If nothing depends on t there is one row, valid at every step.
    """

    def __init__(
        self,
        backend: Backend,
        clock: Moments,
        dtype: Any,
        pieces: Sequence[tuple[Expression, np.ndarray, np.ndarray]],
        offsets: Sequence[float] | None = None,
    ) -> None:
        self._clock = clock
        after = np.arange(ROWS, dtype=np.float64) if offsets is None else np.asarray(offsets, np.float64)
        self._offsets = backend.array(after)
        self._offsets_view = backend.view(self._offsets)
        self.steady = not any(f.depends_on("t") for f, _, _ in pieces)
        n = sum(len(x) for _, x, _ in pieces)
        values = np.zeros((1 if self.steady else len(after), n), dtype)
        moving, start = [], 0
        for f, x, y in pieces:
            if f.depends_on("t"):
                moving.append((f, start, x, y))
            else:
                values[:, start : start + len(x)] = np.asarray(f(x=x, y=y), np.float64)
            start += len(x)
        self.array = backend.array(values)
        self.values = backend.view(self.array)
        self.flat = backend.view(self.array.reshape(-1))
        self._width = n
        self._fills = []
        for f, start, x, y in moving:
            kernels, numbers = written_kernels(backend, __name__, {"expression": f}, ("x", "y", "t"))
            launch = RowLauncher(backend, kernels.fill, len(x), len(after))
            arrays = [backend.array(x), backend.array(y), *numbers]
            self._fills.append((launch, start, arrays, [backend.view(a) for a in arrays]))

    def fill(self, step: int, n: int, offsets: Any = None) -> None:
        """Queue the evaluation of rows 0 .. n-1 from `step` on, for steps of one length. offsets: a view of offsets
        that replace those of the table.
        """
        if not self.steady:
            at = self._offsets_view if offsets is None else offsets
            for launch, start, _, (x, y, numbers) in self._fills:
                launch(n, self.values, start, x, y, *self._clock.inside(step), at, numbers)

    def look(self, t: float) -> None:
        """Queue the evaluation of row 0 at the time t itself, even if the function jumps there."""
        if not self.steady:
            for launch, start, _, (x, y, numbers) in self._fills:
                launch(1, self.values, start, x, y, t, 0.0, 0, 1, self._offsets_view, numbers)

    def row(self, k: int) -> int:
        """The number of the row for the k-th step since the last `fill`."""
        return 0 if self.steady else k

    def offset(self, k: int) -> int:
        """The place in `flat` at which the row for the k-th step since the last `fill` begins."""
        return self.row(k) * self._width

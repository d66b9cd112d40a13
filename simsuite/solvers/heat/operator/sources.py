"""Sources of heat on a device.

    q = Σ of those that depend on neither t nor T + Σ Xᵢ(x, t) Yᵢ(y, t) + the others,   W/m³

A source that depends on t is nearly always a short sum of products (`expressions.separable`): a spot that moves, heat
that is switched on and off in a rectangle. Such a source takes nx + ny values for each step instead of one evaluation
for each cell, and kernels that take several steps at once have these values from two short tables. Other sources are
evaluated in every cell, in float64, and so are those in cells that a file marks.

The power of a row of cells is the sum over its cells, float64. For products it is Σᵢ Yᵢ(y)·Σₓ Xᵢ(x), with the values in
the tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds
from simsuite.expressions.separable import Pair, separate
from simsuite.expressions.tree import MARK, Marked, walk
from simsuite.solvers.expression_placeholders import written_kernels
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.table import ROWS, FunctionTable, Moments

_SOURCE = __name__.removesuffix("s")  # the name of the template of kernels that evaluate a source in every cell
_KEPT = 256  # the number of expressions whose products are kept
_TIME = Expression.parse("t", ("t",))
# the largest value of a factor; the largest value must not be less than the inverse of this
_LARGEST = {"float32": 1e30, "float64": 1e250}


def products(made: Discretisation, clock: Moments, dtype: np.dtype) -> list[tuple[Pair, ...] | None]:
    """For each source that is not static, the factors X and Y of its products; None if it is no such sum."""
    x, y = made.whole.centres
    ranges = ((float(x[0]), float(x[-1])), (float(y[0, 0]), float(y[-1, 0])), (clock.times[0], clock.times[-1]))
    return [_products(f, *ranges, dtype.name) for f, static in zip(made.sources, made.static) if not static]


@lru_cache(_KEPT)
def _products(
    f: Expression, x: tuple[float, float], y: tuple[float, float], t: tuple[float, float], precision: str
) -> tuple[Pair, ...] | None:
    pairs = separate(f, x, y, t)
    ranges, limit = {"x": x, "y": y, "t": t}, _LARGEST[precision]
    for factor in (factor for pair in pairs or () for factor in pair):
        largest = max(map(abs, bounds(factor.tree, ranges)))
        if not (largest == 0 or 1 / limit < largest < limit):
            return None
    return pairs


class Sources:
    """Owns what heats the cells. c: 1/(ρc) on the device, 0 in cells that are held. offsets: see `FunctionTable`.

    q: (ny, nx), or (1, 1) where there are no sources. base: the sum of the static sources. heated: whether there are
    any sources. power: the power of each row of cells, for each source that is not static, (count·ny,). terms: the
    number of products, if all sources that are not static are sums of products; else 0."""

    def __init__(
        self,
        made: Discretisation,
        clock: Moments,
        backend: Backend,
        dtype: Any,
        c: Any,
        offsets: Sequence[float] | None,
    ) -> None:
        self._made, self._dtype, self._backend = made, np.dtype(dtype), backend
        self._c = c
        self.heated = bool(made.sources)
        moving = [f for f, static in zip(made.sources, made.static) if not static]
        base = np.asarray(made.static_source if self.heated else np.zeros((1, 1)), self._dtype)
        self._arrays = [backend.array(base)]
        self.base = self.q = backend.view(self._arrays[0])
        if moving:
            self._arrays.append(backend.array(base))
            self.q = backend.view(self._arrays[1])
        self.count = len(moving) * made.ny
        self._arrays.append(backend.zeros(self.count, np.float64))
        self.power = backend.view(self._arrays[-1])
        found = products(made, clock, self._dtype)
        self._pairs = [pairs for pairs in found if pairs is not None]
        self.terms = sum(map(len, self._pairs)) if None not in found else 0
        self._times = FunctionTable(backend, clock, np.float64, [(_TIME, np.zeros(1), np.zeros(1))], offsets)
        self._tables(clock, offsets)
        self._launches = self._launchers(moving, found)

    def _tables(self, clock: Moments, offsets: Sequence[float] | None) -> None:
        made, pairs = self._made, [pair for pairs in self._pairs for pair in pairs]
        x, y = made.centres[0], made.centres[1].ravel()
        make = (self._backend, clock, self._dtype)
        self.x_table = FunctionTable(*make, [(a, x, np.zeros_like(x)) for a, _ in pairs], offsets)
        self.y_table = FunctionTable(*make, [(b, np.zeros_like(y), y) for _, b in pairs], offsets)
        self._arrays.append(self._backend.zeros((ROWS, max(1, self.terms)), np.float64))
        self._sums = self._backend.view(self._arrays[-1])

    def _launchers(self, moving: Sequence[Expression], found: Sequence[tuple[Pair, ...] | None]) -> list[Any]:
        """For each source that is not static, the function that adds it to the sum of those before it and writes its
        power."""
        made, backend = self._made, self._backend
        kernels = backend.kernels(__name__)
        threads = kernels.THREADS
        extent = (made.ny * threads,)
        launches: list[Any] = []
        term = 0
        for i, (f, pairs) in enumerate(zip(moving, found)):
            base = self.base if i == 0 else self.q
            rest: tuple[Any, ...] = (self._c, base, self.q, self.power, i * made.ny)
            if pairs is None:
                own, numbers = written_kernels(backend, _SOURCE, {"expression": f}, ("x", "y", "t", "T", MARK))
                self._arrays += [*numbers, backend.array(_marks(f))]
                launch = backend.launcher(own.source, extent, (threads,))
                arrays = (self._arrays[-1], numbers[0])
                rest = (made.dx, made.dy, *made.place, *rest, *map(backend.view, arrays))
                launches.append(_evaluated(launch, self._times, rest))
            else:
                launch = backend.launcher(kernels.add_products, extent, (threads,))
                zero = self._dtype.type(0)
                launches.append(_multiplied(launch, self.x_table, self.y_table, (term, len(pairs)), rest, zero))
                term += len(pairs)
        self._add_up = backend.launcher(kernels.sums, (max(1, self.terms) * ROWS * threads,), (threads,))
        self._book = backend.launcher(kernels.book, (made.ny,), (min(made.ny, 128),))
        return launches

    def begin(self, step: int, rows: int, offsets: Any = None) -> None:
        """Queue the evaluation of what depends on time, for the first `rows` rows of tables, from `step` on. These
        launches must not be recorded. offsets: see `FunctionTable.fill`."""
        for table in self._moving_tables:
            table.fill(step, rows, offsets)

    def look(self, t: float) -> None:
        """Queue the evaluation of what depends on time, for row 0 of tables at the time t itself, even where sources
        jump there."""
        for table in self._moving_tables:
            table.look(t)

    @property
    def _moving_tables(self) -> tuple[FunctionTable, ...]:
        return (self._times, self.x_table, self.y_table) if self._launches else ()

    def refresh(self, T: Any, k: int) -> None:
        """Queue the evaluation of the sources that are not static, at the temperatures T and the time of row k."""
        for launch in self._launches:
            launch(T, k)

    def book(self, k: int, n: int, weight: float, ledger: Any, first: int) -> None:
        """Queue the booking of n steps from row k on, for `weight` seconds each, into entries from `first` on. This is
        only for problems in which all moving sources are sums of products and no cell is held."""
        if self.terms == 0:
            return
        made = self._made
        x_row, y_row = self.x_table.row(k), self.y_table.row(k)
        x_rows = 1 if self.x_table.steady else n
        self._add_up(self.x_table.values, x_row, x_rows, made.nx, self.terms, self._sums)
        term = 0
        for i, pairs in enumerate(self._pairs):
            where = (x_rows, y_row, 0 if self.y_table.steady else 1, term, len(pairs))
            entry = first + i * made.ny
            self._book(self._sums, self.y_table.values, *where, n, self._dtype.type(weight), ledger, entry, made.ny)
            term += len(pairs)


def _marks(f: Expression) -> np.ndarray:
    """The cells that a file marks for a source, (ny, nx), uint8; (1, 1) where no file does."""
    found = next((part for part in walk(f.tree) if isinstance(part, Marked)), None)
    return np.zeros((1, 1), np.uint8) if found is None else found.cells.astype(np.uint8)


def _evaluated(launch: Any, times: FunctionTable, rest: tuple[Any, ...]) -> Any:
    return lambda T, k: launch(T, times.flat, k, *rest)


def _multiplied(
    launch: Any, xs: FunctionTable, ys: FunctionTable, terms: tuple[int, int], rest: tuple[Any, ...], zero: Any
) -> Any:
    return lambda T, k: launch(xs.values, ys.values, k, *terms, *rest, zero)

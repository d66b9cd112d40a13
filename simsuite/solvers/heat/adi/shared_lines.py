"""Implicit steps along y of a plate in slabs of rows, see `grid.slabs`: lines go through all slabs.

Each process gets some columns whole, solves their lines as one process would, and gives each slab its rows of the
solution. What goes with the right-hand sides: β and γ at the ends of lines, from the first and the last slab, and
conductances where they change with temperature."""

from __future__ import annotations

from typing import Any

import numpy as np

from simsuite.solvers.heat.adi.lines import Lines
from simsuite.solvers.heat.arguments import Along
from simsuite.solvers.heat.grid.discretisation import Discretisation, faces
from simsuite.solvers.heat.grid.neighbours import Neighbours
from simsuite.solvers.heat.grid.slabs import slab_of
from simsuite.solvers.heat.operator.operator import Operator

SHARED_FIELDS = 8  # the number of fields of a slab's size that this takes memory for


class SharedLines:
    """In place of the `Lines` along y of a slab's operator. Fields have to be remembered by its neighbours."""

    def __init__(self, operator: Operator, beside: Neighbours) -> None:
        self._operator, self._beside, self._backend = operator, beside, operator.backend
        made, whole, b, dtype = operator.made, operator.made.whole, operator.backend, operator.dtype
        count, nx = beside.slabs, whole.nx
        self._rows = [slab_of(whole.ny, p, count, whole.wrap_y) for p in range(count)]
        self._columns = [slice(nx * p // count, nx * (p + 1) // count) for p in range(count)]
        self._moving = made.law is not None  # whether conductances are given as well
        own, n, columns = beside.rank, whole.ny, self._columns[beside.rank]
        width = columns.stop - columns.start
        self._given = [b.zeros((self._lines(own), c.stop - c.start), dtype) for c in self._columns]
        self._taken = [b.zeros((self._lines(p), width), dtype) for p in range(count)]
        high = self._rows[own].end - self._rows[own].begin
        self._solved = [b.zeros((slab.end - slab.begin, width), dtype) for slab in self._rows]
        self._back = [b.zeros((high, c.stop - c.start), dtype) for c in self._columns]
        self._lines_of: Lines | None = None  # None where this process has no columns
        if width > 0:
            g, c = _along_y(whole, columns)
            arrays = [b.array(np.asarray(a, dtype)) for a in (g, c)]
            arrays += [b.zeros(4 * (n + width), dtype), b.zeros((n, width), dtype), b.zeros((n, width), dtype)]
            self._g, self._c, self._edges, self._field, self._scratch = self._arrays = arrays
            self._views = [b.view(a) for a in arrays]
            along = Along(g=self._views[0], c=self._views[1], edges=self._views[2], first=2 * n, wrap=whole.wrap_y)
            self._lines_of = Lines(b, dtype, (n, width), along)

    def _lines(self, process: int) -> int:
        """How many rows of numbers a slab's process gives."""
        slab, last = self._rows[process], len(self._rows) - 1
        high = slab.end - slab.begin
        ends = 2 * (process == 0) + 2 * (process == last)
        return high + ends + (high + (process == last) if self._moving else 0)

    def solve(self, R: Any, at: int, a: float, scratch: Any) -> None:
        """As `Lines.solve`, with right halos as well. Any: as the backend has arrays."""
        self._give(self._beside.array(R), at)
        if self._lines_of is not None:
            self._gather()
            self._lines_of.solve(self._views[3], 0, a, self._views[4])
            for slab, part in zip(self._rows, self._solved):
                self._backend.copy(self._field[slab.begin : slab.end], part)
        self._beside.communicator.swap(self._solved, self._back)
        own = self._beside.array(R)[self._beside.own]
        for columns, part in zip(self._columns, self._back):
            self._backend.copy(part, own[:, columns])
        self._beside.refresh(R)

    def _give(self, R: Any, at: int) -> None:
        """Give each process its columns of R, and what goes with them."""
        o, own, first, last = self._operator, self._beside.own, self._beside.rank == 0, len(self._rows) - 1
        (ny, nx), points, edges = R.shape, o.edges.points, o.edges.array
        starts = [at + 2 * ny] * first + [at + 2 * ny + nx] * (self._beside.rank == last)
        rows = [R[own]]
        rows += [edges[start : start + nx][None] for begin in starts for start in (begin, begin + points)]
        if self._moving:
            rows.append(o.conductances_y[own.start : own.stop + (self._beside.rank == last)])
        for columns, part in zip(self._columns, self._given):
            begin = 0
            for some in rows:
                self._backend.copy(some[:, columns], part[begin : begin + len(some)])
                begin += len(some)
        self._beside.communicator.swap(self._given, self._taken)

    def _gather(self) -> None:
        """Put together the columns that other processes have given."""
        copy, n, last = self._backend.copy, self._operator.made.whole.ny, len(self._rows) - 1
        width = self._field.shape[1]
        for process, (slab, part) in enumerate(zip(self._rows, self._taken)):
            k = slab.end - slab.begin
            copy(part[:k], self._field[slab.begin : slab.end])
            for end in [0] * (process == 0) + [1] * (process == last):
                for which in range(2):  # β, γ
                    begin = 2 * n + end * width + which * 2 * (n + width)
                    copy(part[k], self._edges[begin : begin + width])
                    k += 1
            if self._moving:
                copy(part[k:], self._g[slab.begin : slab.begin + len(part) - k])


def _along_y(whole: Discretisation, columns: slice) -> tuple[np.ndarray, np.ndarray]:
    """The conductances along y of some columns, and their 1/(ρc)."""
    g = faces(whole.ky[:, columns].T, whole.held[:, columns].T, whole.wrap_y).T / whole.dy**2
    return np.ascontiguousarray(g), whole.inverse_capacity[:, columns]

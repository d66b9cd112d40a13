"""Exact steps of a plate in slabs of rows, see `grid.slabs`: transforms go along whole rows and whole columns.

    own rows of T → x → swap → own columns → y → swap → own rows of modes: their change
    → x → swap → own columns → y → swap → own rows of the change of T

A transform leaves its result transposed, so what each process is to get is contiguous. Rows of modes are shared out in
as many as are summed up together for the heat that comes in at edges; these sums, and the integrals at left and right,
are given to all processes. What each process computes is what one would compute, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.errors import UsageError
from simsuite.solvers.heat.exact.exact import LEAST, ExactStepper
from simsuite.solvers.heat.exact.separation import Separated
from simsuite.solvers.heat.exact.transform import transform
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import Neighbours
from simsuite.solvers.heat.grid.slabs import edge_points, slab_of
from simsuite.solvers.heat.results.measure import Wanted


class SharedExactStepper(ExactStepper):
    """An `ExactStepper` of a slab. Raises UsageError for a GPU, whose libraries may take other ways, with other last
    bits, for other numbers of rows."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        beside: Neighbours,
    ) -> None:
        if backend.dialect != "cpu":
            why = "a GPU's library may transform some rows otherwise than all of them, to other last bits"
            help = 'share other steps, time.stepper = "explicit", "rkl2" or "adi", or start it without mpiexec'
            raise UsageError(f"several GPUs cannot share exact steps: {why}\n  = help: {help}")
        self._beside, (ny, nx), count = beside, (made.whole.ny, made.nx), beside.slabs
        slabs = [slab_of(ny, p, count, made.whole.wrap_y) for p in range(count)]
        together = backend.kernels(ExactStepper.__module__).ROWS
        parts = -(-ny // together)
        self._sums = [slice(parts * p // count, parts * (p + 1) // count) for p in range(count)]
        self._rows = [slice(slab.begin, slab.end) for slab in slabs]
        self._modes = [slice(together * s.start, min(ny, together * s.stop)) for s in self._sums]
        self._columns = [slice(nx * p // count, nx * (p + 1) // count) for p in range(count)]
        super().__init__(made, wanted, clock, backend, start)
        self.recorder = beside.recorder(backend)
        beside.remember(self.views, self.fields)

    def _allocate(self, parts: Separated, level: float) -> None:
        own, slab, ny, nx = self._beside.rank, self._beside.slab, parts.y.n, parts.x.n
        self._level, self._gx, self._gy = (self._dtype.type(v) for v in (level, parts.gx, parts.gy))
        modes, points = self._modes[own], edge_points(slab, nx)
        edges = np.where(points >= 0, np.stack([parts.beta, parts.gamma_above(level)])[:, points], 0.0)
        arrays = {
            "rate_x": parts.rate_x,
            "rate_y": parts.rate_y[modes],
            "edges": edges,
            "ends_x": parts.x.vectors(np.array([0, nx - 1])),
            "ends_y": np.ascontiguousarray(parts.y.vectors(np.array([0, ny - 1]))[:, modes]),
            "given": parts.heating_above(level)[self._rows[own]],
        }
        high, wide, tall = (each[own].stop - each[own].start for each in (self._rows, self._columns, self._modes))
        up = self._sums[own].stop - self._sums[own].start
        shapes = {"step": (1,), "line_x": (3, nx), "line_y": (3, tall), "change": (len(slab.rows), nx)}
        shapes |= {"turned": (nx, high), "lines": (wide, ny), "across": (ny, wide), "modes": (tall, nx)}
        shapes |= {"heating": (tall, nx), "modes_turned": (nx, tall), "own": (high, nx)}
        shapes |= {"sums_x": (1, 2, tall), "sides_part": (2, tall), "sides_modes": (2, ny), "sides": (ny, 2)}
        shapes |= {"sides_own": (len(slab.rows), 2), "sums_part": (up, 2, nx), "sums_y": (self._sums[-1].stop, 2, nx)}
        shapes |= {"ends_modes": (2, nx), "ends": (nx, 2)}
        arrays |= {name: np.zeros(shape) for name, shape in shapes.items()}
        self._held = {name: self.backend.array(a.astype(self._dtype)) for name, a in arrays.items()}
        self._v = {name: self.backend.view(a) for name, a in self._held.items()}

    def _bind(self, parts: Separated) -> None:
        b, a, nx = self.backend, self._held, parts.x.n
        k = b.kernels(ExactStepper.__module__)
        (ny, _), tall = a["change"].shape, len(a["modes"])
        self._deviation, self._add = (b.launcher(kernel, (nx, ny), (min(nx, 32), 8)) for kernel in (k.deviation, k.add))
        self._propagate = b.launcher(k.propagate, *k.tiles_of(tall, nx)[1:])
        self._decay_x, self._decay_y = (b.launcher(k.decay, (n,), (128,)) for n in (nx, tall))
        self._total_x, self._total_y = (b.launcher(k.total, *k.sums_of(n)) for n in (tall, nx))
        self._book = b.launcher(k.book, (max(nx, ny), 2), (128, 1))
        x, y = (transform(b, cells, self._dtype) for cells in (parts.x, parts.y))
        rows, columns, modes = self._rows, self._columns, self._modes
        self._forward = [
            _bound(x, a["own"], a["turned"], False), self._swap("turned", columns, "lines", rows),
            _bound(y, a["lines"], a["across"], False), self._swap("across", modes, "modes", columns),
        ]  # fmt: skip
        self._back = [
            _bound(x, a["modes"], a["modes_turned"], True), self._swap("modes_turned", columns, "lines", modes),
            _bound(y, a["lines"], a["across"], True), self._swap("across", rows, "own", columns),
        ]  # fmt: skip
        self._to_sides, self._to_ends = (
            y.bind(a["sides_modes"], a["sides"], True),
            x.bind(a["ends_modes"], a["ends"], True),
        )
        self._gather_sides = self._gathering("sides_part", [(np.s_[:], each) for each in modes], "sides_modes")
        self._gather_sums = self._gathering("sums_part", [(each,) for each in self._sums], "sums_y")
        self.chosen = {"kernel": " + ".join(["numba", *sorted(x.libraries | y.libraries)])}

    def _swap(self, source: str, over: Sequence[slice], target: str, along: Sequence[slice]) -> Callable[[], None]:
        """A function that queues giving each process its rows of an array, by `over`, and putting together what it gets
        as the columns, by `along`, of another one."""
        b, given, whole = self.backend, [self._held[source][rows] for rows in over], self._held[target]
        taken = [b.zeros((len(whole), columns.stop - columns.start), self._dtype) for columns in along]

        def swap() -> None:
            self._beside.communicator.swap(given, taken)
            for columns, part in zip(along, taken):
                b.copy(part, whole[:, columns])

        return swap

    def _gathering(self, source: str, places: Sequence[tuple[slice, ...]], target: str) -> Callable[[], None]:
        """A function that queues giving an array to all processes, each of which puts all of them together."""
        b, given, whole = self.backend, [self._held[source]] * len(places), self._held[target]
        taken = [b.zeros(whole[place].shape, self._dtype) for place in places]

        def gather() -> None:
            self._beside.communicator.swap(given, taken)
            for place, part in zip(places, taken):
                b.copy(part, whole[place])

        return gather

    def _begin_step(self, dt: Any) -> None:
        if self._dt is None:  # the first step of all processes, which do not wait for each other before
            self.backend.copy(self._held["given"], self._held["own"])
            for queue in self._forward:
                queue()
            self.backend.copy(self._held["modes"], self._held["heating"])
        super()._begin_step(dt)

    def _launch(self, after: int) -> None:
        v, a, real, copy, own = self._v, self._held, self._dtype.type, self.backend.copy, self._beside.own
        self._deviation(self.views[0], self._level, v["change"])
        copy(a["change"][own], a["own"])
        for queue in self._forward:
            queue()
        lines, ends = (v["line_x"], v["line_y"], v["step"]), (v["ends_x"], v["ends_y"], v["sums_x"], v["sums_part"])
        self._propagate(v["modes"], v["heating"], *lines, real(1), real(LEAST), *ends)
        self._total_x(v["sums_x"], v["sides_part"])
        self._gather_sides()
        self._gather_sums()
        self._total_y(v["sums_y"], v["ends_modes"])
        self._to_sides()
        self._to_ends()
        copy(a["sides"][self._rows[self._beside.rank]], a["sides_own"][own])
        self._book(v["sides_own"], v["ends"], v["edges"], self._gx, self._gy, v["step"], self.ledger.partial)
        for queue in self._back:
            queue()
        copy(a["own"], a["change"][own])
        self._add(v["change"], self.views[0])
        self._beside.refresh(self.views[0])
        self.ledger.fold(after)


def _bound(axis: Any, source: Any, target: Any, back: bool) -> Callable[[], None]:
    """`Fast.bind`, for an array that may have no rows as well. Any: a transform, and arrays of the backend."""
    if len(source) == 0:
        return lambda: None
    bound: Callable[[], None] = axis.bind(source, target, back)
    return bound

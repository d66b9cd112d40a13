"""A discretised heat problem on a device, which every stepper works with.

    dT/dt = c·(gx_w (T_w - T) + gx_e (T_e - T) + gy_s (T_s - T) + gy_n (T_n - T) + q)

There are conductances gx (ny, nx+1) and gy (ny+1, nx) of faces divided by Δ², c = 1/(ρc) (0 in held cells), sources q,
and rows of the edge table (see `edges`) for a few times, all in device memory. What depends on time alone is evaluated
ahead for several rows (`begin`), what depends on temperature when a kernel is about to use it (`refresh`).

The ledger has an entry for each edge point, then one for each row of cells and each source that moves, and then one for
each held cell. Entries are in J/m³: times ΔxΔy they are J per metre of depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.solvers.expression_placeholders import written_kernels
from simsuite.solvers.heat.arguments import Flows, Law, LawEdges, Plate
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.edge_table import EdgeTable
from simsuite.solvers.heat.operator.ledger import Ledger
from simsuite.solvers.heat.operator.sources import Sources
from simsuite.solvers.table import Moments

OPERATOR = __name__
CONDUCT = f"{__package__}.conduct"  # the name of the template of kernels for conductivities


def ledger_entries(made: Discretisation) -> int:
    """How many entries a ledger of the problem has."""
    moving = sum(not static for static in made.static)
    return made.edges.size + moving * made.ny + len(made.held_cells)


def block_for(made: Discretisation) -> tuple[int, int]:
    """The number of threads of a block in which each thread has one cell, x first."""
    return min(made.nx, 32), min(made.ny, 8)


class Operator:
    """Owns the device arrays of a problem. offsets: the times of the rows of the edge table, in steps from the first;
    by default those of the next ROWS steps. scratch: further rows for the stepper's own use. start: arrays of the state
    to begin with, among them the ledger's.

    plate: the arguments of kernels, a `Plate` as a plain tuple. unheated: that tuple without sources. alike: gx of an
    inner face and of one at an edge, and gy of two such faces; with constant coefficients they stand for all faces."""

    def __init__(
        self,
        made: Discretisation,
        clock: Moments,
        backend: Backend,
        dtype: Any,
        start: Mapping[str, np.ndarray],
        offsets: Sequence[float] | None = None,
        scratch: int = 0,
    ) -> None:
        self.made, self.backend, self.dtype = made, backend, np.dtype(dtype)
        self.edges = EdgeTable(made, clock, backend, dtype, offsets, scratch)
        self.ledger = Ledger(backend, start)
        kernels = backend.kernels(__name__)
        gx, gy = made.faces()
        self.alike = (gx[0, 1], gx[0, 0], gy[1, 0], gy[0, 0])
        evolving = (made.inverse_capacity, gx, gy)
        self._arrays = [backend.array(np.asarray(a, self.dtype)) for a in evolving]
        self._arrays.append(backend.array(made.held_cells.astype(np.int64)))
        self.c, self.gx, self.gy, self.held = (backend.view(a) for a in self._arrays)
        self.sources = Sources(made, clock, backend, dtype, self.c, offsets)
        self.wrap = (made.wrap_x, made.wrap_y)
        self.zero = self.dtype.type(0)
        plate = self._plate()
        self.plate = tuple(plate)
        self.unheated = tuple(plate._replace(heated=False))
        self._flows = tuple(Flows(power=self.sources.power, held=self.held, ledger=self.ledger.partial))
        extent = (made.nx, made.ny)
        self._conduct = None
        if made.law is not None:
            laws = {"along_x": made.law.along_x, "along_y": made.law.along_y}
            own, numbers = written_kernels(backend, CONDUCT, laws, ("x", "y", "T", "k", "which"))
            self._conduct = backend.launcher(own.conduct, extent, block_for(made))
            fields = (made.kx, made.ky, made.law.which)
            self._fields = [*(backend.array(np.ascontiguousarray(a)) for a in fields), *numbers]
            kx, ky, which, numbers_x, numbers_y = (backend.view(a) for a in self._fields)
            numbers_of = {"numbers_x": numbers_x, "numbers_y": numbers_y}
            place = dict(zip(("first", "rows"), made.place))
            law = Law(kx=kx, ky=ky, which=which, dx=made.dx, dy=made.dy, **numbers_of, **place)
            self._law = tuple(law), tuple(LawEdges(self.edges.kinds, self.edges.data, self.edges.k))
        self.entries = ledger_entries(made)
        self._book = backend.launcher(kernels.book, (self.entries,), (min(self.entries, 128),))
        self.rate_max = backend.zeros(made.ny, np.float64)
        self._rate_max = backend.view(self.rate_max)
        rows = (made.ny * kernels.THREADS,)
        self._rate_rows = backend.launcher(kernels.rate_rows, rows, (kernels.THREADS,))

    def _plate(self) -> Plate:
        return Plate(
            gx=self.gx,
            gy=self.gy,
            c=self.c,
            q=self.sources.q,
            heated=self.sources.heated,
            edges=self.edges.flat,
            wrap_x=self.made.wrap_x,
            wrap_y=self.made.wrap_y,
            zero=self.zero,
        )

    @property
    def conductances_y(self) -> Any:
        """gy as an array of the backend."""
        return self._arrays[2]

    @property
    def operator(self) -> Operator:
        """The operator itself. Steppers whose only engine is an operator use this."""
        return self

    @property
    def nonlinear(self) -> bool:
        """Whether conductivities, sources or edge rows depend on the temperature."""
        return self.made.nonlinear

    @property
    def constant(self) -> bool:
        """Whether nothing but the edges changes from step to step, and nothing but the edges books heat."""
        made = self.made
        return all(made.static) and not (made.nonlinear or made.any_held)

    def begin(self, step: int, rows: int, offsets: Any = None) -> None:
        """Queue the evaluation of what depends on time, for the first `rows` rows of tables, from `step` on. These
        launches must not be recorded. offsets: see `FunctionTable.fill`."""
        self.edges.fill(step, rows, offsets)
        self.sources.begin(step, rows, offsets)

    def look(self, t: float) -> None:
        """Queue the evaluation of what depends on time, for row 0 of tables at the time t itself, even where data jump
        there."""
        self.edges.look(t)
        self.sources.look(t)

    def refresh(self, T: Any, k: int) -> None:
        """Queue the evaluation of what depends on the temperatures T, at the time of row k: conductances, sources, and
        row k of the edge table."""
        if self._conduct is not None:
            self._conduct(T, self.plate, *self._law, k)
        self.edges.refresh(T, k)
        self.sources.refresh(T, k)

    def book(self, T: Any, k: int, wx: float, wy: float, ws: float) -> None:
        """Queue the booking of what comes in at the temperatures T, for wx, wy, ws seconds through edges along x and
        along y and from sources."""
        self.book_at(T, self.edges.at(k), wx, wy, ws)

    def book_at(self, T: Any, at: int, wx: float, wy: float, ws: float) -> None:
        """Queue the booking that `book` does, with the row of the edge table that begins at `at`, such as one of the
        stepper's own."""
        weights = [self.dtype.type(w) for w in (wx, wy, ws)]
        self._book(T, self.plate, at, self._flows, *weights)

    def measure_rate(self, T: Any, k: int) -> None:
        """Queue the computation of the largest |dT/dt| of each row of cells, into `rate_max`. `refresh` must come
        before."""
        self._rate_rows(T, self.plate, self.edges.at(k), self._rate_max)

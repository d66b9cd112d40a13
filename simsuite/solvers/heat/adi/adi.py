"""The ADI stepper: alternating directions, implicit, second order, for any step and any coefficients.

    (I - a c A_x) V  = Δt c (A_x T + b_x + A_y T + b_y + q) + a c (Δb_x - a b_x[W])        a = Δt/2
    (I - a c A_y) ΔT = V + a c Δb_y                                    T' = T + ΔT

A stands for the differences along one axis, and b = g·γ is what the edges add (see `edges`), taken at the beginning of
the step; Δb is its change over the step. The sources q are taken in the middle of the step (J. Douglas & J. E. Gunn,
Numer. Math. 6:428, 1964, in the form for increments). That is the trapezoidal rule but for a² c A_x(c A_y ΔT), of third
order in Δt. A mode with eigenvalues λ_x, λ_y is multiplied by exactly (1 - zx)(1 - zy) / ((1 + zx)(1 + zy)) a step,
z = aλ. It has order 2 in time and space, stable for any Δt, but no maximum principle: where Δt·λ is large, kinks in the
data decay slowly and with changing sign.

The term b_x[W]: A_x is also applied to W = c(A_y ΔT + Δb_y), which has values of its own at the left and right edge,
c·A_y along the edge applied to the change of the edge's temperatures. Without it the order is 2 as well, but an error
of a²·∂²/∂y² of these values stays beside edges that move (G. Fairweather & A. R. Mitchell, SIAM J. Numer. Anal. 4:163,
1967). Edges of given flux do not need this term, and let in exactly the flux that is given.

Where coefficients depend on T, the step is taken ITERATIONS times, each time with the conductivities, tangents of
radiating edges and sources at the mean of T and the last T' (the implicit midpoint rule); `iteration_change` is the
largest change that the last iteration made in any step so far, relative to the change that the step made.

Where data are rough, such as an initial state that does not agree with the edges, the first step is taken in parts that
grow by the factor GROWTH, beginning with 2/λ of the fastest mode. For every mode the a of some part is near 1/λ, and
that part all but removes the mode (as the sequences of D. W. Peaceman & H. H. Rachford, J. SIAM 3:28, 1955, do on the
way to a steady state).

The ledger books the fluxes of T, V and ΔT, of which a step is the sum. V and ΔT have rows of the edge table of their
own."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.scenario.heat import HeatRun
from simsuite.solvers.heat.adi.lines import Lines
from simsuite.solvers.heat.adi.shared_lines import SharedLines
from simsuite.solvers.heat.arguments import Along
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, Neighbours, NoNeighbours
from simsuite.solvers.heat.operator.operator import Operator, block_for
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.smooth_rate import SmoothRate
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.heat.stepper_record import (
    VARYING,
    KindOfWork,
    StepperRecord,
    Trial,
    Usual,
    Work,
    bytes_of_fields,
)

FIELDS = 14  # the number of fields that ADI steps take memory for
ITERATIONS = 3
GROWTH = 1.6  # the ratio of the lengths of two successive parts of a first step: with 2 there remain errors of 3e-4
# A change in a step counts as none if it is less than so many units of rounding of the largest temperature.
_LEAST = 2.0**22
START, CHANGE = 0, 1  # numbers of the scratch rows of the edge table: one for T, and one for V and ΔT


def parts_of(stiffness: float) -> np.ndarray:
    """The times at which the parts of a rough first step end, as shares of the step, beginning with 0.

    stiffness: the length of the step times the largest eigenvalue."""
    n = max(1, math.ceil(math.log(1.0 + 0.5 * stiffness * (GROWTH - 1.0), GROWTH)))
    return (GROWTH ** np.arange(n + 1) - 1.0) / (GROWTH**n - 1.0)


class AdiSteps:
    """Takes steps of any length with an operator whose table of edges has two scratch rows."""

    def __init__(
        self, operator: Operator, iteration_change: np.ndarray | None = None, beside: NoNeighbours = ALL_ROWS
    ) -> None:
        self.operator, self._beside = operator, beside
        o = operator
        b, dtype, (ny, nx) = o.backend, o.dtype, (o.made.ny, o.made.nx)
        self._real = dtype.type
        # The increment; where a step is iterated, also the increment of the iteration before and the mean temperature.
        self._increments = [b.zeros((ny, nx), dtype) for _ in range(3 if o.nonlinear else 1)]
        self._views = [b.view(a) for a in self._increments]
        # Transposed copies of the arrays that the solution along x needs. Each direction uses the field of the other
        # one as scratch.
        self._arrays = [b.zeros(shape, dtype) for shape in ((nx, ny), (nx + 1, ny), (nx, ny), (3, ny))]
        self._turned, self._gx, self._c, self._rows = (b.view(a) for a in self._arrays)
        self._scratch_y = b.view(self._arrays[0].reshape(ny, nx))
        self._scratch_x = [b.view(a.reshape(nx, ny)) for a in self._increments]
        self.iteration_change = b.array(np.zeros(1, dtype) if iteration_change is None else iteration_change)
        self._iterated = b.view(self.iteration_change)
        self._bind()

    def _bind(self) -> None:
        o = self.operator
        b, made, ny, nx = o.backend, o.made, o.made.ny, o.made.nx
        k = b.kernels(__name__)
        self._edge_data = b.launcher(k.edge_data, (o.edges.points,), (min(o.edges.points, 128),))
        self._right_side = b.launcher(k.right_side, *k.tiles_of(ny, nx))
        self._transpose = b.launcher(k.transpose, *k.tiles_of(ny, nx))
        self._transpose_gx = b.launcher(k.transpose, *k.tiles_of(ny, nx + 1))
        self._transpose_back = b.launcher(k.transpose, *k.tiles_of(nx, ny))
        self._ahead = b.launcher(k.ahead, (nx, ny), block_for(made))
        self._largest_rows = b.launcher(k.largest_rows, (ny * k.THREADS, 3), (k.THREADS, 1))
        self._largest = b.launcher(k.largest, (k.THREADS,), (k.THREADS,))
        along_x = Along(g=self._gx, c=self._c, edges=o.edges.flat, first=0, wrap=made.wrap_x)
        along_y = Along(g=o.gy, c=o.c, edges=o.edges.flat, first=2 * ny, wrap=made.wrap_y)
        self._along_x = Lines(b, o.dtype, (nx, ny), along_x)
        self._along_y: Lines | SharedLines = Lines(b, o.dtype, (ny, nx), along_y)
        if isinstance(self._beside, Neighbours):
            self._beside.remember(self._views, self._increments)
            self._along_y = SharedLines(o, self._beside)
        self._transpose(o.c, self._c)
        self._transpose_gx(o.gx, self._gx)

    def largest_first_change(self, T: Any, dt: float) -> float:
        """The largest change of a temperature in a step of length dt, if temperatures changed at the rates that T and
        row 0 of the tables give. Row 0 must have been filled."""
        o = self.operator
        o.refresh(T, 0)
        R, D = self._turned, self._views[0]
        self._right_side(T, o.unheated, o.edges.at(0), self._real(dt), R)
        self._transpose_back(R, D)
        self._largest_rows(D, D, D, self._rows)
        return float(self._beside.largest(o.backend.to_host(self._arrays[3]))[1])

    def queue(self, T: Any, out: Any, rows: tuple[int, int, int], dt: float, booked: bool = True) -> None:
        """Queue a step of length dt from T to out, which may be T.

        rows: the rows of the tables for the beginning, the middle and the end of the step. booked: whether the heat
        that flows is added to the ledger."""
        o, real = self.operator, self._real
        begin, middle, end = rows
        iterations = ITERATIONS if o.nonlinear else 1
        M = T
        for i in range(iterations):
            if i > 0:
                M = self._views[2]
                self._ahead(T, self._views[1 - i % 2], real(0.5), M)
            o.refresh(M, middle)
            if o.nonlinear:  # else rows differ only by what depends on time alone
                o.edges.refresh(M, begin)
                o.edges.refresh(M, end)
            self._increment(T, begin, end, i % 2, dt, booked and i == iterations - 1)
        newest = (iterations - 1) % 2
        if o.nonlinear and booked:
            self._largest_rows(T, self._views[newest], self._views[1 - newest], self._rows)
            if self._beside.shared:
                found = o.backend.to_host(self._arrays[3])
                found[...] = self._beside.largest(found)[:, None]
                o.backend.copy(o.backend.array(found), self._arrays[3])
            self._largest(self._rows, real(_LEAST * np.finfo(o.dtype).eps), self._iterated)
        self._ahead(T, self._views[newest], real(1), out)

    def smooth(self, D: Any, T: Any, begin: int, dt: float) -> None:
        """Queue the replacement of D by (I - a c A_y)⁻¹ (I - a c A_x)⁻¹ D, a = Δt/2, with edges and sources that give
        nothing. A mode of eigenvalues λ_x, λ_y is divided by (1 + zx)(1 + zy).

        The coefficients are those of the last step, which began at the temperatures T with row `begin` of the tables.
        """
        o, real, a = self.operator, self._real, 0.5 * dt
        start, unmoved = o.edges.scratch_at(START), o.edges.scratch_at(CHANGE)
        if o.made.law is not None:
            self._transpose_gx(o.gx, self._gx)
        edges, at = o.edges.flat, o.edges.at(begin)
        self._edge_data(T, o.gy, o.c, edges, at, at, real(0.5), real(a), start, unmoved, o.wrap[1])
        self._transpose(D, self._turned)
        self._along_x.solve(self._turned, unmoved, a, self._scratch_x[0])
        self._transpose_back(self._turned, D)
        self._along_y.solve(D, unmoved, a, self._scratch_y)

    def splitting(self, T: Any, W: Any, begin: int, end: int, dt: float) -> None:
        """Queue the computation of an estimate of the error that a step of dt from T makes because directions
        alternate. The result goes to W:

            (I - a c A_x)⁻¹ a² c A_x(c A_y ΔT)

        where the last factor is what the step leaves of the trapezoidal rule. Comparing steps of dt and dt/2 does not
        show this error: in a region that conducts very well ΔT hardly depends on a, and modes that neither direction
        has by itself are left as they are. Coefficients are those of the last step. begin, end: rows of the tables for
        its beginning and its end."""
        o, real, a = self.operator, self._real, 0.5 * dt
        start, change = o.edges.scratch_at(START), o.edges.scratch_at(CHANGE)
        edges, at = o.edges.flat, o.edges.at(begin)
        R, D = self._turned, self._views[0]
        self._edge_data(T, o.gy, o.c, edges, at, o.edges.at(end), real(0.5), real(a), start, change, o.wrap[1])
        self._right_side(T, o.plate, start, real(dt), R)
        self._along_x.solve(R, change, a, self._scratch_x[0])
        self._transpose_back(R, W)
        self._transpose_back(R, D)
        self._along_y.solve(D, change, a, self._scratch_y)
        self._ahead(W, D, real(-1), W)  # - a c A_y ΔT
        self._edge_data(T, o.gy, o.c, edges, at, at, real(0.5), real(a), start, change, o.wrap[1])
        self._transpose(W, R)
        self._along_x.solve(R, change, a, self._scratch_x[0])
        self._transpose_back(R, D)
        self._ahead(W, D, real(-1), W)

    def _increment(self, T: Any, begin: int, end: int, place: int, dt: float, booked: bool) -> None:
        """Queue the two sweeps of a step of length dt, which leave ΔT in the increment of number `place`.

        begin, end: rows of the tables for the beginning and the end of the step. booked: as for `queue`."""
        o, real, a, edges = self.operator, self._real, 0.5 * dt, self.operator.edges.flat
        D, R = self._views[place], self._turned
        start, change = o.edges.scratch_at(START), o.edges.scratch_at(CHANGE)
        rows = (o.edges.at(begin), o.edges.at(end), real(0.5), real(a), start, change)
        self._edge_data(T, o.gy, o.c, edges, *rows, o.wrap[1])
        if o.made.law is not None:
            self._transpose_gx(o.gx, self._gx)
        self._right_side(T, o.plate, start, real(dt), R)
        if booked:
            o.book_at(T, start, dt, dt, dt)
        self._along_x.solve(R, change, a, self._scratch_x[place])
        self._transpose_back(R, D)
        if booked:
            o.book_at(D, change, a, 0.0, 0.0)
        self._along_y.solve(D, change, a, self._scratch_y)
        if booked:
            o.book_at(D, change, 0.0, a, 0.0)


class AdiStepper(FieldStepper):
    """Advances the field of `start` on `backend`."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        beside: NoNeighbours = ALL_ROWS,
    ) -> None:
        T = start.arrays["temperature"]
        # The edge table has three rows for each step or part of one: for its beginning, its middle and its end.
        self.parts = self._parts_of_first(made.whole, clock) if start.step == 0 else np.zeros(0)
        halves = np.stack([self.parts[:-1], 0.5 * (self.parts[:-1] + self.parts[1:])], axis=1).ravel()
        offsets = (0.0, 0.5, 1.0, *halves, *self.parts[-1:])
        self.operator = Operator(made, clock, backend, T.dtype, start.arrays, offsets, scratch=2)
        super().__init__(made, wanted, clock, backend, start, self.operator, int(wanted.rate), beside)
        self._steps = AdiSteps(self.operator, start.arrays.get("iteration_change"), beside)
        if wanted.rate:
            self._smooth_rate = SmoothRate(self.operator, self.views[1], self._steps.smooth)
        self._whole = made.whole
        # Whether the first step is taken in parts. None until that step where other processes have to be asked, which
        # are not there yet.
        self.rough = False if start.step > 0 else None if beside.shared else self._is_rough()

    @staticmethod
    def _parts_of_first(made: Discretisation, clock: Clock) -> np.ndarray:
        fastest, _ = made.rates(made.edges.looks(clock.times[-1]))
        return parts_of(clock.dt(0) * fastest)

    def _is_rough(self) -> bool:
        """Whether conduction would change some initial temperature, in one step at the first rate, by more than the
        range of initial, edge and ambient temperatures."""
        self.operator.begin(0, 1)
        low, high = self._whole.temperatures(self._whole.edges.looks(self.clock.times[-1]))
        return self._steps.largest_first_change(self.views[0], self.clock.dt(0)) > high - low

    @property
    def state(self) -> Mapping[str, Any]:
        iterated = {"iteration_change": self._steps.iteration_change} if self.operator.nonlinear else {}
        return {**super().state, **iterated}

    @property
    def smoothed_step(self) -> float:
        begun = self.step == 0 or self.clock.time(self.step) in self.clock.changes
        return 0.0 if begun else self.clock.dt(self.step - 1)

    def advance(self, n: int) -> None:
        self.check_end(n)
        T = self.views[0]
        for _ in range(n):
            dt = self.clock.dt(self.step)
            if self.rough is None:
                self.rough = self._is_rough()
            if self.step == 0 and self.rough:
                self.operator.begin(0, 2 + 2 * len(self.parts))
                for j, part in enumerate(np.diff(self.parts)):
                    row = 3 + 2 * j
                    self._steps.queue(T, T, (row, row + 1, row + 2), dt * float(part))
            else:
                self.operator.begin(self.step, 3)
                self.recorder.replay(dt, functools.partial(self._steps.queue, T, T, (0, 1, 2), dt))
            self.step += 1
            self.operator.ledger.fold(self.step)


STEPS = KindOfWork("adi steps", Usual(30.0, 30.0), Usual(50.0, 0.1), Trial(2, 10.0, VARYING))


def _work(steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    return [Work(STEPS.name, made.nx * made.ny, steps * (ITERATIONS if made.nonlinear else 1))]


def _device_bytes(made: Discretisation, plain: bool, run: HeatRun) -> int:
    return bytes_of_fields(made, FIELDS)


RECORD = StepperRecord(
    name="adi",
    words="adi, implicit",
    order_in_time=2,
    make=lambda of: AdiStepper(of.made, of.wanted, of.clock, of.backend, of.start, of.beside),
    kinds=(STEPS,),
    work=_work,
    device_bytes=_device_bytes,
    controls_error=True,
    solves=True,
)

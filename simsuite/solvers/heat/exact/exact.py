"""The exact stepper, which makes no error in time. It is for coefficients that are the same everywhere and edges that
do not move.

    dT/dt = S - (αx Mx/Δx² + αy My/Δy²) T      (M: see `modes`; S: what edges and sources add, K/s, see `separation`)

T = V_y T̂ V_xᵀ in the eigenvectors of both axes separates the system into one equation for each pair of modes, with the
rate λ = αx µx/Δx² + αy µy/Δy², whose solution after a time dt is, with z = λ dt (M. Hochbruck, A. Ostermann,
Exponential integrators, Acta Numerica 19, 2010, section 2.1),

    T̂(dt) = T̂ + dt φ₁(-z) (Ŝ - λ T̂),          φ₁(w) = (eʷ - 1)/w, 1 at w = 0
    ∫ T̂ dt = dt φ₁(-z) T̂ + dt² φ₂(-z) Ŝ,      φ₂(w) = (φ₁(w) - 1)/w, ½ at w = 0.

The stepper has order 2 in space; in time it is exact for steps of any length, and stable. The integral, at the cells
along the edges, gives the energy that came in there: g (γ dt - β ∫T dt) for the edge's conductance g (see `edges`).

Since z = z_x + z_y, no exponential has to be computed for a pair of modes: with a_x = 1 - e^(-z_x), and a_y alike,

    z φ₁(-z) = a_x + a_y - a_x a_y,     z² φ₂(-z) = (z_x - a_x) + (z_y - a_y) + a_x a_y,

without cancellation, since 0 ≤ a ≤ min(1, z).

What is transformed is the deviation from a constant level, to which edges and sources are adapted, and its change is
added to the field: a uniform field between edges of the same temperature does not change by a bit, and a small signal
on a high level keeps its digits. So a step takes one transform to the modes and one back (see `transform`), whatever
the sources are."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot, Stepper
from simsuite.scenario.heat import HeatRun
from simsuite.solvers.heat.exact.separation import Separated, axes, obstacle, separate
from simsuite.solvers.heat.exact.transform import is_fast, transform, transform_entries
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import Neighbours
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.operator.operator import Operator
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.heat.stepper_record import Ingredients, KindOfWork, StepperRecord, Trial, Usual, Work
from simsuite.solvers.table import ROWS

TERMS = 16  # the number of terms of the series of φ₂: the first one left out is below 1e-19 of the sum
LEAST = 1e-17  # Below this z, φ₁ and φ₂ are 1 and ½ to the last bit; its square is above the smallest float32.


class ExactStepper(FieldStepper):
    """Advances the field of `start` on `backend`. Only for problems in which `separation.obstacle` finds nothing."""

    def __init__(self, made: Discretisation, wanted: Wanted, clock: Clock, backend: Backend, start: Snapshot) -> None:
        T = start.arrays["temperature"]
        self.operator = Operator(made, clock, backend, T.dtype, start.arrays)
        self.edges, self.ledger = self.operator.edges, self.operator.ledger
        super().__init__(made, wanted, clock, backend, start, self, spare=0)
        self._dtype = backend.kernels(__name__).working_precision(T.dtype)
        self._dt: Any = None
        parts = separate(made.whole)
        T0 = distinct(made.whole.T0)
        self._allocate(parts, 0.5 * float(T0.min()) + 0.5 * float(T0.max()))
        self._bind(parts)

    def _allocate(self, parts: Separated, level: float) -> None:
        """Allocates the device arrays. Edges and sources are those for temperatures measured from `level`."""
        ny, nx = parts.y.n, parts.x.n
        (across, up), _, _ = self.backend.kernels(__name__).tiles_of(ny, nx)
        self._level, self._gx, self._gy = (self._dtype.type(v) for v in (level, parts.gx, parts.gy))
        arrays = {
            "rate_x": parts.rate_x,
            "rate_y": parts.rate_y,
            "edges": np.stack([parts.beta, parts.gamma_above(level)]),
            "ends_x": parts.x.vectors(np.array([0, nx - 1])),
            "ends_y": parts.y.vectors(np.array([0, ny - 1])),
            "heating": parts.heating_above(level),
        }
        shapes = {"step": (1,), "line_x": (3, nx), "line_y": (3, ny), "change": (ny, nx), "turned": (nx, ny)}
        shapes |= {"sums_x": (across, 2, ny), "sides_modes": (2, ny), "sides": (ny, 2)}
        shapes |= {"sums_y": (up, 2, nx), "ends_modes": (2, nx), "ends": (nx, 2)}
        arrays |= {name: np.zeros(shape) for name, shape in shapes.items()}
        self._held = {name: self.backend.array(a.astype(self._dtype)) for name, a in arrays.items()}
        self._v: Mapping[str, Any] = {name: self.backend.view(a) for name, a in self._held.items()}

    def _bind(self, parts: Separated) -> None:
        """Prepares the launches. Between two transforms `turned` holds the field that has been transformed along one
        axis only."""
        b, a, ny, nx = self.backend, self._held, parts.y.n, parts.x.n
        k = b.kernels(__name__)
        block = (min(nx, 32), min(ny, 8))
        self._deviation, self._add = (b.launcher(kernel, (nx, ny), block) for kernel in (k.deviation, k.add))
        self._propagate = b.launcher(k.propagate, *k.tiles_of(ny, nx)[1:])
        self._decay_x, self._decay_y = (b.launcher(k.decay, (n,), (min(n, 128),)) for n in (nx, ny))
        self._total_x, self._total_y = (b.launcher(k.total, *k.sums_of(n)) for n in (ny, nx))
        self._book = b.launcher(k.book, (max(nx, ny), 2), (min(max(nx, ny), 128), 1))
        x, y = (transform(b, cells, self._dtype) for cells in (parts.x, parts.y))
        self._to_modes = x.bind(a["change"], a["turned"], False), y.bind(a["turned"], a["change"], False)
        self._to_field = x.bind(a["change"], a["turned"], True), y.bind(a["turned"], a["change"], True)
        self._to_sides = y.bind(a["sides_modes"], a["sides"], True)
        self._to_ends = x.bind(a["ends_modes"], a["ends"], True)
        b.copy(a["heating"], a["change"])
        for queue in self._to_modes:
            queue()
        b.copy(a["change"], a["heating"])
        notes = "; ".join(sorted({t.note for t in (x, y) if t.note is not None}))
        kernel = " + ".join(["numba", *sorted(x.libraries | y.libraries)])
        self.chosen = {"kernel": kernel, **({"kernel_note": notes} if notes else {})}

    def advance(self, n: int) -> None:
        self.check_end(n)
        for _ in range(n):
            self._begin_step(self._dtype.type(self.clock.dt(self.step)))
            self.step += 1
            self.recorder.replay(self.step % ROWS == 0, functools.partial(self._launch, self.step))

    def _begin_step(self, dt: Any) -> None:
        """Queue the computation of what depends on the length of the step alone. These launches must not be
        recorded."""
        if dt != self._dt:
            v, real = self._v, self._dtype.type
            self._decay_x(v["rate_x"], dt, real(1), real(TERMS), v["line_x"], v["step"])
            self._decay_y(v["rate_y"], dt, real(1), real(TERMS), v["line_y"], v["step"])
            self._dt = dt

    def _launch(self, after: int) -> None:
        v, real = self._v, self._dtype.type
        self._deviation(self.views[0], self._level, v["change"])
        for queue in self._to_modes:
            queue()
        lines, ends = (v["line_x"], v["line_y"], v["step"]), (v["ends_x"], v["ends_y"], v["sums_x"], v["sums_y"])
        self._propagate(v["change"], v["heating"], *lines, real(1), real(LEAST), *ends)
        self._total_x(v["sums_x"], v["sides_modes"])
        self._total_y(v["sums_y"], v["ends_modes"])
        self._to_sides()
        self._to_ends()
        self._book(v["sides"], v["ends"], v["edges"], self._gx, self._gy, v["step"], self.ledger.partial)
        for queue in self._to_field:
            queue()
        self._add(v["change"], self.views[0])
        self.ledger.fold(after)


_CONVECTION = {"kind": "convection", "h": 1.0, "ambient": 1.0}
_WITHOUT_FAST_TRANSFORMS = {"boundary": {"left": _CONVECTION, "bottom": _CONVECTION}}
STEPS = KindOfWork("exact steps", Usual(100.0, 30.0), Usual(50.0, 0.12), Trial(2, 10.0))
PRODUCTS = KindOfWork(  # the amount of work is the number of cells times the number of modes of an axis
    "matrix products of exact steps",
    Usual(0.0, 0.7),
    Usual(0.0, 0.0001),
    Trial(2, 10.0, _WITHOUT_FAST_TRANSFORMS, times_line=True),
)


def _work(steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    cells, dense = made.nx * made.ny, sum(axis.n for axis in axes(made) if not is_fast(axis))
    return [Work(STEPS.name, cells, steps), *([Work(PRODUCTS.name, cells * dense, steps)] if dense else [])]


def _device_bytes(made: Discretisation, plain: bool, run: HeatRun) -> int:
    """The memory that an ExactStepper allocates at most, with the libraries that its device should have."""
    x, y = axes(made)
    # these include the operator's fields, and sums of tiles of 32 × 32
    fields = (9 if made.sources else 8) * made.ny * made.nx
    transforms = transform_entries(x, made.ny) + transform_entries(y, made.nx)
    tables = 8 * (2 * (ROWS + 1) * made.edges.size + 64 * (made.ny + made.nx))
    return made.T0.itemsize * (fields + transforms) + tables


def _make(of: Ingredients) -> Stepper:
    common = of.made, of.wanted, of.clock, of.backend, of.start
    if isinstance(of.beside, Neighbours):
        from simsuite.solvers.heat.exact.shared_exact import SharedExactStepper  # which needs this module

        return SharedExactStepper(*common, of.beside)
    return ExactStepper(*common)


RECORD = StepperRecord(
    name="exact",
    words="exact, no error in time",
    order_in_time=None,
    make=_make,
    kinds=(STEPS, PRODUCTS),
    work=_work,
    device_bytes=_device_bytes,
    obstacle=obstacle,
    solves=True,
)

"""The exact stepper: no error in time, for coefficients that are the same everywhere and edges that do not move.

    dT/dt = S - (αx Mx/Δx² + αy My/Δy²) T      (M: see `modes`; S: what edges and sources add, K/s, see `separation`)

T = V_y T̂ V_xᵀ in the eigenvectors of both axes takes the system apart into one equation for each pair of modes, with
the rate λ = αx µx/Δx² + αy µy/Δy², whose solution after a time dt is, with z = λ dt (M. Hochbruck, A. Ostermann,
Exponential integrators, Acta Numerica 19, 2010, section 2.1),

    T̂(dt) = T̂ + dt φ₁(-z) (Ŝ - λ T̂),          φ₁(w) = (eʷ - 1)/w, 1 at w = 0
    ∫ T̂ dt = dt φ₁(-z) T̂ + dt² φ₂(-z) Ŝ,      φ₂(w) = (φ₁(w) - 1)/w, ½ at w = 0.

Order 2 in space; in time exact for steps of any length, and stable. The integral, at the cells along the edges, gives
the energy that came in there: g (γ dt - β ∫T dt) for the edge's conductance g (see `edges`).

What is transformed is the deviation from a constant level, to which edges and sources are adapted, and its change is
added to the field: a uniform field between edges of the same temperature does not change by a bit, and a small signal
on a high level keeps its digits.

Transforms are fast ones on the CPU where the modes are sines and cosines. Otherwise, and on GPUs, they are products
with matrices of modes: 4 nx ny (nx + ny) multiplications and additions a step. Not by BLAS, whose last bits depend on
the number of threads.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.measure import Wanted
from simsuite.solvers.heat.operator import Operator
from simsuite.solvers.heat.sampling import distinct
from simsuite.solvers.heat.separation import Separated, separate
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.heat.transform import Products, Transform
from simsuite.solvers.table import ROWS

TERMS = 16  # of the series of φ₂: the first one left out is below 1e-19 of the sum


class ExactStepper(FieldStepper):
    """Advances the field of `start` on `backend`. Only for problems in which `separation.obstacle` finds nothing."""

    def __init__(self, made: Discretisation, wanted: Wanted, clock: Clock, backend: Backend, start: Snapshot) -> None:
        T = start.arrays["temperature"]
        self.operator = Operator(made, clock, backend, T.dtype, start.arrays)
        self.edges, self.ledger = self.operator.edges, self.operator.ledger
        super().__init__(made, wanted, clock, backend, start, self, spare=0)
        kernels = backend.kernels(__name__)
        self._dtype = kernels.working_precision(T.dtype)
        parts = separate(made)
        ny, nx = parts.y.n, parts.x.n
        self._products = Products(backend, max(ny, nx, 2), self._dtype)
        self._along_x = Transform(backend, self._products, parts.x, 1, self._dtype)
        self._along_y = Transform(backend, self._products, parts.y, 0, self._dtype)
        block = (min(nx, 32), min(ny, 8))
        self._deviation, self._add, self._propagate = (
            backend.launcher(kernel, (nx, ny), block) for kernel in (kernels.deviation, kernels.add, kernels.propagate)
        )
        self._book = backend.launcher(kernels.book, (max(nx, ny), 2), (min(max(nx, ny), 128), 1))
        T0 = distinct(made.T0)
        self._prepare(parts, 0.5 * float(T0.min()) + 0.5 * float(T0.max()))

    def _prepare(self, parts: Separated, level: float) -> None:
        """Device arrays; edges and sources as the deviation from the level sees them."""
        ny, nx = parts.y.n, parts.x.n
        self._level, self._gx, self._gy = (self._dtype.type(v) for v in (level, parts.gx, parts.gy))
        arrays = {
            "rate_x": parts.rate_x,
            "rate_y": parts.rate_y,
            "edges": np.stack([parts.beta, parts.gamma_above(level)]),
            "ends_x": parts.x.vectors(np.array([0, nx - 1])).T,
            "ends_y": parts.y.vectors(np.array([0, ny - 1])),
            "heating": parts.heating_above(level),
        }
        shapes = {"change": (ny, nx), "integral": (ny, nx)}
        shapes |= {"sides_modes": (ny, 2), "sides": (ny, 2), "ends_modes": (2, nx), "ends": (2, nx)}
        arrays |= {name: np.zeros(shape) for name, shape in shapes.items()}
        self._held = {name: self.backend.array(a.astype(self._dtype)) for name, a in arrays.items()}
        self._v: Mapping[str, Any] = {name: self.backend.view(a) for name, a in self._held.items()}
        self._along_x.queue(self._v["heating"], self._v["change"], back=False)
        self._along_y.queue(self._v["change"], self._v["heating"], back=False)

    def begin(self, step: int, n: int) -> None:
        """Queue what depends on time, for measurements."""
        self.operator.begin(step, n)

    def advance(self, n: int) -> None:
        self.check_end(n)
        for _ in range(n):
            dt = self._dtype.type(self.clock.dt(self.step))
            self.step += 1
            self.recorder.replay((float(dt), self.step % ROWS == 0), functools.partial(self._launch, dt, self.step))

    def _launch(self, dt: Any, after: int) -> None:
        v, x, y, real = self._v, self._along_x, self._along_y, self._dtype.type
        # Between two transforms `integral` holds what one axis has seen and the other not.
        self._deviation(self.views[0], self._level, v["change"])
        x.queue(v["change"], v["integral"], back=False)
        y.queue(v["integral"], v["change"], back=False)
        rates = (v["rate_x"], v["rate_y"])
        self._propagate(v["change"], v["heating"], *rates, dt, real(1), real(TERMS), v["integral"])
        self._products.queue(v["integral"], v["ends_x"], v["sides_modes"])
        y.queue(v["sides_modes"], v["sides"], back=True)
        self._products.queue(v["ends_y"], v["integral"], v["ends_modes"])
        x.queue(v["ends_modes"], v["ends"], back=True)
        self._book(v["sides"], v["ends"], v["edges"], self._gx, self._gy, dt, self.ledger.partial)
        y.queue(v["change"], v["integral"], back=True)
        x.queue(v["integral"], v["change"], back=True)
        self._add(v["change"], self.views[0])
        self.ledger.fold(after)


def device_bytes(ny: int, nx: int, itemsize: int) -> int:
    """What an ExactStepper allocates at most: seven fields, two matrices of modes for each axis, and lines."""
    return itemsize * (7 * ny * nx + 2 * (ny * ny + nx * nx) + 64 * (ny + nx))

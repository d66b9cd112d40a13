"""The explicit stepper: forward Euler in time, 5-point finite volumes in space.

    ρc ∂T/∂t = ∇·(k∇T) + q   on nx × ny cells of size Δx × Δy, T at cell centres

    T' = T + Δt·dT/dt        with dT/dt as in `operator`

Order 2 in space, 1 in time. Stable for Δt·λ ≤ 2 with λ the operator's largest eigenvalue, for which Gershgorin's
circles give a bound; with constant coefficients that is Δt ≤ 1/(2α(1/Δx² + 1/Δy²)) (Morton & Mayers, Numerical Solution
of Partial Differential Equations, 2nd ed., 2005, section 3.1). Cells beside an edge of fixed temperature lose heat over
half a cell, so that up to 3/2 of that bound's rate: `dt = "auto"` keeps each step a mean of the old temperatures
(maximum principle), which is a little shorter.

With constant coefficients and no sources:

    T'[y,x] = T + rx·(((T[y,x-1] - T) + (T[y,x+1] - T)) + q·((T[y-1,x] - T) + (T[y+1,x] - T))),
    rx = αΔt/Δx², q = Δx²/Δy², α = k/(ρc),

with the differences across edges taken from affine ghosts (see `edges`) at the beginning of the step. A mode with
eigenvalue λ of the 5-point operator is multiplied by exactly 1 - Δtλ a step.

The sum is formed from differences, so that a uniform field stays exactly uniform, and what leaves one cell enters its
neighbour; with a precomputed centre coefficient 1 - 2rx(1 + q) the energy would drift by a rounding error each step.
No sum has two products in it, so there is one way only to contract it into fused multiply-adds: all kernels of a
device agree bit for bit.

Ledger: each edge point adds up rx or rx·q times its difference, that is the rise in temperature that the flux through
it caused (see `ledger`); times ρcΔxΔy that is the energy which came in there, joules per metre of depth.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.edge_table import EdgeTable
from simsuite.solvers.heat.ledger import Ledger
from simsuite.solvers.heat.measure import Wanted
from simsuite.solvers.heat.operator import OPERATOR, Operator, block_for
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.table import ROWS


def is_plain(made: Discretisation) -> bool:
    """Whether the kernels for constant coefficients apply, whose ledger is a rise in temperature, K."""
    return made.uniform and not made.sources and not made.nonlinear


class PlainSteps:
    """Steps with constant coefficients; the arguments of the kernels are

    T, out: field before and after, (ny, nx). edges: table of β, then γ, at all edge points, its row beginning at
    `at`. ledger: (points,). rx, q: mesh ratios. wrap_x, wrap_y: whether that direction is periodic.
    Kernels that take several steps a launch also get how far apart the table's rows are, and how many steps to take.
    """

    def __init__(self, made: Discretisation, clock: Clock, backend: Backend, dtype: Any, start: Snapshot) -> None:
        self._made, self._dtype = made, np.dtype(dtype)
        self.ledger = Ledger(backend, start.arrays)
        self.edges = EdgeTable(made, clock, backend, dtype)
        self._wrap = (made.wrap_x, made.wrap_y)
        kernel, extent, block, self._depth = backend.kernels("simsuite.solvers.heat.explicit").choose(made.ny, made.nx)
        self._kernel = backend.launcher(kernel, extent, block)

    operator = None

    def begin(self, step: int, n: int) -> None:
        """Queue what depends on time for n steps."""
        self.edges.fill(step, n)

    def launches(self, count: int) -> int:
        """How many launches `count` steps take."""
        return -(-count // self._depth)

    def launch(self, views: list[Any], now: int, step: int, count: int, dt: float) -> None:
        """Queue `count` steps from views[now] on."""
        m, table = self._made, self.edges
        c, kx, ky = (float(a.flat[0]) for a in (m.inverse_capacity, m.kx, m.ky))
        rx = self._dtype.type(kx * c * dt / m.dx**2)
        q = self._dtype.type((ky / kx) * (m.dx / m.dy) ** 2)
        for k in range(0, count, self._depth):
            several = (table.at(1) - table.at(0), min(self._depth, count - k)) if self._depth > 1 else ()
            arguments = (table.flat, table.at(k), self.ledger.partial, rx, q, *self._wrap, *several)
            self._kernel(views[now], views[1 - now], *arguments)
            now = 1 - now
        self.ledger.fold(step + count)


class GeneralSteps:
    """Steps with everything; the arguments of the kernel are those of `Operator` and dt."""

    def __init__(self, made: Discretisation, clock: Clock, backend: Backend, dtype: Any, start: Snapshot) -> None:
        self.operator = Operator(made, clock, backend, dtype, start.arrays)
        self.ledger, self.edges = self.operator.ledger, self.operator.edges
        self._step = backend.launcher(backend.kernels(OPERATOR).step, (made.nx, made.ny), block_for(made))

    def begin(self, step: int, n: int) -> None:
        """Queue what depends on time for n steps."""
        self.operator.begin(step, n)

    def launches(self, count: int) -> int:
        """How many launches `count` steps take."""
        return count

    def launch(self, views: list[Any], now: int, step: int, count: int, dt: float) -> None:
        """Queue `count` steps from views[now] on."""
        o = self.operator
        for k in range(count):
            o.refresh(views[now], k)
            o.book(views[now], k, dt, dt, dt)
            self._step(views[now], views[1 - now], *o.arguments(k), o.dtype.type(dt), *o.wrap, o.zero)
            now = 1 - now
        self.ledger.fold(step + count)


class ExplicitStepper(FieldStepper):
    """Advances the field of `start` on `backend`."""

    def __init__(self, made: Discretisation, wanted: Wanted, clock: Clock, backend: Backend, start: Snapshot) -> None:
        T = start.arrays["temperature"]
        plain = is_plain(made) and not wanted.rate
        self._steps = (PlainSteps if plain else GeneralSteps)(made, clock, backend, T.dtype, start)
        super().__init__(made, wanted, clock, backend, start, self._steps)

    def advance(self, n: int) -> None:
        self.check_end(n)
        while n > 0:
            count = min(n, ROWS - self.step % ROWS, self.clock.equal_steps(self.step))
            dt = self.clock.dt(self.step)
            self._steps.begin(self.step, count)
            key = (count, self.now, dt, (self.step + count) % ROWS == 0)
            launches = functools.partial(self._steps.launch, self.views, self.now, self.step, count, dt)
            self.recorder.replay(key, launches)
            self.now = (self.now + self._steps.launches(count)) % 2
            self.step += count
            n -= count

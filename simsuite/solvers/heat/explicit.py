"""The explicit stepper: forward Euler in time, 5-point finite volumes in space.

    ρc ∂T/∂t = ∇·(k∇T)   on nx × ny cells of size Δx × Δy, T at cell centres

    T'[y,x] = T + rx·(((T[y,x-1] - T) + (T[y,x+1] - T)) + q·((T[y-1,x] - T) + (T[y+1,x] - T))),
    rx = αΔt/Δx², q = Δx²/Δy², α = k/(ρc),

with the differences across edges taken from affine ghosts (see `edges`) at the beginning of the step. Order 2 in space,
1 in time. Stable for Δt ≤ 1/(2α(1/Δx² + 1/Δy²)) (Morton & Mayers, Numerical Solution of Partial Differential
Equations, 2nd ed., 2005, section 3.1). A mode with eigenvalue λ of the 5-point operator is multiplied by exactly
1 - Δtλ a step.

The sum is formed from differences, so that a uniform field stays exactly uniform, and what leaves one cell enters its
neighbour; with a precomputed centre coefficient 1 - 2rx(1 + q) the energy would drift by a rounding error each step.
No sum has two products in it, so there is one way only to contract it into fused multiply-adds: all kernels of a
device agree bit for bit.

Ledger: each edge point adds up rx or rx·q times its difference, that is the rise in temperature that the flux through
it caused (see `ledger`); times ρcΔxΔy that is the energy which came in there, joules per metre of depth.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Pending, Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.edges import edge_table
from simsuite.solvers.heat.ledger import Ledger
from simsuite.solvers.heat.measure import Measure
from simsuite.solvers.table import ROWS

SAFETY = 0.9  # of the largest stable step, so that the shortest waves die out as well


def largest_stable_dt(scenario: HeatScenario) -> float:
    """The stability bound, s."""
    g, m = scenario.grid, scenario.material
    return 1.0 / (2.0 * (m.k / m.rho_c) * ((g.nx / g.lx) ** 2 + (g.ny / g.ly) ** 2))


class ExplicitStepper:
    """Advances the field of `start` on `backend`; the arguments of the kernels are

    T, out: field before and after, (ny, nx). edges: table of β, then γ, at all edge points, its row beginning at
    `at`. ledger: (points,). rx, q: mesh ratios. wrap_x, wrap_y: whether that direction is periodic.
    Kernels that take several steps a launch also get how far apart the table's rows are, and how many steps to take.
    """

    def __init__(self, scenario: HeatScenario, clock: Clock, backend: Backend, start: Snapshot) -> None:
        g, b = scenario.grid, scenario.boundary
        self.step = start.step
        self._scenario, self._clock, self._backend = scenario, clock, backend
        self._dtype = np.dtype(scenario.run.precision)
        self._fields = [backend.array(start.arrays["temperature"]), backend.zeros((g.ny, g.nx), self._dtype)]
        self._ledger = Ledger(backend, start.arrays)
        self._edges = edge_table(scenario, backend, clock, self._dtype)
        self._measure = Measure(scenario, backend, self._edges)
        self._views = [backend.view(a) for a in self._fields]
        self._wrap = (b.left.kind == "periodic", b.bottom.kind == "periodic")
        kernel, extent, block, self._depth = backend.kernels("simsuite.solvers.heat.explicit").choose(g.ny, g.nx)
        self._kernel = backend.launcher(kernel, extent, block)
        self._recorder = backend.recorder()
        self._now = 0  # which of the two fields is the present one

    @property
    def state(self) -> Mapping[str, Any]:
        return {"temperature": self._fields[self._now], **self._ledger.arrays}

    def advance(self, n: int) -> None:
        if self.step + n > self._clock.end:
            raise ValueError(f"{n} steps from step {self.step} lead past the end, {self._clock.end}")
        g, m = self._scenario.grid, self._scenario.material
        while n > 0:
            count = min(n, ROWS - self.step % ROWS, self._clock.equal_steps(self.step))
            r = m.k / m.rho_c * self._clock.dt(self.step)
            rx = self._dtype.type(r * (g.nx / g.lx) ** 2)
            q = self._dtype.type((g.lx / g.nx * g.ny / g.ly) ** 2)
            self._edges.fill(self.step, count)
            key = (count, self._now, float(rx), (self.step + count) % ROWS == 0)
            self._recorder.replay(key, functools.partial(self._launch, count, rx, q))
            self._now = (self._now + -(-count // self._depth)) % 2
            self.step += count
            n -= count

    def _launch(self, count: int, rx: Any, q: Any) -> None:
        table, now = self._edges, self._now
        for k in range(0, count, self._depth):
            several = (table.offset(1) - table.offset(0), min(self._depth, count - k)) if self._depth > 1 else ()
            arguments = (table.flat, table.offset(k), self._ledger.partial, rx, q, *self._wrap, *several)
            self._kernel(self._views[now], self._views[1 - now], *arguments)
            now = 1 - now
        self._ledger.fold(self.step + count)

    def snapshot(self) -> Pending:
        return self._backend.stage(self.step, self.state)

    def observe(self, series: str) -> Pending:
        """For a row along "time" the field and all measurements; along "sample" the measurements alone."""
        self._measure.queue(self._views[self._now], self.step)
        arrays = {**self._ledger.arrays, **self._measure.arrays}
        if series == "time":
            arrays["temperature"] = self._fields[self._now]
        return self._backend.stage(self.step, arrays)

"""The RKL2 stepper: super-time-stepping with Legendre polynomials, second order, for any coefficients.

    Y_0 = T,   Y_1 = Y_0 + μ̃_1 Δt M(Y_0),
    Y_j = μ_j Y_{j-1} + ν_j Y_{j-2} + (1 - μ_j - ν_j) Y_0 + μ̃_j Δt M(Y_{j-1}) + γ̃_j Δt M(Y_0),   j = 2 .. s

with M = dT/dt as in `operator`, each at its stage's own time (Meyer, Balsara & Aslam, J. Comput. Phys. 257:594, 2014,
equations 16 and 17). Order 2 in time and space. Stable and monotone for odd s and Δt ≤ Δt_explicit (s² + s - 2)/4 with
Δt_explicit = 2/λ: s stages go as far as s²/4 explicit steps.

A step is linear in the M of its stages, T' = T + Δt Σ w_j M(Y_j); the ledger books the flux of each stage with its w_j,
so that it closes to rounding.

With constant coefficients and no sources, Δt M(Y) = rx L(Y), where L is the sum of differences that an explicit step
multiplies with rx (see `explicit`), and

    Y_j = Y_0 + μ_j (((Y_{j-1} - Y_0) + n_j (Y_{j-2} - Y_0)) + r_j (L(Y_{j-1}) + g_j L(Y_0))),
    n_j = ν_j / μ_j, r_j = μ̃_j / μ_j rx, g_j = γ̃_j / μ̃_j,

in which no sum has two products either; Y_1 is that with μ = 1, n = g = 0, r = μ̃_1 rx. L(Y_0) is formed anew in every
stage, with the edges as they were then: Y_0 is read anyway, so that a stage reads three fields, writes one, and needs
no others. With any coefficients it moves nine, M(Y_0) among them, because what it came from may have changed since.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Snapshot
from simsuite.solvers.heat.discretisation import Discretisation
from simsuite.solvers.heat.edge_table import EdgeTable
from simsuite.solvers.heat.explicit import is_plain, mesh_ratios
from simsuite.solvers.heat.ledger import Ledger
from simsuite.solvers.heat.measure import Wanted
from simsuite.solvers.heat.operator import Operator, block_for
from simsuite.solvers.heat.stepper import FieldStepper

MOST_STAGES = 999


def stages_for(dt: float, explicit_dt: float) -> int:
    """The least odd number of stages, 3 or more, with which a step of dt is stable; explicit_dt: 2/λ, s."""
    s = math.ceil(0.5 * (math.sqrt(9.0 + 16.0 * dt / explicit_dt * (1.0 - 1e-12)) - 1.0))
    return max(3, s + 1 - s % 2)


def longest_step(stages: int, explicit_dt: float) -> float:
    """The stability limit, s."""
    return explicit_dt * (stages * stages + stages - 2) / 4.0


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Of s stages, by j: μ_j, ν_j, μ̃_j, γ̃_j for j = 0 .. s; the times of the stages Y_0 .. Y_{s-1}, in steps; and the
    weight w_j of each one's M in the whole step."""

    mu: np.ndarray
    nu: np.ndarray
    mu_tilde: np.ndarray
    gamma_tilde: np.ndarray
    times: np.ndarray
    weights: np.ndarray


def coefficients(s: int) -> Coefficients:
    """See the equations of the paper."""
    j = np.arange(s + 1)
    b = np.full(s + 1, 1.0 / 3.0)
    b[2:] = (j[2:] ** 2 + j[2:] - 2) / (2.0 * j[2:] * (j[2:] + 1))
    w1 = 4.0 / (s * s + s - 2)
    mu, nu, mu_tilde, gamma_tilde = np.zeros((4, s + 1))
    mu_tilde[1] = b[1] * w1
    mu[2:] = (2.0 * j[2:] - 1) / j[2:] * b[2:] / b[1:-1]
    nu[2:] = -(j[2:] - 1) / j[2:] * b[2:] / b[:-2]
    mu_tilde[2:] = mu[2:] * w1
    gamma_tilde[2:] = -(1.0 - b[1:-1]) * mu_tilde[2:]
    # Row j: what Y_j has of each stage's Δt M. Stage times are what the stages give T = t.
    parts = np.zeros((s + 1, s))
    parts[1, 0] = mu_tilde[1]
    for k in range(2, s + 1):
        parts[k] = mu[k] * parts[k - 1] + nu[k] * parts[k - 2]
        parts[k, k - 1] += mu_tilde[k]
        parts[k, 0] += gamma_tilde[k]
    return Coefficients(mu, nu, mu_tilde, gamma_tilde, parts[:s].sum(axis=1), parts[s])


class PlainStages:
    """Stages with constant coefficients, whose ledger is a rise in temperature, K; the arguments of the kernels are

    Y1, Y2, Y0, out: the last stage, the last but one, the first, and the new one, (ny, nx); out may be Y2. mu, nu, r,
    g: μ, n, r, g as above. q: mesh ratio. edges: table of β, then γ, at all edge points, the row of Y1 beginning at
    `at`, that of Y0 at `at0`. ledger: (points,), to which b times the difference across an edge is added, times q
    along y. wrap_x, wrap_y: whether that direction is periodic.
    """

    operator = None

    def __init__(
        self, made: Discretisation, clock: Clock, backend: Backend, start: Snapshot, coefficients: Coefficients
    ) -> None:
        self._made, self._coefficients = made, coefficients
        self._real = start.arrays["temperature"].dtype.type
        self.ledger = Ledger(backend, start.arrays)
        self.edges = EdgeTable(made, clock, backend, self._real, tuple(coefficients.times))
        self._wrap = (made.wrap_x, made.wrap_y)
        self._stage = backend.launcher(*backend.kernels(f"{__name__}_plain").choose(made.ny, made.nx))

    def begin(self, step: int, n: int) -> None:
        """Queue what depends on time for the first n stages."""
        self.edges.fill(step, n)

    def launch(self, views: list[Any], dt: float) -> None:
        """Queue all stages of a step. views: of the fields of Y_0 .. Y_s."""
        c, real, edges = self._coefficients, self._real, self.edges
        rx, q = mesh_ratios(self._made, dt)
        for j in range(1, len(views)):
            factors = (1.0, 0.0, c.mu_tilde[1] * rx, 0.0)
            if j > 1:
                factors = (c.mu[j], c.nu[j] / c.mu[j], c.mu_tilde[j] / c.mu[j] * rx, c.gamma_tilde[j] / c.mu_tilde[j])
            table = (edges.flat, edges.at(j - 1), edges.at(0))
            booked = (self.ledger.partial, real(c.weights[j - 1] * rx))
            before = (views[j - 1], views[max(0, j - 2)], views[0])
            self._stage(*before, views[j], *(real(f) for f in (*factors, q)), *table, *booked, *self._wrap)


class GeneralStages:
    """Stages with everything; the arguments of the kernels are those of `Operator` and the factors of the equations,
    those of M times Δt."""

    def __init__(
        self, made: Discretisation, clock: Clock, backend: Backend, start: Snapshot, coefficients: Coefficients
    ) -> None:
        T = start.arrays["temperature"]
        self._coefficients = coefficients
        self.operator = Operator(made, clock, backend, T.dtype, start.arrays, tuple(coefficients.times))
        self.edges, self.ledger = self.operator.edges, self.operator.ledger
        self._first_rate = backend.zeros(T.shape, T.dtype)
        self._first_rate_view = backend.view(self._first_rate)
        kernels = backend.kernels(__name__)
        extent = (made.nx, made.ny)
        self._first = backend.launcher(kernels.first_stage, extent, block_for(made))
        self._later = backend.launcher(kernels.later_stage, extent, block_for(made))

    def begin(self, step: int, n: int) -> None:
        """Queue what depends on time for the first n stages."""
        self.operator.begin(step, n)

    def launch(self, views: list[Any], dt: float) -> None:
        """Queue all stages of a step. views: of the fields of Y_0 .. Y_s."""
        o, c = self.operator, self._coefficients
        real = o.dtype.type
        for j in range(1, len(views)):
            o.refresh(views[j - 1], j - 1)
            w = c.weights[j - 1] * dt
            o.book(views[j - 1], j - 1, w, w, w)
            common = (*o.arguments(j - 1), *o.wrap, o.zero)
            if j == 1:
                self._first(views[0], views[1], self._first_rate_view, real(c.mu_tilde[1] * dt), *common)
            else:
                factors = (c.mu[j], c.nu[j], c.mu_tilde[j] * dt, c.gamma_tilde[j] * dt)
                before = (views[j - 1], views[j - 2], views[0], self._first_rate_view)
                self._later(*before, views[j], *(real(f) for f in factors), *common)


class Rkl2Stepper(FieldStepper):
    """Advances the field of `start` by steps of `stages` stages on `backend`."""

    def __init__(
        self, made: Discretisation, wanted: Wanted, clock: Clock, backend: Backend, start: Snapshot, stages: int
    ) -> None:
        kind = PlainStages if is_plain(made) and not wanted.rate else GeneralStages
        self._number = stages
        self._stages: PlainStages | GeneralStages = kind(made, clock, backend, start, coefficients(stages))
        super().__init__(made, wanted, clock, backend, start, self._stages, spare=2)

    def advance(self, n: int) -> None:
        self.check_end(n)
        for _ in range(n):
            self._stages.begin(self.step, self._number)
            dt = self.clock.dt(self.step)
            self.recorder.replay((self.now, dt), functools.partial(self._launch, self.now, dt))
            self.now = (self.now + 1) % 3
            self.step += 1
            self._stages.ledger.fold(self.step)

    def _launch(self, now: int, dt: float) -> None:
        """Y_0 stays where it is, odd stages are in the next field and even ones in the third: each in place of the
        last but one, of which a cell needs its own value only."""
        places = [now] + [(now + 2 - j % 2) % 3 for j in range(1, self._number + 1)]
        self._stages.launch([self.views[place] for place in places], dt)

"""The RKL2 stepper: super-time-stepping with Legendre polynomials, second order, for any coefficients.

    Y_0 = T,   Y_1 = Y_0 + μ̃_1 Δt M(Y_0),
    Y_j = μ_j Y_{j-1} + ν_j Y_{j-2} + (1 - μ_j - ν_j) Y_0 + μ̃_j Δt M(Y_{j-1}) + γ̃_j Δt M(Y_0),   j = 2 .. s

with M = dT/dt as in `operator`, each at its stage's own time (Meyer, Balsara & Aslam, J. Comput. Phys. 257:594, 2014,
equations 16 and 17). Order 2 in time and space. Stable and monotone for odd s and Δt ≤ Δt_explicit (s² + s - 2)/4 with
Δt_explicit = 2/λ: s stages go as far as s²/4 explicit steps.

Error of a step. Every stage is a polynomial R_j(z) of z = Δt A with R_s = 1 + z + z²/2 + r z³ + ..., so that a step is
off by (1/6 - r) Δt³ T'''. The numbers d of `defect` make Σ d_j R_j(z) = (1/6 - r) z³ + ... of four of the stages, which
estimates that error, from values that a step has anyway, and no derivative: waves too short for the step, which stages
damp, are not amplified in the estimate. Of data that are functions of t a step makes a quadrature, whose error is
another multiple of Δt³: the estimate has it within 2 % from five stages on, of three it would be 3/4, so that d is 4/3
as large there.

A step is linear in the M of its stages, T' = T + Δt Σ w_j M(Y_j); the ledger books the flux of each stage with its w_j,
so that it closes to rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Recorder, Snapshot
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.rkl2.stages import GeneralStages, PlainStages, make_stages
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.table import ROWS

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
    """Of s stages, by j: μ_j, ν_j, μ̃_j, γ̃_j for j = 0 .. s; the times of the stages Y_0 .. Y_{s-1}, in steps; the
    weight w_j of each one's M in the whole step; the first four coefficients of the polynomials R_j, (s + 1, 4); and
    what Y_j has of a whole step of M = t²/2, of which 1/6 is right, (s + 1)."""

    mu: np.ndarray
    nu: np.ndarray
    mu_tilde: np.ndarray
    gamma_tilde: np.ndarray
    times: np.ndarray
    weights: np.ndarray
    series: np.ndarray
    quadrature: np.ndarray

    @property
    def stages(self) -> int:
        return len(self.weights)


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
    series = np.zeros((s + 1, 4))
    series[:, 0] = 1.0
    for power in range(1, 4):
        series[:, power] = parts @ series[:s, power - 1]
    times = parts[:s].sum(axis=1)
    return Coefficients(mu, nu, mu_tilde, gamma_tilde, times, parts[s], series, parts @ (times**2 / 2))


def defect(c: Coefficients) -> dict[int, float]:
    """The numbers d_j by j, for three stages behind Y_0 at about 1/3, 2/3 and the end of the step: Σ d_j (Y_j - Y_0)
    estimates the error of Y_s."""
    s, times = c.stages, c.series[:, 1]
    first = max(1, int(np.argmin(np.abs(times - 1 / 3))))
    second = min(max(first + 1, int(np.argmin(np.abs(times - 2 / 3)))), s - 1)
    places = [first, second, s] if s > 3 else [1, 2, 3]
    d = (1 / 6 - c.series[s, 3]) * np.linalg.solve(c.series[places, 1:].T, [0.0, 0.0, 1.0])
    of_data = (1 / 6 - c.quadrature[s]) / float(d @ c.quadrature[places])
    return dict(zip(places, map(float, d * max(of_data, 1.0))))


@dataclass(frozen=True, eq=False)
class _Part:
    """Stages `first` .. `last` of a step, for which the tables are filled at once. offsets: times of the first `rows`
    rows, of which row 0 is that of Y_0, and row `row` that of Y_j from which the first of these stages goes on."""

    first: int
    last: int
    row: int
    rows: int
    offsets: Any


class Rkl2Steps:
    """Takes steps of any length in three fields, Y_0 in one of them."""

    def __init__(self, stages: PlainStages | GeneralStages, backend: Backend, recorder: Recorder) -> None:
        self.stages, self._backend, self._recorder = stages, backend, recorder
        self._kept: list[Any] = []
        self.prepared = functools.cache(self._prepare)

    def _prepare(self, stages: int) -> tuple[Coefficients, list[_Part]]:
        c = coefficients(stages)
        return c, list(self._parts(c))

    def _parts(self, c: Coefficients) -> Iterator[_Part]:
        """A table has a row for Y_0, and ROWS - 1 others."""
        first = 1
        while first <= c.stages:
            row = 0 if first == 1 else 1
            last = min(c.stages, first + ROWS - 1 - row)
            offsets = np.zeros(ROWS)
            rows = last - first + 1 + row
            offsets[row:rows] = c.times[first - 1 : last]
            self._kept.append(self._backend.array(offsets))
            yield _Part(first, last, row, rows, self._backend.view(self._kept[-1]))
            first = last + 1

    def take(
        self,
        views: list[Any],
        now: int,
        step: int,
        dt: float,
        stages: int,
        after: Callable[[int, Any], None] | None = None,
    ) -> int:
        """Queue a step from views[now] and return the place that it leads to. Y_0 stays where it is, odd stages are in
        the next field and even ones in the third: each in place of the last but one, of which a cell needs its own
        value only. after: queues what is wanted of Y_j, called with j and its view."""
        c, parts = self.prepared(stages)
        fields = [views[now], *(views[(now + 2 - j % 2) % 3] for j in range(1, stages + 1))]
        for part in parts:
            self.stages.begin(step, part.rows, part.offsets)

            def launch(part: _Part = part) -> None:
                for j in range(part.first, part.last + 1):
                    self.stages.launch(fields, j, part.row + j - part.first, dt, c)
                    if after is not None:
                        after(j, fields[j])

            self._recorder.replay((now, dt, stages, part.first), launch)
        return (now + 1) % 3


class Rkl2Stepper(FieldStepper):
    """Advances the field of `start` by steps of `stages` stages on `backend`."""

    def __init__(
        self, made: Discretisation, wanted: Wanted, clock: Clock, backend: Backend, start: Snapshot, stages: int
    ) -> None:
        self._number = stages
        engine = make_stages(made, clock, backend, start, wanted.rate)
        super().__init__(made, wanted, clock, backend, start, engine, spare=2)
        self._ledger = engine.ledger
        self._steps = Rkl2Steps(engine, backend, self.recorder)

    def advance(self, n: int) -> None:
        self.check_end(n)
        for _ in range(n):
            self.now = self._steps.take(self.views, self.now, self.step, self.clock.dt(self.step), self._number)
            self.step += 1
            self._ledger.fold(self.step)

"""The RKL2 stepper: super-time-stepping with Legendre polynomials, second order, for any coefficients.

    Y_0 = T,   Y_1 = Y_0 + μ̃_1 Δt M(Y_0),
    Y_j = μ_j Y_{j-1} + ν_j Y_{j-2} + (1 - μ_j - ν_j) Y_0 + μ̃_j Δt M(Y_{j-1}) + γ̃_j Δt M(Y_0),   j = 2 .. s

with M = dT/dt as in `operator`, each at its stage's own time (Meyer, Balsara & Aslam, J. Comput. Phys. 257:594, 2014,
equations 16 and 17). The step has order 2 in time and space. It is stable and monotone for odd s and Δt ≤ Δt_explicit
(s² + s - 2)/4 with Δt_explicit = 2/λ: s stages go as far as s²/4 explicit steps.

Its error is estimated from values that a step has anyway, see `coefficients`.

A step is linear in the M of its stages, T' = T + Δt Σ w_j M(Y_j); the ledger books the flux of each stage with its w_j,
so that it closes to rounding."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simsuite.core import Backend, Clock, Recorder, Snapshot
from simsuite.scenario.heat import HeatRun
from simsuite.solvers.heat.explicit.explicit import is_plain
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.rkl2.coefficients import MOST_STAGES, Coefficients, coefficients, longest_step, stages_for
from simsuite.solvers.heat.rkl2.stages import GeneralStages, PlainStages, make_stages
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.heat.stepper_record import (
    VARYING,
    KindOfWork,
    StepperRecord,
    Trial,
    Usual,
    Work,
    bytes_of_fields,
    longer,
)
from simsuite.solvers.table import ROWS


@dataclass(frozen=True, eq=False)
class _Part:
    """Stages `first` .. `last` of a step, for which the tables are filled together. offsets: the times of the first
    `rows` rows of the tables. Row 0 is for Y_0, and row `row` for the Y_j that the first of these stages starts from.
    """

    first: int
    last: int
    row: int
    rows: int
    offsets: Any


class Rkl2Steps:
    """Takes steps of any length. They work on three fields, one of which holds Y_0."""

    def __init__(
        self, stages: PlainStages | GeneralStages, backend: Backend, recorder: Recorder, beside: NoNeighbours = ALL_ROWS
    ) -> None:
        self.stages, self._backend, self._recorder, self._beside = stages, backend, recorder, beside
        self._kept: list[Any] = []
        self.prepared = functools.cache(self._prepare)

    def _prepare(self, stages: int) -> tuple[Coefficients, list[_Part]]:
        c = coefficients(stages)
        return c, list(self._parts(c))

    def _parts(self, c: Coefficients) -> Iterator[_Part]:
        """The parts that a step is divided into, because a table has one row for Y_0 and only ROWS - 1 others, and
        because halos are to be exchanged."""
        first = 1
        while first <= c.stages:
            row = 0 if first == 1 else 1
            last = min(c.stages, first + self._beside.in_turn(ROWS - row) - 1)
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
        """Queue a step from views[now] and return the place of the field that it leads to.

        Y_0 stays where it is; odd stages go to the next field and even ones to the third. A stage overwrites the last
        but one, of which a cell needs only its own value. after: a function that is called with j and the view of Y_j,
        to queue what is wanted of it."""
        c, parts = self.prepared(stages)
        fields = [views[now], *(views[(now + 2 - j % 2) % 3] for j in range(1, stages + 1))]
        for part in parts:
            if part.first > 1:
                self._beside.refresh(fields[part.first - 1], fields[part.first - 2])
            self.stages.begin(step, part.rows, part.offsets)

            def launch(part: _Part = part) -> None:
                for j in range(part.first, part.last + 1):
                    self.stages.launch(fields, j, part.row + j - part.first, dt, c)
                    if after is not None:
                        after(j, fields[j])

            self._recorder.replay((now, dt, stages, part.first), launch)
        self._beside.refresh(fields[stages])
        return (now + 1) % 3


class Rkl2Stepper(FieldStepper):
    """Advances the field of `start` by steps of `stages` stages on `backend`."""

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        stages: int,
        beside: NoNeighbours = ALL_ROWS,
    ) -> None:
        self._number = stages
        engine = make_stages(made, clock, backend, start, wanted.rate)
        super().__init__(made, wanted, clock, backend, start, engine, spare=2, beside=beside)
        self._ledger = engine.ledger
        self._steps = Rkl2Steps(engine, backend, self.recorder, beside)

    def advance(self, n: int) -> None:
        self.check_end(n)
        for _ in range(n):
            self.now = self._steps.take(self.views, self.now, self.step, self.clock.dt(self.step), self._number)
            self.step += 1
            self._ledger.fold(self.step)


_TRIED = 9  # the number of stages of a step that is timed
PLAIN = KindOfWork(
    "rkl2 stages with constant coefficients", Usual(6.0, 1.5), Usual(3.0, 0.01), Trial(2, 1.0, stages=_TRIED)
)
GENERAL = KindOfWork(
    "rkl2 stages with coefficients that vary", Usual(8.0, 4.0), Usual(3.0, 0.02), Trial(2, 1.0, VARYING, stages=_TRIED)
)


def _work(steps: int, stages: int, made: Discretisation, rate_wanted: bool) -> list[Work]:
    kind = PLAIN if is_plain(made) and not rate_wanted else GENERAL
    return [Work(kind.name, made.nx * made.ny, steps * stages * longer(made))]


def _device_bytes(made: Discretisation, plain: bool, run: HeatRun) -> int:
    return bytes_of_fields(made, 3 if plain else 8)


RECORD = StepperRecord(
    name="rkl2",
    words="rkl2, super-time-stepping",
    order_in_time=2,
    make=lambda of: Rkl2Stepper(of.made, of.wanted, of.clock, of.backend, of.start, of.stages, of.beside),
    kinds=(PLAIN, GENERAL),
    work=_work,
    device_bytes=_device_bytes,
    bound=lambda limits: longest_step(MOST_STAGES, limits.safe),
    controls_error=True,
    stages=stages_for,
    most_stages=MOST_STAGES,
    has_plain_kernels=True,
)

"""The stepper that controls its error. It takes steps of rkl2, or of adi, or first of one and then of the other, which
are as long as their error allows.

Each step comes with an estimate of its error, by which `control` accepts it or has it taken again, shorter:

    rkl2   of its own stages, see `rkl2.defect`
    adi    of the same step taken at once and in two halves, which is the one that counts: a third of the difference

The clock counts TICKS between every two of its times (frames, samples, times at which data jump or kink), at which
steps end; how many ticks a step takes is decided on the way. All that these decisions depend on is stored in snapshots,
so that it does not matter where a run is interrupted and continued. `advance(n)` takes steps until n ticks are over,
the last of which may go further, but not beyond a time of the clock."""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simsuite.core import BESIDE, Backend, Clock, Pending, Snapshot
from simsuite.solvers.heat.adi.adi import FIELDS, AdiSteps
from simsuite.solvers.heat.error_control.companion import Companion, Contrasts
from simsuite.solvers.heat.error_control.control import NOISE, StepControl
from simsuite.solvers.heat.error_control.growth import ErrorGrowth
from simsuite.solvers.heat.error_control.method_choice import ADI_TAKES, MORE_TAKES
from simsuite.solvers.heat.error_control.missed_kinks import MissedKinks, kinks
from simsuite.solvers.heat.error_control.pieces import Pieces
from simsuite.solvers.heat.error_control.runaway import Runaway
from simsuite.solvers.heat.error_control.stable_step import StableStep
from simsuite.solvers.heat.error_control.step_moments import StepMoments
from simsuite.solvers.heat.error_control.unlimited import grows_with_temperature
from simsuite.solvers.heat.explicit.explicit import is_plain
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.neighbours import ALL_ROWS, NoNeighbours
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.operator.ledger import Ledger
from simsuite.solvers.heat.operator.operator import Operator, block_for
from simsuite.solvers.heat.plan import Control
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.rkl2.coefficients import MOST_STAGES, defect, longest_step, stages_for
from simsuite.solvers.heat.rkl2.rkl2 import Rkl2Steps
from simsuite.solvers.heat.rkl2.stages import STAGE_ROWS, GeneralStages, PlainStages
from simsuite.solvers.heat.smooth_rate import SmoothRate
from simsuite.solvers.heat.stepper import FieldStepper
from simsuite.solvers.table import ROWS

# the number of fields that this stepper takes memory for: those of adi, and six to estimate errors
CONTROLLED_FIELDS = FIELDS + 6
_ATTEMPTS = 100  # of a step
_HALVES = (0.0, 0.5, 1.0, 0.25, 0.75)  # times within a step of adi, one for each row of the tables
# rows for the beginning, the middle and the end of a whole step and of its two halves
_WHOLE, _FIRST, _SECOND = (0, 1, 2), (0, 3, 1), (1, 4, 2)
# numbers of the fields for the error of a step, for the errors of all steps so far, and for intermediate results
_ESTIMATE, _LASTING, _ROOM = 3, 4, 5
_SIGNS = np.array([[1.0], [-1.0], [1.0]])  # of the largest error, and of the least and the largest temperature


class ControlledStepper(FieldStepper):
    """Advances the field of `start` on `backend`.

    clock: counts ticks, see `plan.TICKS`. changes: times of the clock at which data jump or kink. degrees: the unit of
    temperatures, as people write it.
    """

    def __init__(
        self,
        made: Discretisation,
        wanted: Wanted,
        clock: Clock,
        backend: Backend,
        start: Snapshot,
        plan: Control,
        changes: Sequence[float],
        degrees: str,
        beside: NoNeighbours = ALL_ROWS,
    ) -> None:
        T = start.arrays["temperature"]
        self._plan, safe, self._degrees, self._beside = plan, plan.safe, degrees, beside
        self._jumps = dict.fromkeys(changes, False) | dict.fromkeys(plan.jumps, True)
        self._moment = StepMoments(clock)
        plain = is_plain(made) and not wanted.rate
        self._operator = Operator(made, self._moment, backend, T.dtype, start.arrays, STAGE_ROWS, scratch=2)
        stages: PlainStages | GeneralStages = GeneralStages(self._operator)
        if plain:
            unit = float(made.rho_c.flat[0])
            stages = PlainStages(made, backend, self._operator.edges, self._operator.ledger, unit)
        super().__init__(made, wanted, clock, backend, start, self._operator, spare=5, beside=beside)
        if "lasting_error" in start.arrays:
            backend.copy(backend.array(start.arrays["lasting_error"]), self.fields[_LASTING])
        self._ledger: Ledger = self._operator.ledger
        self._rkl2 = Rkl2Steps(stages, backend, self.recorder, beside)
        self._adi = AdiSteps(self._operator, start.arrays.get("iteration_change"), beside)
        if wanted.rate:
            self._smooth_rate = SmoothRate(self._operator, self.views[_ROOM], self._adi.smooth)
        # what a step changes besides the field, so that a step that is taken again leaves no trace
        kept = [*self._ledger.arrays.values(), self._adi.iteration_change]
        self._kept = [(a, backend.zeros(a.shape, a.dtype)) for a in kept]
        offsets = np.zeros(ROWS)
        offsets[: len(_HALVES)] = _HALVES
        self._halves_array = backend.array(offsets)
        self._halves = backend.view(self._halves_array)
        self._real = T.dtype.type
        self._cells, self.work = float(made.nx * made.whole.ny), 0.0
        self._bind(made)
        feeds = any(f.depends_on("T") for f in made.sources)
        self._growth: ErrorGrowth | None = None  # not None only where sources depend on T
        kinking = any(kinks(f.tree) for f in made.sources)
        if feeds:
            self._growth = ErrorGrowth(made, backend, self._operator, self._adi, self._largest, T.dtype, kinking)
        self._missed = MissedKinks.of(made, backend, self._operator, T.dtype)
        self._companion: Companion | None = None  # not None only where conductivities dip or peak at temperatures
        if plan.dips is not None:
            self._contrasts = Contrasts(made.whole, plan.dips, clock.times[-1])
            more = self._kept, self.views[_LASTING], self.views[_ROOM], beside
            self._companion = Companion(made, backend, stages, self._adi, (_FIRST, _SECOND), *more)
        self._stable = StableStep(made.whole, safe, clock.times[-1])
        first = longest_step(3, safe) if math.isfinite(safe) else (clock.times[-1] - clock.times[0]) * 1e-4
        given = distinct(made.whole.T0)
        span = float(given.min()), float(given.max())
        known = bool(self._jumps), start.arrays.get("control"), plan.range_floor, feeds
        self.control = StepControl(plan.tolerance, clock.times[-1], first, span, *known)
        self._pieces = Pieces({*changes, *plan.stops}, clock.times[-1])
        self._longest = plan.longest_steps
        end = clock.times[-1]
        unlimited = plan.unsure and any(grows_with_temperature(f, made.whole, end) for f in made.sources)
        self._runaway = Runaway(end) if unlimited else None

    def _bind(self, made: Discretisation) -> None:
        b = self.backend
        k = b.kernels("simsuite.solvers.heat.operator.defect")
        self._gather = b.launcher(k.gather, (made.nx, made.ny), block_for(made))
        self._add = b.launcher(b.kernels("simsuite.solvers.heat.adi.adi").ahead, (made.nx, made.ny), block_for(made))
        self._judge = b.launcher(k.judge, (made.ny * k.THREADS,), (k.THREADS,))
        self._rows_array = b.zeros((3, made.ny), np.float64)
        self._rows = b.view(self._rows_array)

    @property
    def state(self) -> Mapping[str, Any]:
        more: dict[str, Any] = {}
        if self._operator.nonlinear and "adi" in self._plan.methods:
            more["iteration_change"] = self._adi.iteration_change
        return {**super().state, **more}

    def snapshot(self) -> Pending:
        control, lasting = self.backend.array(self.control.state), self.fields[_LASTING]
        return self.backend.stage(self.step, {**self.state, "control": control, "lasting_error": lasting})

    @property
    def measured(self) -> Mapping[str, Any]:
        return {**super().measured, "control": self.backend.array(self.control.state)}

    @property
    def smoothed_step(self) -> float:
        if self.clock.time(self.step) in self._jumps:
            return 0.0
        _, since_last_frame, _, _ = self.clock.interval(max(self.step - 1, 0))
        return min(self.control["dt"], since_last_frame)  # steps end at frames

    @property
    def taken(self) -> int:
        return int(self.control["taken"])

    @property
    def stalled(self) -> str | None:
        if self._runaway is None or self._runaway.limit is None:
            return None
        low, high, at = self.control["low"], self.control["high"], self.clock.time(self.step)
        limit = self._runaway.limit
        return (
            f"temperatures run away: by t = {at:.4g} s they go from {low:.4g} to {high:.4g} {self._degrees}, and the "
            f"faster they grow, the shorter steps become: the run may never get beyond t = {limit:.3g} s; "
            "does a source grow without bound with T? Limit it, as in min(.., 1e9), or set time.end before that"
        )

    def advance(self, n: int) -> None:
        self.advance_for(n, math.inf)

    def advance_for(self, n: int, seconds: float) -> None:
        """Take steps like `advance`, but return before that once so much time has gone by."""
        self.check_end(n)
        goal, late = self.step + n, time.monotonic() + seconds
        while self.step < goal:
            self._take_step()
            if seconds < math.inf and self._beside.decided(lambda: time.monotonic() >= late):
                break

    def rehearse(self) -> Iterator[Callable[[], object]]:
        """See `capabilities.Rehearsing`."""
        dt = self.control["dt"]
        if "rkl2" in self._plan.methods:
            yield lambda: self._try_rkl2(longest_step(3, self._safe))
        yield lambda: self._look_at_errors(self.clock.times[0] + dt, 1.0, 0.0)
        if "adi" in self._plan.methods:
            yield lambda: self._try_adi(dt)
            yield lambda: self._measure_more(dt)

    def _take_step(self) -> None:
        """Take the next step, as long as its error allows."""
        control = self.control
        _, span, k, ticks = self.clock.interval(self.step)
        t = self.clock.time(self.step)
        if k == 0 and t in self._jumps:
            control.restart(self._jumps[t])
            if self._runaway is not None:
                self._runaway.restart()
        control.limit(self._longest.at(t))
        control.piece(*self._pieces.around(t), self._pieces.alike(t))
        self._save()
        for attempt in range(_ATTEMPTS):
            method = self._method
            longest = longest_step(MOST_STAGES, self._safe) if method == "rkl2" else math.inf
            wanted = longest if control.lost else min(control["dt"], longest)
            steps = max(1, math.ceil((ticks - k) * (span / ticks) / wanted * (1 - 1e-9)))
            taken = max(1, (ticks - k) // steps)
            dt = span * taken / ticks
            self._look(t, dt, taken == ticks - k)
            local, low, high = self._try_rkl2(dt) if method == "rkl2" else self._try_adi(dt)
            if self._missed is not None:
                before, after, spare = (self.views[(self.now + i) % 3] for i in range(3))
                step = self.views[_ESTIMATE], before, after, dt, (spare, self.views[_ROOM])
                self._missed.add(*step)
                local = self._largest(self.views[_ESTIMATE])
                local = max(local, self._missed.without_first_half(*step, self._largest))
            unit = float(np.finfo(self._real).eps) * max(abs(low), abs(high))
            grown = self._grown(local, t, NOISE[method] * unit)
            judged = control.judge(method, local, low, high, dt, unit, grown)
            if method == "adi" and control.asks_for_more(judged.deciding, dt):
                control.note_more(local, *self._measure_more(dt), dt)
                judged = control.judge(method, local, low, high, dt, unit, grown)
            if judged.deciding <= control.tolerance or control.lost or taken == 1 or attempt == _ATTEMPTS - 1:
                break
            self._restore()
            control.take_again(judged.deciding, dt)
        control.accept(judged, low, high, t, dt, unit)
        control.count(method, self._stages(dt) if method == "rkl2" else 0)
        control.go_on(method, judged.deciding, dt)
        E, D = self.views[_LASTING], self.views[_ESTIMATE]
        if self._companion is not None and not control.lost:
            control.note_contrast(self._contrasts.coming(control["low"], control["high"]), t)
        if self._companion is not None and control.followed:
            stages = self._stages(dt) if method == "rkl2" else 0
            self.work += self._cells * (stages or 2)
            self._companion.follow(self.views, self.now, D, self.step, dt, stages)
            largest, shown = self._largest(E), taken == ticks - k
            if not (math.isfinite(largest) or control.lost):  # where k(T) is NaN at temperatures that only U comes to
                self._add(D, D, self._real(0), E)
                largest, shown = control.range, True
            control.note_followed(t + dt, largest, shown)
        else:
            self._add(E, D, self._real(1), E)
        over = self.step + taken == self.clock.end
        if control.looks or over or (self._growth and taken == ticks - k and self._due(t) == self._pieces.around(t)[1]):
            self._look_at_errors(t + dt, 1.0 if over else self._pieces.progress(t + dt), unit)
        if len(self._plan.methods) > 1 and not control.lost:
            control.methods.choose(judged.deciding, dt, self._stages, self._plan.worth)
        self.now = (self.now + 1) % 3
        self.step += taken
        self._ledger.fold(0)
        if self._runaway is not None:
            self._runaway.note(t + dt, control["dt"], control["high"] - control["low"])

    @property
    def _method(self) -> str:
        """The method of the next step."""
        return self._plan.methods[-1 if self.control["adi"] else 0]

    def _stages(self, dt: float) -> int:
        return stages_for(dt, self._safe)

    @property
    def _safe(self) -> float:
        """The longest stable explicit step at all temperatures so far, s."""
        return self._stable.at(self.control["low"], self.control["high"])

    def _look(self, t: float, dt: float, last: bool) -> None:
        """Fill the tables for a step of dt from time t on, and use them from now on. Where data jump, their values on
        the side of the step count. last: whether the step ends at a time of the clock."""
        small = min(BESIDE * self.clock.times[-1], 0.25 * dt)
        begin, end = t, t + dt
        if t in self._jumps:
            begin += small
        if last and self._due(t) in self._jumps:
            end -= small
        self._moment.begin, self._moment.span = begin, end - begin

    def _save(self) -> None:
        for array, before in self._kept:
            self.backend.copy(array, before)

    def _restore(self) -> None:
        for array, before in self._kept:
            self.backend.copy(before, array)

    def _try_rkl2(self, dt: float) -> tuple[float, float, float]:
        stages = self._stages(dt)
        self.work += self._cells * stages
        c, _ = self._rkl2.prepared(stages)
        d = defect(c)
        first = min(d)
        Y0, D, real = self.views[self.now], self.views[_ESTIMATE], self._real

        def after(j: int, Y: Any) -> None:
            if j == stages:
                self._judge(Y, Y0, real(d[j]), D, real(0), self._rows)
            elif j in d:
                self._gather(Y, Y0, real(d[j]), j == first, D)

        self._rkl2.take(self.views, self.now, self.step, dt, stages, after)
        return self._judged()

    def _try_adi(self, dt: float) -> tuple[float, float, float]:
        T, new, whole = (self.views[(self.now + i) % 3] for i in range(3))
        D, real, third = self.views[_ESTIMATE], self._real, 1.0 / 3.0
        self.work += self._cells * ADI_TAKES
        self._adi.operator.begin(self.step, len(_HALVES), self._halves)

        def launch() -> None:
            self._adi.queue(T, whole, _WHOLE, dt, False)
            self._gather(whole, T, real(-third), True, D)
            self._adi.queue(T, new, _FIRST, 0.5 * dt)
            self._adi.queue(new, new, _SECOND, 0.5 * dt)
            self._judge(new, T, real(third), D, real(0), self._rows)

        self.recorder.replay(("adi", self.now, dt), launch)
        return self._judged()

    def _look_at_errors(self, t: float, progress: float, unit: float) -> None:
        """Look at what the errors of all steps have come to by a time t, which the step just tried has led to. Where
        sources depend on T they make errors grow or shrink, and the rate of that is measured too."""
        control, E, W = self.control, self.views[_LASTING], self.views[_ROOM]
        new, since = self.views[(self.now + 1) % 3], t - control["looked_at"]
        now = made = self._largest(E)
        span, spare = (control["low"], control["high"]), [self.views[(self.now + 2) % 3], W]
        if self._growth is not None and made > 0:
            control["rate"] = self._growth.rate(new, t, span, spare)
        if not control.followed:
            if self._growth is not None and made > 0:
                self._growth.follow(E, new, t, since, span, spare)
            else:
                self._adi.smooth(E, new, 0, since)
            now = self._largest(E)
            if not (math.isfinite(now) or control.lost):  # they have grown beyond all numbers
                self.backend.copy(self.fields[_ESTIMATE], self.fields[_LASTING])
                now = math.inf
        growth = math.log(now / made) / since if made > 0 and now > made and since > 0 else 0.0
        control.note_errors(t, now, growth)
        self._add(E, E, self._real(0), W)
        self._adi.smooth(W, new, 0, self.clock.times[-1] - self.clock.times[0])
        control.note_lasting(self._largest(W), progress, unit)

    def _grown(self, local: float, t: float, noise: float) -> float:
        """The largest temperature error, K, that the errors of the step just tried may grow to by the end. local: the
        largest of these errors, K. t: when the step began, s. noise: of rounding in errors, K."""
        control, T, new, spare = self.control, *(self.views[(self.now + i) % 3] for i in range(3))
        D, W, span = self.views[_ESTIMATE], self.views[_ROOM], (control["low"], control["high"])
        if self._growth is None or not math.isfinite(local):
            return 0.0
        if math.isinf(control["rate"]):
            control["rate"] = self._growth.rate(T, t, span, [spare, W])
        if control.rising_for == 0.0:
            return 0.0
        return self._growth.grown(D, new, T, span, control["rate"], control.rising_for, noise, [spare, W])

    def _largest(self, field: Any) -> float:
        """The largest absolute value of a field."""
        real = self._real
        self._judge(field, field, real(0), field, real(0), self._rows)
        return self._judged()[0]

    def _due(self, t: float) -> float:
        """The time of the clock after t, s."""
        return self.clock.times[bisect.bisect_right(self.clock.times, t)]

    def _measure_more(self, dt: float) -> tuple[float, float]:
        """Measures more of the step of adi just tried: the largest estimated error without the part that diffusion
        smooths out in that step, and how far the two halves are off since directions alternate, both in K."""
        T, new, W = (self.views[(self.now + i) % 3] for i in range(3))
        D, left, real = self.views[_ESTIMATE], self.views[_ROOM], self._real
        self.work += self._cells * MORE_TAKES
        self._add(D, D, real(0), left)
        self._adi.smooth(left, T, 0, dt)
        self._judge(new, new, real(0), left, real(0), self._rows)
        remains, _, _ = self._judged()
        self._adi.splitting(T, W, _FIRST[0], _FIRST[2], 0.5 * dt)
        self._judge(new, new, real(0), W, real(0), self._rows)
        off, _, _ = self._judged()
        return remains, 2.0 * off

    def _judged(self) -> tuple[float, float, float]:
        """The largest estimate of the error, and the least and the largest temperature after the step."""
        rows = self.backend.to_host(self._rows_array)
        error, lowest, highest = map(float, self._beside.largest(rows * _SIGNS))
        return error, -lowest, highest

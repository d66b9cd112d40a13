"""How long the next step may be: a controller for steps whose error is estimated.

A step of order 2 makes a local error e = κ (Δt/τ)³ R, where R is the range of the temperatures so far and τ the time in
which the solution changes. Diffusion smooths out errors in about that time, so the errors of τ/Δt steps add up (or
those of all steps of the run, if there are fewer), to

    E = e · min((κ R / e)^(1/3), t_end / Δt) / R

as a share of the range, times the number LASTING of times τ whose errors really add up, which was measured on random
plates. E is of order Δt² and must not exceed the tolerance. A step with a larger E is taken again, shorter. The next
step has the length Δt·√(SAFETY · tolerance / E), within limits (after the control of the error per unit step: Hairer,
Nørsett & Wanner, Solving ODEs I, 2nd ed., 1993, section II.4; the unit is τ).

Long steps of adi make errors in waves much shorter than √(diffusivity · Δt), which diffusion smooths out within a step
and which therefore do not add up. What is left of an estimate without these waves is measured now and then (a filter,
as for the estimates of stiff integrators: Hairer & Wanner, Solving ODEs II, 2nd ed., 1996, section IV.8), and counts as
e above; all of e counts AT_ONCE times, since steps of adi forget such waves later than diffusion does. The error by
alternating directions, which a step and its halves share, is measured at the same time (see `AdiSteps.splitting`); it
counts as another e, in proportion to Δt in between.

That errors are smoothed out is an assumption. It does not hold where a plate, or a part of it, keeps its heat. So the
estimates of all steps are added up, each with its sign. Every dozen steps, or sooner at first, diffusion and sources
that depend on T are applied to the sum as to a difference of temperatures, so that it is an estimate of the error so
far. The part of it that diffusion would leave in a time as long as the run is called what lasts. If that goes on
growing as it did lately, it must not come to more than LASTS of the tolerance; steps are made as much shorter as that
takes (`tight`). Steps are also made shorter while the sum grows and is NEAR the tolerance (`close`): where data kink
again and again, errors of one sign come sooner than they are forgotten. What rounding alone may have made of the sum
does not count: at the beginning, while temperatures have hardly changed, it may be more than the tolerance. Nor does
the range of temperatures count as long as it is much smaller than data will make it (see `range_limits`). While the sum
grows by itself, because sources give more for a higher temperature, errors of all steps count for as long as it does:
until data change next, and after that for as large a share of the time as so far (`piece`). What each error may grow to
by the end counts too (see `growth`).

Every step also rounds temperatures, by up to half a unit in their last place, in the same direction for many steps
where they change little. That is counted (`rounded`), because in float32 it exceeds a small tolerance: 100 steps at 300
K lose up to 1.8e-3 K. An estimate that may consist of rounding does not make steps shorter, and lets them grow as long
as the rounding of all steps would exceed the tolerance: fewer steps round less."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.solvers.heat.error_control.control_state import MOST_SHRINKING, SAFETY, ControlState
from simsuite.solvers.heat.error_control.method_choice import MethodChoice

MOST_GROWTH = {"rkl2": 4.0, "adi": 3.0}  # the most by which a step may be longer than the one before
LEAST_SHRINKING = 0.8  # the factor by which a step that is taken again is shorter at least
SAME = 1.2  # Growth by less than this factor is not worth it, since equal steps are queued faster.
KINK = 0.2  # the factor by which a step is shorter after data kinked
KAPPA = {"rkl2": 1 / 18, "adi": 1 / 48}  # the constant κ of the local error, for a mode that decays by itself
LASTING = {"rkl2": 0.7, "adi": 0.8}  # the number of times τ whose errors add up
AT_ONCE = 5.0  # the number of steps of adi whose errors add up however soon they are smoothed out
# After so many steps the sum of errors is looked at first, and then after more and more steps, up to LATELY.
OFTEN = 4.0
# What is measured of a step of adi holds for so many steps, and for lengths that differ by at most this factor.
LATELY, MUCH_LONGER = 12.0, 3.0
CHANGING = 1.4  # Where data jump or kink, so many times as many errors add up, because a part of each change stays.
BEGUN = 0.03  # Before this share of a run, what lasts of the errors is due to the beginning of the run.
LOOKED = 1.5  # What lasts of the errors is considered again when a run is further by this factor.
LASTS = 0.5  # the share of the tolerance that what lasts of the errors may come to by the end
# A growing sum of errors of more than this share of the tolerance makes the error of each step smaller, by this factor.
NEAR, TIGHTER = 0.75, 1.5
HARDLY = 0.1  # growth by a factor of e to this power, or less, is too little to count
GROWN = 0.5  # the share of what the errors of all steps may grow to, added up, that counts as their joint error
# Below this share of that sum errors of steps may be larger again; the factor by which they are smaller at most.
FAR, MOST_CLOSE = 0.5, 32.0
# Before errors are seen to grow because a conductivity dips or peaks, they count as many times as its contrast exceeds
# this number, but not more often than the next one, until this share of the run is over.
GATHERING, MOST_CLOSE_AT_FIRST, AT_FIRST = 5.0, 8.0, 0.1
# The share of the tolerance from which on an error that is followed makes steps shorter, and for how long it does, see
# `note_followed`.
FOLLOWED, REMEMBERED = 0.6, 1.3
LARGER = 1.2  # the factor by which an error that is followed may be larger than it seems
ROUNDING = 64.0  # the units of rounding in the largest temperature that an estimate may consist of
NOISE = {"rkl2": 16.0, "adi": 4.0}  # the units of rounding that an estimate has even where there is no error
GROWTH_IN_NOISE = 1.5  # the factor by which a step grows whose estimate is nothing but rounding
# the most by which `tight` grows and falls at a time, and the largest `tight`
MOST_TIGHTER, MOST_LOOSER, MOST_TIGHT = 4.0, 1.5, 1e3


@dataclass(frozen=True)
class Judgement:
    """The error of a step. error: E; 0 if the estimate may be due to rounding alone. unsure: E in K in that case; else
    0. rounding: the estimate itself in K, if it may be due to rounding alone; else 0. deciding: the error that decides
    on this step and the next one."""

    error: float = 0.0
    unsure: float = 0.0
    rounding: float = 0.0
    deciding: float = 0.0


class StepControl:
    """Decides on the lengths of steps. All that decisions depend on is in `state`.

    tolerance: of the error, relative to the range. end: of the run, s. first: length of the first step, also after data
    jumped, s. span: least and largest temperature at the start. changing: whether data jump or kink. least: the range,
    K, by which errors are measured as long as temperatures differ by less. feeding: whether a source depends on T.
    methods: which method takes steps, where there are two."""

    def __init__(
        self,
        tolerance: float,
        end: float,
        first: float,
        span: tuple[float, float],
        changing: bool = False,
        state: np.ndarray | None = None,
        least: float = 0.0,
        feeding: bool = False,
    ) -> None:
        self.tolerance, self._end, self._first, self._least = tolerance, end, first, least
        self._lasting = CHANGING if changing else 1.0
        self._growing_for = end
        self._unknown = math.inf if feeding else 0.0
        self._rising_for = self._rising_in_all = end
        self._state = ControlState(state)
        self.methods = MethodChoice(self._state, tolerance)
        if state is None:
            self["dt"], self["low"], self["high"] = first, *span
            self["shortest"] = end
            self.methods.begin()
            self["left"], self["measured"], self["tight"], self["rate"] = 1.0, -LATELY, 1.0, self._unknown
            self["close"], self["contrast"] = 1.0, 1.0

    def __getitem__(self, name: str) -> float:
        return self._state[name]

    def __setitem__(self, name: str, value: float) -> None:
        self._state[name] = value

    @property
    def state(self) -> np.ndarray:
        """One number for each of NAMES, which is stored in snapshots."""
        return self._state.array

    @property
    def range(self) -> float:
        """The range of the temperatures so far, by which errors are measured, K; NaN once they are not finite."""
        return max(self["high"] - self["low"], self._least)

    def limit(self, longest: float) -> None:
        """Let no step be longer than `longest`, s, from now on."""
        self.methods.limit(longest)
        self["dt"] = min(self["dt"], longest)

    def piece(self, begin: float, end: float, alike: float) -> None:
        """Note that the next step lies between these two times, s, at which data jump, kink or peak, or the run begins
        or ends. alike: the share of the run that is made up of times between changes as short as these two, or shorter.

        Errors that grow may do so until `end`. After that they may grow for the same share of the time as before
        `begin`, or for the share `alike` if the run has just begun."""
        now = min(max(self["looked_at"], begin), end)

        def coming(before: float) -> float:
            share = min(before / begin, 1.0) if begin > 0 else alike
            return end - now + share * (self._end - end)

        grown, rising = (min(self[name], self._end) for name in ("grown", "rising"))
        self._growing_for = min(grown + coming(grown), self._end)
        self._rising_for = coming(rising)
        self._rising_in_all = min(rising + self._rising_for, self._end)

    @property
    def rising_for(self) -> float:
        """For how long errors may grow from now on, s; 0 where they would hardly do so in that time."""
        return self._rising_for if self["rate"] * self._rising_for > HARDLY else 0.0

    def restart(self, jump: bool) -> None:
        """Begin with shorter steps again, after data jumped (if `jump`) or kinked."""
        self["restarted"], self["rate"] = self["taken"], self._unknown
        self["measured"] = -LATELY
        if jump:
            self["dt"] = min(self["dt"], self._first)
            self.methods.begin()
            self["close"] = max(self["close"], self._close_at_first)
        else:
            self["dt"] = max(KINK * self["dt"], min(self["dt"], self._first))

    def judge(
        self, method: str, local: float, low: float, high: float, dt: float, unit: float, grown: float = 0.0
    ) -> Judgement:
        """Judge a step whose local error is estimated, K, and which leads to temperatures from low to high.

        unit: of rounding in the largest temperature, K. grown: what the errors of the step may grow to by the end, K.
        While errors grow they are not smoothed out, and those of all steps add up."""
        range_ = max(max(self["high"], high) - min(self["low"], low), self._least)
        unit = max(unit, np.finfo(float).tiny)
        if local == 0.0 or (range_ == 0.0 and local <= ROUNDING * unit):
            return Judgement(rounding=local)
        if not (range_ > 0 and math.isfinite(local)):
            return Judgement(math.inf, deciding=math.inf)
        steps = self._end / dt

        def several(error: float) -> float:
            e = error / range_
            lasting = LASTING[method] * self._lasting * (KAPPA[method] / e) ** (1 / 3) if e > 0 else 0.0
            growing = self._growing_for / dt * min(self["growing"] * self._end, 1.0)
            return e * min(max(lasting, growing), steps)

        error = several(local)
        if method == "adi":
            at_once = local / range_ * min(AT_ONCE, max(1.0, steps))
            error = max(at_once, several(local * self["left"]), several(self["splitting"] * dt))
        noise = NOISE[method] if 0.5 * unit * steps > self.tolerance * range_ else 0.0
        deciding = self._deciding(max(error, GROWN * grown / range_ * self._rising_in_all / dt), local / unit, noise)
        if local <= ROUNDING * unit:
            return Judgement(unsure=error * range_, rounding=local, deciding=deciding)
        return Judgement(error, deciding=deciding)

    def _deciding(self, error: float, units: float, noise: float) -> float:
        """The error that decides on the lengths of steps, from an error whose estimate is so many units of rounding.

        It is larger than `error` where `tight` and `close` ask for shorter steps, and so small where the estimate may
        be due to rounding that steps do not become shorter. noise: the units up to which steps may grow."""
        error *= self["tight"] * self["close"]
        if units <= noise:
            return min(error, SAFETY * self.tolerance / GROWTH_IN_NOISE**2)
        return min(error, SAFETY * self.tolerance) if units <= ROUNDING else error

    def asks_for_more(self, error: float, dt: float) -> bool:
        """Whether to measure more of a step of adi than its error, by which was decided on it."""
        since = self["taken"] - self["measured"]
        if not math.isfinite(error):
            return False
        other = not self["measured_dt"] / MUCH_LONGER <= dt <= MUCH_LONGER * self["measured_dt"]
        return other or since > 0 if error > self.tolerance else other or since >= LATELY

    def note_more(self, local: float, left: float, splitting: float, dt: float) -> None:
        """Note what was measured because `asks_for_more` said so, of a step of dt whose estimated error is `local`, K.
        left: what diffusion leaves of that error, K. splitting: the error by alternating directions, K."""
        self["left"] = min(left / local, 1.0) if local > 0 else 1.0
        self["splitting"], self["measured"], self["measured_dt"] = splitting / dt, self["taken"], dt

    @property
    def looks(self) -> bool:
        """Whether to look at what lasts of all errors so far, now that a step has been taken."""
        return self["taken"] - self["looked"] >= min(LATELY, max(OFTEN, OFTEN / 16 * self["taken"]))

    def note_errors(self, t: float, error: float, growth: float) -> None:
        """Note the sum of errors when `looks` said so. error: the largest value of that sum at time t, K. growth: how
        fast it would grow without new errors, 1/s; 0 if it would not grow."""
        self["rising"] += t - self["looked_at"] if self["rate"] > 0 else 0.0
        self["grown"] += t - self["looked_at"] if growth > 0 else 0.0
        self["looked_at"], self["growing"] = t, growth
        if self.followed:
            return
        self["largest"] = max(self["largest"], error)
        near = NEAR * self.tolerance * self.range + self._unsure
        if growth == 0.0 and error > max(self["summed"], near) and self.range > self._least:
            self["close"] = min(TIGHTER * self["close"], MOST_CLOSE)
        elif error < FAR * near:
            self["close"] = max(self["close"] / TIGHTER, 1.0)
        self["summed"] = error

    @property
    def followed(self) -> bool:
        """Whether a second solution follows errors, see `companion`."""
        return self["contrast"] > 1.0

    @property
    def _close_at_first(self) -> float:
        return min(max(1.0, self["contrast"] / GATHERING), MOST_CLOSE_AT_FIRST)

    def note_contrast(self, contrast: float, t: float) -> None:
        """Note the contrast of conductivities at the temperatures that there are or were by time t, see
        `companion`."""
        if contrast > self["contrast"]:
            self["contrast"] = contrast
            self["close"] = max(self["close"], self._close_at_first)
            self["exceeded_at"] = max(self["exceeded_at"], t, AT_FIRST * self._end)

    def note_followed(self, t: float, error: float, shown: bool) -> None:
        """Note the largest error E, K, that a second solution shows at time t. shown: whether people may see the
        temperatures of that time, which ends steps.

        Errors that grow for a short time are smaller the next time if steps are shorter until then. That is kept up
        until so much time has gone by without any more that the run is REMEMBERED times as far."""
        error *= LARGER
        if shown:
            self["largest"] = max(self["largest"], error)
        enough = FOLLOWED * self.tolerance * self.range + self._unsure
        if error > max(enough, TIGHTER * self["summed"]):
            self["close"], self["summed"] = min(TIGHTER * self["close"], MOST_CLOSE), error
            self["exceeded_at"] = t
        elif error < FAR * enough:
            self["summed"] = enough / TIGHTER
            if t > REMEMBERED * self["exceeded_at"]:
                self["close"], self["exceeded_at"] = max(self["close"] / TIGHTER, 1.0), t

    def note_lasting(self, lasting: float, progress: float, unit: float) -> None:
        """Note what lasts of all errors when `looks` said so. lasting: its largest value, K. progress: the share of the
        run that is done. unit: of rounding in the largest temperature, K.

        Errors of the same sign add up where a plate, or a part of it, keeps its heat: what lasts grows with the run. If
        it goes on growing as it did lately, at the end it must not be more than LASTS of the tolerance. While sources
        make errors grow, nothing can be concluded from this growth."""
        self["looked"] = self["taken"]
        if self["rate"] * self._rising_for > 1.0:
            return
        range_ = self.range
        if not (range_ > 0 and math.isfinite(lasting)):
            return
        if progress < max(BEGUN, LOOKED * self["lasted_at"]):
            return
        if self["lasted_at"]:
            enough = max(LASTS * self.tolerance * range_, ROUNDING * unit) + self._unsure
            self._tighten(lasting, progress, enough)
        self["lasted"], self["lasted_at"] = lasting, progress

    @property
    def _unsure(self) -> float:
        """What rounding alone may have made of the sum of all estimates, K; 0 for runs that began before that was
        stored."""
        return self["unsure"] if math.isfinite(self["unsure"]) else 0.0

    def _tighten(self, lasting: float, progress: float, enough: float) -> None:
        since = progress - self["lasted_at"]
        coming = max(lasting - self["lasted"], 0.0) / since * (1.0 - progress)
        wanted = self["tight"] * coming / max(enough - lasting, 0.1 * enough)
        self["tight"] = min(max(wanted, self["tight"] / MOST_LOOSER, 1.0), MOST_TIGHTER * self["tight"], MOST_TIGHT)

    @property
    def lost(self) -> bool:
        """Whether temperatures are not finite any more. No shorter step helps then, and the run will end with the next
        output."""
        return math.isnan(self["low"])

    def accept(self, step: Judgement, low: float, high: float, t: float, dt: float, unit: float) -> None:
        """Note a step of dt that was accepted and began at time t. unit: of rounding in the largest temperature, K."""
        lost = not math.isfinite(low + high)
        if lost and self["lost_at"] == 0.0:
            self["lost_at"] = t + dt
        self["low"], self["high"] = (math.nan, math.nan) if lost else (min(self["low"], low), max(self["high"], high))
        self["taken"] += 1
        error = step.error * self.range
        self["error"], self["largest"] = max(self["error"], error), max(self["largest"], step.unsure)
        self["unsure"] += step.rounding
        self["rounded"] += 0.5 * unit
        self["shortest"], self["longest"] = min(self["shortest"], dt), max(self["longest"], dt)

    def count(self, method: str, stages: int) -> None:
        """Count an accepted step by its method. stages: the stages of a step of rkl2."""
        if method == "adi":
            self["adi_steps"] += 1
        else:
            self["stages"] += stages

    def go_on(self, method: str, error: float, dt: float) -> None:
        """Decide on the length of the next step, after one of dt with that error."""
        most = MOST_GROWTH[method]
        growth = min(max(math.sqrt(SAFETY * self.tolerance / error), MOST_SHRINKING), most) if error > 0 else most
        following = dt * (growth if not 1.0 <= growth <= SAME else 1.0)
        # A step that ended where the clock has a time may have been much shorter than it could be.
        self["dt"] = following if growth < 1.0 else max(following, self["dt"])

    def take_again(self, error: float, dt: float) -> None:
        """Decide on the length of a shorter step in place of one of dt with that error."""
        self["rejected"] += 1
        if self.methods.refuses(error, dt):
            return
        factor = math.sqrt(SAFETY * self.tolerance / error) if math.isfinite(error) else 0.0
        self["dt"] = dt * min(max(factor, MOST_SHRINKING), LEAST_SHRINKING)

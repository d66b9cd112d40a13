"""How long the next step may be: a controller for steps whose error is estimated.

A step of order 2 makes a local error e = κ (Δt/τ)³ R, where R is the range of the temperatures so far and τ the time in
which the solution changes. What diffusion smooths out, it forgets in about that time, so the errors of τ/Δt steps add
up (those of the whole run, if there are fewer), to

    E = e · min((κ R / e)^(1/3), t_end / Δt) / R

of the range, times the number of such times LASTING that do count, which was measured on random plates. E is of order
Δt² and must not exceed the tolerance. A step that does is taken again, shorter. The step after is
Δt·√(SAFETY · tolerance / E), within limits (after the control of the error per unit step: Hairer, Nørsett & Wanner,
Solving ODEs I, 2nd ed., 1993, section II.4; the unit is τ).

Long steps of adi make errors in waves much shorter than √(diffusivity · Δt), which diffusion smooths out within a step
and which therefore do not add up. What is left of an estimate without these waves is measured now and then (a filter,
as for the estimates of stiff integrators: Hairer & Wanner, Solving ODEs II, 2nd ed., 1996, section IV.8), and counts
as e above; all of e counts AT_ONCE times, since steps of adi forget such waves later than diffusion does. Measured at
the same time is the error by alternating directions that a step and its halves share (see `AdiSteps.splitting`); it
counts as another e, in proportion to Δt in between.

That a solution forgets errors is an assumption, which does not hold for the heat of a plate, or of a part of it, that
is kept. So the estimates of all steps are added up, each with its sign, and every dozen steps, or sooner at first,
diffusion, and sources that depend on T, take their effect on the sum as on a difference of temperatures: it is an
estimate of the error so far. What diffusion leaves of it in a time as long as the run is what lasts. If it goes on
growing as it did lately, it must not come to more than LASTS of the tolerance; steps are made as much shorter as that
takes (`tight`). They are as well while the sum grows and is NEAR the tolerance (`close`): where data kink again and
again, errors of one sign come sooner than they are forgotten. What rounding alone may have made of the sum does not
count: at the beginning, while temperatures have hardly changed, it may be more than the tolerance. Nor does the range
count then, as long as it is less than data will make of it (see `reach`). While the sum grows by itself, because
sources give more for a higher temperature, errors of all steps count for as long as it does: until data change
next, and then for as large a part of the run as before (`piece`). What each error may grow to by the end counts too
(see `growth`).

Every step also rounds temperatures, by up to half a unit in their last place, in the same direction for many steps
where they change little. That is counted (`rounded`), because in float32 it exceeds a small tolerance: 100 steps at
300 K lose up to 1.8e-3 K. An estimate that may consist of rounding does not make steps shorter, and lets them grow as
long as the rounding of all steps would exceed the tolerance: fewer steps round less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SAFETY = 0.7  # of the tolerance that the next step aims at
MOST_GROWTH = {"rkl2": 4.0, "adi": 3.0}  # of a step to the next
LEAST_SHRINKING, MOST_SHRINKING = 0.8, 0.1  # of a step that is taken again
SAME = 1.2  # growth that is not worth it: equal steps are queued faster
KINK = 0.2  # of a step, after data kinked
KAPPA = {"rkl2": 1 / 18, "adi": 1 / 48}  # of a mode that decays by itself
LASTING = {"rkl2": 0.7, "adi": 0.8}  # times τ whose errors add up
AT_ONCE = 5.0  # errors of adi that add up however soon they are smoothed out
OFTEN = 4.0  # steps after which what errors have come to is looked at first, and then after ever more, up to LATELY
LATELY, MUCH_LONGER = 12.0, 3.0  # steps, and factor between two, for which what is measured of steps of adi holds
CHANGING = 1.4  # as many where data jump or kink: what is left of each change adds up
BEGUN = 0.03  # share of a run before which what lasts is due to its beginning
LOOKED = 1.5  # by how much further a run is each time that it decides on what lasts of its errors
LASTS = 0.5  # of the tolerance that this may come to by the end
NEAR, TIGHTER = 0.75, 1.5  # of the tolerance: a sum of errors that makes steps shorter while it grows; by so much
HARDLY = 0.1  # growth by a factor of e to this power, or less, is too little to count
GROWN = 0.5  # share of the sum of what the errors of all steps may grow to that counts as their joint error
FAR, MOST_CLOSE = 0.5, 32.0  # of that: a sum with which they may be longer again; how much shorter at most
ROUNDING = 64.0  # units of it in the largest temperature, that an estimate may consist of
NOISE = {"rkl2": 16.0, "adi": 4.0}  # units that an estimate has of it even where there is no error
GROWTH_IN_NOISE = 1.5  # of a step whose estimate is nothing but rounding
MOST_TIGHTER, MOST_LOOSER, MOST_TIGHT = 4.0, 1.5, 1e3  # at a time; at all
ADI_TAKES, MORE_TAKES = 3, 2  # steps of adi for one that counts, and for measuring more of it
PROMISING = 1.5  # by how much longer steps of adi mostly are than those of rkl2
GAIN, KEEPING = 1.25, 1.1  # by how much less work a method must be to be tried, and to be kept
SETTLED = 200.0  # steps of rkl2 before adi is tried in the hope that its steps are longer still
HOPED, HOPED_AGAIN = 10.0, 3.0  # by how much; by how much more than they were when adi was tried before
LONGER = 1.25  # each length that is considered than the one before
PATIENCE = 16.0  # steps by one method before the other one is tried again in that hope, twice as many each time
NAMES = (
    # error: the largest of a step, K.
    *("dt", "low", "high", "taken", "rejected", "error", "shortest", "longest"),
    # Of an estimate of adi the share left after its step, its error by splitting in K/s, and when these were so.
    *("left", "splitting", "measured", "measured_dt"),
    # By which `choose` goes; ratio: of steps of adi to those of rkl2; probing: how long a step is tried.
    # What lasts of all errors, K, when it was looked at; how much less each step may be off for its sake.
    # rounded: what rounding in all steps may come to, K. largest: of the errors so far, or that may be rounding, K.
    # looked_at: the time of that, s. growing: how fast errors grew by then, 1/s.
    *("lasted", "lasted_at", "looked", "tight", "rounded", "largest", "looked_at", "growing"),
    *("adi", "other_dt", "ratio", "compared", "probing", "wait", "patience", "restarted"),
    # Of all steps of rkl2 that count; steps of adi that count. summed: what the errors of all steps came to by
    # looked_at, K. unsure: the sum of the largest estimates of all steps that may consist of rounding, K. lost_at: the
    # time at which temperatures were finite no more, s; 0 as long as they are. grown: for how long errors grew, s.
    # close: how much less each step may be off as long as the sum is near the tolerance. rate: how fast errors may grow
    # where they do most, 1/s, see `growth`; Inf where that is not known. rising: for how long it was more than 0, s.
    *("stages", "adi_steps", "summed", "unsure", "lost_at", "grown", "close", "rate", "rising"),
)


@dataclass(frozen=True)
class Judgement:
    """What a step may be off. error: E. unsure: the same in K, so far as its estimate may be due to rounding alone.
    rounding: its estimate in K, where that may be due to rounding alone. deciding: the error by which to decide on this
    step and the next one."""

    error: float = 0.0
    unsure: float = 0.0
    rounding: float = 0.0
    deciding: float = 0.0


class StepControl:
    """Decides on steps; what it goes by is in `state`, one number for each of NAMES, which belongs into a snapshot.

    tolerance: of the error, relative to the range. end: of the run, s. first: length of the first step, also after data
    jumped, s. span: least and largest temperature at the start. changing: whether data jump or kink. least: of the
    range, K, as long as temperatures differ by less. feeding: whether a source depends on T.
    """

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
        self._limit, self._growing_for = math.inf, end
        self._unknown = math.inf if feeding else 0.0
        self._rising_for = self._rising_in_all = end
        self.state = np.zeros(len(NAMES)) if state is None else _completed(np.array(state))
        if state is None:
            self["dt"], self["low"], self["high"] = first, *span
            self["shortest"], self["patience"], self["ratio"] = end, PATIENCE, PROMISING
            self["left"], self["measured"], self["tight"], self["close"] = 1.0, -LATELY, 1.0, 1.0
            self["rate"] = self._unknown

    def __getitem__(self, name: str) -> float:
        return float(self.state[NAMES.index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        self.state[NAMES.index(name)] = value

    @property
    def range(self) -> float:
        """Of the temperatures so far, by which errors are measured, K; NaN once they are not finite."""
        return max(self["high"] - self["low"], self._least)

    def limit(self, longest: float) -> None:
        """From now on no step is longer than that, s."""
        self._limit, self["dt"] = longest, min(self["dt"], longest)

    def piece(self, begin: float, end: float, alike: float) -> None:
        """The step to come lies between these two times, s, at which data jump, kink or peak, or the run begins or
        ends. alike: the share of the run that is made up of times between changes as short as these two, or shorter.

        Errors that grow may do so until `end`. Of the time after that, for as large a part as before `begin`, or, when
        nothing is known yet, as alike.
        """
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
        """After data jumped, or kinked: begin with shorter steps again."""
        self["restarted"], self["rate"] = self["taken"], self._unknown
        self["measured"] = -LATELY
        if jump:
            self["dt"] = min(self["dt"], self._first)
            self["adi"], self["probing"], self["wait"], self["patience"] = 0.0, 0.0, 0.0, PATIENCE
            self["ratio"], self["compared"] = PROMISING, 0.0
        else:
            self["dt"] = max(KINK * self["dt"], min(self["dt"], self._first))

    def judge(
        self, method: str, local: float, low: float, high: float, dt: float, unit: float, grown: float = 0.0
    ) -> Judgement:
        """A step whose local error is estimated, K, and which leads to temperatures from low to high. unit: of rounding
        in the largest temperature, K. While errors grow they are not forgotten, and those of all steps add up. grown:
        what its errors may grow to by the end, K."""
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
        """Of an error that follows from an estimate of so many units of rounding: what counts for the lengths of steps.
        It is more for the sake of what lasts, and small enough where the estimate may be due to rounding. noise: units
        up to which steps may grow."""
        error *= self["tight"] * self["close"]
        if units <= noise:
            return min(error, SAFETY * self.tolerance / GROWTH_IN_NOISE**2)
        return min(error, SAFETY * self.tolerance) if units <= ROUNDING else error

    def asks_for_more(self, error: float, dt: float) -> bool:
        """Whether to measure more of a step of adi than its error, by which was decided."""
        since = self["taken"] - self["measured"]
        if not math.isfinite(error):
            return False
        other = not self["measured_dt"] / MUCH_LONGER <= dt <= MUCH_LONGER * self["measured_dt"]
        return other or since > 0 if error > self.tolerance else other or since >= LATELY

    def note_more(self, local: float, left: float, splitting: float, dt: float) -> None:
        """See `asks_for_more`. left, splitting: K, of a step of dt whose error is estimated to be local, K."""
        self["left"] = min(left / local, 1.0) if local > 0 else 1.0
        self["splitting"], self["measured"], self["measured_dt"] = splitting / dt, self["taken"], dt

    @property
    def looks(self) -> bool:
        """Whether to look at what lasts of all errors so far, now that a step has been taken."""
        return self["taken"] - self["looked"] >= min(LATELY, max(OFTEN, OFTEN / 16 * self["taken"]))

    def note_errors(self, t: float, error: float, growth: float) -> None:
        """See `looks`. error: the largest that the errors of all steps have come to by a time t, K. growth: how fast
        they would grow without new ones, 1/s; 0 if they would not."""
        self["rising"] += t - self["looked_at"] if self["rate"] > 0 else 0.0
        self["grown"] += t - self["looked_at"] if growth > 0 else 0.0
        self["looked_at"], self["growing"] = t, growth
        self["largest"] = max(self["largest"], error)
        near = NEAR * self.tolerance * self.range + self._unsure
        if growth == 0.0 and error > max(self["summed"], near) and self.range > self._least:
            self["close"] = min(TIGHTER * self["close"], MOST_CLOSE)
        elif error < FAR * near:
            self["close"] = max(self["close"] / TIGHTER, 1.0)
        self["summed"] = error

    def note_lasting(self, lasting: float, progress: float, unit: float) -> None:
        """See `looks`. lasting: the largest, K. progress: how far the run is, as a share of it. unit: of rounding in
        the largest temperature, K.

        Errors of the same sign add up where a plate, or a part of it, keeps its heat: what lasts grows with the run. If
        it goes on growing as it did lately, at the end it must not be more than LASTS of the tolerance. How it grows
        while sources make errors grow says nothing of that.
        """
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
        """What rounding alone may have made of the sum of all estimates, K; not known of runs that began before it was
        kept."""
        return self["unsure"] if math.isfinite(self["unsure"]) else 0.0

    def _tighten(self, lasting: float, progress: float, enough: float) -> None:
        since = progress - self["lasted_at"]
        coming = max(lasting - self["lasted"], 0.0) / since * (1.0 - progress)
        wanted = self["tight"] * coming / max(enough - lasting, 0.1 * enough)
        self["tight"] = min(max(wanted, self["tight"] / MOST_LOOSER, 1.0), MOST_TIGHTER * self["tight"], MOST_TIGHT)

    @property
    def lost(self) -> bool:
        """Whether temperatures are not finite any more: no step helps, and the run will end with what is due next."""
        return math.isnan(self["low"])

    def accept(self, step: Judgement, low: float, high: float, t: float, dt: float, unit: float) -> None:
        """Note a step that counts, from a time t on. unit: of rounding in the largest temperature, K."""
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
        """Note by what a step was taken that counts. stages: of a step of rkl2."""
        if method == "adi":
            self["adi_steps"] += 1
        else:
            self["stages"] += stages

    def go_on(self, method: str, error: float, dt: float) -> None:
        """Decide on the step after one of dt with that error."""
        most = MOST_GROWTH[method]
        growth = min(max(math.sqrt(SAFETY * self.tolerance / error), MOST_SHRINKING), most) if error > 0 else most
        following = dt * (growth if not 1.0 <= growth <= SAME else 1.0)
        # A step that ended where the clock has a time may have been much shorter than it could be.
        self["dt"] = following if growth < 1.0 else max(following, self["dt"])

    def take_again(self, error: float, dt: float) -> None:
        """Decide on a shorter step in place of one of dt with that error."""
        self["rejected"] += 1
        if self["probing"]:
            self._compare(error, dt)
            self._go_back()
            return
        factor = math.sqrt(SAFETY * self.tolerance / error) if math.isfinite(error) else 0.0
        self["dt"] = dt * min(max(factor, MOST_SHRINKING), LEAST_SHRINKING)

    def choose(self, error: float, dt: float, stages: Callable[[float], int], worth: float) -> None:
        """Change between rkl2 and adi where the other one gets further in the same time, after a step of dt with that
        error. stages: of rkl2 for a step of some length. worth: how many stages take as long as a step of adi."""

        def cost(adi: float, dt: float) -> float:
            """Stages for each second."""
            return (ADI_TAKES * worth if adi else stages(dt)) / dt

        adi = self["adi"]
        if self.lost:
            return
        if self["probing"]:
            if dt < 0.5 * self["probing"]:
                return  # the clock had a time so soon that such a step says little
            self._compare(error, dt)
            if cost(adi, self["dt"]) * KEEPING < cost(1.0 - adi, self["other_dt"]):
                self["probing"], self["wait"], self["patience"] = 0.0, PATIENCE, PATIENCE
            else:
                self._go_back()
            return
        other = self["dt"] * (self["ratio"] if not adi else 1.0 / self["ratio"])
        here = cost(adi, self["dt"])
        self["wait"] = max(0.0, self["wait"] - 1)
        hope = 1.0
        if self["wait"] == 0 and (adi or self["compared"] or self["taken"] - self["restarted"] >= SETTLED):
            hope = HOPED_AGAIN if self["compared"] and not adi else HOPED
        longest, other = min(hope * other, self._limit), min(other, self._limit)
        while other <= longest:
            if cost(1.0 - adi, other) * GAIN < here:
                self._probe(other)
                return
            other *= LONGER

    def _probe(self, dt: float) -> None:
        """Have the next step taken by the other method."""
        self["probing"], self["adi"], self["other_dt"], self["dt"] = dt, 1.0 - self["adi"], self["dt"], dt

    def _go_back(self) -> None:
        self["probing"], self["adi"], self["dt"] = 0.0, 1.0 - self["adi"], self["other_dt"]
        self["wait"] = self["patience"]
        self["patience"] = 2.0 * self["patience"]

    def _compare(self, error: float, dt: float) -> None:
        """Note how much longer steps of adi are than those of rkl2, after one that was tried."""
        factor = math.sqrt(SAFETY * self.tolerance / error) if error > 0 else math.inf
        longest = dt * min(max(factor, MOST_SHRINKING), 4.0)
        ratio = longest / self["other_dt"]
        self["ratio"], self["compared"] = ratio if self["adi"] else 1.0 / ratio, 1.0


def _completed(state: np.ndarray) -> np.ndarray:
    """A state of a run that began before some of NAMES were kept: what they count is not known, and Inf."""
    completed = np.concatenate([state, np.full(len(NAMES) - len(state), math.inf)])
    if len(state) <= NAMES.index("close"):
        completed[NAMES.index("close")] = 1.0
    return completed

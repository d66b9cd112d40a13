"""How long the next step may be: a controller for steps whose error is estimated.

A step of order 2 makes a local error e = κ (Δt/τ)³ R, where R is the range of the temperatures so far and τ the time in
which the solution changes. What diffusion smooths out, it forgets in about that time, so the errors of τ/Δt steps add
up (those of the whole run, if there are fewer), to

    E = e · min((κ R / e)^(1/3), t_end / Δt) / R

of the range, times the number of such times LASTING that do count, which was measured on random plates. E is of order
Δt² and must not exceed the tolerance. A step that does is taken again, shorter. The step after is
Δt·√(SAFETY · tolerance / E), within limits (after the control of the error per unit step: Hairer, Nørsett & Wanner,
Solving ODEs I, 2nd ed., 1993, section II.4; the unit is τ).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

SAFETY = 0.7  # of the tolerance that the next step aims at
MOST_GROWTH = {"rkl2": 4.0, "adi": 2.0}  # of a step to the next
LEAST_SHRINKING, MOST_SHRINKING = 0.8, 0.1  # of a step that is taken again
SAME = 1.2  # growth that is not worth it: equal steps are queued faster
KINK = 0.2  # of a step, after data kinked
KAPPA = {"rkl2": 1 / 18, "adi": 1 / 48}  # of a mode that decays by itself
LASTING = {"rkl2": 0.7, "adi": 0.8}  # times τ whose errors add up
CHANGING = 1.4  # as many where data jump or kink: what is left of each change adds up
ADI_TAKES = 3  # steps of adi for one that counts
PROMISING = 1.5  # by how much longer steps of adi mostly are than those of rkl2
SETTLED, GAIN = 64.0, 1.5  # steps of rkl2 before one of adi is tried that takes the place of more than its work
PATIENCE = 16.0  # steps by one method before the other one is tried again, twice as many each time
FURTHEST = 16.0  # steps of one method that one of the other is tried to take the place of
NAMES = (
    *("dt", "low", "high", "taken", "rejected", "error", "shortest", "longest"),
    *("adi", "other_dt", "probing", "wait", "patience", "restarted"),  # by which `choose` goes
)


class StepControl:
    """Decides on steps; what it goes by is in `state`, one number for each of NAMES, which belongs into a snapshot.

    tolerance: of the error, relative to the range. end: of the run, s. first: length of the first step, also after data
    jumped, s. span: least and largest temperature at the start. changing: whether data jump or kink.
    """

    def __init__(
        self,
        tolerance: float,
        end: float,
        first: float,
        span: tuple[float, float],
        changing: bool = False,
        state: np.ndarray | None = None,
    ) -> None:
        self.tolerance, self._end, self._first = tolerance, end, first
        self._lasting = CHANGING if changing else 1.0
        self.state = np.zeros(len(NAMES)) if state is None else np.array(state)
        if state is None:
            self["dt"], self["low"], self["high"] = first, *span
            self["shortest"], self["patience"] = end, PATIENCE

    def __getitem__(self, name: str) -> float:
        return float(self.state[NAMES.index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        self.state[NAMES.index(name)] = value

    def restart(self, jump: bool) -> None:
        """After data jumped, or kinked: begin with shorter steps again."""
        self["restarted"] = self["taken"]
        if jump:
            self["dt"] = min(self["dt"], self._first)
            self["adi"], self["probing"], self["wait"], self["patience"] = 0.0, 0.0, 0.0, PATIENCE
        else:
            self["dt"] = max(KINK * self["dt"], min(self["dt"], self._first))

    def error(self, method: str, local: float, low: float, high: float, dt: float, rounding: float) -> float:
        """E of a step whose local error is estimated, K, and which leads to temperatures from low to high.
        rounding: what of the estimate may be nothing but that, K; a step with no more is good enough, and the next one
        need not be shorter."""
        range_ = max(self["high"], high) - min(self["low"], low)
        if local == 0.0 or (range_ == 0.0 and local <= rounding):
            return 0.0
        if not (range_ > 0 and math.isfinite(local)):
            return math.inf
        e = local / range_
        several = LASTING[method] * self._lasting * (KAPPA[method] / e) ** (1 / 3)
        error = e * max(1.0, min(several, self._end / dt))
        return error if local > rounding else min(error, SAFETY * self.tolerance)

    @property
    def lost(self) -> bool:
        """Whether temperatures are not finite any more: no step helps, and the run will end with what is due next."""
        return math.isnan(self["low"])

    def accept(self, error: float, low: float, high: float, dt: float) -> None:
        """Note a step that counts."""
        lost = not math.isfinite(low + high)
        self["low"], self["high"] = (math.nan, math.nan) if lost else (min(self["low"], low), max(self["high"], high))
        self["taken"] += 1
        self["error"] = max(self["error"], error)
        self["shortest"], self["longest"] = min(self["shortest"], dt), max(self["longest"], dt)

    def go_on(self, method: str, error: float, dt: float) -> None:
        """Decide on the step after one of dt with that error."""
        most = MOST_GROWTH[method]
        growth = min(math.sqrt(SAFETY * self.tolerance / error), most) if error > 0 else most
        following = dt * (growth if not 1.0 <= growth <= SAME else 1.0)
        # A step that ended where the clock has a time may have been much shorter than it could be.
        self["dt"] = following if growth < 1.0 else max(following, self["dt"])

    def take_again(self, error: float, dt: float) -> None:
        """Decide on a shorter step in place of one of dt with that error."""
        self["rejected"] += 1
        if self["probing"]:
            self["probing"], self["adi"], self["dt"] = 0.0, 1.0 - self["adi"], self["other_dt"]
            self._be_patient()
            return
        factor = math.sqrt(SAFETY * self.tolerance / error) if math.isfinite(error) else 0.0
        self["dt"] = dt * min(max(factor, MOST_SHRINKING), LEAST_SHRINKING)

    def choose(self, stages: Callable[[float], int], safe: float, worth: float) -> None:
        """Change between rkl2 and adi where the other one may go further in the same time. stages: of rkl2 for a step
        of some length. safe: longest explicit step, s. worth: how many stages take as long as a step of adi."""
        dt, takes = self["dt"], ADI_TAKES * worth
        if self["probing"]:
            self["probing"] = 0.0
            self._be_patient()
        elif self["wait"] > 0:
            self["wait"] -= 1
        elif not self["adi"] and stages(dt) * PROMISING > takes:
            self["adi"], self["other_dt"], self["wait"] = 1.0, dt, PATIENCE
        elif not self["adi"] and self["taken"] - self["restarted"] >= SETTLED:
            self._probe(dt, GAIN * dt * takes / stages(dt))
        elif self["adi"]:
            even = max((2.0 * dt / takes) ** 2 / safe, 0.5 * dt)  # of rkl2, with 2 √(even / safe) stages
            self._probe(dt, even)
        if self["adi"] and dt < 0.7 * self["other_dt"] and takes / dt > stages(self["other_dt"]) / self["other_dt"]:
            self["adi"], self["dt"] = 0.0, self["other_dt"]
            self._be_patient()

    def _probe(self, dt: float, even: float) -> None:
        """Try a step of the other method, unless it had to be too long to be as cheap. even: how long."""
        if even < FURTHEST * dt:
            self["probing"], self["adi"], self["other_dt"], self["dt"] = 1.0, 1.0 - self["adi"], dt, even
        else:
            self._be_patient()

    def _be_patient(self) -> None:
        self["wait"] = self["patience"]
        self["patience"] = 2.0 * self["patience"]

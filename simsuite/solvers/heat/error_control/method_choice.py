"""Which of two methods takes the next step, rkl2 or adi: the one that gets further in the same time.

Steps of rkl2 take longer the longer they are, those of adi do not. How long steps of the other method could be shows
only if it takes one. So a step is taken by it when that would pay if its length stood in the same proportion to those
of the present method as when it was last tried, and now and then in the hope that it has become longer."""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.solvers.heat.error_control.control_state import MOST_SHRINKING, SAFETY, ControlState

# how many steps of adi are taken for one that counts, and to measure more of it than its error
ADI_TAKES, MORE_TAKES = 3, 2
PROMISING = 1.5  # the factor by which steps of adi are mostly longer than those of rkl2
GAIN, KEEPING = 1.25, 1.1  # the factors by which the work of a method must be less for it to be tried, and to be kept
SETTLED = 200.0  # the number of steps of rkl2 before adi is tried in the hope that its steps are longer than expected
# the factor by which they may be longer than expected, and by which they may be longer than when adi was tried before
HOPED, HOPED_AGAIN = 10.0, 3.0
LONGER = 1.25  # the ratio of each length that is considered to the one before
# the number of steps by one method before the other one is tried again in that hope; it doubles each time
PATIENCE = 16.0


class MethodChoice:
    """Chooses by what it keeps in `state`. tolerance: of the error, relative to the range."""

    def __init__(self, state: ControlState, tolerance: float) -> None:
        self._state, self._tolerance, self._longest = state, tolerance, math.inf

    def begin(self) -> None:
        """Begin with the first method, at the beginning of a run or after data jumped."""
        state = self._state
        state["adi"], state["probing"], state["wait"] = 0.0, 0.0, 0.0
        state["patience"], state["ratio"], state["compared"] = PATIENCE, PROMISING, 0.0

    def limit(self, longest: float) -> None:
        """Consider no longer steps than `longest`, s, from now on."""
        self._longest = longest

    def refuses(self, error: float, dt: float) -> bool:
        """Go back to the other method if the step of dt that is to be taken again, because of its error, was there to
        try a method. Return whether it was."""
        state = self._state
        if not state["probing"]:
            return False
        self._compare(error, dt)
        self._go_back()
        return True

    def choose(self, error: float, dt: float, stages: Callable[[float], int], worth: float) -> None:
        """Change between rkl2 and adi where the other one gets further in the same time, after a step of dt with that
        error.

        stages: how many stages rkl2 needs for a step of a length. worth: how many stages take as long as a step of adi.
        """
        state = self._state

        def cost(adi: float, dt: float) -> float:
            """The work of a method with steps of dt, in stages for each second of the run's time."""
            return (ADI_TAKES * worth if adi else stages(dt)) / dt

        adi = state["adi"]
        if state["probing"]:
            if dt < 0.5 * state["probing"]:
                return  # a step that was cut short by a time of the clock says little
            self._compare(error, dt)
            if cost(adi, state["dt"]) * KEEPING < cost(1.0 - adi, state["other_dt"]):
                state["probing"], state["wait"], state["patience"] = 0.0, PATIENCE, PATIENCE
            else:
                self._go_back()
            return
        other = state["dt"] * (state["ratio"] if not adi else 1.0 / state["ratio"])
        here = cost(adi, state["dt"])
        state["wait"] = max(0.0, state["wait"] - 1)
        hope = 1.0
        if state["wait"] == 0 and (adi or state["compared"] or state["taken"] - state["restarted"] >= SETTLED):
            hope = HOPED_AGAIN if state["compared"] and not adi else HOPED
        longest, other = min(hope * other, self._longest), min(other, self._longest)
        while other <= longest:
            if cost(1.0 - adi, other) * GAIN < here:
                self._probe(other)
                return
            other *= LONGER

    def _probe(self, dt: float) -> None:
        """Have the next step taken by the other method."""
        state = self._state
        state["probing"], state["adi"] = dt, 1.0 - state["adi"]
        state["other_dt"], state["dt"] = state["dt"], dt

    def _go_back(self) -> None:
        state = self._state
        state["probing"], state["adi"], state["dt"] = 0.0, 1.0 - state["adi"], state["other_dt"]
        state["wait"] = state["patience"]
        state["patience"] = 2.0 * state["patience"]

    def _compare(self, error: float, dt: float) -> None:
        """Note how much longer steps of adi are than those of rkl2, after a step by which the other method was
        tried."""
        state = self._state
        factor = math.sqrt(SAFETY * self._tolerance / error) if error > 0 else math.inf
        longest = dt * min(max(factor, MOST_SHRINKING), 4.0)
        ratio = longest / state["other_dt"]
        state["ratio"], state["compared"] = ratio if state["adi"] else 1.0 / ratio, 1.0

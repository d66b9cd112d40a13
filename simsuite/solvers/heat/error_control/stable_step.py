"""The longest explicit step that is stable, where temperatures leave the range that was foreseen.

The conductivity may depend on T, and the range of temperatures is known before a run only as far as sources give at the
temperatures of the data. A source that gives more for a higher temperature, as a reaction does, may drive a plate far
beyond that. Steps of rkl2 with as many stages as the foreseen range asks for are then unstable, which an estimate of
their error shows: they become ever shorter. So the range is widened in steps by WIDER as temperatures leave it, and the
bound for the fastest mode is found anew."""

from __future__ import annotations

import math

import numpy as np

from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.stepper_record import SAFETY

WIDER = 1.1  # the factor by which the foreseen range is widened at once


class StableStep:
    """safe: SAFETY times the longest stable explicit step at the temperatures that are foreseen, s. end: of the run,
    s."""

    def __init__(self, made: Discretisation, safe: float, end: float) -> None:
        self._made, self._safe, self._end = made, safe, end
        self._looks = made.edges.looks(end)
        self._foreseen = (-math.inf, math.inf)
        if made.law is not None and math.isfinite(safe) and any(f.depends_on("T") for f in made.sources):
            with np.errstate(all="ignore"):
                self._foreseen = made.reach(self._looks, end)
        self._known: dict[tuple[int, int], float] = {(0, 0): safe}

    def at(self, low: float, high: float) -> float:
        """SAFETY times the longest stable explicit step where temperatures are between these two, K. It does not depend
        on what was asked before."""
        least, most = self._foreseen
        span = most - least if most > least else max(abs(least), abs(most), 1.0)
        if not math.isfinite(span):
            return self._safe
        wider = self._times(least - low, span), self._times(high - most, span)
        if wider not in self._known:
            beyond = least - span * (WIDER ** wider[0] - 1), most + span * (WIDER ** wider[1] - 1)
            self._known[wider] = self._at(beyond)
        return self._known[wider]

    @staticmethod
    def _times(excess: float, span: float) -> int:
        """How often the range has to be widened for temperatures that exceed it by so much."""
        return math.ceil(math.log1p(excess / span) / math.log(WIDER)) if 0.0 < excess < math.inf else 0

    def _at(self, bounds: tuple[float, float]) -> float:
        try:
            with np.errstate(all="ignore"):
                fastest, _ = self._made.rates(self._looks, self._end, bounds)
        except (OverflowError, ZeroDivisionError):
            return self._safe
        return min(self._safe, SAFETY * 2.0 / fastest) if 0.0 < fastest < math.inf else self._safe

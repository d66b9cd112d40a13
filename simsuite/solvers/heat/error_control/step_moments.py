"""The times of a step whose length is decided on the way, for tables of what depends on time."""

from __future__ import annotations

from simsuite.core import Clock


class StepMoments:
    """A clock for tables that are filled for a single step, which begins at `begin` and is `span` long."""

    def __init__(self, clock: Clock) -> None:
        self.times = clock.times
        self.begin, self.span = clock.times[0], 0.0

    def inside(self, step: int) -> tuple[float, float, int, int]:
        return self.begin, self.span, 0, 1

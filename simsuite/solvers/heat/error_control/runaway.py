"""Temperatures that run away: a source gives more for a higher temperature, such as T' = T² with T = 1/(t* - t). Steps
that control their error come ever closer to t*, and do not get there in any time.

This is recognised by how soon the range of temperatures grows by a factor GROWN: each time it takes less than SOONER of
the time that it took before, with steps shorter than SHORTER of those before. If that goes on, these times add up like
a geometric series, whose sum leads to t*."""

from __future__ import annotations

from itertools import pairwise

GROWN = 2.0**0.5
SOONER = 0.92  # The range must grow by GROWN in less than this share of the time it took before, twice in a row.
# Steps must be shorter than this share of those when the range had last grown by GROWN, twice in a row, and not longer
# since.
SHORTER = 0.9
# If the next growth takes more than so many times the time that it should take, temperatures do not run away.
LATER = 1.5
BEGUN = 400  # Nothing is said before so many steps.
FAR = 10.0  # So many times as many steps as were taken must be left, if all are as long as the last one.


class Runaway:
    """Is told of each step of a run that ends at `end`, s, and finds the time that steps will not get beyond if
    temperatures run away."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._taken, self._next = 0, 0.0
        # the last times, s, at which the range had grown by GROWN, each with the length of the step then, s
        self._grown: list[tuple[float, float]] = []
        # the time, s, that steps hardly get beyond; None where temperatures do not seem to run away
        self.limit: float | None = None

    def restart(self) -> None:
        """Begin anew after data jumped or kinked: how soon the range grew before says nothing about the time after."""
        self._grown, self._next, self.limit = [], 0.0, None

    def note(self, t: float, dt: float, range_: float) -> None:
        """Note a step that has led to time t. dt: the length of steps from now on. range_: the range of the
        temperatures."""
        self._taken += 1
        if range_ >= self._next:
            self._grown = [*self._grown[-3:], (t, dt)]
            self._next = GROWN * range_
        begun = self._taken >= BEGUN and self._end - t > FAR * self._taken * dt
        self.limit = self._sum(t, dt) if begun and len(self._grown) == 4 else None

    def _sum(self, t: float, dt: float) -> float | None:
        """The time at which the range would have grown without end; None where it does not grow sooner and sooner."""
        times, steps = zip(*self._grown)
        first, second, third = (after - before for before, after in pairwise(times))
        if not (0 < second <= SOONER * first and 0 < third <= SOONER * second):
            return None
        if dt > steps[3] or steps[3] > SHORTER * steps[2] or steps[2] > SHORTER * steps[1]:
            return None
        ratio = third / second
        limit = times[3] + third * ratio / (1.0 - ratio)
        return limit if t < min(limit, times[3] + LATER * third * ratio) and limit < self._end else None

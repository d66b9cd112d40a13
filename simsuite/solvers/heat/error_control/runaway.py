"""Temperatures that run away: a source gives more for a higher temperature, such as T' = T² with T = 1/(t* - t). Steps
that control their error come ever closer to t*, and do not get there in any time.

That shows in how soon the range of temperatures grows by a factor GROWN: each time in less than SOONER of the time
before, with steps less than SHORTER of those before. If that goes on, all of these times add up to a geometric series,
which ends at t*.
"""

from __future__ import annotations

from itertools import pairwise

GROWN = 2.0**0.5
SOONER = 0.92  # of the time that the range took to grow so before: less, twice in a row
SHORTER = 0.9  # of the steps when it had grown so before: less, twice in a row, and since then no longer ones
LATER = 1.5  # times the time that it should take to grow so again: more, and it does not go on
BEGUN = 400  # steps, before which nothing is said
FAR = 10.0  # times as many steps as were taken would be left, were all as long as the last


class Runaway:
    """Told of each step of a run that ends at `end`, s, says where it comes to if it goes on like that."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._taken, self._next = 0, 0.0
        self._grown: list[tuple[float, float]] = []  # the last times, s, and steps then, s, with which the range had
        self.limit: float | None = None  # s, beyond which steps hardly get; None where nothing says that they do not

    def restart(self) -> None:
        """Data jumped or kinked: how soon the range grew before that says nothing about the time after."""
        self._grown, self._next, self.limit = [], 0.0, None

    def note(self, t: float, dt: float, range_: float) -> None:
        """A step that has led to a time t, after which steps are to be of dt, and what temperatures range over."""
        self._taken += 1
        if range_ >= self._next:
            self._grown = [*self._grown[-3:], (t, dt)]
            self._next = GROWN * range_
        begun = self._taken >= BEGUN and self._end - t > FAR * self._taken * dt
        self.limit = self._sum(t, dt) if begun and len(self._grown) == 4 else None

    def _sum(self, t: float, dt: float) -> float | None:
        """When the range would have grown without end; None where it does not grow sooner and sooner."""
        times, steps = zip(*self._grown)
        first, second, third = (after - before for before, after in pairwise(times))
        if not (0 < second <= SOONER * first and 0 < third <= SOONER * second):
            return None
        if dt > steps[3] or steps[3] > SHORTER * steps[2] or steps[2] > SHORTER * steps[1]:
            return None
        ratio = third / second
        limit = times[3] + third * ratio / (1.0 - ratio)
        return limit if t < min(limit, times[3] + LATER * third * ratio) and limit < self._end else None

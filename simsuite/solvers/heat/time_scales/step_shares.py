"""The share of its steps that a run with control of their error has taken by a time.

It follows from how steps are foretold (see `expected_steps`). Some are in proportion to the turns that smooth data
make, which may all be made within a short pulse. Others go with the logarithm of the time since the run began, or since
data last jumped or kinked, because steps are short then and grow."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Course:
    """end: of the run, s. changes: increasing times at which data jump or kink, s. times, turned: some times, s, and
    the share of all turns that is made by each. by_turns: the share of steps that go with turns. at_first: the share of
    steps that begin the run. All other steps follow changes. growing: how long after a change steps begin to grow, s;
    infinite where nothing is known but the time."""

    end: float
    changes: tuple[float, ...] = ()
    times: tuple[float, ...] = ()
    turned: tuple[float, ...] = ()
    by_turns: float = 0.0
    at_first: float = 0.0
    growing: float = math.inf

    def share(self, t: float) -> float:
        """The share of all steps that is taken by a time t, from 0 to 1."""
        if not 0.0 < self.growing < math.inf:
            return t / self.end
        by_turns = self.by_turns if self.times else 0.0
        begins, done = self._pieces
        i = bisect.bisect_right(begins, t) - 1
        after = begins[i + 1] if i + 1 < len(begins) else self.end
        within = math.log1p((t - begins[i]) / self.growing) / math.log1p((after - begins[i]) / self.growing)
        others = float(done[i] + within * (done[i + 1] - done[i]))
        turned = float(np.interp(t, self.times, self.turned)) if self.times else 0.0
        return by_turns * turned + (1.0 - by_turns) * others

    @cached_property
    def _pieces(self) -> tuple[list[float], np.ndarray]:
        """The times at which the pieces between changes begin, s; and the share of the steps that do not go with turns
        that is taken by each of these times, followed by 1."""
        begins = [0.0, *(t for t in self.changes if 0.0 < t < self.end)]
        weights = np.log1p(np.diff([*begins, self.end]) / self.growing)
        others = 1.0 - self.by_turns - self.at_first
        if len(begins) > 1 and others > 0.0 and np.sum(weights[1:]) > 0.0:
            weights[1:] *= others / np.sum(weights[1:])
            weights[0] = self.at_first
        done = np.append(0.0, np.cumsum(weights))
        return begins, done / done[-1]

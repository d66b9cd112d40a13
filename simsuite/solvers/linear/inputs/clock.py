"""The times at which steps of equal length begin.

Step k begins at k dt, rounded once: for dt = 0.1, step 3 begins at 0.3, not at 3 * 0.1 = 0.30000000000000004, and steps
begin at whole numbers where that is meant, so that an input like t % 24 < 1 misses no step. dt is taken for the decimal
number that it is written as, p / q, and k p / q is one division of whole numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simsuite.core import Clock

_EXACT = 2**53  # Whole numbers up to this are exact as floating-point numbers.
_STEPS = 10**6  # For at least so many steps, the numerators k p are exact.


@functools.lru_cache(64)
def tick(dt: float) -> tuple[float, int]:
    """(p, q) such that step k begins at k p / q. If dt has many digits, or is tiny, q is 1."""
    written = Fraction(repr(float(dt)))
    if max(written.numerator * _STEPS, written.denominator) > _EXACT:
        return float(dt), 1
    return float(written.numerator), written.denominator


def step_times(dt: float, steps: range | np.ndarray) -> np.ndarray:
    """The times at which these steps begin, s."""
    p, q = tick(dt)
    return p * np.asarray(steps, np.float64) / q


@dataclass(frozen=True)
class UniformClock(Clock):
    """The clock of a run all of whose steps have the length dt, s."""

    length: float = 1.0

    @classmethod
    def of(cls, dt: float, frames: Sequence[int]) -> UniformClock:
        """The clock for steps of the length dt. frames: the steps at which frames are stored."""
        return cls(tuple(frames), tuple(step_times(dt, np.array(frames)).tolist()), length=dt)

    def interval(self, step: int) -> tuple[float, float, int, int]:
        """See `Clock.interval`."""
        p, q = tick(self.length)
        return 0.0, p, step, q

    def equal_steps(self, step: int) -> int:
        """See `Clock.equal_steps`."""
        return self.end - step

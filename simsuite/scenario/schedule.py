"""Quantities that are constant for a while, then jump: rates, volatilities and dividend yields."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """values[i] from times[i] on, up to times[i + 1], the last one for ever. times: in years, increasing, first 0."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def constant(cls, value: float) -> Schedule:
        return cls((0.0,), (value,))

    @property
    def is_constant(self) -> bool:
        return len(set(self.values)) == 1

    @property
    def value(self) -> float:
        """The number that a constant schedule is. Raises `ValueError` if it changes."""
        if not self.is_constant:
            raise ValueError(f"is not constant, but {list(self.values)} from {list(self.times)} years on")
        return self.values[0]

    @property
    def written(self) -> float | list[list[float]]:
        """The number or the list that gives it back in a scenario."""
        if len(self.values) == 1:
            return self.values[0]
        return [[time, value] for time, value in zip(self.times, self.values)]

    def at(self, t: float) -> float:
        """The value at a time t >= 0."""
        return self.values[bisect_right(self.times, t) - 1]

    def integral(self, a: float, b: float) -> float:
        """The integral over [a, b], where 0 <= a <= b."""
        return math.fsum(value * length for value, length in self._pieces(a, b))

    def integral_of_square(self, a: float, b: float) -> float:
        """The integral of the square over [a, b], where 0 <= a <= b."""
        return math.fsum(value * value * length for value, length in self._pieces(a, b))

    def mean(self, t: float) -> float:
        """The mean over [0, t]; at t = 0, the value there."""
        return self.integral(0.0, t) / t if t > 0 else self.values[0]

    def root_mean_square(self, t: float) -> float:
        """The root mean square over [0, t]: for a volatility, this is the constant one with the same distribution at t.
        At t = 0, the value there."""
        return math.sqrt(self.integral_of_square(0.0, t) / t) if t > 0 else abs(self.values[0])

    def _pieces(self, a: float, b: float) -> Iterator[tuple[float, float]]:
        """The values within [a, b] and how long each one lasts there."""
        for start, stop, value in zip(self.times, (*self.times[1:], math.inf), self.values):
            if start < b and stop > a:
                yield value, min(stop, b) - max(start, a)

"""The time at which a number is at a level, between two looks at it.

It is that at which a polynomial through the nearest values, at most four, is at the level; by as much as it differs
from that of the polynomial through one value less, it may be wrong. For looks h apart at a smooth number y that error
is of the order h**4 y'''' / y': four values are a cubic. No polynomial goes over a time at which data jump or kink. See
Stoer and Bulirsch, Introduction to Numerical Analysis (2002), sections 2.1.3 (Newton's form) and 2.1.4 (the error).

Where derivatives are known on both sides, the cubic is that of Hermite (section 2.1.5), through the values and the
derivatives at the two looks alone, so that other looks do not matter; it differs from the parabolas through one
derivative less by what is told as the error.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

_BISECTIONS = 100
Point: TypeAlias = tuple[float, float]  # a time and the value then


@dataclass
class Crossing:
    """One time at which a level was reached. points: the looks around it. left: the number of the last one before it.
    open: whether further looks would still help. slopes: the derivatives just after the look before it and just before
    the look after it, if they are known."""

    points: list[Point]
    left: int
    open: bool
    slopes: tuple[float, float] | None = None

    def follow(self, point: Point, last: bool) -> None:
        """Take one more look, unless there are enough. last: whether data jump or kink there."""
        if self.open:
            self.points.append(point)
            behind = len(self.points) - 1 - self.left
            self.open = not last and behind < (2 if self.left > 0 else 3)

    def time(self, level: float, most: int) -> Point:
        """(the time at which the level was reached, how far it may be wrong)."""
        if len(self.points) == 1:
            return self.points[0][0], 0.0
        if self.slopes is not None:
            return self._by_slopes(level, *self.slopes)
        n = min(most, len(self.points))
        (a, _), (b, _) = self.points[self.left : self.left + 2]
        if n == 1:
            return b, 0.0
        found = self._root(level, n)
        if n == 2:
            return found, max(found - a, b - found)
        return found, abs(found - self._root(level, n - 1))

    def _root(self, level: float, n: int) -> float:
        """The time between the two looks at which the polynomial through n values around it is at the level."""
        begin = min(max(self.left + 1 - n // 2, 0), len(self.points) - n)
        chosen = self.points[begin : begin + n]
        a = self.points[self.left][0]
        nodes = [t - a for t, _ in chosen]
        return self._passed(nodes, _divided_differences(nodes, [v - level for _, v in chosen]))

    def _by_slopes(self, level: float, begin: float, end: float) -> Point:
        """See `time`: of the derivatives at the two looks."""
        (a, va), (b, vb) = self.points[self.left : self.left + 2]
        h, mean = b - a, (vb - va) / (b - a)
        found = self._passed(
            [0.0, 0.0, h, h], [va - level, begin, (mean - begin) / h, (begin + end - 2 * mean) / h / h]
        )
        first = self._passed([0.0, 0.0, h], [va - level, begin, (mean - begin) / h])
        second = self._passed([h, h, 0.0], [vb - level, end, (end - mean) / h])
        return found, max(abs(found - first), abs(found - second))

    def _passed(self, nodes: Sequence[float], coefficients: Sequence[float]) -> float:
        """The time between the two looks at which a polynomial in the time since the first of them is 0."""
        (a, va), (b, vb) = self.points[self.left : self.left + 2]
        rises, low, high = va < vb, 0.0, b - a
        for _ in range(_BISECTIONS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            if (_newton(nodes, coefficients, middle) < 0.0) == rises:
                low = middle
            else:
                high = middle
        return min(a + high, b)


def _divided_differences(nodes: Sequence[float], values: Sequence[float]) -> list[float]:
    """The coefficients of Newton's form of the polynomial through these points."""
    column, found = list(values), [values[0]]
    for order in range(1, len(nodes)):
        pairs = itertools.pairwise(column)
        column = [(d - c) / (nodes[i + order] - nodes[i]) for i, (c, d) in enumerate(pairs)]
        found.append(column[0])
    return found


def _newton(nodes: Sequence[float], coefficients: Sequence[float], t: float) -> float:
    value = coefficients[-1]
    for node, coefficient in zip(reversed(nodes[: len(coefficients) - 1]), reversed(coefficients[:-1])):
        value = value * (t - node) + coefficient
    return value

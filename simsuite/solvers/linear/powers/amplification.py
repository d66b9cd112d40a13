"""How errors that are made step by step accumulate, where errors and states grow and decay.

A step at t makes an error of e(t) |X(t)|, the share e(t) of the state's norm. At T it has become N(T - t) e(t) |X(t)|,
if the system makes an error of size N(t) in t steps of one of size 1. Relative to the state at T all these errors add
up to

    sum over t of N(T - t) e(t) |X(t)| / |X(T)|.

All three functions are known at some steps only, and interpolated in between.
"""

from __future__ import annotations

import math

import numpy as np

SMALLEST = 1e-280  # A state smaller than this counts as 0.


class Curve:
    """A size as a function of the number t of steps, known at some of them."""

    def __init__(self, t: float, size: float) -> None:
        self.t, self.size = [t], [size]

    def add(self, t: float, size: float) -> None:
        self.t.append(t)
        self.size.append(size)

    def logarithm(self, t: np.ndarray) -> np.ndarray:
        return np.interp(t, self.t, np.log(np.maximum(self.size, 1e-300)))

    def falling(self, t: np.ndarray) -> np.ndarray:
        """The logarithm of the size at t, continued beyond the last known point: a decrease over the second half of the
        known points continues at the same rate; otherwise the size stays constant.
        """
        last = self.t[-1]
        half, end = self.logarithm(np.array([0.5 * last, last]))
        return self.logarithm(t) + min(end - half, 0.0) * np.maximum(t - last, 0.0) / (0.5 * last or 1.0)

    def end(self, steps: int) -> float:
        """The last step up to which a state of this size counts in a run of so many steps: the last known t at which it
        is not as good as 0, or `steps` if that is the last point.
        """
        alive = [t for t, size in zip(self.t, self.size) if size > SMALLEST]
        return float(steps) if not alive or alive[-1] == self.t[-1] else alive[-1]


def amplified(share: Curve, growth: Curve, course: Curve, steps: int, along: float) -> float:
    """The largest sum of relative errors (see the module's formula) at any T up to `steps`. share: e(t); course:
    |X(t)|. Where the states are not known to the end, the sum is continued as in the second half of what is known.

    growth: N(t), of random errors. Errors along the state may shrink less than random ones, though not less than the
    state does: up to so many times less (`along`) is assumed.
    """
    t, X = np.array(course.t), np.array(course.size)
    alive = np.flatnonzero((t > t[0]) & (X > SMALLEST))
    if not len(alive):
        return 0.0
    begin, end = t[0], course.end(steps)
    t, X = t[alive], X[alive]
    each = np.array([_carried(share, growth, course, T, size, along) for T, size in zip(t, X)])
    seen = t[-1] - begin
    early = float(np.max(each[2 * (t - begin) <= seen], initial=0.0))
    worst = float(np.max(each))
    return worst + (worst - early) * max(end - t[-1], 0.0) / (0.5 * seen)


def _carried(share: Curve, growth: Curve, course: Curve, T: float, last: float, along: float) -> float:
    """The sum for one T, at which the state has the norm `last`, by the trapezoidal rule."""
    t, since = np.array(course.t), T - np.array(growth.t)
    at = np.unique(np.concatenate([t[t <= T], since[since >= t[0]]]))
    at = np.union1d(at, 0.5 * (at[1:] + at[:-1]))
    exponent = growth.falling(T - at) + course.logarithm(at) - math.log(last)
    exponent = np.maximum(exponent, np.minimum(exponent + np.log(along), 0.0))
    values = np.exp(np.minimum(exponent + share.logarithm(at), 700.0))
    return float(np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(at)))

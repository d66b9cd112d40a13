"""What data that depend on time come to at most, from bounds by interval arithmetic in spans of the run.

Data that are looked at at some times only may do anything in between, such as a pulse. Here the run is divided into
spans, and those that matter most are halved again and again, until the bounds in them say enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within

_SPANS, _MOST_SPANS = 64, 1024  # the number of spans at first, and about the most
_HALVINGS = 48  # the most halvings of a span
_SHARE = 1.0 / 256.0  # spans are halved that have more than this share of a sum
_NEAR = 1e-6  # relative to the size of the values: how close to the largest value that there can be is close enough

Range: TypeAlias = tuple[float, float]


def halved(bounds: Callable[[np.ndarray, np.ndarray], np.ndarray], end: float) -> tuple[np.ndarray, np.ndarray]:
    """Spans of a run until `end` that are short where bounds are large.

    bounds: returns some bounds, 0 or more, in spans that begin and end at given times: (bounds, spans). Returns the
    times at which spans begin, and the end, and the bounds in them. A span is halved if it has a large share of the sum
    of bound times length, for any of the bounds."""
    begins = np.linspace(0.0, end, _SPANS + 1)
    found = bounds(begins[:-1], begins[1:])
    for _ in range(_HALVINGS):
        sums = found * np.diff(begins)
        much = np.any(sums > _SHARE * np.sum(sums, axis=1, keepdims=True), axis=0)
        if not much.any() or begins.size > _MOST_SPANS:
            break
        new = np.repeat(much, 1 + much)
        begins = np.sort(np.append(begins, 0.5 * (begins[:-1] + begins[1:])[much]))
        found = np.repeat(found, 1 + much, axis=1)
        found[:, new] = bounds(begins[:-1][new], begins[1:][new])
    return begins, found


def most_given(f: Expression, end: float, ranges: Mapping[str, Range]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of how much a source or flux f, which depends on t, gives and takes in a run until `end`. ranges: those of
    all other variables, anywhere in which f counts.

    Returns two integrals over time, of f where it is above 0 and of -f where f is below 0, and the largest value of
    each: two arrays (2,). Spans in which no bounds are known count as 0."""

    def sizes(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        boxes = {name: (np.array(low), np.array(high)) for name, (low, high) in ranges.items()}
        lower, upper = bounds_within(f.tree, {**boxes, "t": (begins, ends)}, infinite=True)
        both = np.stack([np.broadcast_to(upper, begins.shape), -np.broadcast_to(lower, begins.shape)])
        return np.where(np.isfinite(both), np.maximum(both, 0.0), 0.0)

    begins, found = halved(sizes, end)
    return np.sum(found * np.diff(begins), axis=1), np.max(found, axis=1)


def extreme_times(f: Expression, end: float, points: Mapping[str, np.ndarray]) -> list[float]:
    """Two times of a run until `end` at which f, which depends on t, is about as large and about as small as it ever is
    at some points. points: the values of all other variables at these, vectors of one length."""
    return [_largest_at(f, sign, end, points) for sign in (1.0, -1.0)]


def _largest_at(f: Expression, sign: float, end: float, points: Mapping[str, np.ndarray]) -> float:
    """The time at which sign * f is largest: spans are halved whose bounds are larger than any value known."""
    place = {name: (np.min(at), np.max(at)) for name, at in points.items()}
    begins = np.linspace(0.0, end, _SPANS + 1)
    ends, begins = begins[1:], begins[:-1]
    best, at = -np.inf, 0.0
    for _ in range(_HALVINGS):
        times = 0.5 * (begins + ends)
        values = np.atleast_2d(sign * np.asarray(f(**points, t=times[:, None])))
        values = np.max(np.where(np.isfinite(values), values, -np.inf), axis=1)
        k = int(np.argmax(np.broadcast_to(values, times.shape)))
        if values.flat[min(k, values.size - 1)] > best:
            best, at = float(values.flat[min(k, values.size - 1)]), float(times[k])
        lower, upper = bounds_within(f.tree, {**place, "t": (begins, ends)}, infinite=True)
        most = np.broadcast_to(upper if sign > 0 else -lower, times.shape)
        open_ones = ~(most <= best + _NEAR * abs(best))
        begins, times, ends, most = begins[open_ones], times[open_ones], ends[open_ones], most[open_ones]
        if begins.size > _MOST_SPANS // 2:  # those with the largest bounds
            few = np.argsort(np.where(np.isnan(most), -np.inf, -most), kind="stable")[: _MOST_SPANS // 2]
            begins, times, ends = begins[few], times[few], ends[few]
        if begins.size == 0:
            break
        begins, ends = np.concatenate([begins, times]), np.concatenate([times, ends])
    return at

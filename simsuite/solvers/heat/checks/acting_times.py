"""Times of a run that lie close together where a source acts.

A source that acts for a short part of a run is passed over by times that are spread evenly. So the run is divided into
spans, in each of which interval arithmetic bounds the size of the source in blocks of the plate; spans with a large
share of the sum of all bounds are halved, until each has a small share. Times are then drawn in proportion to these
bounds, some of them evenly. Where there are more pulses than spans, the span that a time is drawn from is halved for
this time alone, and one of the halves drawn in proportion to its bound, again and again. The summands of a source are
bounded one by one, since a source that acts for long may be small beside a short one and bring more heat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.summands import terms
from simsuite.expressions.tree import Node, names_in
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.spans import halved

# How often spans are halved for single times, if that makes the weights of more than half of some tried times less than
# this share of what they are otherwise.
_DEEPER, _TRIED, _SHORTER = 24, 16, 0.4
_BLOCKS = 4  # the number of blocks of the plate along each axis
_MOST_SUMMANDS = 8  # the most summands that are bounded one by one
_EVENLY = 0.25  # share of the times that are spread evenly over the run


@dataclass(frozen=True)
class ActingTimes:
    """begins: the times at which spans begin, increasing from 0, and the end of the run, s. densities: how often a time
    in a span is drawn evenly, and for each summand, in units of an even draw: (1 + summands, spans); their sum has a
    mean of 1 over the run. bounds: returns bounds of each summand in spans that begin and end at given times,
    (summands, spans). halvings: how often a span is halved for a single time."""

    begins: np.ndarray
    densities: np.ndarray
    bounds: Callable[[np.ndarray, np.ndarray], np.ndarray]
    halvings: int = 0

    def at(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The times by which these shares of all times are drawn, s, and the weights with which the mean of a function
        at these times is its mean over the run."""
        lengths = np.diff(self.begins)
        drawn = np.append(0.0, np.cumsum(np.sum(self.densities, axis=0) * lengths)) / self.begins[-1]
        span = np.minimum(np.searchsorted(drawn, shares, "right") - 1, lengths.size - 1)
        place = np.clip((shares - drawn[span]) / np.diff(drawn)[span], 0.0, 1.0)
        begin, length, densities = self.begins[span], lengths[span], self.densities[:, span]
        for _ in range(self.halvings):
            length = 0.5 * length
            halves = [self.bounds(begin + k * length, begin + (k + 1) * length) for k in (0, 1)]
            whole = halves[0] + halves[1]
            first = np.full(densities.shape, 0.5)
            first[1:] = np.where(whole > 0.0, halves[0] / np.where(whole > 0.0, whole, 1.0), 0.5)
            p = np.sum(densities * first, axis=0) / np.sum(densities, axis=0)
            later = place >= p
            densities = 2.0 * densities * np.where(later, 1.0 - first, first)
            place = np.where(later, (place - p) / np.where(later, 1.0 - p, 1.0), place / np.where(later, 1.0, p))
            begin, place = begin + later * length, np.clip(place, 0.0, 1.0)
        return begin + place * length, 1.0 / np.sum(densities, axis=0)


def acting_times(f: Expression, made: Discretisation, end: float) -> ActingTimes:
    """The `ActingTimes` of a source in a run until `end`, which depends on time."""
    summands = [tree for tree in terms(f.tree) if "t" in names_in(tree)]
    if len(summands) > _MOST_SUMMANDS:
        summands = [f.tree]
    begins, bounds = halved(partial(_bounds, summands, made), end)
    totals = np.sum(bounds * (np.diff(begins) / end), axis=1, keepdims=True)
    shapes = np.where(totals > 0.0, bounds / np.where(totals > 0.0, totals, 1.0), 1.0)
    densities = np.concatenate([np.full((1, begins.size - 1), _EVENLY), (1.0 - _EVENLY) / len(summands) * shapes])
    found = ActingTimes(begins, densities, partial(_bounds, summands, made, blocks=1))
    deeper = replace(found, halvings=_DEEPER)
    some = (np.arange(_TRIED) + 1) * GOLDEN % 1.0
    return deeper if np.median(deeper.at(some)[1] / found.at(some)[1]) < _SHORTER else found


def _bounds(
    summands: list[Node], made: Discretisation, begins: np.ndarray, ends: np.ndarray, blocks: int = _BLOCKS
) -> np.ndarray:
    """The mean over blocks of the plate of bounds of the size of each summand in each span: (summands, spans). Where no
    bound is known, it is the largest of those that are, or 1."""
    T, _ = made.temperatures((0.0,))
    x, y = np.linspace(0.0, made.nx * made.dx, blocks + 1), np.linspace(0.0, made.ny * made.dy, blocks + 1)
    boxes = {
        "t": (begins[:, None, None], ends[:, None, None]),
        "y": (y[:-1, None], y[1:, None]),
        "x": (x[:-1], x[1:]),
        "T": (np.array(T), np.array(T)),
    }
    found = np.empty((len(summands), begins.size))
    for i, tree in enumerate(summands):
        lower, upper = bounds_within(tree, boxes, infinite=True)
        size = np.broadcast_to(np.maximum(np.abs(lower), np.abs(upper)), (begins.size, blocks, blocks))
        mean = np.mean(size, axis=(1, 2))
        known = np.isfinite(mean)
        found[i] = np.where(known, mean, np.max(mean, where=known, initial=0.0) or 1.0)
    return found

"""The times at which the data of a heat problem jump or kink: for example, a source that is switched on, an edge whose
temperature is a ramp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simsuite.core import BESIDE
from simsuite.expressions import Expression
from simsuite.expressions.changes import deciding, jumping, searched_changes
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.summands import addends
from simsuite.expressions.tree import walk
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, Edges

MOST = 300_000  # the most times; where there are more, none is returned
# the most times at which one moving part of an expression jumps; where there are more, none is returned
MOST_MOVING = 100_000
_SAME = 1e-12  # share of a run: times that differ by less are the same
_JUMP = 1e-9  # share of the largest value: a smaller change is no jump
_MOST_BOUNDS = 1 << 26  # the most bounds of parts of an expression that are computed
_HOTTEST = 1e30  # no temperature of a run that can go on is further from 0


@dataclass(frozen=True)
class Changes:
    """jumps: times at which temperatures at edges or outside jump, which makes the temperature there rough, s. kinks:
    the times of all other changes, s. unsearched: expressions, as they are written, that jump at so many times, or
    places, that not all were looked for."""

    jumps: tuple[float, ...] = ()
    kinks: tuple[float, ...] = ()
    unsearched: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[float, ...]:
        return (*self.jumps, *self.kinks)


def data_changes(made: Discretisation, end: float) -> Changes:
    """The changes of the data from 0 to `end`. These two times are included if data are different just after 0 or just
    before `end`."""
    edges, sources = list(_of_edges(made)), list(_of_sources(made))
    moving = [*edges, *sources]
    found = [searched_changes(f.tree, "t", 0.0, end, points, MOST_MOVING, MOST) for f, points in moving]
    found = [(_acting(f, points, at, end), complete) for (f, points), (at, complete) in zip(moving, found)]
    unsearched = tuple(f.text for (f, _), (_, complete) in zip(moving, found) if not complete)
    at_edges, times = (_together(at for at, _ in some) for some in (found[: len(edges)], found))
    times = np.where(times <= _SAME * end, 0.0, np.where(times >= end * (1 - _SAME), end, times))
    if times.size:
        times = times[np.append(np.diff(times) > _SAME * end, True)]
    if times.size > MOST:
        return Changes(unsearched=tuple(f.text for f, _ in moving if any(jumping(f.tree, "t"))))
    near = times[_has_one(at_edges, times, 2 * _SAME * end)]
    jumps = tuple(float(t) for t in near if _jumps(made.edges, float(t), BESIDE * end))
    smooth = set(times.tolist()).difference(jumps)
    return Changes(jumps, tuple(sorted(smooth)), unsearched)


def _acting(f: Expression, points: Mapping[str, np.ndarray], times: np.ndarray, end: float) -> np.ndarray:
    """Those of the times (increasing) around which interval arithmetic does not show what decides there to be without
    effect: in `(t % 4 < 1)*(t < 20)`, the second factor is 0 whatever the first one does later. All, where it would
    take too long to find out."""
    if times.size == 0 or times.size * sum(1 for _ in walk(f.tree)) > _MOST_BOUNDS:
        return times
    between = 0.5 * (times[1:] + times[:-1])
    box = {name: (np.array(np.min(at)), np.array(np.max(at))) for name, at in points.items()}
    box |= {"t": (np.r_[0.0, between], np.r_[between, end]), "T": (np.array(-_HOTTEST), np.array(_HOTTEST))}
    acts = np.zeros(times.size, bool)
    for part in addends(f.tree, "t"):
        if next(deciding(part, "t", {"t", *points}), None) is not None:
            lower, upper = bounds_within(part, box)
            acts |= ~(lower == upper)
    return times[acts]


def _together(found: Iterable[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.zeros(0), *found]))


def _has_one(ascending: np.ndarray, times: np.ndarray, small: float) -> np.ndarray:
    """For each of `times`, whether one of the ascending numbers is less than `small` away."""
    return np.searchsorted(ascending, times - small) < np.searchsorted(ascending, times + small)


def _of_edges(made: Discretisation) -> Iterator[tuple[Expression, Mapping[str, np.ndarray]]]:
    """The data of edges that depend on time, each with the points where it counts."""
    for piece in made.edges.pieces:
        yield from ((f, {"x": piece.x, "y": piece.y}) for f in (piece.first, piece.second) if f.depends_on("t"))


def _of_sources(made: Discretisation) -> Iterator[tuple[Expression, Mapping[str, np.ndarray]]]:
    """The sources that depend on time, each with the points of all cells."""
    x, y = made.centres
    yield from ((f, {"x": x, "y": y}) for f in made.sources if f.depends_on("t"))


def _jumps(edges: Edges, t: float, small: float) -> bool:
    """Whether a temperature at an edge or outside jumps at t, or the coefficient by which heat passes to it. small: how
    long before and after t they are looked at, s."""
    for piece in edges.pieces:
        for f in (piece.first, piece.second):
            if piece.kind != FLUX and f.depends_on("t"):
                before, after = (np.asarray(f(x=piece.x, y=piece.y, t=at)) for at in (max(t - small, 0.0), t + small))
                if np.max(np.abs(after - before)) > _JUMP * max(np.max(np.abs(before)), np.max(np.abs(after))):
                    return True
    return False

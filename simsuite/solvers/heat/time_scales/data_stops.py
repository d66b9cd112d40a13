"""Times at which steps end so that none passes over a pulse of smooth data, unseen by its estimate of the error.

Each condition and source, and each part of one that is a sum, is looked at at LOOKS times, and where interval
arithmetic does not exclude that it changes unseen between two looks, at more times in between (see `_times`). From the
looks come marks: the times at which a function has changed by MOST_CHANGE of its range since the mark before. Where
marks follow each other within SOON of the run, after or before a time without any that is LONG times as long, steps end
at them: a peak that lasts a thousandth of a run is met some four times, and while it begins to rise. Data that go up
and down without a rest need none, since steps are short there (see `longest_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.summands import summands
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.acting_cells import edge_points, source_cells

LOOKS = 1025  # the least number of times of a run at which data are looked at
MOST_CHANGE = 0.5  # share of the range of a function of time, by which it changes from mark to mark
SOON = 1.0 / 12.0  # of a run
LONG = 5.0  # how many times as long as between the marks of a peak a rest without marks is
# Levels as shares of the range. What comes before the first of them is less than any tolerance. A step ends at each of
# them, because the stages of a step of rkl2 do not look at its end, where a peak may have risen from one level to the
# next.
RISING = (1e-7, 1e-5, 1e-3, 3e-2)
MOST_STOPS = 20_000
_UNSEEN = 0.05  # share of the range: larger changes between two looks are looked for
# share of the range: where a function changes by more from one look to the next, it is looked at more closely
_STEEP = 0.125
_DEPTH = 14  # how often the time between two looks is halved at most
_MOST_BOXES = 1 << 18  # the most boxes of interval arithmetic that are evaluated together
_MOST_TIMES = 1 << 16  # the most times at which a function is looked at
_FEW = 4  # the most marks of a peak that are used; of more marks, these are the ones next to the rest without marks
_POINTS = 8  # the number of points along an edge, and along each axis of a source
_ACTING = 8  # the number of cells of a source where it changes most
_BESIDE = 1e-12  # share of the run: how far before and after a possible jump data are looked at
_APART = 0.25  # share of the time to the next mark: marks that are closer than that to another time are left out

Points = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Stops:
    """Times at which steps must end to see peaks. times: increasing, s. unsearched: functions with so many peaks that
    they were not looked for."""

    times: tuple[float, ...] = ()
    unsearched: tuple[Expression, ...] = ()


def data_stops(made: Discretisation, end: float, others: Sequence[float]) -> Stops:
    """The times at which steps must end to see peaks of the data. others: increasing times at which steps end
    anyway."""
    wanted: list[tuple[float, float]] = []
    unsearched: list[Expression] = []
    with np.errstate(all="ignore"):
        for whole, points in _data(made, end):
            for f, where in _parts(whole, points):
                t, values, searched = _looks(f, where, end, others)
                if not searched and whole not in unsearched:
                    unsearched.append(whole)
                range_ = float(np.max(np.ptp(values, axis=0)))
                if np.isfinite(range_) and range_ > 0:
                    change = np.max(np.abs(np.diff(values, axis=0)), axis=1)
                    change[np.diff(t) <= 4 * _BESIDE * end] = 0.0  # steps end here anyway, because data may jump
                    wanted += _around_peaks(t, np.append(0.0, np.cumsum(change)) / range_, end)
    stops: list[float] = []
    wanted.sort()
    distances = _distances(np.array([at for at, _ in wanted]), np.array(others))
    for (at, apart), distance in zip(wanted, distances.tolist(), strict=True):
        if distance >= apart and (not stops or at - stops[-1] >= apart):
            stops.append(at)
    if len(stops) > MOST_STOPS:
        return Stops((), tuple(f for f, _ in _data(made, end)))
    return Stops(tuple(stops), tuple(unsearched))


def _distances(times: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distance of each time to the nearest of some others, which are increasing."""
    after = np.clip(np.searchsorted(others, times), 1, others.size - 1)
    return np.minimum(np.abs(times - others[after - 1]), np.abs(times - others[after]))


def _parts(f: Expression, points: Points) -> Iterator[tuple[Expression, Points]]:
    """A function, and the summands that it consists of, because a peak that is low beside another one may bring as much
    heat. Points that make no difference are left out."""
    found = summands(f.tree, "t")
    parts = [Expression.from_tree(tree, f.variables) for tree in found] if len(found) > 1 else []
    for part in (f, *parts):
        yield part, points if part.names - {"t"} else {name: at[:1] for name, at in points.items()}


def _around_peaks(t: np.ndarray, changed: np.ndarray, end: float) -> list[tuple[float, float]]:
    """Times at which steps are to end, and how far they should be from others. changed: by how many ranges a function
    has gone up and down by each of the times t."""
    looks = np.searchsorted(changed, np.arange(0.5 * MOST_CHANGE, changed[-1], MOST_CHANGE))
    met = t[looks]
    if met.size < 2:
        return []
    gaps = np.diff(met)
    rest_before, rest_after = np.append(met[0], gaps), np.append(gaps, end - met[-1])
    # the times to the marks before and after each mark, infinite where there is none
    before, after = np.append(np.inf, gaps), np.append(gaps, np.inf)
    # Of several marks in a row, those next to a rest are used; a rest is a time without marks.
    begins = (after < SOON * end) & (rest_before > LONG * after)
    ends = (before < SOON * end) & (rest_after > LONG * before)
    wanted = np.zeros(met.size, bool)
    for shift in range(min(_FEW, met.size)):
        wanted[shift:] |= begins[: met.size - shift]
        wanted[: met.size - shift] |= ends[shift:]
    resting = met[begins] - np.minimum(SOON * end, 0.5 * rest_before[begins])
    apart = _APART * np.minimum(before, after)
    found = [*zip(met[wanted], apart[wanted])]
    rest = changed[np.searchsorted(t, resting)]
    for level in RISING:
        foot = t[np.searchsorted(changed, rest + level, side="right") - 1]
        found += zip(foot, apart[begins])
    return [(float(at), float(far)) for at, far in found]


def _looks(f: Expression, points: Points, end: float, others: Sequence[float]) -> tuple[np.ndarray, np.ndarray, bool]:
    """Times at which a function is looked at, the values at these times and all points, and whether peaks between the
    times were looked for. Among the times are some just before and after each of `others`."""

    def values(t: np.ndarray) -> np.ndarray:
        n = len(next(iter(points.values())))
        return np.broadcast_to(f(**points, t=t[:, None]), (t.size, n))

    beside = np.add.outer([-_BESIDE * end, _BESIDE * end], others).ravel()
    t = np.unique(np.clip(np.concatenate([np.linspace(0.0, end, LOOKS), beside]), 0.0, end))
    more = _times(f, points, t, values)
    t = _graded(t if more is None else more, values)
    return t, values(t), more is not None


def _graded(t: np.ndarray, values: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The times t and others in between, such that where f changes at all, the time between two of them is at most
    twice as long as that to the next or to the one before: a peak is looked at closely while it begins to rise, too."""
    for _ in range(_DEPTH):
        v, gaps = values(t), np.diff(t)
        change = np.max(np.abs(np.diff(v, axis=0)), axis=1)
        beside = np.minimum(np.append(gaps[1:], np.inf), np.append(np.inf, gaps[:-1]))
        open_ = (change > RISING[0] * np.max(np.ptp(v, axis=0))) & (gaps > 2 * beside) & (gaps > 8 * _BESIDE * t[-1])
        if not open_.any() or t.size > _MOST_TIMES:
            break
        t = np.unique(np.append(t, t[:-1][open_] + 0.5 * gaps[open_]))
    return t


def _times(
    f: Expression, points: Points, t: np.ndarray, values: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:
    """The times t and others in between, such that between two of them f changes by little, and goes hardly beyond its
    values there. Interval arithmetic bounds it there; where its bounds are much wider apart than these values, or these
    values are far apart, the time between is halved. None for f that goes up and down all the time."""
    found = [t]
    a, b = t[:-1], t[1:]
    open_ = b - a > 4 * _BESIDE * t[-1]
    a, b = a[open_], b[open_]
    range_ = float(np.max(np.ptp(values(t), axis=0)))
    n = len(next(iter(points.values())))
    for _ in range(_DEPTH):
        if not a.size:
            break
        if a.size * n > _MOST_BOXES:
            return None
        boxes = {name: (at, at) for name, at in points.items()} | {"t": (a[:, None], b[:, None])}
        lower, upper = (np.broadcast_to(bound, (a.size, n)) for bound in bounds_within(f.tree, boxes, infinite=True))
        at_ends = values(a), values(b)
        low, high = np.minimum(*at_ends), np.maximum(*at_ends)
        beyond = np.max(np.maximum(upper - high, low - lower), axis=1)
        range_ = max(range_, float(np.max(high - low, initial=0.0)))
        open_ = (beyond > _UNSEEN * range_) | (np.max(high - low, axis=1) > _STEEP * range_)
        a, b = a[open_], b[open_]
        middle = a + (b - a) / 2
        found.append(middle)
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    return np.unique(np.concatenate(found))


def _data(made: Discretisation, end: float) -> Iterator[tuple[Expression, Points]]:
    """Functions that depend on time, and some of the points where they count."""
    for piece in made.edges.pieces:
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                few = edge_points(f, piece, end, _POINTS, _ACTING)
                yield f, {"x": piece.x[few], "y": piece.y[few]}
    T = float(np.mean(distinct(made.T0)))
    for f in made.sources:
        if f.depends_on("t"):
            x, y = source_cells(f, made, end, T, _POINTS, _ACTING)
            yield f, {"x": x, "y": y, "T": np.full(x.size, T)}

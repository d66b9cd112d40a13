"""Where an expression jumps or kinks as one of its variables grows.

Such places come from a part of the expression that decides how it goes on: a comparison, a whole part (floor, ceil,
//, %), a sign, an absolute value, or the smaller or larger of two. Each of them is a function that is constant but for
jumps, and its jumps are enclosed by halving the range until interval arithmetic shows it to be constant, or two
neighbouring numbers are left. That takes some 60 evaluations for each place, wherever it is. What decides may depend
on where one is as well, as for something that moves: then it is looked at for each of some points.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.tree import Apply, Node, Number, names_in, walk

_CROWDED = 16  # a point with so many times the median of intervals is searched without interval arithmetic
MOST = 10_000  # places of one part, or points; it is left out if it has more


def changes(
    tree: Node, name: str, low: float, high: float, points: Mapping[str, np.ndarray] | None = None
) -> np.ndarray:
    """The values of the variable between low and high from which on the expression goes on differently, increasing:
    each is the first floating-point number on the new side.

    points: arrays that broadcast, the values of other variables at the points that count. Parts that depend on any
    other variable, or count at very many points, are left out.
    """
    points = points or {}
    found = [np.zeros(0)]
    for part in dict.fromkeys(_deciding(tree, name, {name, *points})):
        others = sorted(names_in(part) - {name})
        own = np.broadcast_arrays(*(points[other] for other in others))
        if len(others) == 1:
            own = (np.unique(own[0]),)
        if all(values.size <= 4 * MOST for values in own):
            places = jumps(part, name, low, high, dict(zip(others, (values.ravel() for values in own))))
            found.append(np.zeros(0) if places is None else places)
    return np.unique(np.concatenate(found))


def jumping(tree: Node, name: str) -> Iterator[Node]:
    """The parts of an expression that depend on a variable and are constant but for jumps."""
    for node in walk(tree):
        if isinstance(node, Apply) and name in names_in(node):
            if node.op in ("<", "<=", ">", ">=", "floor", "ceil", "sign", "step"):
                yield node
            elif node.op in ("//", "%"):
                yield Apply("//", node.args)


def _deciding(tree: Node, name: str, known: set[str]) -> Iterator[Node]:
    """What decides how the expression goes on, as functions that are constant but for jumps."""
    yield from (part for part in jumping(tree, name) if names_in(part) <= known)
    for node in walk(tree):
        if not isinstance(node, Apply) or names_in(node) != {name}:
            continue  # a kink that moves does not matter much to any point
        if node.op == "abs":
            yield Apply("<", (node.args[0], Number(0.0)))
        elif node.op in ("min", "max"):
            for a, b in itertools.combinations(node.args, 2):
                yield Apply("<", (a, b))


def jumps(
    part: Node, name: str, low: float, high: float, points: Mapping[str, np.ndarray] | None = None
) -> np.ndarray | None:
    """The values of the variable between low and high at which an expression jumps that is constant but for jumps, in
    no order; each is the first floating-point number on the new side. None if there are more than MOST, or nobody can
    tell. points: values of other variables."""
    points = points or {}
    found: list[np.ndarray] = []
    at = np.arange(max((len(values) for values in points.values()), default=1))  # of each interval its point
    a, b = np.full(at.size, low), np.full(at.size, high)
    while a.size:
        if a.size > 4 * MOST:
            crowded = _crowded(at)
            if crowded is None:
                return None
            there = {other: values[at[crowded]] for other, values in points.items()}
            found.append(_halved(part, name, a[crowded], b[crowded], there))
            a, b, at = a[~crowded], b[~crowded], at[~crowded]
        here = {other: values[at] for other, values in points.items()}
        lower, upper = bounds_within(part, {name: (a, b), **{other: (value, value) for other, value in here.items()}})
        left = np.broadcast_to(~(lower == upper), a.shape)
        a, b, at = a[left], b[left], at[left]
        with np.errstate(under="ignore"):
            ends = np.nextafter(a, np.inf) >= b
        if ends.any():
            there = {other: values[at[ends]] for other, values in points.items()}
            before, after = (np.broadcast_to(_value(part, {name: t[ends], **there}), t[ends].shape) for t in (a, b))
            found.append(b[ends][before != after])
        a, b, at = a[~ends], b[~ends], at[~ends]
        middle = a + (b - a) / 2
        a, b, at = np.concatenate([a, middle]), np.concatenate([middle, b]), np.concatenate([at, at])
    places = np.concatenate([np.zeros(0), *found])
    return places if places.size <= MOST else None


def _crowded(at: np.ndarray) -> np.ndarray | None:
    """A mask of the intervals that belong to points with very many of them, given the point of each one; None where
    no such points explain the total.

    Interval arithmetic does not come to an end at points that a moving edge only touches, or at which rounding leaves
    open on which branch of a function such as atan2 they are.
    """
    counts = np.bincount(at)
    many = counts > _CROWDED * np.median(counts[counts > 0])
    return many[at] if many.any() and counts[~many].sum() <= 2 * MOST else None


def _halved(part: Node, name: str, a: np.ndarray, b: np.ndarray, there: Mapping[str, np.ndarray]) -> np.ndarray:
    """A jump in each of the intervals at whose ends the expression has different values."""

    def at(t: np.ndarray, of: np.ndarray) -> np.ndarray:
        values = _value(part, {name: t, **{other: value[of] for other, value in there.items()}})
        return np.broadcast_to(values, t.shape)

    every = np.arange(a.size)
    of = every[at(a, every) != at(b, every)]
    a, b = a[of], b[of]
    begin = at(a, of)
    while (open_ := np.nextafter(a, np.inf) < b).any():
        middle = np.where(open_, a + (b - a) / 2, b)
        same = (at(middle, of) == begin) & open_
        a, b = np.where(same, middle, a), np.where(same | ~open_, b, middle)
    return b


def _value(part: Node, values: Mapping[str, np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(part, values))

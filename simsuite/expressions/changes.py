"""Where an expression jumps or kinks as one of its variables grows.

Such places come from a part of the expression that makes a decision: a comparison, a whole part (floor, ceil,
//, %), a sign, an absolute value, or the smaller or larger of two. Each of them is a function that is constant but for
jumps, and its jumps are enclosed by halving the range until interval arithmetic shows it to be constant, or two
neighbouring numbers are left. That takes some 60 evaluations for each place, wherever it is. A decision may also depend
on the other variables, as for a source that moves; then it is looked at for each of some points.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.tree import Apply, Node, Number, names_in, walk

# a point is searched without interval arithmetic if it has more than so many times the median number of intervals
_CROWDED = 16
# after so many halvings, at one of many points, an expression is taken to jump once in an interval at whose ends it
# differs
_NARROW = 20
MOST = 10_000  # places at which one part changes; a part with more is left out
MOST_POINTS = 1 << 22  # points for which one part is looked at; it is left out if more count
_AT_ONCE = 1 << 18  # points


def changes(
    tree: Node, name: str, low: float, high: float, points: Mapping[str, np.ndarray] | None = None
) -> np.ndarray:
    """The values of the variable between low and high at which the expression jumps or kinks, increasing: each is the
    first floating-point number on the new side.

    points: arrays that broadcast, the values of other variables at the points that count. Parts that depend on any
    other variable, have more than MOST places, or count at very many points, are left out.
    """
    return searched_changes(tree, name, low, high, points)[0]


def searched_changes(
    tree: Node,
    name: str,
    low: float,
    high: float,
    points: Mapping[str, np.ndarray] | None = None,
    most: int = MOST,
    most_alone: int | None = None,
) -> tuple[np.ndarray, bool]:
    """What `changes` returns, and whether every part that depends on the variable and `points` alone was taken into
    account. most: the most places of one part. most_alone: the most places of a part that depends on the variable
    alone, if that is another number."""
    points = points or {}
    found, complete = [np.zeros(0)], True
    for part in dict.fromkeys(deciding(tree, name, {name, *points})):
        others = sorted(names_in(part) - {name})
        own = np.broadcast_arrays(*(points[other] for other in others))
        if len(others) == 1:
            own = (np.unique(own[0]),)
        places = None
        if all(values.size <= MOST_POINTS for values in own):
            limit = most if others or most_alone is None else most_alone
            places = jumps(part, name, low, high, dict(zip(others, (values.ravel() for values in own))), limit)
        if places is not None:
            found.append(places)
        else:
            complete = False
    return np.unique(np.concatenate(found)), complete


def jumping(tree: Node, name: str) -> Iterator[Node]:
    """The parts of an expression that depend on a variable and are constant but for jumps."""
    for node in walk(tree):
        if isinstance(node, Apply) and name in names_in(node):
            if node.op in ("<", "<=", ">", ">=", "floor", "ceil", "sign", "step"):
                yield node
            elif node.op in ("//", "%"):
                yield Apply("//", node.args)


def deciding(tree: Node, name: str, known: set[str]) -> Iterator[Node]:
    """The decisions in an expression, such as comparisons, as functions that are constant but for jumps. known: the
    variables that they may depend on, besides the one by which they jump."""
    yield from (part for part in jumping(tree, name) if names_in(part) <= known)
    for node in walk(tree):
        if not isinstance(node, Apply) or names_in(node) != {name}:
            continue  # a kink whose place depends on other variables matters little at any one point
        if node.op == "abs":
            yield Apply("<", (node.args[0], Number(0.0)))
        elif node.op in ("min", "max"):
            for a, b in itertools.combinations(node.args, 2):
                yield Apply("<", (a, b))


def jumps(
    part: Node,
    name: str,
    low: float,
    high: float,
    points: Mapping[str, np.ndarray] | None = None,
    most: int = MOST,
) -> np.ndarray | None:
    """The values of the variable between low and high at which an expression jumps that is constant but for jumps, in
    no order; each is the first floating-point number on the new side. None if there are more than `most`, or nobody can
    tell. points: values of other variables."""
    points = points or {}
    found: list[np.ndarray] = []
    at = _changing(part, name, low, high, points)  # for each interval, the index of its point
    a, b = np.full(at.size, low), np.full(at.size, high)
    for halvings in itertools.count():
        if not a.size:
            break
        if a.size > 4 * most:
            # only intervals are left for which the rule for _NARROW holds
            settled = bool(points) and halvings > _NARROW
            crowded = np.ones(at.size, bool) if settled else _crowded(at, most)
            if crowded is None:
                return None
            there = {other: values[at[crowded]] for other, values in points.items()}
            found.append(_halved(part, name, a[crowded], b[crowded], there))
            a, b, at = a[~crowded], b[~crowded], at[~crowded]
        here = {other: values[at] for other, values in points.items()}
        boxes = {name: (a, b), **{other: (value, value) for other, value in here.items()}}
        lower, upper = bounds_within(part, boxes, infinite=True)
        left = np.broadcast_to(~(lower == upper), a.shape)
        a, b, at = a[left], b[left], at[left]
        if points and halvings == _NARROW:
            there = {other: values[at] for other, values in points.items()}
            before, after = (np.broadcast_to(_value(part, {name: t, **there}), t.shape) for t in (a, b))
            one = before != after
            found.append(_halved(part, name, a[one], b[one], {other: values[one] for other, values in there.items()}))
            a, b, at = a[~one], b[~one], at[~one]
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
    return places if places.size <= most else None


def _changing(part: Node, name: str, low: float, high: float, points: Mapping[str, np.ndarray]) -> np.ndarray:
    """The indices of the points at which interval arithmetic does not show an expression to be constant from low to
    high."""
    n = max((len(values) for values in points.values()), default=1)
    found = [np.zeros(0, int)]
    for begin in range(0, n, _AT_ONCE):
        some = np.arange(begin, min(begin + _AT_ONCE, n))
        here = {other: (values[some], values[some]) for other, values in points.items()}
        whole = np.full(some.size, low), np.full(some.size, high)
        lower, upper = bounds_within(part, {name: whole, **here}, infinite=True)
        found.append(some[np.broadcast_to(~(lower == upper), some.shape)])
    return np.concatenate(found)


def _crowded(at: np.ndarray, most: int) -> np.ndarray | None:
    """A mask of the intervals that belong to points with very many of them, given the point of each one; None where
    no such points explain the total.

    Interval arithmetic does not come to an end at points that a moving edge only touches, or at which rounding leaves
    open on which branch of a function such as atan2 they are.
    """
    counts = np.bincount(at)
    many = counts > _CROWDED * np.median(counts[counts > 0])
    return many[at] if many.any() and counts[~many].sum() <= 2 * most else None


def _halved(part: Node, name: str, a: np.ndarray, b: np.ndarray, there: Mapping[str, np.ndarray]) -> np.ndarray:
    """A jump in each of the intervals from a to b at whose ends the expression has different values, found by halving
    them."""

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

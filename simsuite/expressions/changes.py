"""Where an expression jumps or kinks as one of its variables grows.

Such places come from a part of the expression that depends on that variable alone: a comparison, a whole part
(floor, ceil, //, %), a sign, an absolute value, or the smaller or larger of two. Each of them is a function that is
constant but for jumps, and its jumps are enclosed by halving the range until interval arithmetic shows it to be
constant, or two neighbouring numbers are left. That takes some 60 evaluations for each place, wherever it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.intervals import bounds_within
from simsuite.expressions.tree import Apply, Node, Number, names_in, walk

MOST = 10_000  # places of one part; it is left out if it has more


def changes(tree: Node, name: str, low: float, high: float) -> np.ndarray:
    """The values of the variable between low and high from which on the expression goes on differently, increasing:
    each is the first floating-point number on the new side."""
    found = [_jumps(part, name, low, high) for part in dict.fromkeys(_deciding(tree, name))]
    return np.unique(np.concatenate([np.zeros(0), *found]))


def _deciding(tree: Node, name: str) -> Iterator[Node]:
    """What decides how the expression goes on, as functions that are constant but for jumps."""
    for node in walk(tree):
        if not isinstance(node, Apply) or names_in(node) != {name}:
            continue
        if node.op in ("<", "<=", ">", ">=", "floor", "ceil", "sign", "step"):
            yield node
        elif node.op in ("//", "%"):
            yield Apply("//", node.args)
        elif node.op == "abs":
            yield Apply("<", (node.args[0], Number(0.0)))
        elif node.op in ("min", "max"):
            for a, b in itertools.combinations(node.args, 2):
                yield Apply("<", (a, b))


def _jumps(part: Node, name: str, low: float, high: float) -> np.ndarray:
    found: list[np.ndarray] = []
    a, b = np.array([low]), np.array([high])
    while a.size:
        lower, upper = bounds_within(part, {name: (a, b)})
        left = np.broadcast_to(~(lower == upper), a.shape)
        a, b = a[left], b[left]
        ends = np.nextafter(a, np.inf) >= b
        if ends.any():
            before, after = (np.broadcast_to(_value(part, name, at[ends]), at[ends].shape) for at in (a, b))
            found.append(b[ends][before != after])
        a, b = a[~ends], b[~ends]
        middle = a + (b - a) / 2
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        if a.size > 4 * MOST:
            return np.zeros(0)
    places = np.concatenate([np.zeros(0), *found])
    return places if places.size <= MOST else np.zeros(0)


def _value(part: Node, name: str, at: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(part, {name: at}))

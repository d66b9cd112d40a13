"""Which operations of an expression may have no finite value: divisions by 0, square roots of negative numbers, and so
on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from simsuite.expressions.formula import formula
from simsuite.expressions.intervals import bounds
from simsuite.expressions.tree import Apply, IntegerPower, Node, names_in, walk

Ranges: TypeAlias = Mapping[str, tuple[float, float]]  # the least and the largest value of each variable

_LONGEST = 60  # how many characters of a part are shown
_TINY, _EPSILON = 5e-324, 2.3e-16  # the least positive number, and how far the next one is from 1


def undefined(tree: Node, ranges: Ranges) -> list[str]:
    """A few words for each operation that may have no finite value where variables lie in some ranges, such as
    "a division by `t - 50`, which may be 0"."""
    return list(dict.fromkeys(_found(tree, ranges)))


def _found(tree: Node, ranges: Ranges) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, IntegerPower) and node.exponent < 0 and _reaches(node.base, ranges, 0.0, 0.0):
            yield _division(node.base)
        if not isinstance(node, Apply):
            continue
        first, last = node.args[0], node.args[-1]
        if node.op in ("/", "//", "%") and _reaches(last, ranges, 0.0, 0.0):
            yield _division(last)
        elif node.op == "sqrt" and _reaches(first, ranges, -math.inf, -_TINY):
            yield f"the square root of {_shown(first)}, which may be negative"
        elif node.op in ("log", "log10") and _reaches(first, ranges, -math.inf, 0.0):
            yield f"the logarithm of {_shown(first)}, which may be 0 or negative"
        elif node.op == "**" and _reaches(first, ranges, -math.inf, -_TINY):
            yield f"a power of {_shown(first)}, which may be negative"
        elif node.op == "**" and _reaches(first, ranges, 0.0, 0.0) and _reaches(last, ranges, -math.inf, -_TINY):
            yield f"a negative power of {_shown(first)}, which may be 0"
        elif node.op in ("asin", "acos") and _reaches(Apply("abs", (first,)), ranges, 1.0 + _EPSILON, math.inf):
            yield f"{node.op} of {_shown(first)}, which may be beyond -1 or 1"


def _division(by: Node) -> str:
    """The words for a division by a part that may be 0 or, if it is made of numbers alone, is 0."""
    text = formula(by)
    if text == "0":
        return "a division by 0"
    return f"a division by {_shown(by)}, which {'may be' if names_in(by) else 'is'} 0"


def _reaches(node: Node, ranges: Ranges, low: float, high: float) -> bool:
    """Whether a part may have values from low to high, as far as interval arithmetic tells."""
    least, most = bounds(node, ranges)
    return not (least > high or most < low)


def _shown(node: Node) -> str:
    """A part of an expression as text, cut short if it is long."""
    text = formula(node)
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[: _LONGEST - 3]}..`"

"""The parts of an expression that add up to it, as functions of one variable, or are added up somewhere inside.

Of a sum of peaks the highest says how wide the range of the whole is, and the others are little beside it; each by
itself is as high as its own range. So `x*(A(t) + B(t)) + C(t)` has the parts A(t), B(t) and C(t): what does not depend
on the variable is left out, since it neither adds nor removes a peak.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simsuite.expressions.tree import Apply, Node, Number, names_in, walk

MOST = 64  # how many parts a product of sums, or an expression, may have; it stays whole if it has more
_LARGEST = 4096  # expressions of more nodes stay whole


def summands(tree: Node, name: str) -> list[Node]:
    """The summands of an expression that depend on the variable; only one, or none, if the expression is not a sum.
    Products of sums are multiplied out. Sums inside of functions that are no sums, as in `max(0, A(t) + B(t))`, are
    taken apart beside them.
    """
    if sum(1 for _ in walk(tree)) > _LARGEST:
        return [tree]
    found = dict.fromkeys(_parts(tree, name))
    for part in list(found):
        for node in walk(part):
            if len(_moving(node, name)) > 1:
                found |= dict.fromkeys(_parts(node, name))
    return list(found) if len(found) <= MOST else [tree]


def addends(tree: Node, name: str) -> list[Node]:
    """What an expression is the sum of, as far as it depends on the variable, each without factors that do not."""
    if sum(1 for _ in walk(tree)) > _LARGEST:
        return [tree]
    found = _parts(tree, name)
    return found if len(found) <= MOST else [tree]


def _parts(node: Node, name: str) -> list[Node]:
    if name not in names_in(node):
        return []
    if isinstance(node, Apply) and node.op in ("+", "-", "neg"):
        return [part for child in node.args for part in _parts(child, name)]
    if isinstance(node, Apply) and node.op == "where":
        condition, yes, no = node.args
        found = [Apply("where", (condition, part, Number(0.0))) for part in _parts(yes, name)]
        found += [Apply("where", (condition, Number(0.0), part)) for part in _parts(no, name)]
        return list(found) if len(found) > 1 else [node]
    if isinstance(node, Apply) and node.op in ("*", "/"):
        return _multiplied_out(node, name)
    return [node]


def _multiplied_out(node: Node, name: str) -> list[Node]:
    """A product of sums as a sum of products, without the factors that do not depend on the variable."""
    factors: list[Node] = []
    divisors: list[Node] = []
    for factor, divides in _factors(node, False):
        if name in names_in(factor):
            (divisors if divides else factors).append(factor)
    sums = [_of_factor(factor, name) for factor in factors]
    if math.prod(map(len, sums)) > MOST:
        return [node]
    products: list[Node] = [Number(1.0)]
    for parts in sums:
        products = [
            part if product == Number(1.0) else Apply("*", (product, part)) for product in products for part in parts
        ]
    for divisor in divisors:
        products = [Apply("/", (product, divisor)) for product in products]
    return [product for product in products if name in names_in(product)]


def _factors(node: Node, divides: bool) -> Iterator[tuple[Node, bool]]:
    """The factors of a product, and which of them divide."""
    if isinstance(node, Apply) and node.op in ("*", "/"):
        yield from _factors(node.args[0], divides)
        yield from _factors(node.args[1], divides != (node.op == "/"))
    elif isinstance(node, Apply) and node.op == "neg":
        yield from _factors(node.args[0], divides)
    else:
        yield node, divides


def _of_factor(node: Node, name: str) -> list[Node]:
    """The summands of a factor; the factor itself if only one of its summands depends on the variable, as in `t -
    3`."""
    if len(_moving(node, name)) < 2:
        return [node]
    constant = any(name not in names_in(part) for part in terms(node))
    return [*_parts(node, name), *([Number(1.0)] if constant else [])]


def _moving(node: Node, name: str) -> list[Node]:
    """The summands of a sum that depend on the variable."""
    if not isinstance(node, Apply) or node.op not in ("+", "-"):
        return []
    return [part for part in terms(node) if name in names_in(part)]


def terms(node: Node) -> Iterator[Node]:
    """What an expression is the sum of, without signs; the expression itself if it is no sum."""
    if isinstance(node, Apply) and node.op in ("+", "-", "neg"):
        for child in node.args:
            yield from terms(child)
    else:
        yield node

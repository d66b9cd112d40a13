"""The degree d of an expression that is homogeneous: f(c x) = c^d f(x) for every c > 0.

Found from the leaves up: a sum has the degree that all its terms have, a product the sum of the degrees of its factors,
and a comparison of what has one degree does not change with c. By Euler's theorem the sum of x_i df / dx_i is then d f.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from simsuite.expressions.tree import Apply, IntegerPower, Marked, Name, Node, Number

_ALIKE = frozenset(("+", "-", "min", "max", "hypot", "%"))  # operations with the degree that all their arguments have
_SAME = frozenset(("neg", "abs"))
# operations whose value a common factor of both arguments does not change
_UNCHANGED = frozenset(("<", "<=", ">", ">=", "==", "!=", "//", "atan2"))
# operations whose value depends on the signs of their arguments alone
_TRUTHS = frozenset(("and", "or", "not", "sign", "step"))
_ANY = math.inf  # the degree of 0, which is homogeneous of every degree


def degree(tree: Node, variables: Collection[str]) -> float | None:
    """The degree of an expression in `variables`; infinite if it is 0, and None if no degree is found or it has other
    variables."""
    found: dict[int, float | None] = {}

    def of(node: Node) -> float | None:
        if id(node) not in found:
            found[id(node)] = _degree(node)
        return found[id(node)]

    def _degree(node: Node) -> float | None:
        if isinstance(node, Number):
            return 0.0 if node.value else _ANY
        if isinstance(node, Name):
            return 1.0 if node.name in variables else None
        if isinstance(node, IntegerPower):
            return _of_power(of(node.base), node.exponent)
        if isinstance(node, Marked):
            return None
        degrees = [of(argument) for argument in node.args]
        known = [d for d in degrees if d is not None]
        return _of_operation(node, known) if len(known) == len(degrees) else None

    return of(tree)


def _of_operation(node: Apply, degrees: list[float]) -> float | None:
    op = node.op
    if op in _SAME:
        return degrees[0]
    if op in _ALIKE:
        return _common(degrees)
    if op in _UNCHANGED:
        return None if _common(degrees) is None else 0.0
    if op in _TRUTHS:
        return 0.0
    if op == "*":
        return sum(degrees)
    if op == "/":
        return None if degrees[1] == _ANY else degrees[0] - degrees[1]
    if op == "sqrt":
        return degrees[0] / 2
    if op == "where":
        return _common(degrees[1:])
    if op == "**":
        exponent = node.args[1]
        return _of_power(degrees[0], exponent.value) if isinstance(exponent, Number) else None
    return 0.0 if all(d == 0 for d in degrees) else None


def _of_power(base: float | None, exponent: float) -> float | None:
    if base is None or (base == _ANY and exponent <= 0):
        return None
    return base * exponent if exponent else 0.0


def _common(degrees: list[float]) -> float | None:
    """The degree that all have, where that of 0 fits any other; None if they differ."""
    finite = {d for d in degrees if d != _ANY}
    if not finite:
        return _ANY
    return finite.pop() if len(finite) == 1 else None

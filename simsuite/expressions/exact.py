"""What an expression is where its decisions are taken in exact arithmetic.

Floating-point numbers round: 48.05 % 24 is 0.0499999..., which is less than 0.05, though 48.05 - 48 is not. Where a
comparison, a whole part or a remainder is decided by such a rounding, the value is not the one that was meant. Here
every value is accompanied by the rational number that it stands for, where there is one, and that number decides. All
else keeps the value that NumPy gives, so that nothing but a decision makes a difference.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import apply
from simsuite.expressions.tree import Apply, IntegerPower, Marked, Name, Node, Number, children, names_in, walk

_BITS = 1000  # bits of numerators and denominators; numbers with longer ones count as unknown
# a number of many digits, as 0.3333333333333333, is taken for a quotient, 1/3, of at most this denominator
_DENOMINATOR = 10**6
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_WHOLE: dict[str, Callable[..., Any]] = {  # decisions whose result is a whole number
    **_COMPARISONS,
    "//": operator.floordiv,
    "floor": math.floor,
    "ceil": math.ceil,
    "sign": lambda x: (x > 0) - (x < 0),
    "step": lambda x: x > 0,
    "and": lambda a, b: a != 0 and b != 0,
    "or": lambda a, b: a != 0 or b != 0,
    "not": lambda a: a == 0,
}
_RATIONAL: dict[str, Callable[..., Any]] = {
    **_WHOLE,
    "%": operator.mod,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
}
DECIDING = frozenset([*_WHOLE, "%"])


@dataclass(frozen=True)
class Value:
    """A value on the way to that of an expression. rounded: a floating-point number. exact: the number that it stands
    for, None if that is unknown."""

    rounded: float
    exact: Fraction | None

    @property
    def true(self) -> bool:
        return bool((self.rounded if self.exact is None else self.exact) != 0)


@functools.lru_cache(1024)
def as_written(number: float) -> Fraction:
    """The decimal number, or the quotient of small whole numbers, that a finite floating-point number stands for."""
    quotient = Fraction(number).limit_denominator(_DENOMINATOR)
    return quotient if float(quotient) == number else Fraction(repr(float(number)))


def decided_exactly(node: Node, values: Mapping[str, Value]) -> Value:
    """The value of `node`, given those of its variables."""
    if isinstance(node, Number):
        return Value(node.value, _known(as_written(node.value)) if math.isfinite(node.value) else None)
    if isinstance(node, Name):
        return values[node.name]
    if isinstance(node, Marked):
        from simsuite.expressions.marked import mark_at  # rarely needed

        mark = float(mark_at(node, np.float64(values["x"].rounded), np.float64(values["y"].rounded)))
        return Value(mark, Fraction(mark))
    parts = [decided_exactly(child, values) for child in children(node)]
    if isinstance(node, Apply) and node.op == "where":
        return parts[1] if parts[0].true else parts[2]
    exact = _exact(node, [part.exact for part in parts])
    rounded = float(apply(node, [np.float64(part.rounded) for part in parts], {}))
    if exact is not None and isinstance(node, Apply) and _turned(node.op, rounded, exact, parts):
        rounded = float(exact)
    return Value(rounded, exact)


def _turned(op: str, rounded: float, exact: Fraction, parts: Sequence[Value]) -> bool:
    """Whether rounding changed a decision, and not only the last digits."""
    if op == "%":
        return not abs(rounded - float(exact)) <= abs(parts[1].rounded) / 2
    return op in _WHOLE


def _exact(node: Node, parts: Sequence[Fraction | None]) -> Fraction | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    try:
        if isinstance(node, IntegerPower):
            return _known(known[0] ** node.exponent)
        if isinstance(node, Apply) and node.op in _RATIONAL:
            return _known(Fraction(_RATIONAL[node.op](*known)))
    except ZeroDivisionError:
        pass
    return None


def _known(number: Fraction) -> Fraction | None:
    return number if max(number.numerator.bit_length(), number.denominator.bit_length()) <= _BITS else None


def decisions(tree: Node) -> tuple[Node, ...]:
    """The decisions in an expression, such as comparisons, as functions of the variables that are constant but for
    jumps."""
    return tuple(dict.fromkeys(node for node in _deciding(tree) if names_in(node)))


def _deciding(tree: Node) -> Iterator[Node]:
    for node in walk(tree):
        if not isinstance(node, Apply):
            continue
        if node.op == "%":
            yield Apply("//", node.args)
        elif node.op in _WHOLE:
            yield node
        elif node.op == "where":
            yield Apply("!=", (node.args[0], Number(0.0)))


def shifted_decisions(tree: Node, name: str, by: float) -> Node:
    """The expression with name + by in place of the variable in all decisions (see `decisions`), and nowhere else."""
    return _shifted(tree, name, by, False)


def _shifted(node: Node, name: str, by: float, inside: bool) -> Node:
    if isinstance(node, Name) and node.name == name and inside:
        return Apply("+" if by > 0 else "-", (node, Number(abs(by))))
    if isinstance(node, IntegerPower):
        return IntegerPower(_shifted(node.base, name, by, inside), node.exponent)
    if not isinstance(node, Apply):
        return node
    if node.op == "where":
        condition, *rest = node.args
        return Apply("where", (_shifted(condition, name, by, True), *(_shifted(n, name, by, inside) for n in rest)))
    within = inside or node.op in DECIDING
    return Apply(node.op, tuple(_shifted(argument, name, by, within) for argument in node.args))

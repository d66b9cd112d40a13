"""Derivatives of checked expressions in a direction, by the chain rule from the leaves up.

For expressions that the program makes itself, for every run: unlike `symbolic` this needs no SymPy, takes all variables
at once, and what it returns shares its parts with what it was given, so that they need to be computed only once.
A. Griewank and A. Walther, "Evaluating Derivatives" (SIAM 2008), chapter 3: forward mode.

Derivatives hold away from kinks, where `min` and `max` take the slope of their last argument, and leave out jumps:
comparisons have slope 0, and `where` that of the branch it takes. `is_lipschitz` says whether there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.tree import Apply, IntegerPower, Marked, Name, Node, Number, names_in, walk

ZERO, ONE = Number(0.0), Number(1.0)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_CONTINUOUS = frozenset(("+", "-", "*", "/", "neg", "exp", "log", "sqrt", "abs", "sin", "cos", "min", "max"))


def add(a: Node, b: Node) -> Node:
    if a == ZERO or b == ZERO:
        return b if a == ZERO else a
    return _folded("+", a, b)


def subtract(a: Node, b: Node) -> Node:
    if b == ZERO:
        return a
    return multiply(Number(-1.0), b) if a == ZERO else _folded("-", a, b)


def multiply(a: Node, b: Node) -> Node:
    if ZERO in (a, b):
        return ZERO
    if a == ONE or b == ONE:
        return b if a == ONE else a
    if isinstance(a, Number) and isinstance(b, Apply) and b.op == "*" and isinstance(b.args[0], Number):
        return multiply(Number(a.value * b.args[0].value), b.args[1])
    return _folded("*", a, b)


def divide(a: Node, b: Node) -> Node:
    return ZERO if a == ZERO else a if b == ONE else _folded("/", a, b)


def where(condition: Node, yes: Node, no: Node) -> Node:
    return yes if yes == no else Apply("where", (condition, yes, no))


def _folded(op: str, a: Node, b: Node) -> Node:
    """The operation on two nodes; on two numbers it is evaluated, unless that fails."""
    if isinstance(a, Number) and isinstance(b, Number) and not (op == "/" and b.value == 0):
        x, y = a.value, b.value
        return Number({"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else 0.0}[op])
    return Apply(op, (a, b))


def directional(tree: Node, slopes: Mapping[str, Node]) -> Node:
    """The derivative of `tree` if each variable moves at the speed `slopes` has for it; others stand still.

    Raises ValueError where something moves in operations other than + - * / neg exp log sqrt abs sin cos min max, whole
    powers, comparisons and `where`.
    """
    found: dict[int, Node] = {}

    def slope(node: Node) -> Node:
        if id(node) not in found:
            found[id(node)] = _slope(node, slope, slopes)
        return found[id(node)]

    return slope(tree)


def _slope(node: Node, slope: Callable[[Node], Node], slopes: Mapping[str, Node]) -> Node:
    if isinstance(node, Number | Marked):
        return ZERO
    if isinstance(node, Name):
        return slopes.get(node.name, ZERO)
    if isinstance(node, IntegerPower):
        outer = ONE if node.exponent == 1 else IntegerPower(node.base, node.exponent - 1)
        return multiply(multiply(Number(float(node.exponent)), outer), slope(node.base))
    if node.op in _COMPARISONS:
        return ZERO
    if node.op == "where":
        return where(node.args[0], slope(node.args[1]), slope(node.args[2]))
    if node.op in ("min", "max"):
        return reduce(_choice(node.op), [(a, slope(a)) for a in node.args])[1]
    found = [slope(a) for a in node.args]
    if all(s == ZERO for s in found):  # the derivative is 0 then, whatever the operation is
        return ZERO
    if len(node.args) == 2:
        return _of_two(node, *node.args, *found)
    return _of_one(node, *node.args, *found)


def _choice(op: str) -> Callable[[tuple[Node, Node], tuple[Node, Node]], tuple[Node, Node]]:
    """A function that gives the value and the slope of `min` or `max` from those of two arguments."""

    def pick(a: tuple[Node, Node], b: tuple[Node, Node]) -> tuple[Node, Node]:
        first = Apply("<" if op == "min" else ">", (a[0], b[0]))
        return Apply(op, (a[0], b[0])), where(first, a[1], b[1])

    return pick


def _of_two(node: Apply, a: Node, b: Node, da: Node, db: Node) -> Node:
    if node.op == "+":
        return add(da, db)
    if node.op == "-":
        return subtract(da, db)
    if node.op == "*":
        return add(multiply(a, db), multiply(b, da))
    if node.op == "/":
        return divide(subtract(da, multiply(node, db)), b)
    raise ValueError(f"no derivative of `{node.op}`")


def _of_one(node: Apply, a: Node, da: Node) -> Node:
    if node.op == "neg":
        return multiply(Number(-1.0), da)
    if node.op == "exp":
        return multiply(node, da)
    if node.op == "log":
        return divide(da, a)
    if node.op == "sqrt":
        return divide(da, multiply(Number(2.0), node))
    if node.op == "sin":
        return multiply(Apply("cos", (a,)), da)
    if node.op == "cos":
        return multiply(Number(-1.0), multiply(Apply("sin", (a,)), da))
    if node.op == "abs":
        return where(Apply(">", (a, ZERO)), da, multiply(Number(-1.0), da))
    raise ValueError(f"no derivative of `{node.op}`")


def is_lipschitz(tree: Node, positive: frozenset[str]) -> bool:
    """Whether `directional` has all there is to a derivative: no jumps, and no infinite slopes where the value is
    finite. positive: the variables that are above 0."""
    for node in walk(tree):
        if not names_in(node):  # the value of a constant neither jumps nor slopes
            if not math.isfinite(_value(node)):
                return False
            continue
        if isinstance(node, IntegerPower) and node.exponent < 1 and not _is_positive(node.base, positive):
            return False
        if isinstance(node, Apply):
            if node.op not in _CONTINUOUS:
                return False
            last = node.args[-1]
            if node.op == "/" and not names_in(last) and _value(last) != 0:
                continue
            if node.op in ("/", "log", "sqrt") and not _is_positive(last, positive):
                return False
    return True


def _value(node: Node) -> float:
    """The value of a tree without variables."""
    with np.errstate(all="ignore"):
        return float(evaluate(node, {}))


def _is_positive(node: Node, positive: frozenset[str]) -> bool:
    """Whether it is certain that the value is above 0."""
    if isinstance(node, Number):
        return node.value > 0
    if not names_in(node):
        return _value(node) > 0
    if isinstance(node, Name):
        return node.name in positive
    if isinstance(node, IntegerPower):
        return _is_positive(node.base, positive)
    if isinstance(node, Marked):
        return False
    if node.op == "exp":
        return True
    if node.op == "sqrt":
        return _is_positive(node.args[0], positive)
    if node.op == "max":
        return any(_is_positive(a, positive) for a in node.args)
    return node.op in ("+", "*", "/", "min") and all(_is_positive(a, positive) for a in node.args)

"""Comparisons `==` and `!=` that hold, or do not hold, at single values of a variable only, such as `t == 50`.

Where both sides are smooth, their difference is 0 at isolated values, or everywhere; so if it is seen not to be 0 at
any one value, the comparison says the same almost everywhere. That also holds for the sawtooth `t % 4`, if the variable
occurs only there."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from simsuite.expressions.tree import Apply, Name, Node, Number, names_in, replaced, walk

_EQUALITIES = ("==", "!=")
_CONSTANT = ("floor", "ceil", "//", "sign", "step", "<", "<=", ">", ">=")  # functions that are constant but for jumps
# functions that are smooth wherever they are defined
_SMOOTH = {"+", "-", "*", "/", "neg", "**", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot"}
_SMOOTH |= {"sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt", "erf", "erfc"}


def equations(tree: Node, name: str, operations: Collection[str] = ("==",)) -> Iterator[Apply]:
    """The comparisons for equality that contain a variable, but for those of functions that go up in jumps, such as
    `floor(t)`. operations: which of `==` and `!=`."""
    for node in walk(tree):
        if isinstance(node, Apply) and node.op in operations and name in names_in(node) and not _goes_by_jumps(node):
            yield node


def isolated(tree: Node, name: str) -> Iterator[Apply]:
    """The comparisons `==` and `!=` whose two sides are the same at isolated values of the variable only, or else
    everywhere."""
    for node in equations(tree, name, _EQUALITIES):
        inner = [part for side in node.args for part in walk(side) if isinstance(part, Apply)]
        sawtooths = [part for part in inner if part.op == "%"]
        once = sum(1 for part in walk(node) if isinstance(part, Name) and part.name == name) == 1
        smooth = all(part.op in _SMOOTH or part.op == "%" for part in inner)
        if smooth and (not sawtooths or (once and not any(name in names_in(part.args[1]) for part in sawtooths))):
            yield node


def almost_everywhere(tree: Node, moments: Collection[Apply]) -> Node:
    """The tree with 0 in place of each of these comparisons that is an `==`, and 1 in place of each `!=`: what a
    comparison that `isolated` finds is worth at all values of the variable but single ones."""
    return replaced(
        tree, lambda part: Number(float(part.op == "!=")) if isinstance(part, Apply) and part in moments else None
    )


def _goes_by_jumps(node: Node) -> bool:
    """Whether a comparison contains a function that is constant between its jumps. `%` is not one: it grows in
    between."""
    return any(isinstance(part, Apply) and part.op in _CONSTANT for part in walk(node))

"""Many expressions at once: what they have in common is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import apply
from simsuite.expressions.tree import Apply, IntegerPower, Node, children


def shared(trees: Iterable[Node]) -> tuple[Node, ...]:
    """The same expressions, in which equal parts are one and the same object."""
    known: dict[Any, Node] = {}
    done: dict[int, Node] = {}

    def one(node: Node) -> Node:
        if id(node) in done:
            return done[id(node)]
        if isinstance(node, Apply):
            args = tuple(map(one, node.args))
            key: Any = (node.op, *map(id, args))
            made: Node = Apply(node.op, args)
        elif isinstance(node, IntegerPower):
            base = one(node.base)
            key, made = ("**", id(base), node.exponent), IntegerPower(base, node.exponent)
        else:
            key, made = (type(node), str(node)), node
        done[id(node)] = known.setdefault(key, made)
        return done[id(node)]

    alive = list(trees)  # or another node could get the id of one that is gone
    return tuple(map(one, alive))


def evaluate_each(trees: Iterable[Node], values: Mapping[str, np.ndarray]) -> Iterable[Any]:
    """The values of expressions out of `shared`, given those of the variables, one after another."""
    known: dict[int, Any] = {}

    def value(node: Node) -> Any:
        if id(node) not in known:
            known[id(node)] = apply(node, [value(child) for child in children(node)], values)
        return known[id(node)]

    for tree in trees:
        yield value(tree)

"""Evaluation of many expressions at once, in which what they have in common is computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
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

    alive = list(trees)  # keeps nodes alive: otherwise a new node could get the id of one that is gone
    return tuple(map(one, alive))


def evaluate_each(trees: Iterable[Node], values: Mapping[str, np.ndarray]) -> Iterator[Any]:
    """The values of expressions out of `shared`, given those of the variables, one after another. Memory of
    intermediate values is freed as soon as nothing more needs them."""
    return _Evaluation(trees, lambda node, parts: apply(node, parts, values)).each()


def values_at_once(trees: Iterable[Node]) -> int:
    """How many values, besides those of variables, `evaluate_each` holds at the same time, at most."""
    evaluation = _Evaluation(trees, lambda node, parts: None)
    for _ in evaluation.each():
        pass
    return evaluation.most


class _Evaluation:
    """The evaluation of expressions one after another. compute: a function that gives the value of an operation from
    those of its children. most: the most values that were held at the same time."""

    def __init__(self, trees: Iterable[Node], compute: Callable[[Node, list[Any]], Any]) -> None:
        self.most = 0
        self._trees, self._compute = tuple(trees), compute
        self._known: dict[int, Any] = {}
        self._uses = _uses(self._trees)

    def each(self) -> Iterator[Any]:
        for tree in self._trees:
            found = self._value(tree)
            self._used(tree)
            yield found

    def _value(self, node: Node) -> Any:
        parts = children(node)
        if not parts:
            return self._compute(node, [])
        if id(node) not in self._known:
            self._known[id(node)] = self._compute(node, [self._value(part) for part in parts])
            self.most = max(self.most, len(self._known))
            for part in parts:
                self._used(part)
        return self._known[id(node)]

    def _used(self, node: Node) -> None:
        self._uses[id(node)] -= 1
        if not self._uses[id(node)]:
            self._known.pop(id(node), None)


def _uses(trees: Iterable[Node]) -> Counter[int]:
    """How often each node, by its id, is a child of another or a tree itself."""
    found: Counter[int] = Counter()
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        found[id(node)] += 1
        if found[id(node)] == 1:
            waiting += children(node)
    return found

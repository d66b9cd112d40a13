"""Sums of products of parts of expressions, as data that can be added, multiplied and written as a tree again.

A part is any tree; what is in it does not matter here. Two parts are the same if their texts are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeAlias

from simsuite.expressions.formula import formula
from simsuite.expressions.tree import (
    LARGEST_INTEGER_POWER,
    Apply,
    IntegerPower,
    Node,
    Number,
    names_in,
    power_steps,
)

Factor: TypeAlias = tuple[str, bool, int]  # the text of a part, whether it divides, and how many times
Product: TypeAlias = tuple[Factor, ...]  # sorted; what multiplies and what divides is not cancelled, as it may be 0
Sum: TypeAlias = dict[Product, float]  # products and their coefficients

_MOST_PRODUCTS = 32
# the largest coefficient, and the inverse of the smallest: products of two neither overflow nor vanish
_LARGEST = 1e150


class InseparableError(Exception):
    """No form as a sum of few products is known that has the same value."""


def constant(value: float) -> Sum:
    return {(): _checked(float(value))}


def add(a: Sum, b: Sum) -> Sum:
    total = dict(a)
    for product, coefficient in b.items():
        total[product] = _checked(total.get(product, 0.0) + coefficient)
    return _short(total)


def multiply(a: Sum, b: Sum) -> Sum:
    total: Sum = {}
    for left, c in a.items():
        for right, d in b.items():
            product = _joined(left, right)
            total[product] = _checked(total.get(product, 0.0) + _checked(c * d))
    return _short(total)


def power(base: Sum, exponent: int) -> Sum:
    """The sum raised to a whole power other than 0; a negative power is possible of a single product only."""
    if exponent < 0:
        base = _inverse(base)
    result = base
    for again in power_steps(abs(exponent)):
        result = multiply(result, result)
        if again:
            result = multiply(result, base)
    return result


def single(total: Sum) -> tuple[Product, float]:
    if len(total) != 1:
        raise InseparableError
    return next(iter(total.items()))


def _inverse(total: Sum) -> Sum:
    product, coefficient = single(total)
    if coefficient == 0:
        raise InseparableError
    return {tuple((text, not divides, count) for text, divides, count in product): _checked(1.0 / coefficient)}


def _checked(coefficient: float) -> float:
    if coefficient == 0 or 1 / _LARGEST < abs(coefficient) < _LARGEST:
        return coefficient
    raise InseparableError


def _short(total: Sum) -> Sum:
    if len(total) > _MOST_PRODUCTS:
        raise InseparableError
    return total


def _joined(a: Product, b: Product) -> Product:
    counts: dict[tuple[str, bool], int] = {}
    for text, divides, count in (*a, *b):
        counts[text, divides] = counts.get((text, divides), 0) + count
    return tuple((*factor, count) for factor, count in sorted(counts.items()))


class Parts:
    """The trees of the parts that sums are made of."""

    def __init__(self) -> None:
        self._trees: dict[str, Node] = {}
        self._names: dict[str, frozenset[str]] = {}

    def part(self, tree: Node) -> Sum:
        """A tree as the sum that consists of it."""
        text = formula(tree)
        self._trees[text], self._names[text] = tree, names_in(tree)
        return {((text, False, 1),): 1.0}

    def names(self, product: Iterable[Factor]) -> frozenset[str]:
        return frozenset().union(*(self._names[text] for text, _, _ in product))

    def tree(self, total: Sum) -> Node:
        """The tree of a sum; it is 0 if the sum has no terms."""
        result: Node | None = None
        for product, coefficient in total.items():
            term = self._term(product, abs(coefficient))
            if result is None:
                result = Apply("neg", (term,)) if coefficient < 0 else term
            else:
                result = Apply("-" if coefficient < 0 else "+", (result, term))
        return Number(0.0) if result is None else result

    def _term(self, product: Product, coefficient: float) -> Node:
        over, under = ([self._raised(text, n) for text, below, n in product if below == side] for side in (False, True))
        if coefficient != 1 or not over:
            over = [Number(coefficient), *over]
        top = reduce(lambda a, b: Apply("*", (a, b)), over)
        return Apply("/", (top, reduce(lambda a, b: Apply("*", (a, b)), under))) if under else top

    def _raised(self, text: str, count: int) -> Node:
        tree = self._trees[text]
        if count == 1:
            return tree
        small = count <= LARGEST_INTEGER_POWER
        return IntegerPower(tree, count) if small else Apply("**", (tree, Number(float(count))))

"""Expressions as short sums of products of functions of fewer variables.

f(x, y, t) = X₁(x, t) Y₁(y, t) + … + Xₙ(x, t) Yₙ(y, t) takes nx + ny values of each factor for a field of nx × ny cells
instead of one value of f for each cell. Sums, products and powers are multiplied out; exponentials, sines, cosines and
their hyperbolic kin have addition theorems; roots, magnitudes and powers of products are products; conditions in one
variable are factors of 0 and 1. What else is in two variables at once has no such form here.

The form is given out only if it has the value of f but for rounding. That no factor is ever Inf or NaN, and that roots
are taken of nothing negative, is proved by interval arithmetic. That multiplying out has not cost digits is tried, at
points spread over the domain, in its corners and where factors are largest; the digits that f itself loses where its
coordinates are off by their last digit are not asked for. A factor that becomes 0 by underflow takes with it what is
below 1e-290 of the largest product of factors. Jumps stay where they are to the bit, as no argument of a function that
jumps is written anew.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.formula import formula
from simsuite.expressions.intervals import bounds
from simsuite.expressions.products import (
    InseparableError,
    Parts,
    Product,
    Sum,
    add,
    constant,
    multiply,
    power,
    single,
)
from simsuite.expressions.tree import Apply, IntegerPower, Node, Number, names_in

Range: TypeAlias = tuple[float, float]
Pair: TypeAlias = tuple[Expression, Expression]

MOST_TERMS = 8
_TOLERANCE = 1e-13  # the most that the form may differ, as a share of the largest value
_UNDERFLOW = 1e-290  # underflow loses less than this share of the largest product of factors that bounds allow
_LARGEST = 1e250  # the largest product of factors that is allowed
_PLAIN_EXPONENT = 50.0  # the largest of an exponential that is left as it is: far from overflow and from underflow
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not")


def separate(expression: Expression, x_range: Range, y_range: Range, t_range: Range) -> tuple[Pair, ...] | None:
    """Pairs of expressions in (x, t) and in (y, t) whose products add up to the expression; None if none are known.

    At most 8 pairs. Constants and what depends on t alone go with x. The ranges are the least and largest values of
    the coordinates at which the pairs will be used; nothing is promised beyond.
    """
    return _pairs(expression, ("x", "t"), ("y", "t"), {"x": x_range, "y": y_range, "t": t_range})


def _pairs(
    expression: Expression, first: tuple[str, ...], second: tuple[str, ...], ranges: Mapping[str, Range]
) -> tuple[Pair, ...] | None:
    if not expression.names <= ranges.keys():
        return None
    try:
        trees = _Separator(first, second, ranges).pairs(expression.tree)
        pairs = tuple((Expression.from_tree(a, first), Expression.from_tree(b, second)) for a, b in trees)
    except (InseparableError, ExpressionError, RecursionError):
        return None
    size = sum(math.prod(max(map(abs, bounds(factor.tree, ranges))) for factor in pair) for pair in pairs)
    good = len(pairs) <= MOST_TERMS and size < _LARGEST and _agrees(expression, pairs, ranges, size)
    return pairs if good else None


class _Separator:
    """Finds the form, piece by piece; a method raises `InseparableError` where there is none."""

    def __init__(self, first: tuple[str, ...], second: tuple[str, ...], ranges: Mapping[str, Range]) -> None:
        self._first = frozenset(first)
        self._second = frozenset(second)
        self._ranges = ranges
        self._parts = Parts()
        self._rules: dict[str, Callable[..., Sum]] = {
            "+": lambda a, b: add(self.terms(a), self.terms(b)),
            "-": lambda a, b: add(self.terms(a), multiply(constant(-1.0), self.terms(b))),
            "**": self._power,
            "sqrt": lambda a: self._root("sqrt", a),
            "abs": self._magnitude,
            "exp": lambda a: self._exponential(*self._summands(a)),
            "sin": lambda a: self._addition(("sin", "cos"), ("cos", "sin"), 1.0, *self._summands(a)),
            "cos": lambda a: self._addition(("cos", "cos"), ("sin", "sin"), -1.0, *self._summands(a)),
            "sinh": self._sinh,
            "cosh": lambda a: self._mean_of_exponentials(1.0, *self._summands(a)),
            "where": self._where,
            "and": lambda a, b: multiply(self._truth(a), self._truth(b)),
            "or": self._or,
            "not": lambda a: self._opposite(self._truth(a)),
        }

    def terms(self, node: Node) -> Sum:
        """A tree as a sum of products whose factors depend on the first variables only or on the second only."""
        names = names_in(node)
        if not names:
            return constant(_value(node))
        if isinstance(node, IntegerPower):
            return self._collected(power(self.terms(node.base), node.exponent))
        if isinstance(node, Apply) and node.op in ("neg", "*", "/"):
            factors = [self.terms(argument) for argument in node.args]
            if node.op == "neg":
                return multiply(constant(-1.0), factors[0])
            return self._collected(multiply(factors[0], power(factors[1], -1) if node.op == "/" else factors[1]))
        if names <= self._first or names <= self._second:
            return self._parts.part(node)
        if not isinstance(node, Apply) or node.op not in self._rules:
            raise InseparableError
        return self._collected(self._rules[node.op](*node.args))

    def _collected(self, total: Sum) -> Sum:
        """The sum with its terms in the first variables alone made one part, and those in the second another, before
        they are multiplied by what makes their difference small against them."""
        names = {product: self._parts.names(product) for product in total}
        seconds = {p: c for p, c in total.items() if names[p] <= self._second and not names[p] <= self._first}
        firsts = {p: c for p, c in total.items() if names[p] <= self._first}
        if seconds and not any(names[p] - self._second for p in firsts):  # constants and the like go with either
            firsts, seconds = {}, {p: c for p, c in total.items() if names[p] <= self._second}
        mixed = {p: c for p, c in total.items() if p not in firsts and p not in seconds}
        for alone in (firsts, seconds):
            mixed = add(mixed, self._parts.part(self._parts.tree(alone)) if len(alone) > 1 else alone)
        return mixed

    def _summands(self, node: Node) -> tuple[Node, Node]:
        """a and b such that the node is a + b, a depends on the first variables and b on the second."""
        total = self.terms(node)
        names = {product: self._parts.names(product) for product in total}
        if not all(n <= self._first or n <= self._second for n in names.values()):
            raise InseparableError
        firsts = {p: c for p, c in total.items() if names[p] <= self._first}
        return self._parts.tree(firsts), self._parts.tree({p: c for p, c in total.items() if p not in firsts})

    def _factors(self, node: Node) -> tuple[Node, Node]:
        """a and b such that the node is a b, a depends on the first variables and b on the second."""
        product, coefficient = single(self.terms(node))
        a, b = self._halves(product, self._first)
        return self._parts.tree({a: coefficient}), self._parts.tree({b: 1.0})

    def _halves(self, product: Product, names: frozenset[str]) -> tuple[Product, Product]:
        """The factors that depend on nothing but `names`, and the others."""
        inside = tuple(factor for factor in product if self._parts.names([factor]) <= names)
        return inside, tuple(factor for factor in product if factor not in inside)

    def _bounds(self, node: Node) -> Range:
        lower, upper = bounds(node, self._ranges)
        if math.isnan(lower):
            raise InseparableError
        return lower, upper

    def _exponential(self, a: Node, b: Node) -> Sum:
        """exp(a + b), with factors that are at most 1 and a constant, if one could become very large or small."""
        top_a, top_b = self._bounds(a)[1], self._bounds(b)[1]
        if max(abs(top_a), abs(top_b)) <= _PLAIN_EXPONENT:
            return self._product("exp", a, "exp", b)
        a, b = Apply("-", (a, Number(top_a))), Apply("-", (b, Number(top_b)))
        return multiply(constant(np.exp(min(top_a + top_b, 700.0))), self._product("exp", a, "exp", b))

    def _product(self, f: str, a: Node, g: str, b: Node) -> Sum:
        return multiply(self.terms(Apply(f, (a,))), self.terms(Apply(g, (b,))))

    def _addition(self, one: tuple[str, str], other: tuple[str, str], sign: float, a: Node, b: Node) -> Sum:
        second = multiply(constant(sign), self._product(other[0], a, other[1], b))
        return add(self._product(one[0], a, one[1], b), second)

    def _mean_of_exponentials(self, sign: float, a: Node, b: Node) -> Sum:
        """cosh(a + b) or sinh(a + b): large terms cannot cancel, as in the addition theorems."""
        other = self._exponential(_negated(a), _negated(b))
        return multiply(constant(0.5), add(self._exponential(a, b), multiply(constant(sign), other)))

    def _sinh(self, node: Node) -> Sum:
        a, b = self._summands(node)
        if max(map(abs, self._bounds(a) + self._bounds(b))) > 1:
            return self._mean_of_exponentials(-1.0, a, b)
        return self._addition(("sinh", "cosh"), ("cosh", "sinh"), 1.0, a, b)  # keeps all digits of small values

    def _power(self, base: Node, exponent: Node) -> Sum:
        if names_in(exponent):
            raise InseparableError
        value = Number(_value(exponent))
        if not value.value.is_integer():
            return self._root("**", base, value)
        a, b = (Apply("**", (factor, value)) for factor in self._factors(base))
        return multiply(self.terms(a), self.terms(b))

    def _root(self, op: str, node: Node, *exponent: Node) -> Sum:
        """The root of a product, or another power, as the product of those of its factors; both have to be at least 0,
        or at most 0, throughout."""
        a, b = self._factors(node)
        if self._bounds(a)[1] <= 0 and self._bounds(b)[1] <= 0:
            a, b = _negated(a), _negated(b)
        if self._bounds(a)[0] < 0 or self._bounds(b)[0] < 0:
            raise InseparableError
        return multiply(self.terms(Apply(op, (a, *exponent))), self.terms(Apply(op, (b, *exponent))))

    def _magnitude(self, node: Node) -> Sum:
        a, b = self._factors(node)
        return self._product("abs", a, "abs", b)

    def _truth(self, node: Node) -> Sum:
        """A sum that is 1 where a condition is true and 0 elsewhere."""
        if isinstance(node, Apply) and node.op in _COMPARISONS:
            return self.terms(node)
        return self.terms(Apply("!=", (node, Number(0.0))))

    def _opposite(self, truth: Sum) -> Sum:
        return self._collected(add(constant(1.0), multiply(constant(-1.0), truth)))

    def _or(self, a: Node, b: Node) -> Sum:
        neither = multiply(self._opposite(self._truth(a)), self._opposite(self._truth(b)))
        return self._opposite(neither)

    def _where(self, condition: Node, yes: Node, no: Node) -> Sum:
        truth = self._truth(condition)
        if no == Number(0.0):
            return multiply(truth, self.terms(yes))
        if yes == Number(0.0):
            return multiply(self._opposite(truth), self.terms(no))
        return add(multiply(truth, self.terms(yes)), multiply(self._opposite(truth), self.terms(no)))

    def pairs(self, tree: Node) -> list[tuple[Node, Node]]:
        """The factors of the fewest products, collected by what they have in common."""
        total = self.terms(tree)
        by_first: dict[Product, Sum] = {}
        by_second: dict[Product, Sum] = {}
        for product, coefficient in total.items():
            if coefficient == 0:
                self._bounds(self._parts.tree({product: 1.0}))  # 0 times what may be infinite is something else
                continue
            rest, common = self._halves(product, self._first)
            by_second.setdefault(common, {})[rest] = coefficient
            rest, common = self._halves(product, self._second)
            by_first.setdefault(common, {})[rest] = coefficient
        write = self._parts.tree
        found = [(write(rest), write({common: 1.0})) for common, rest in by_second.items()]
        if len(by_first) < len(by_second):
            found = [(write({common: 1.0}), write(rest)) for common, rest in by_first.items()]
        merged: dict[str, tuple[Node, Node]] = {}
        for a, b in found:
            same = merged.get(formula(a))
            merged[formula(a)] = (a, Apply("+", (same[1], b)) if same else b)
        return list(merged.values()) or [(Number(0.0), Number(1.0))]


def _value(node: Node) -> float:
    with np.errstate(all="ignore"):
        return float(evaluate(node, {}))


def _negated(node: Node) -> Node:
    return node.args[0] if isinstance(node, Apply) and node.op == "neg" else Apply("neg", (node,))


def _agrees(expression: Expression, pairs: tuple[Pair, ...], ranges: Mapping[str, Range], size: float) -> bool:
    """Whether the products add up to the expression at a few hundred points."""
    where = _points(pairs, ranges)
    expected = np.broadcast_to(expression(**where), where["x"].shape)
    if not np.all(np.isfinite(expected)):
        return False
    found = sum((a(**where) * b(**where) for a, b in pairs), np.zeros_like(expected))
    noise = np.zeros_like(expected)
    for signs in itertools.product((1, -1), repeat=len(where)):
        moved = {name: x * (1 + sign * np.finfo(float).eps) for sign, (name, x) in zip(signs, where.items())}
        noise = np.fmax(noise, abs(expression(**moved) - expected))
    tolerance = _TOLERANCE * np.max(abs(expected)) + 4 * noise + _UNDERFLOW * size
    return bool(np.all(abs(found - expected) <= tolerance))


def _points(pairs: tuple[Pair, ...], ranges: Mapping[str, Range]) -> dict[str, np.ndarray]:
    low, high = np.array(list(ranges.values())).T
    spread = np.random.default_rng(0).uniform(low, high, (500, len(ranges)))
    regular = np.array(list(itertools.product(*np.linspace(low, high, 3).T)))
    peaks = []
    for t in np.linspace(*ranges["t"], 9):
        for pair in pairs:
            point = {"t": t} | _peak(pair[0], ranges, t) | _peak(pair[1], ranges, t)
            peaks.append([point[name] for name in ranges])
    return dict(zip(ranges, np.concatenate([spread, regular, peaks]).T))


def _peak(factor: Expression, ranges: Mapping[str, Range], t: float) -> dict[str, float]:
    """Where a factor is largest on a fine grid in space at a time."""
    free = [name for name in factor.variables if name != "t"]
    if not free:
        return {}
    axes = [np.linspace(*ranges[name], round(4096 ** (1 / len(free)))) for name in free]
    grid = dict(zip(free, np.meshgrid(*axes)))
    at = np.argmax(abs(np.broadcast_to(factor(t=t, **grid), grid[free[0]].shape)))
    return {name: float(grid[name].flat[at]) for name in free}

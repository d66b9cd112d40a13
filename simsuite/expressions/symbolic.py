"""Derivatives of checked expressions, and shorter forms of them, by SymPy's algebra.

A tree becomes a SymPy expression node by node, never by way of text, and comes back the same way. No floating-point
arithmetic happens in between: a number of at most 15 digits is the decimal that was written (such decimals and doubles
determine each other), any other, such as pi, a positive symbol named by its digits. So what cancels on paper cancels
here, and numbers return as the doubles they were.

What is not smooth is opaque to SymPy and has its rule here: there are no Dirac deltas, and no cases but `where`.
Derivatives hold away from jumps and kinks; at a kink `abs` has slope 0 and `min` and `max` that of their last argument.

Importing this module imports SymPy, which takes half a second: `Expression` does so when it first needs it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

import sympy

from simsuite.expressions.tree import (
    LARGEST_INTEGER_POWER,
    Apply,
    ExpressionError,
    IntegerPower,
    Marked,
    Name,
    Node,
    Number,
    names_in,
)

Term: TypeAlias = Any  # one of SymPy's expressions
Slope: TypeAlias = Callable[[int], Term]  # the derivative of an operation with respect to the argument of that index

_DIGITS = 15  # digits up to which a decimal and its double determine each other
_SCALE = 30  # powers of ten beyond which exact fractions would only be long
_LEAF_TERMS = 16  # longer sums and products are halved, as a tree that leans to one side is deep

_SINGULAR = "this divides by zero, or takes the logarithm of zero or the root or logarithm of a negative number"

_PLAIN: dict[str, Callable[..., Term]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "sqrt": sympy.sqrt,
    **{name: getattr(sympy, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
    **{name: getattr(sympy, name) for name in ("exp", "log", "erf", "erfc")},
}
_TRUTH: dict[str, Callable[..., Any]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne},
    "and": lambda a, b: a != 0 and b != 0,
    "or": lambda a, b: a != 0 or b != 0,
    "not": lambda a: a == 0,
    "step": lambda a: a > 0,
}
_OPERATION = {function: name for name, function in _PLAIN.items() if isinstance(function, type)}
_CONSTANTS = {sympy.pi: math.pi, sympy.E: math.e}


def derivative(tree: Node, name: str) -> Node:
    """∂tree/∂name. Raises `ExpressionError` where there is none."""
    return _through_sympy(tree, lambda term: sympy.diff(term, sympy.Symbol(name)))


def simplified(tree: Node) -> Node:
    """The tree with like terms collected, and common factors taken out where that is shorter."""
    return _through_sympy(tree, lambda term: min(term, sympy.factor_terms(term), key=sympy.count_ops))


def _through_sympy(tree: Node, change: Callable[[Term], Term]) -> Node:
    try:
        return _node(change(_term(tree)))
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply") from None
    except OverflowError:
        raise ExpressionError("a number gets too large") from None


# From the tree to SymPy


class _Kept(sympy.Function):
    """An operation that SymPy leaves as it is and differentiates by `_RULES`."""

    operation = ""

    def _eval_derivative(self, symbol: Term) -> Term:
        if not self.has(symbol):
            return sympy.Integer(0)
        return sympy.sympify(_RULES[self.operation](self.args, lambda i: self.args[i].diff(symbol)))


def _flat(args: Sequence[Term], slope: Slope) -> Term:
    return 0


def _refused(operation: str) -> Callable[[Sequence[Term], Slope], Term]:
    def refuse(args: Sequence[Term], slope: Slope) -> Term:
        raise ExpressionError(f"`{operation}` has no derivative")

    return refuse


def _where(condition: Term, yes: Term, no: Term) -> Term:
    return yes if yes == no else _KEPT["where"](condition, yes, no)


_RULES: dict[str, Callable[[Sequence[Term], Slope], Term]] = {
    **dict.fromkeys((*_TRUTH, "sign"), _flat),
    **{operation: _refused(operation) for operation in ("floor", "ceil", "%", "//")},
    "abs": lambda a, d: _KEPT["sign"](a[0]) * d(0),
    "log10": lambda a, d: d(0) / (a[0] * sympy.log(10)),
    "atan2": lambda a, d: (a[1] * d(0) - a[0] * d(1)) / (a[0] ** 2 + a[1] ** 2),
    "hypot": lambda a, d: (a[0] * d(0) + a[1] * d(1)) / _KEPT["hypot"](*a),
    "min": lambda a, d: _where(_KEPT["<"](*a), d(0), d(1)),
    "max": lambda a, d: _where(_KEPT[">"](*a), d(0), d(1)),
    "where": lambda a, d: _where(a[0], d(1), d(2)),
}
_KEPT: dict[str, type[_Kept]] = {name: type(name, (_Kept,), {"operation": name}) for name in _RULES}


def _term(node: Node) -> Term:
    if isinstance(node, Number):
        return _exact(node.value)
    if isinstance(node, Name):
        return sympy.Symbol(node.name)
    if isinstance(node, IntegerPower):
        return _term(node.base) ** node.exponent
    if isinstance(node, Marked):
        raise ExpressionError("a table of cells has no formula")
    first = _term(node.args[0])
    if node.op == "where" and first.is_Rational:
        return _term(node.args[1] if first != 0 else node.args[2])  # the other branch may well be singular
    args = [first, *map(_term, node.args[1:])]
    if node.op in _PLAIN:
        return _PLAIN[node.op](*args)
    if node.op in _TRUTH and all(argument.is_Rational for argument in args):
        return sympy.Integer(bool(_TRUTH[node.op](*args)))
    kept = _KEPT[node.op]
    return reduce(kept, args) if node.op in ("min", "max") else kept(*args)


def _exact(value: float) -> Term:
    if value < 0:
        return -_exact(-value)
    text = repr(value)
    _, digits, exponent = Decimal(text).normalize().as_tuple()
    if len(digits) <= _DIGITS and abs(int(exponent)) <= _SCALE:
        return sympy.Rational(text)
    return sympy.Symbol(text, positive=True)  # the text cannot be the name of a variable, as that begins with a letter


# From SymPy to the tree


def _node(term: Term) -> Node:
    if term.is_Rational:
        return _quotient(*_fraction(term))
    if term.is_Symbol:
        return Number(float(term.name)) if term.name[0].isdigit() else Name(term.name)
    if term in _CONSTANTS:
        return Number(_CONSTANTS[term])
    if term.is_Add:
        return _sum(term)
    if term.is_Mul or term.is_Pow:
        return _product(term)
    name = _OPERATION.get(term.func) or getattr(term, "operation", None)
    if name is None:  # infinities, NaN and imaginary numbers have no name here
        raise ExpressionError(_SINGULAR)
    return Apply(name, tuple(_node(argument) for argument in term.args))


def _fraction(value: Term) -> tuple[list[Node], list[Node]]:
    """Numerator and denominator of a rational number, as at most one number each."""
    nearest = value.p / value.q
    if _exact(nearest) == value or max(abs(value.p), value.q) > 2**53:
        return [Number(nearest)], []
    return [Number(float(value.p))] if value.p != 1 else [], [Number(float(value.q))]


def _sum(term: Term) -> Node:
    negative = [part for part in term.args if part.as_coeff_Mul()[0].is_negative]
    plus = [_node(part) for part in term.args if part not in negative]
    minus = [_node(-part) for part in negative]
    if not minus:
        return _joined("+", plus)
    if not plus:
        return Apply("neg", (_joined("+", minus),))
    return Apply("-", (_joined("+", plus), _joined("+", minus)))


def _product(term: Term) -> Node:
    coefficient, rest = term.as_coeff_Mul()
    over, under = _fraction(coefficient) if abs(coefficient) != 1 else ([], [])
    for base, exponent in _powers(rest):
        if exponent.as_coeff_Mul()[0].is_negative:
            under.append(_power(base, -exponent))
        else:
            over.append(_power(base, exponent))
    if coefficient == -1:
        return Apply("neg", (_quotient(over, under),)) if over else _quotient([Number(-1.0)], under)
    return _quotient(over, under)


def _powers(term: Term) -> Iterable[tuple[Term, Term]]:
    """The bases and exponents of a product; x**y / x has the single power x**(y - 1), which has a value at 0."""
    powers: dict[Term, Term] = {}
    for factor in sympy.Mul.make_args(term):
        base, exponent = (factor.base, factor.exp) if factor.is_Pow else (factor, sympy.Integer(1))
        powers[base] = powers.get(base, 0) + exponent
    return powers.items()


def _power(base: Term, exponent: Term) -> Node:
    if exponent == 1:
        return _node(base)
    for roots in range(3):
        n = exponent * 2**roots
        if n.is_Integer and n <= LARGEST_INTEGER_POWER:
            result = reduce(lambda a, _: Apply("sqrt", (a,)), range(roots), _node(base))
            return IntegerPower(result, int(n)) if n > 1 else result
    return Apply("**", (_node(base), _node(exponent)))


def _quotient(over: list[Node], under: list[Node]) -> Node:
    top = _joined("*", sorted(over, key=_is_variable)) if over else Number(1.0)
    return Apply("/", (top, _joined("*", sorted(under, key=_is_variable)))) if under else top


def _is_variable(factor: Node) -> bool:
    """Whether a factor is no number: factors are sorted so that numbers come first, and the compiler multiplies these
    once."""
    return bool(names_in(factor))


def _joined(operation: str, parts: list[Node]) -> Node:
    if len(parts) > _LEAF_TERMS:
        middle = len(parts) // 2
        return Apply(operation, (_joined(operation, parts[:middle]), _joined(operation, parts[middle:])))
    return reduce(lambda a, b: Apply(operation, (a, b)), parts)

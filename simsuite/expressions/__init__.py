"""Arithmetic expressions written by users, for fields, boundary values and payoffs.

The text is parsed once into a checked tree of whitelisted operations (`parser`); everything else works on that tree:
NumPy values (`evaluate`), plain Python source that Numba compiles for CPUs and GPUs (`scalar`), CUDA C++ source
(`cuda_c`), derivatives by SymPy (`symbolic`), bounds (`intervals`), values whose decisions are exact (`exact`) and
products of functions of fewer variables (`separable`). The user's text itself is never executed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from simsuite.expressions.cuda_c import device_function
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.formula import formula
from simsuite.expressions.parser import parse_with_constants
from simsuite.expressions.scalar import compile_scalar, scalar_source, simulated_scalar
from simsuite.expressions.tree import (
    Apply,
    ExpressionError,
    Node,
    Number,
    NumberWithUnit,
    check_size,
    names_in,
    substitute,
)

__all__ = ["Expression", "ExpressionError", "NumberWithUnit"]

_MOST_RESULTS = 256  # how many results of SymPy are kept, of derivatives and of simplified expressions each


@dataclass(frozen=True)
class Expression:
    """A checked expression in some `variables`; equal to another with the same text and variables.

    text: as the user wrote it, with numbers in place of named constants. tree: what it means. names: the
    variables that occur in it.
    """

    text: str
    variables: tuple[str, ...]
    tree: Node = field(compare=False, repr=False)
    names: frozenset[str] = field(compare=False, repr=False)

    @classmethod
    def parse(
        cls,
        text: str,
        variables: tuple[str, ...] = ("x", "y", "t"),
        constants: Mapping[str, float] = MappingProxyType({}),
    ) -> Expression:
        """The expression that `text` says; raises `ExpressionError`. constants: named numbers that may occur in it.

        A variable may be a name, or a name applied to a name and numbers, such as ``"mean(A)"`` or ``"at(A, 0.5)"``,
        which then stands for one value.
        """
        tree, text = parse_with_constants(text, variables, constants)
        return cls(text, variables, tree, names_in(tree))

    @classmethod
    def constant(cls, value: float, variables: tuple[str, ...] = ()) -> Expression:
        """The expression that is `value` everywhere. Raises `ValueError` unless it is finite."""
        value = float(value)
        if not math.isfinite(value):
            raise ValueError("a constant must be finite")
        return cls(repr(value), variables, Number(value), frozenset())

    @classmethod
    def combine(cls, op: str, left: Expression | float, right: Expression | float) -> Expression:
        """``left op right`` for one of the operators + - * /, without going through text, so without its limits."""
        a, b = (part if isinstance(part, Expression) else cls.constant(part) for part in (left, right))
        variables = tuple(dict.fromkeys(a.variables + b.variables))
        return cls(f"({a.text}) {op} ({b.text})", variables, Apply(op, (a.tree, b.tree)), a.names | b.names)

    @classmethod
    def from_tree(cls, tree: Node, variables: tuple[str, ...]) -> Expression:
        """What came of other expressions, with a text made for it: longer than users may write, yet not endless."""
        if isinstance(tree, Number):
            return cls.constant(tree.value, variables)
        check_size(tree)
        return cls(formula(tree), variables, tree, names_in(tree))

    def derivative(self, name: str) -> Expression:
        """The partial derivative with respect to a variable, as an expression in the same variables.

        Holds away from jumps and kinks; see `symbolic`. Raises `ExpressionError` if an operation on the variable has no
        derivative (``floor``, ``ceil``, ``%``, ``//``), or the result is no real number or too long.
        """
        if name not in self.names:
            return self.constant(0.0, self.variables)
        return _derivative(self, name)

    def simplified(self) -> Expression:
        """This expression with like terms collected and constants folded where that is exact; it may become a constant.

        Raises `ExpressionError` if it has no real value anywhere, such as `1/0`.
        """
        return _simplified(self)

    def substitute(self, **expressions: Expression) -> Expression:
        """This expression with variables replaced, all at once, by expressions; names that are none of its variables
        are ignored.

        Its variables are those left over, then those of the expressions. Raises `ExpressionError` if it gets too long.
        """
        new = {name: expression for name, expression in expressions.items() if name in self.variables}
        left = [name for name in self.variables if name not in new]
        variables = dict.fromkeys([*left, *(name for expression in new.values() for name in expression.variables)])
        tree = substitute(self.tree, {name: expression.tree for name, expression in new.items()})
        return self.from_tree(tree, tuple(variables))

    @property
    def value(self) -> float:
        """The number that an expression without variables stands for. Raises `ValueError` if it has any."""
        if self.names:
            raise ValueError(f"`{self.text}` depends on {', '.join(sorted(self.names))}")
        return float(self())

    @property
    def is_literal(self) -> bool:
        """Whether the expression is just a number, as `constant` makes it."""
        return isinstance(self.tree, Number) and self.text == repr(self.tree.value)

    def depends_on(self, name: str) -> bool:
        return name in self.names

    def __str__(self) -> str:
        return self.text

    def __call__(self, **values: Any) -> np.ndarray:
        """The value in float64 for scalars or arrays, which broadcast; Inf and NaN arise silently.

        Needs a value for each of `names` and ignores others; the shape is that of the values which occur.
        """
        missing = self.names - values.keys()
        if missing:
            raise TypeError(f"`{self.text}` needs values for {', '.join(sorted(missing))}")
        arrays = {name: np.asarray(values[name], dtype=np.float64) for name in self.names}
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(self.tree, arrays), dtype=np.float64)

    def scalar_function(self, args: tuple[str, ...]) -> Callable[..., float]:
        """A plain function of float scalars, in the order of `args`, that `numba.njit(error_model="numpy")` and
        `numba.cuda.jit(device=True)` compile. Uncompiled it raises where Python's `math` does (``1/0``, ``log(-1)``).
        """
        self._check_arguments(args)
        return compile_scalar(self.tree, args)

    def simulated_function(self, args: tuple[str, ...]) -> Callable[..., float]:
        """The function that `scalar_function` gives, for calls without compiling, as in Numba's CUDA simulator: it
        gives Inf and NaN as a GPU does."""
        self._check_arguments(args)
        return simulated_scalar(self.tree, args)

    def scalar_source(self, name: str, args: tuple[str, ...], simulated: bool) -> tuple[str, tuple[float, ...]]:
        """The text of a Python module with a function `name(*args, p)` for Numba, and the numbers that it takes as p:
        an array, or a tuple, which the function `name_numbers` makes of an array of at least one. Expressions that
        differ in numbers alone have the same text. simulated: whether the function is called without being compiled.
        """
        self._check_arguments(args)
        return scalar_source(self.tree, name, args, simulated)

    def cuda_function(self, name: str, args: tuple[str, ...]) -> str:
        """The text of a CUDA C++ function ``__device__ double name(double, ...)`` of `args`, in that order, which does
        what the scalar function does. It has Inf and NaN where NumPy has.

        Raises `ValueError` if `name` is no name in C, or that of a function which the text may call.
        """
        self._check_arguments(args)
        return device_function(self.tree, name, args)

    def _check_arguments(self, args: tuple[str, ...]) -> None:
        missing = self.names.difference(args)
        if missing:
            raise TypeError(f"`{self.text}` needs arguments for {', '.join(sorted(missing))}")


# SymPy takes some 10 ms for an expression of a few terms, and the same ones are asked for again wherever a scenario is
# solved on many grids or by many steppers. Equal expressions have equal results, to the bit. The keys are texts, as
# trees are too deep to be compared where little of Python's stack is left.


@functools.lru_cache(_MOST_RESULTS)
def _derivative(expression: Expression, name: str) -> Expression:
    from simsuite.expressions import symbolic  # imports SymPy, which is slow to import and rarely needed

    return Expression.from_tree(symbolic.derivative(expression.tree, name), expression.variables)


@functools.lru_cache(_MOST_RESULTS)
def _simplified(expression: Expression) -> Expression:
    from simsuite.expressions import symbolic

    return Expression.from_tree(symbolic.simplified(expression.tree), expression.variables)

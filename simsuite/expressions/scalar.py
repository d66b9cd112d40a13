"""A checked expression as a plain Python function that Numba compiles, on the CPU and as a CUDA device function.

In Numba's CUDA simulator nothing compiles the function, and Python raises where a GPU gives Inf or NaN. What is written
for it has functions for the operations that can raise, which then ask NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.statements import Language, Writer
from simsuite.expressions.tree import Node

_UNARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "log10", "sqrt", "erf", "erfc"),
)
# Numba's floor and ceil give integers, and the built-in CUDA min and max fail: comparisons serve everywhere, and NaN
# passes through as in NumPy. Beyond 2**52 every float is whole.
_WHOLE = "4503599627370496.0"
_OPERATIONS = {
    **{op: f"{{0}} {op} {{1}}" for op in ("+", "-", "*", "/", "//", "%")},
    **{op: f"1.0 if {{0}} {op} {{1}} else 0.0" for op in ("<", "<=", ">", ">=", "==", "!=")},
    **{name: f"math.{name}({{0}})" for name in _UNARY},
    "abs": "math.fabs({0})",
    **{name: f"math.{name}({{0}}, {{1}})" for name in ("atan2", "hypot")},
    "**": "math.pow({0}, {1})",
    "neg": "-{0}",
    "not": "1.0 if {0} == 0.0 else 0.0",
    "step": "1.0 if {0} > 0.0 else 0.0",
    "sign": "1.0 if {0} > 0.0 else (-1.0 if {0} < 0.0 else {0})",
    "floor": f"{{0}} - {{0}} % 1.0 if math.fabs({{0}}) < {_WHOLE} else {{0}}",
    "ceil": f"-(-{{0}} - (-{{0}}) % 1.0) if math.fabs({{0}}) < {_WHOLE} else {{0}}",
    "min": "{0} if {0} < {1} or {0} != {0} else {1}",
    "max": "{0} if {0} > {1} or {0} != {0} else {1}",
}
_PYTHON = Language(_OPERATIONS, repr, "{0} = {1}", ("", "if {0} != 0.0:", "else:", ""), "{0} = {1}")
_DIVISIONS = {"/": operator.truediv, "//": operator.floordiv, "%": operator.mod}
_CALLED = {op: f"math.{function.__name__}({{0}}, {{1}})" for op, function in _DIVISIONS.items()}
_SIMULATED = replace(_PYTHON, operations=_OPERATIONS | _CALLED)


def _quiet(op: str, function: Callable[..., float]) -> Callable[..., float]:
    """`function`, which Python and Numba have, but with NumPy's answer where it raises."""

    def apply(*args: float) -> float:
        try:
            return function(*args)
        except (ArithmeticError, ValueError):
            with np.errstate(all="ignore"):
                return float(OPERATIONS[op](*args))

    return apply


_IEEE = SimpleNamespace(  # in place of the module `math`
    **{name: _quiet(name, getattr(math, name)) for name in (*_UNARY, "atan2", "hypot")},
    **{function.__name__: _quiet(op, function) for op, function in _DIVISIONS.items()},
    fabs=math.fabs,
    pow=_quiet("**", math.pow),
)


def compile_scalar(tree: Node, args: tuple[str, ...]) -> Callable[..., float]:
    """The function of `args`, in that order, for Numba."""
    return _function(tree, args, _PYTHON, math)


def simulated_scalar(tree: Node, args: tuple[str, ...]) -> Callable[..., float]:
    """The same to be called as it is, with Inf and NaN where Python would raise."""
    function = _function(tree, args, _SIMULATED, _IEEE)
    return lambda *values: function(*map(float, values))  # NumPy's scalars would warn


def _function(tree: Node, args: tuple[str, ...], language: Language, library: Any) -> Callable[..., float]:
    writer = Writer({name: f"a{i}" for i, name in enumerate(args)}, language)
    result = writer.write(tree, 1)
    source = "\n".join([f"def expression({', '.join(writer.names.values())}):", *writer.lines, f" return {result}"])
    namespace: dict[str, Any] = {"__builtins__": {}, "__name__": __name__, "math": library}
    exec(compile(source, "<expression>", "exec"), namespace)  # source made of the tree alone, not of the user's text
    return namespace["expression"]

"""A checked expression as a plain Python function that Numba compiles, on the CPU and as a CUDA device function.

Written as straight assignments, so that nothing needs a helper function (a compiled function can only call compiled
ones), with `if` statements where only one branch may be evaluated. The same operation on the same operands is written
once: a derivative says most things many times.

In Numba's CUDA simulator nothing compiles the function, and Python raises where a GPU gives Inf or NaN. What is written
for it has functions for the operations that can raise, which then ask NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.tree import Apply, IntegerPower, Name, Node, Number, power_steps

_UNARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "log10", "sqrt", "erf", "erfc"),
)
_TEMPLATES = {
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
}
# Numba's floor and ceil give integers, and the built-in CUDA min and max fail: comparisons serve everywhere, and NaN
# passes through as in NumPy. Beyond 2**52 every float is whole.
_WHOLE = "4503599627370496.0"
_CHOICE = {"min": "{0} if {0} < {1} or {0} != {0} else {1}", "max": "{0} if {0} > {1} or {0} != {0} else {1}"}

_DIVISIONS = {"/": operator.truediv, "//": operator.floordiv, "%": operator.mod}
_SIMULATED = _TEMPLATES | {op: f"math.{function.__name__}({{0}}, {{1}})" for op, function in _DIVISIONS.items()}


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
    return _function(tree, args, _TEMPLATES, math)


def simulated_scalar(tree: Node, args: tuple[str, ...]) -> Callable[..., float]:
    """The same to be called as it is, with Inf and NaN where Python would raise."""
    function = _function(tree, args, _SIMULATED, _IEEE)
    return lambda *values: function(*map(float, values))  # NumPy's scalars would warn


def _function(tree: Node, args: tuple[str, ...], templates: dict[str, str], library: Any) -> Callable[..., float]:
    writer = _Writer({name: f"a{i}" for i, name in enumerate(args)}, templates)
    result = writer.write(tree, 1)
    source = "\n".join([f"def expression({', '.join(writer.names.values())}):", *writer.lines, f" return {result}"])
    namespace: dict[str, Any] = {"__builtins__": {}, "__name__": __name__, "math": library}
    exec(compile(source, "<expression>", "exec"), namespace)  # source made of the tree alone, not of the user's text
    return namespace["expression"]


class _Writer:
    """Lines of the function's body; `write` returns the variable or literal that holds a node's value."""

    def __init__(self, names: dict[str, str], templates: dict[str, str]) -> None:
        self.names = names
        self._templates = templates
        self.lines: list[str] = []
        self._count = 0
        self._assigned: dict[str, str] = {}  # what has been computed on the way here, and the variable that holds it

    def write(self, node: Node, indent: int) -> str:
        if isinstance(node, Number):
            return repr(node.value)
        if isinstance(node, Name):
            return self.names[node.name]
        if isinstance(node, IntegerPower):
            return self._integer_power(self.write(node.base, indent), node.exponent, indent)
        if node.op == "where":
            return self._branch(node.args[0], node.args[1], node.args[2], indent)
        if node.op == "and":
            return self._branch(node.args[0], _truth(node.args[1]), Number(0.0), indent)
        if node.op == "or":
            return self._branch(node.args[0], Number(1.0), _truth(node.args[1]), indent)
        operands = [self.write(argument, indent) for argument in node.args]
        if node.op in ("floor", "ceil"):
            return self._rounded(node.op, operands[0], indent)
        if node.op in _CHOICE:
            return reduce(lambda a, b: self._assign(_CHOICE[node.op].format(a, b), indent), operands)
        return self._assign(self._templates[node.op].format(*operands), indent)

    def _line(self, text: str, indent: int) -> None:
        self.lines.append(" " * indent + text)

    def _variable(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _assign(self, text: str, indent: int) -> str:
        if text not in self._assigned:
            self._assigned[text] = self._variable()
            self._line(f"{self._assigned[text]} = {text}", indent)
        return self._assigned[text]

    def _branch(self, condition: Node, yes: Node, no: Node, indent: int) -> str:
        test = self.write(condition, indent)
        name = self._variable()
        before = self._assigned
        for line, branch in ((f"if {test} != 0.0:", yes), ("else:", no)):
            self._assigned = before.copy()
            self._line(line, indent)
            self._line(f"{name} = {self.write(branch, indent + 1)}", indent + 1)
        self._assigned = before
        return name

    def _integer_power(self, base: str, exponent: int, indent: int) -> str:
        power = base
        for multiply in power_steps(abs(exponent)):
            power = self._assign(f"{power} * {power}" + (f" * {base}" if multiply else ""), indent)
        return self._assign(self._templates["/"].format("1.0", power), indent) if exponent < 0 else power

    def _rounded(self, op: str, x: str, indent: int) -> str:
        name = self._variable()
        self._line(f"if math.fabs({x}) < {_WHOLE}:", indent)
        self._line(f"{name} = {x} - {x} % 1.0" if op == "floor" else f"{name} = {x} + (-{x}) % 1.0", indent + 1)
        self._line("else:", indent)
        self._line(f"{name} = {x}", indent + 1)
        return name


def _truth(node: Node) -> Node:
    return Apply("!=", (node, Number(0.0)))

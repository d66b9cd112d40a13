"""A checked expression as a plain Python function that Numba compiles, on the CPU and as a CUDA device function.

In Numba's CUDA simulator nothing compiles the function, and Python raises where a GPU gives Inf or NaN. What is written
for it has functions for the operations that can raise, which then ask NumPy.

The text of a function can have its numbers as an argument (`scalar_source`): expressions that differ in numbers alone
have one text then, and what has been compiled of one serves the other.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.statements import Language, Writer
from simsuite.expressions.tree import Apply, IntegerPower, Name, Node, Number, names_in, walk

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


IEEE = SimpleNamespace(  # in place of the module `math`
    **{name: _quiet(name, getattr(math, name)) for name in (*_UNARY, "atan2", "hypot")},
    **{function.__name__: _quiet(op, function) for op, function in _DIVISIONS.items()},
    fabs=math.fabs,
    pow=_quiet("**", math.pow),
)


# how many numbers of an expression can become arguments; if it has more, all of them stay in the text
MOST_NUMBERS = 32


def scalar_source(tree: Node, name: str, args: tuple[str, ...], simulated: bool) -> tuple[str, tuple[float, ...]]:
    """The text of a module with a function `name(*args, p)`, in the order of `args`, and the numbers p[0], p[1], ..
    that it is to be called with. `name_numbers(array)` gives them as a tuple, which a kernel makes once: whoever reads
    the array amid a loop that writes to others reads it every time. simulated: whether the function is called without
    being compiled."""
    lifted, numbers = lift(tree)
    library = "from simsuite.expressions.scalar import IEEE as math" if simulated else "import math"
    parameter = "float(p[{}])" if simulated else "p[{}]"
    parameters = {_parameter(i): parameter.format(i) for i in range(len(numbers))}
    function = _text(lifted, name, args, _SIMULATED if simulated else _PYTHON, parameters)
    items = ", ".join(f"p[{i}]" for i in range(max(len(numbers), 1)))
    return f"{library}\n\n\n{function}\n\n\ndef {name}_numbers(p):\n return ({items},)\n", numbers


def lift(tree: Node) -> tuple[Node, tuple[float, ...]]:
    """The tree with its numbers replaced by names, and these numbers, in order. Exponents stay, since compilers know
    powers such as 0.5 by their own methods; and so do all numbers where there are more than MOST_NUMBERS."""
    numbers: list[float] = []
    if sum(isinstance(node, Number) for node in walk(tree)) > MOST_NUMBERS:
        return tree, ()
    return _lift(tree, numbers), tuple(numbers)


def _lift(node: Node, numbers: list[float]) -> Node:
    if isinstance(node, Number):
        numbers.append(node.value)
        return Name(_parameter(len(numbers) - 1))
    if isinstance(node, IntegerPower):
        return IntegerPower(_lift(node.base, numbers), node.exponent)
    if isinstance(node, Apply):
        stays = node.op == "**" and not names_in(node.args[-1])
        lifted = [_lift(argument, numbers) for argument in (node.args[:-1] if stays else node.args)]
        return Apply(node.op, (*lifted, node.args[-1]) if stays else tuple(lifted))
    return node


def _parameter(i: int) -> str:
    """The name of the i-th of these numbers, which is none that a user can write."""
    return f"#{i}"


def compile_scalar(tree: Node, args: tuple[str, ...]) -> Callable[..., float]:
    """The function of `args`, in that order, for Numba."""
    return _function(tree, args, _PYTHON, math)


def simulated_scalar(tree: Node, args: tuple[str, ...]) -> Callable[..., float]:
    """The function of `args`, in that order, to be called without compiling, with Inf and NaN where Python would
    raise."""
    return _function(tree, args, _SIMULATED, IEEE)


def _function(tree: Node, args: tuple[str, ...], language: Language, library: Any) -> Callable[..., float]:
    source = _text(tree, "expression", args, language, None)
    namespace: dict[str, Any] = {"__builtins__": {"float": float}, "__name__": __name__, "math": library}
    exec(compile(source, "<expression>", "exec"), namespace)  # source made of the tree alone, not of the user's text
    return namespace["expression"]


def _text(
    tree: Node, name: str, args: tuple[str, ...], language: Language, parameters: Mapping[str, str] | None
) -> str:
    """The function's text. parameters: how numbers that have become arguments are written."""
    names = {argument: f"a{i}" for i, argument in enumerate(args)}
    writer = Writer(names | dict(parameters or {}), language)
    # NumPy's scalars would warn where nothing compiles the function.
    plain = [f" {a} = float({a})" for a in names.values()] if language is _SIMULATED else []
    result = writer.write(tree, 1)
    header = ", ".join([*names.values(), *(["p"] if parameters is not None else [])])
    return "\n".join([f"def {name}({header}):", *plain, *writer.lines, f" return {result}"])

"""A checked expression as the text of a CUDA C++ device function, for kernels that are compiled when a run starts.

The statements are those of the function for Numba (`scalar`), operation by operation, all in float64. Nothing the user
wrote gets into the text but numbers: arguments and variables are a0, v1 and so on, which hide no function of CUDA.
"""

from __future__ import annotations

import math
import re

from simsuite.expressions.statements import Language, Writer
from simsuite.expressions.tree import Node

_SAME_NAME = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "log10", "sqrt", "erf", "erfc", "floor", "ceil"),
)
# whether divisor and remainder differ in sign, which they must not in Python and NumPy
_SIGNS_DIFFER = "({1} < 0.0) != ({2} < 0.0)"
_OPERATIONS: dict[str, str | tuple[str, ...]] = {
    **{op: f"{{0}} {op} {{1}}" for op in ("+", "-", "*", "/")},
    **{op: f"{{0}} {op} {{1}} ? 1.0 : 0.0" for op in ("<", "<=", ">", ">=", "==", "!=")},
    **{name: f"{name}({{0}})" for name in _SAME_NAME},
    **{name: f"{name}({{0}}, {{1}})" for name in ("atan2", "hypot")},
    "abs": "fabs({0})",
    "**": "pow({0}, {1})",
    "neg": "-{0}",
    "not": "{0} == 0.0 ? 1.0 : 0.0",
    "step": "{0} > 0.0 ? 1.0 : 0.0",
    "sign": "{0} > 0.0 ? 1.0 : ({0} < 0.0 ? -1.0 : {0})",
    # Unlike fmin, these give NaN if one operand is NaN. They ask isnan because NVVM takes 0/0, when it folds constants,
    # to be equal to itself.
    "min": "({0} < {1} || isnan({0})) ? {0} : {1}",
    "max": "({0} > {1} || isnan({0})) ? {0} : {1}",
    "%": (
        "fmod({0}, {1})",
        f"{{2}} != 0.0 ? ({_SIGNS_DIFFER} ? {{2}} + {{1}} : {{2}}) : copysign(0.0, {{1}})",
    ),
    "//": (
        "fmod({0}, {1})",
        # a whole number, but for rounding
        f"({{0}} - {{2}}) / {{1}} - (({{2}} != 0.0 && {_SIGNS_DIFFER}) ? 1.0 : 0.0)",
        "floor({3})",
        "{3} - {4} > 0.5 ? {4} + 1.0 : {4}",
        "{1} == 0.0 ? {0} / {1} : ({3} != 0.0 ? {5} : copysign(0.0, {0} / {1}))",
    ),
}
_RESERVED = frozenset(re.findall(r"[a-z]\w+", str(_OPERATIONS)))


def _literal(value: float) -> str:
    """The text of a number that has the same bits whatever a compiler makes of decimals, and is always a double."""
    if not math.isfinite(value):
        raise ValueError("a number in an expression must be finite")
    text = repr(value) if value.is_integer() and abs(value) < 1e16 else value.hex()
    return f"({text})" if text.startswith("-") else text  # or `-` before it would make it a decrement


_CUDA = Language(
    _OPERATIONS,
    _literal,
    "const double {0} = {1};",
    ("double {0};", "if ({0} != 0.0) {{", "}} else {{", "}"),
    "{0} = {1};",
)


def device_function(tree: Node, name: str, args: tuple[str, ...]) -> str:
    """The definition of ``double name(double, ...)`` of `args`, in that order; see `Expression.cuda_function`."""
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) or name in _RESERVED or re.fullmatch(r"[av]\d+", name):
        raise ValueError(f"`{name}` cannot name a function")
    writer = Writer({arg: f"a{i}" for i, arg in enumerate(args)}, _CUDA)
    result = writer.write(tree, 1)
    head = f"__device__ __forceinline__ double {name}({', '.join(f'double {a}' for a in writer.names.values())})"
    return "\n".join([head, "{", *writer.lines, f" return {result};", "}", ""])

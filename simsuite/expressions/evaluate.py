"""The value of a checked expression for NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from simsuite.expressions.tree import IntegerPower, Marked, Name, Node, Number, children, power_steps


def evaluate(node: Node, values: Mapping[str, np.ndarray]) -> Any:
    """The value of `node`, given those of its variables in float64."""
    return apply(node, [evaluate(child, values) for child in children(node)], values)


def apply(node: Node, parts: Sequence[Any], values: Mapping[str, np.ndarray]) -> Any:
    """The value of `node`, given those of its children and of the variables."""
    if isinstance(node, Number):
        return np.float64(node.value)
    if isinstance(node, Name):
        return values[node.name]
    if isinstance(node, Marked):
        from simsuite.expressions.marked import mark_at  # rarely needed

        return mark_at(node, values["x"], values["y"])
    if isinstance(node, IntegerPower):
        return _integer_power(parts[0], node.exponent)
    return OPERATIONS[node.op](*parts)


def _integer_power(base: Any, exponent: int) -> Any:
    power = base
    for multiply in power_steps(abs(exponent)):
        power = power * power
        if multiply:
            power = power * base
    return 1.0 / power if exponent < 0 else power


def _special(name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        import scipy.special  # slow to import and rarely needed

        return getattr(scipy.special, name)(x)

    return apply


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: 1.0 * function(*args)  # the product is an array of whatever library the argument is


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.mod,
    "**": np.power,
    "neg": np.negative,
    "<": _truth(np.less),
    "<=": _truth(np.less_equal),
    ">": _truth(np.greater),
    ">=": _truth(np.greater_equal),
    "==": _truth(np.equal),
    "!=": _truth(np.not_equal),
    "and": _truth(np.logical_and),
    "or": _truth(np.logical_or),
    "not": _truth(np.logical_not),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "hypot": np.hypot,
    "step": _truth(lambda x: x > 0),
    "min": lambda *args: reduce(np.minimum, args),
    "max": lambda *args: reduce(np.maximum, args),
    "where": lambda condition, a, b: np.where(np.not_equal(condition, 0.0), a, b),
}

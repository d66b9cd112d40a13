"""Bounds for an expression whose variables lie in given ranges, by interval arithmetic.

The ranges are cut into boxes, and every operation gives for each box a lower and an upper bound of its values, from
those of its arguments (Moore, Kearfott & Cloud, Introduction to Interval Analysis, 2009, chapters 2 to 5; cutting
makes the bounds tighter, as an expression that names a variable twice does not know that it is the same one). Bounds
are NaN where a value on the way may be Inf or NaN. They are computed with the operations that they bound: rounding is
monotone, so they hold for computed values, too, but for the last digits of functions like exp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeAlias

import numpy as np

from simsuite.expressions.evaluate import OPERATIONS, evaluate
from simsuite.expressions.tree import IntegerPower, Marked, Name, Node, Number, names_in

Bounds: TypeAlias = tuple[np.ndarray, np.ndarray]  # the lower and the upper bounds in each box

_BOXES = 4096  # of an expression, however many variables it has
_ROUNDED = 4.0 * float(np.finfo(float).eps)  # share of a number that rounding may change


def bounds(tree: Node, ranges: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """A lower and an upper bound of all values of an expression; NaN if a value, or one that it is computed from, may
    be Inf or NaN.

    ranges: the least and the largest value of each variable.
    """
    names = sorted(names_in(tree))
    pieces = round(_BOXES ** (1 / max(len(names), 1)))
    boxes: dict[str, Bounds] = {}
    for axis, name in enumerate(names):
        ends = np.linspace(*ranges[name], pieces + 1)
        shape = [pieces if i == axis else 1 for i in range(len(names))]
        boxes[name] = ends[:-1].reshape(shape), ends[1:].reshape(shape)
    lower, upper = bounds_within(tree, boxes)
    return float(np.min(lower)), float(np.max(upper))


def bounds_within(tree: Node, boxes: Mapping[str, Bounds], infinite: bool = False) -> Bounds:
    """Bounds of an expression, as from `bounds`, in each of many boxes, which are given by the lower and the upper
    bounds of each variable.

    infinite: whether values on the way may be Inf, and bounds infinite, as those of `1/(1 + exp(1e6*x))`, which is
    computed as 0 where the exponential overflows; then they hold for values that are numbers.
    """
    with np.errstate(all="ignore"):
        usable = _numbers if infinite else _finite
        return usable(_bounds(tree, boxes, usable))


def _bounds(node: Node, boxes: Mapping[str, Bounds], usable: Callable[[Bounds], Bounds]) -> Bounds:
    if isinstance(node, Number):
        return _point(node.value)
    if isinstance(node, Name):
        return boxes[node.name]
    if isinstance(node, Marked):
        from simsuite.expressions.marked import marks_within  # rarely needed

        return marks_within(node, boxes["x"], boxes["y"])
    if isinstance(node, IntegerPower):
        return _integer_power(usable(_bounds(node.base, boxes, usable)), node.exponent)
    args = [usable(_bounds(argument, boxes, usable)) for argument in node.args]
    if node.op in _INCREASING:
        return OPERATIONS[node.op](args[0][0]), OPERATIONS[node.op](args[0][1])
    if node.op in _DECREASING:
        return OPERATIONS[node.op](args[0][1]), OPERATIONS[node.op](args[0][0])
    if node.op in ("min", "max"):
        lowers, uppers = zip(*args)
        return OPERATIONS[node.op](*lowers), OPERATIONS[node.op](*uppers)
    return _RULES[node.op](*args)


def _point(value: float) -> Bounds:
    return np.asarray(value), np.asarray(value)


def _corners(operation: Callable[..., np.ndarray], a: Bounds, b: Bounds) -> Bounds:
    """The bounds of an operation that is monotone in each argument, from its values at the corners; NaN at one makes
    the bounds NaN."""
    values = [operation(left, right) for left in a for right in b]
    return reduce(np.minimum, values), reduce(np.maximum, values)


def _only_where(allowed: np.ndarray, value: Bounds) -> Bounds:
    return np.where(allowed, value[0], np.nan), np.where(allowed, value[1], np.nan)


def _finite(a: Bounds) -> Bounds:
    return _only_where(np.isfinite(a[0]) & np.isfinite(a[1]), a)


def _numbers(a: Bounds) -> Bounds:
    return _only_where(~(np.isnan(a[0]) | np.isnan(a[1])), a)


def _apart_from_0(a: Bounds) -> np.ndarray:
    return (a[0] > 0) | (a[1] < 0)


def _absolute(a: Bounds) -> Bounds:
    lower, upper = np.abs(a[0]), np.abs(a[1])
    least = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(lower, upper))
    return least, np.maximum(lower, upper)


def _integer_power(base: Bounds, exponent: int) -> Bounds:
    power = _absolute(base) if exponent % 2 == 0 else base
    ends = [evaluate(IntegerPower(Name("x"), abs(exponent)), {"x": end}) for end in power]
    positive = np.minimum(*ends), np.maximum(*ends)
    return _quotient(_point(1.0), positive) if exponent < 0 else positive


def _quotient(a: Bounds, b: Bounds) -> Bounds:
    return _only_where(_apart_from_0(b), _corners(np.divide, a, b))


def _power(base: Bounds, exponent: Bounds) -> Bounds:
    """The bounds of powers of numbers that are not negative, or with whole exponents; NaN for most others, and at
    poles."""
    value = _corners(np.power, base, exponent)
    n = exponent[0]
    whole = (n == exponent[1]) & (n == np.floor(n))
    even = whole & (np.remainder(n, 2.0) == 0)
    size = _absolute(base)
    by_size = np.power(size[0], n), np.power(size[1], n)  # for positive even n, which grow with the size
    risen = _either(even, by_size, value)
    negative = _only_where(whole & ((n > 0) | _apart_from_0(base)), _either(n > 0, risen, value))
    point = (base[0] == base[1]) & (exponent[0] == exponent[1])
    return _either((base[0] >= 0) | point, value, negative)


def _floor_quotient(a: Bounds, b: Bounds) -> Bounds:
    lower, upper = _quotient(_finite(a), b)
    # the quotient is rounded here, and may be as small as 0, while its floor is not
    least = np.floor(lower - _ROUNDED * np.abs(lower))
    negative = ((a[0] < 0) & (b[1] > 0)) | ((a[1] > 0) & (b[0] < 0))
    apart = np.where(negative & (least == 0), -1.0, least), np.floor(upper + _ROUNDED * np.abs(upper))
    within = _within_a_period(a, b)
    return _either(within, (np.floor_divide(a[0], b[0]), np.floor_divide(a[1], b[1])), apart)


def _remainder(a: Bounds, b: Bounds) -> Bounds:
    apart = _only_where(~np.isnan(_finite(a)[0]) & _apart_from_0(b), (np.minimum(b[0], 0.0), np.maximum(b[1], 0.0)))
    least, largest = _floor_quotient(a, b)
    multiple = _corners(np.multiply, (least, least), b)
    room = _ROUNDED * (np.maximum(np.abs(a[0]), np.abs(a[1])) + np.maximum(np.abs(multiple[0]), np.abs(multiple[1])))
    left = a[0] - multiple[1] - room, a[1] - multiple[0] + room  # of one multiple of b for all of the box
    inside = np.maximum(left[0], apart[0]), np.minimum(left[1], apart[1])
    apart = _either((least == largest) & (inside[0] <= inside[1]), inside, apart)
    return _either(_within_a_period(a, b), (np.remainder(a[0], b[0]), np.remainder(a[1], b[1])), apart)


def _within_a_period(a: Bounds, b: Bounds) -> np.ndarray:
    """In which boxes `a` lies between two neighbouring multiples of a positive constant `b`: there the remainder grows
    with `a`, also as it is rounded (the remainder of a small negative number may be rounded to `b`)."""
    close = (b[0] > 0) & (b[0] == b[1]) & (a[1] - a[0] < 0.5 * b[0])
    return close & (np.remainder(a[0], b[0]) <= np.remainder(a[1], b[1]))


def _either(condition: np.ndarray, yes: Bounds, no: Bounds) -> Bounds:
    return np.where(condition, yes[0], no[0]), np.where(condition, yes[1], no[1])


def _sine(a: Bounds, shift: float = 0.0) -> Bounds:
    """The bounds of the sine of an argument to which `shift` quarters of a turn, 0 or 1, are added."""
    a = _finite(a)
    ends = [OPERATIONS["cos" if shift else "sin"](end) for end in a]
    turns = [end / (2 * np.pi) + shift / 4 for end in a]
    top, bottom = (np.floor(turns[1] - quarter) > np.floor(turns[0] - quarter) for quarter in (0.25, 0.75))
    return np.where(bottom, -1.0, np.minimum(*ends)), np.where(top, 1.0, np.maximum(*ends))


def _tangent(a: Bounds) -> Bounds:
    same_branch = np.floor(a[0] / np.pi - 0.5) == np.floor(a[1] / np.pi - 0.5)
    return _only_where(same_branch, (np.tan(a[0]), np.tan(a[1])))


def _atan2(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of the angle of the point (b, a): in a box that does not meet the half-line on which the angle jumps,
    its extremes are at corners, since along each side it grows or falls."""
    around = _only_where(~np.isnan(a[0] + b[0]), (np.asarray(-np.pi), np.asarray(np.pi)))
    beside = _apart_from_0(a) | (b[0] > 0)
    sure = (a[0] != 0) | (b[0] > 0)  # whether the sign of a zero cannot matter
    point, value = (a[0] == a[1]) & (b[0] == b[1]) & sure, np.arctan2(a[0], b[0])
    away = _either(beside, _corners(np.arctan2, a, b), around)
    return _either(point & ~np.isnan(value), (value, value), away)


def _hypot(a: Bounds, b: Bounds) -> Bounds:
    lower, upper = zip(_absolute(a), _absolute(b))
    return np.hypot(*lower), np.hypot(*upper)


def _truth(certain: np.ndarray, possible: np.ndarray) -> Bounds:
    return np.where(certain, 1.0, 0.0), np.where(possible, 1.0, 0.0)


def _certain(a: Bounds) -> np.ndarray:
    return _apart_from_0(a)


def _possible(a: Bounds) -> np.ndarray:
    return ~((a[0] == 0) & (a[1] == 0))


def _less(a: Bounds, b: Bounds) -> Bounds:
    return _truth(a[1] < b[0], ~(a[0] >= b[1]))


def _less_or_equal(a: Bounds, b: Bounds) -> Bounds:
    return _truth(a[1] <= b[0], ~(a[0] > b[1]))


def _different(a: Bounds, b: Bounds) -> Bounds:
    same = (a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0])
    return _truth((a[1] < b[0]) | (b[1] < a[0]), ~same)


def _not(a: Bounds) -> Bounds:
    return _truth(~_possible(a), ~_certain(a))


def _where(condition: Bounds, yes: Bounds, no: Bounds) -> Bounds:
    always, never = _certain(condition), ~_possible(condition)
    lower = np.where(always, yes[0], np.where(never, no[0], np.minimum(yes[0], no[0])))
    return lower, np.where(always, yes[1], np.where(never, no[1], np.maximum(yes[1], no[1])))


_INCREASING = {"exp", "log", "log10", "sqrt", "sinh", "tanh", "asin", "atan", "erf", "sign", "floor", "ceil"}
_DECREASING = {"neg", "acos", "erfc"}
_RULES: dict[str, Callable[..., Bounds]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: _corners(np.multiply, a, b),
    "/": _quotient,
    "//": _floor_quotient,
    "%": _remainder,
    "**": _power,
    "<": _less,
    "<=": _less_or_equal,
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: _less_or_equal(b, a),
    "!=": _different,
    "==": lambda a, b: _not(_different(a, b)),
    "and": lambda a, b: _truth(_certain(a) & _certain(b), _possible(a) & _possible(b)),
    "or": lambda a, b: _truth(_certain(a) | _certain(b), _possible(a) | _possible(b)),
    "not": _not,
    "step": lambda a: _less(_point(0.0), a),
    "sin": _sine,
    "cos": lambda a: _sine(a, 1.0),
    "tan": _tangent,
    "cosh": lambda a: (np.cosh(_absolute(a)[0]), np.cosh(_absolute(a)[1])),
    "atan2": _atan2,
    "hypot": _hypot,
    "abs": _absolute,
    "where": _where,
}

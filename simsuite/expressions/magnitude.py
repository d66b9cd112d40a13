"""How large the numbers are that expressions add up: rounding leaves a share of these, however small their sum is."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import apply
from simsuite.expressions.tree import IntegerPower, Node, children

_TRUTHS = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "step"}
_Sizes = dict[int, tuple[Any, Any]]


def magnitudes(nodes: Iterable[Node], values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The magnitude of each expression for each value of the variables: the sum of the absolute values of what is added
    or subtracted, in the branch where it is largest, whether taken or not; 0 where it is infinite or NaN."""
    known: _Sizes = {}
    with np.errstate(all="ignore"):
        sizes = [_sized(node, values, known)[1] for node in nodes]
    return [np.where(np.isfinite(size), size, 0.0) for size in sizes]


def _sized(node: Node, values: Mapping[str, np.ndarray], known: _Sizes) -> tuple[Any, Any]:
    """The value and the magnitude of a node. known: those of the nodes looked at before, by their ids."""
    if id(node) not in known:
        parts = [_sized(child, values, known) for child in children(node)]
        value = apply(node, [value for value, _ in parts], values)
        known[id(node)] = value, _size(node, _absolute(value), [(_absolute(v), size) for v, size in parts])
    return known[id(node)]


def _absolute(value: Any) -> Any:
    return np.abs(np.asarray(value, np.float64))


def _size(node: Node, size: Any, parts: list[tuple[Any, Any]]) -> Any:
    """The magnitude of a node. size: the absolute value of its value. parts: the absolute value and the magnitude of
    each of its arguments."""
    sizes = [of for _, of in parts]
    if isinstance(node, IntegerPower):
        return sizes[0] ** node.exponent if node.exponent > 0 else size
    op = getattr(node, "op", "")
    if op in ("+", "-", "neg", "abs"):
        return sum(sizes)
    if op == "*":
        return math.prod(sizes)
    if op == "/":
        return sizes[0] / parts[1][0]
    if op in ("min", "max"):
        return functools.reduce(np.maximum, sizes)
    if op == "where":
        return functools.reduce(np.maximum, sizes[1:])
    return 1.0 if op in _TRUTHS else size

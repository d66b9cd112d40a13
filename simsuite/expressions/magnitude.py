"""How large the numbers are that expressions add up: rounding leaves a share of these, however small their sum is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simsuite.expressions.evaluate import apply
from simsuite.expressions.tree import IntegerPower, Node, children

_TRUTHS = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "step"}
_Sizes = dict[int, tuple[Any, float]]


def magnitudes(nodes: Iterable[Node], values: Mapping[str, np.ndarray]) -> list[float]:
    """Of each, at single values of the variables: the sum of the sizes of what is added or subtracted, in the largest
    branch, taken or not; 0 where that is no number."""
    known: _Sizes = {}
    with np.errstate(all="ignore"):
        sizes = [_sized(node, values, known)[1] for node in nodes]
    return [size if math.isfinite(size) else 0.0 for size in sizes]


def _sized(node: Node, values: Mapping[str, np.ndarray], known: _Sizes) -> tuple[Any, float]:
    """Value and magnitude. known: those of nodes by their ids."""
    if id(node) not in known:
        parts = [_sized(child, values, known) for child in children(node)]
        value = apply(node, [value for value, _ in parts], values)
        known[id(node)] = value, _size(node, abs(float(value)), [(abs(float(v)), size) for v, size in parts])
    return known[id(node)]


def _size(node: Node, size: float, parts: list[tuple[float, float]]) -> float:
    """size: of the value itself. parts: sizes and magnitudes of the values that it is made of."""
    sizes = [of for _, of in parts]
    if isinstance(node, IntegerPower):
        return sizes[0] ** node.exponent if node.exponent > 0 else size
    op = getattr(node, "op", "")
    if op in ("+", "-", "neg", "abs"):
        return math.fsum(sizes)
    if op == "*":
        return math.prod(sizes)
    if op == "/":
        return sizes[0] / parts[1][0] if parts[1][0] else math.inf
    if op in ("min", "max"):
        return max(sizes)
    if op == "where":
        return max(sizes[1:])
    return 1.0 if op in _TRUTHS else size

"""What there is to say about the Greeks of an option: how each was found, and of what it is the mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simsuite.expressions.tree import Node
from simsuite.solvers.gbm.controls import Control

PER_ASSET, OF_ALL = ("delta", "gamma", "vega"), ("rho", "theta")
GREEKS = (*PER_ASSET, *OF_ALL)
PATHWISE, MIXED, RATIO, HOMOGENEITY = "pathwise", "mixed", "likelihood ratio", "homogeneity"
EQUATION, NONE = "equation", "none"


@dataclass(frozen=True)
class Greek:
    """tree: what it is the discounted mean of. control: something of known mean to lower its error by."""

    tree: Node
    control: Control | None = None


@dataclass(frozen=True)
class OptionGreeks:
    """methods: of each Greek. found: by name and asset (0 where there is but one); those that are missing are 0,
    unless their method is "none"."""

    methods: Mapping[str, str]
    found: Mapping[tuple[str, int], Greek]


def no_greeks() -> OptionGreeks:
    return OptionGreeks(dict.fromkeys(GREEKS, NONE), {})

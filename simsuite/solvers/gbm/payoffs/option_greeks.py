"""The Greeks of an option: how each is found, and which mean it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from simsuite.expressions.tree import Node
from simsuite.solvers.gbm.payoffs.control_variates import Control

PER_ASSET, OF_ALL = ("delta", "gamma", "vega"), ("rho", "theta")
GREEKS = (*PER_ASSET, *OF_ALL)
PATHWISE, MIXED, RATIO, HOMOGENEITY = "pathwise", "mixed", "likelihood ratio", "homogeneity"
EQUATION, BUMPED, NONE = "equation", "bumping", "none"


@dataclass(frozen=True)
class Greek:
    """A Greek as a discounted mean. tree: what it is the mean of. control: something of known mean that lowers its
    error."""

    tree: Node
    control: Control | None = None


class NotEstimated(Exception):
    """Raised where a Greek is not estimated. reason: a clause that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class OptionGreeks:
    """The Greeks of an option. methods: that of each Greek. found: the Greeks by name and asset (0 where there is but
    one); those that are missing are 0, unless their method is "none", or "bumping": these are found elsewhere
    (read_joint.py). reasons: why the method is "none", for those
    Greeks."""

    methods: Mapping[str, str]
    found: Mapping[tuple[str, int], Greek]
    reasons: Mapping[str, str]


def without(greeks: OptionGreeks, names: Collection[str], reason: str) -> OptionGreeks:
    """The same but for some Greeks, which are not estimated for a reason."""
    return OptionGreeks(
        {**greeks.methods, **dict.fromkeys(names, NONE)},
        {key: greek for key, greek in greeks.found.items() if key[0] not in names},
        {**greeks.reasons, **dict.fromkeys(names, reason)},
    )


def no_greeks(reason: str) -> OptionGreeks:
    return OptionGreeks(dict.fromkeys(GREEKS, NONE), {}, dict.fromkeys(GREEKS, reason))

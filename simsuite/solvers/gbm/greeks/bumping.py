"""Which Greeks are found by bumping (joint/bumps.py), and why some cannot be."""

from __future__ import annotations

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import GbmScenario, Option
from simsuite.solvers.gbm.greeks.greek_case import GreekCase
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.payoffs.option_greeks import BUMPED, GREEKS, NONE, NotEstimated, OptionGreeks


def with_bumps(
    greeks: OptionGreeks, option: Option, tree: Node, pathwise: PathwiseDerivatives, model: GbmScenario
) -> OptionGreeks:
    """The same Greeks, with those by bumping that the option asks for: all of them if it says "bumped", or else those
    that are not found otherwise. Where both ways fail, both reasons are told."""
    case = GreekCase(option, tree, pathwise, model)
    methods, found, reasons = dict(greeks.methods), dict(greeks.found), dict(greeks.reasons)
    for name in GREEKS:
        if option.greeks == "auto" and methods[name] != NONE:
            continue
        try:
            case.require_bumps(name)
        except NotEstimated as none:
            if methods[name] == NONE and none.reason != reasons[name]:
                reasons[name] = f"{reasons[name]}; nor by bumping: {none.reason}"
            continue
        methods[name] = BUMPED
        reasons.pop(name, None)
        found = {key: greek for key, greek in found.items() if key[0] != name}
    return OptionGreeks(methods, found, reasons)

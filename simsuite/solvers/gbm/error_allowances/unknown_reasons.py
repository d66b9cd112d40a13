"""The reasons why numbers of a run's results are not known: a clause for each number that is `None`, by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate
from simsuite.words import counted

ALIKE = "all paths gave the same, and what others would give is not known"
FAR_OUT = "its mean comes from prices so far out that no number of paths reaches them"
NOT_NEAR = "hardly any path comes near the barrier, and the few that do cannot tell it"
NO_LAW = "no path had any, and the law of the value of several random assets is not known"
_POINTS = "Sobol points are not independent of each other"
_TOO_SMALL = "the prices are too small to be told from 0"
_QUANTILE = "too few paths to bound it"
_TAIL = "too few losses are beyond it"
_PRICES = "the standard error of the price of an option held is not known"


def with_reasons(found: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """Results, with the key `reasons` if there are any."""
    return {**found, **({"reasons": dict(reasons)} if reasons else {})}


def few(statement: Statement, paths: int) -> str:
    """The reason where so many paths are too few for a standard error."""
    width = statement.width
    kind = {1: "path", 2: "antithetic pair"}[width]
    return f"{counted(max(paths // width, 1), kind)} cannot tell it"


def unknown_error(assets: Sequence[str], each: Sequence[Estimate]) -> str:
    """The reasons why standard errors of a Greek by each of the assets, or of a single one, are not known; "" if all
    are. Assets are named if the errors of others are known and not 0, or if the reasons differ."""
    named: dict[str, list[str]] = {}
    for asset, estimate in zip(assets, each):
        if estimate.unknown:
            named.setdefault(estimate.unknown, []).append(repr(asset))
    known = any(not e.unknown and (e.value != 0 or e.standard_error != 0) for e in each)
    if len(named) == 1 and not known:
        return next(iter(named))
    return "; ".join(f"by {' and '.join(names)}, {reason}" for reason, names in named.items())


def asset_reasons(statement: Statement, paths: int, found: Mapping[str, Any]) -> dict[str, str]:
    """The reasons for what is None in `found`, the results about an asset's price at a frame."""
    small = _TOO_SMALL if paths >= 2 * statement.width else few(statement, paths)
    why = _POINTS if statement.uses_sobol else small
    names = ("mean_standard_error", "std", "std_standard_error")
    reasons = {name: why for name in names if found[name] is None}
    if any(end is None for bounds in found["quantile_ci95"].values() for end in bounds):
        reasons["quantile_ci95"] = _POINTS if statement.uses_sobol else _QUANTILE
    return reasons


def risk_reasons(found: Mapping[str, Any]) -> dict[str, str]:
    """The reasons for what is None in `found`, the results about the risk of a portfolio."""
    if found["value_standard_error"] is None:
        return dict.fromkeys(
            ("value_standard_error", "value_at_risk_ci95", "expected_shortfall_standard_error"), _PRICES
        )
    reasons = {}
    levels = found["levels"].values()
    if any(end is None for level in levels for end in level["value_at_risk_ci95"]):
        reasons["value_at_risk_ci95"] = _QUANTILE
    if any(level["expected_shortfall_standard_error"] is None for level in levels):
        reasons["expected_shortfall_standard_error"] = _TAIL
    return reasons


def exposure_reasons(statement: Statement, paths: int, found: Mapping[str, Any]) -> dict[str, str]:
    """The reasons for what is None in `found`, the results about the exposure of a portfolio."""
    reasons = {}
    for part in ("expected", "negative"):
        unknown = [at for at in (found["end"], found["peak"]) if at[f"{part}_standard_error"] is None]
        if unknown:
            enough = paths >= 2 * statement.width
            reasons[f"{part}_standard_error"] = NO_LAW if enough else few(statement, paths)
    if any(end is None for level in found["end"]["potential"].values() for end in level["ci95"]):
        reasons["potential"] = _QUANTILE
    return reasons

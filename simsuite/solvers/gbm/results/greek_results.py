"""The Greeks in the results of a run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.unknown_reasons import unknown_error
from simsuite.solvers.gbm.parts import of_option
from simsuite.solvers.gbm.payoffs.option_greeks import GREEKS, NONE, PER_ASSET
from simsuite.solvers.gbm.results.estimates import mean_estimate
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate


def greek_totals(statement: Statement, observed: Snapshot) -> dict[str, np.ndarray]:
    """Each Greek and its standard error, [option] or [option, asset]; NaN where it is not estimated."""
    found = {}
    for name in GREEKS:
        options = range(len(statement.scenario.option))
        each = [_greek(*of_option(statement, observed, o), name) for o in options]
        parts = {
            "": [[e.value for e in of] for of in each],
            "_standard_error": [[e.standard_error for e in of] for of in each],
        }
        for suffix, values in parts.items():
            array = np.array(values)
            found[f"option_{name}{suffix}"] = array if name in PER_ASSET else array[:, 0]
    return found


def greek_results(statement: Statement, observed: Snapshot, option: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The Greeks of an option, and the reasons for those that are not known."""
    greeks, found = statement.payoffs.greeks[option], dict[str, Any]()
    reasons = dict(greeks.reasons)
    for name in GREEKS:
        each = _greek(statement, observed, option, name)
        if why := unknown_error(statement.scenario.asset_names, each):
            reasons[f"{name}_standard_error"] = why
        for suffix, numbers in (("", [e.value for e in each]), ("_standard_error", [e.standard_error for e in each])):
            values = [value if math.isfinite(value) else None for value in numbers]
            found[f"{name}{suffix}"] = values if name in PER_ASSET else values[0]
    return {**found, "greeks_method": dict(greeks.methods)}, reasons


def _greek(statement: Statement, observed: Snapshot, option: int, name: str) -> list[Estimate]:
    """The estimates of one Greek: one for each asset, or a single one."""
    means, none = statement.payoffs.greek_means[option], statement.payoffs.greeks[option].methods[name] == NONE
    found = []
    for asset in range(statement.n_assets if name in PER_ASSET else 1):
        mean = means.get((name, asset))
        if mean is not None:
            found.append(mean_estimate(statement, observed, mean))
        else:
            found.append(Estimate(math.nan, math.nan) if none else Estimate(0.0, 0.0))
    return found

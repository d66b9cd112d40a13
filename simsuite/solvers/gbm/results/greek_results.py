"""The Greeks in the results of a run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.unknown_reasons import unknown_error
from simsuite.solvers.gbm.parts import of_option
from simsuite.solvers.gbm.payoffs.option_greeks import BUMPED, GREEKS, NONE, PER_ASSET
from simsuite.solvers.gbm.results.bumped_greeks import bumped_estimate
from simsuite.solvers.gbm.results.estimates import mean_estimate
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.statistics import Estimate


def greek_totals(statement: Statement, observed: Snapshot) -> dict[str, np.ndarray]:
    """Each Greek and its standard error, [option] or [option, asset]; NaN where it is not estimated."""
    found = {}
    for name in GREEKS:
        options = range(len(statement.scenario.option))
        each = [greek_estimates(statement, observed, o, name) for o in options]
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
    part, _, number = of_option(statement, observed, option)
    greeks, found = part.payoffs.greeks[number], dict[str, Any]()
    reasons = dict(greeks.reasons)
    for name in GREEKS:
        each = greek_estimates(statement, observed, option, name)
        if why := unknown_error(statement.scenario.asset_names, each):
            told = all(math.isfinite(e.value) for e in each if e.unknown)
            reasons[f"{name}_standard_error" if told else name] = why
        for suffix, numbers in (("", [e.value for e in each]), ("_standard_error", [e.standard_error for e in each])):
            values = [value if math.isfinite(value) else None for value in numbers]
            found[f"{name}{suffix}"] = values if name in PER_ASSET else values[0]
    bumps = _bumps(statement, observed, option)
    return {**found, "greeks_method": dict(greeks.methods), **({"bumps": bumps} if bumps else {})}, reasons


def greek_estimates(statement: Statement, observed: Snapshot, option: int, name: str) -> list[Estimate]:
    """The estimates of one Greek: one for each asset, or a single one."""
    part, seen, number = of_option(statement, observed, option)
    means, method = part.payoffs.greek_means[number], part.payoffs.greeks[number].methods[name]
    found = []
    for asset in range(statement.n_assets if name in PER_ASSET else 1):
        mean = means.get((name, asset))
        if method == BUMPED:
            found.append(bumped_estimate(statement, observed, (option, name, asset)).estimate)
        elif mean is not None:
            found.append(mean_estimate(part, seen, mean))
        else:
            found.append(Estimate(math.nan, math.nan) if method == NONE else Estimate(0.0, 0.0))
    return found


def _bumps(statement: Statement, observed: Snapshot, option: int) -> dict[str, Any]:
    """By how much a Greek's parameter is bumped, and the bias of that bump, which is taken out: by name, a list over
    assets or a single number; None for an asset that the option does not depend on."""
    if statement.joint is None:
        return {}
    found = {}
    for name in GREEKS:
        keys = [(option, name, a) for a in range(statement.n_assets if name in PER_ASSET else 1)]
        if not any(key in statement.joint.bumped for key in keys):
            continue
        sizes = [statement.joint.bumped[key].size if key in statement.joint.bumped else None for key in keys]
        biases = [bumped_estimate(statement, observed, key).bias if size else None for key, size in zip(keys, sizes)]
        parts = {"size": sizes, "bias_removed": biases}
        found[name] = {what: each if name in PER_ASSET else each[0] for what, each in parts.items()}
    return found

"""What comes out of a run: rows of the result file, its totals, and the results that `run --json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.prices import PriceStatistics, price_statistics, stored_prices
from simsuite.solvers.gbm.statistics import Estimate, controlled_estimate, estimate

if TYPE_CHECKING:
    from simsuite.solvers.gbm.problem import GbmProblem


def rows(problem: GbmProblem, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """Of the frame that the last batch has reached."""
    prices = _prices(problem, observed)
    found = {
        "time": np.array(prices.time),
        "price_mean": prices.mean,
        "price_std": prices.std,
        "price_quantile": prices.quantiles,
    }
    if "paths" in observed.arrays:
        step = problem.frame_steps[problem.frame_of_row(observed.step)]
        found["path"] = stored_prices(problem.scenario, problem.dynamics, step, observed.arrays["paths"])
    return found


def totals(problem: GbmProblem, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """Of the options; nothing before the last path has ended."""
    found = option_estimates(problem, observed)
    if not found:
        return {}
    return {
        "option_price": np.array([e.value for e in found]),
        "option_standard_error": np.array([e.standard_error for e in found]),
    }


def results(problem: GbmProblem, observed: Snapshot) -> dict[str, Any]:
    """A number that a single path does not give (a standard error, a deviation) is None."""
    scenario, prices = problem.scenario, _prices(problem, observed)
    options = {
        name: {
            "price": e.value,
            "standard_error": _number(e.standard_error),
            "ci95": [_number(bound) for bound in e.ci95],
        }
        for name, e in zip(scenario.option_names, option_estimates(problem, observed))
    }
    assets = {
        name: {
            "mean": float(prices.mean[a]),
            "std": _number(prices.std[a]),
            "quantiles": {f"{q:g}": float(p) for q, p in zip(scenario.output.quantiles, prices.quantiles[:, a])},
        }
        for a, name in enumerate(scenario.asset_names)
    }
    return {"paths": scenario.paths.count, "options": options, "assets": assets}


def option_estimates(problem: GbmProblem, observed: Snapshot) -> list[Estimate]:
    """One for each option; none before the last path has ended."""
    if observed.step < problem.clock.end or "options" not in observed.arrays:
        return []
    n, payoffs = problem.scenario.paths.count // problem.width, problem.payoffs
    found, controls = [], iter(problem.shifts[len(payoffs.trees) :])
    for o, control in enumerate(payoffs.controls):
        sums, shift = observed.arrays["options"][payoffs.rows(o)], float(problem.shifts[o])
        if control is None:
            found.append(estimate(sums, n, problem.discount, shift))
        else:
            mean = control.mean - float(next(controls))
            found.append(controlled_estimate(sums, n, problem.discount, shift, mean))
    return found


def _prices(problem: GbmProblem, observed: Snapshot) -> PriceStatistics:
    step = problem.frame_steps[problem.frame_of_row(observed.step)]
    moments, histogram = observed.arrays["moments"], observed.arrays["histogram"]
    return price_statistics(problem.scenario, problem.dynamics, step, moments, histogram)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

"""What comes out of a run: rows of the result file, its totals, and the results that `run --json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.results import portfolio_results
from simsuite.solvers.gbm.results.estimates import mean_estimate
from simsuite.solvers.gbm.results.exercise_results import exercise_results, exercise_totals
from simsuite.solvers.gbm.results.greek_results import greek_results, greek_totals
from simsuite.solvers.gbm.results.portfolio_results import number, numbers
from simsuite.solvers.gbm.results.price_statistics import PriceStatistics, price_statistics, stored_prices
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.intervals import CONFIDENCE
from simsuite.solvers.gbm.statistics.matched_groups import FEWEST_GROUPS
from simsuite.solvers.gbm.statistics.replicates import LIKELY_ORDER
from simsuite.solvers.gbm.statistics.statistics import Estimate
from simsuite.solvers.gbm.unseen_errors.payoff_jumps import leaps_of
from simsuite.solvers.gbm.unseen_errors.unknown_reasons import asset_reasons, with_reasons
from simsuite.solvers.gbm.unseen_errors.unseen import unseen_results

REAL_WORLD = "real-world"  # in which discounted payoffs are expected, where the scenario gives a drift
_MOST_EXCESS = 1e15  # which takes more paths than there can be


def rows(problem: Statement, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """Of the frame that the last batch has reached."""
    prices = _prices(problem, observed)
    found = {
        "time": np.array(prices.time),
        "price_mean": prices.mean,
        "price_std": prices.std,
        "price_quantile": prices.quantiles,
    }
    if not problem.quasi:
        found |= {
            "price_mean_standard_error": prices.mean_error,
            "price_std_standard_error": prices.std_error,
            "price_quantile_low": prices.intervals[0],
            "price_quantile_high": prices.intervals[1],
        }
    if "paths" in observed.arrays:
        step = problem.frame_steps[problem.frame_of_row(observed.step)]
        found["path"] = stored_prices(problem.scenario, problem.dynamics, step, observed.arrays["paths"])
    frame, n = problem.frame_of_row(observed.step), _paths(problem, observed)
    return {**found, **portfolio_results.rows(problem, frame, n, observed)}


def totals(problem: Statement, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """Of options and portfolio; nothing before the last path has ended."""
    if observed.step < problem.clock.end:
        return {}
    prices = option_estimates(problem, observed)
    found = dict(portfolio_results.totals(problem, observed, prices))
    if prices:
        found["option_price"] = np.array([e.value for e in prices])
        found["option_standard_error"] = np.array([e.standard_error for e in prices])
        found |= greek_totals(problem, observed)
        found |= exercise_totals(problem, observed)
    return found


def results(problem: Statement, observed: Snapshot) -> dict[str, Any]:
    """A number that a single path does not give (a standard error, a deviation) is None. Before the end of a run assets
    are those at the last frame that all paths have passed, at `assets_time`, if there is one after the start."""
    scenario = problem.scenario
    estimates = option_estimates(problem, observed)
    options = {
        name: option_results(problem, observed, o, e)
        for o, (name, e) in enumerate(zip(scenario.option_names, estimates))
    }
    n = _paths(problem, observed)
    ended = observed.step == problem.clock.end
    assets, passed = {}, problem.frame_steps[problem.frame_of_row(observed.step)]
    if passed > 0:
        prices = _prices(problem, observed)
        assets = {name: _asset_results(problem, prices, a, n) for a, name in enumerate(scenario.asset_names)}
    portfolio = portfolio_results.results(problem, n, observed, estimates) if ended else {}
    reached = bool(estimates) and all(e.standard_error <= problem.target for e in estimates)
    target = {"standard_error": problem.target, "reached": reached}
    return {
        "paths": n,
        **({"replicates": problem.sharing[0]} if problem.quasi else {}),
        **({"groups": n // problem.width} if problem.scenario.paths.moment_matching else {}),
        **({"target": target} if problem.target > 0 else {}),
        **({"measure": REAL_WORLD} if scenario.market.drift is not None else {}),
        "options": options,
        "assets": assets,
        **({} if ended or not assets else {"assets_time": problem.time(passed)}),
        **portfolio,
    }


def option_results(problem: Statement, observed: Snapshot, option: int, price: Estimate) -> dict[str, Any]:
    """Of an option, after the last path has ended; `reasons` say why what is None is not known."""
    greeks, reasons = greek_results(problem, observed, option)
    if price.unknown:
        reasons = {"standard_error": price.unknown, **reasons}
    found = {
        "price": price.value,
        "standard_error": number(price.standard_error),
        "ci95": numbers(price.ci95),
        **unseen_results(price),
        **greeks,
        **exercise_results(problem, observed, option),
    }
    return with_reasons(found, reasons)


def _asset_results(problem: Statement, prices: PriceStatistics, asset: int, paths: int) -> dict[str, Any]:
    levels = problem.scenario.output.quantiles
    found = {
        "mean": float(prices.mean[asset]),
        "mean_standard_error": number(prices.mean_error[asset]),
        **({"mean_exact": float(prices.expected[asset])} if _mean_is_known(problem, prices, asset) else {}),
        "std": number(prices.std[asset]),
        "std_standard_error": number(prices.std_error[asset]),
        "quantiles": {f"{q:g}": float(p) for q, p in zip(levels, prices.quantiles[:, asset])},
        "quantile_ci95": {f"{q:g}": numbers(bounds) for q, bounds in zip(levels, prices.intervals[:, :, asset].T)},
        "confidence": CONFIDENCE,
    }
    return with_reasons(found, asset_reasons(problem, paths, found))


def _mean_is_known(problem: Statement, prices: PriceStatistics, asset: int) -> bool:
    """Whether it follows from the equation, and is a number."""
    if not math.isfinite(prices.expected[asset]):
        return False
    return problem.dynamics.scheme is Scheme.EXACT and not problem.dynamics.moves.paying[asset]


def option_estimates(problem: Statement, observed: Snapshot) -> list[Estimate]:
    """One for each option; none before the last path has ended."""
    if observed.step < problem.clock.end or "options" not in observed.arrays:
        return []
    return _estimates(problem, observed)


def paths_needed(problem: Statement, observed: Snapshot) -> int:
    """About how many for every price to have the standard error that it is to have; those that are done if they do. An
    error of 0 tells nothing of a price that is random: the paths that make a difference are yet to come."""
    random = [mean for mean in problem.payoffs.prices if leaps_of(problem)[mean.value].random]
    errors = [mean_estimate(problem, observed, mean).standard_error for mean in random]
    if not all(error > 0 for error in errors):
        return problem.scenario.paths.count
    done = int(observed.arrays["done"][0])
    excess = min(max(errors, default=0.0) / problem.target, _MOST_EXCESS)
    order = LIKELY_ORDER if problem.quasi else 0.5
    needed = done if excess <= 1 else max(math.ceil(done * excess ** (1 / order)), done + 1)
    return max(needed, FEWEST_GROUPS * problem.width) if problem.scenario.paths.moment_matching else needed


def _estimates(problem: Statement, observed: Snapshot) -> list[Estimate]:
    """By the paths that are done."""
    return [mean_estimate(problem, observed, mean) for mean in problem.payoffs.prices]


def _paths(problem: Statement, observed: Snapshot) -> int:
    """That have passed the frame of a row; where rows come after all batches, those that have been made so far."""
    done = int(observed.arrays["done"][0])
    return done if problem.rows_late or observed.step >= problem.batches_end else problem.scenario.paths.count


def _prices(problem: Statement, observed: Snapshot) -> PriceStatistics:
    step = problem.frame_steps[problem.frame_of_row(observed.step)]
    moments, histogram = observed.arrays["moments"], observed.arrays["histogram"]
    n = _paths(problem, observed)
    found = price_statistics(problem.scenario, problem.dynamics, step, n, moments, histogram)
    if not problem.quasi:
        return found
    errors = ("mean_error", "std_error", "intervals")  # of independent paths, which points are not
    return replace(found, **{name: np.full_like(getattr(found, name), math.nan) for name in errors})

"""The results of a run: rows of the result file, its totals, and the results that `run --json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.allowances import unseen_results
from simsuite.solvers.gbm.error_allowances.payoff_jumps import payoff_jumps_of
from simsuite.solvers.gbm.error_allowances.unknown_reasons import asset_reasons, with_reasons
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.parts import of_option, parts_of
from simsuite.solvers.gbm.results import portfolio_results
from simsuite.solvers.gbm.results.book_results import book_estimates, book_results, book_totals, price_of_book
from simsuite.solvers.gbm.results.estimates import mean_estimate
from simsuite.solvers.gbm.results.exercise_results import exercise_results, exercise_totals
from simsuite.solvers.gbm.results.greek_results import greek_results, greek_totals
from simsuite.solvers.gbm.results.portfolio_results import number, numbers
from simsuite.solvers.gbm.results.price_statistics import PriceStatistics, price_statistics, stored_prices
from simsuite.solvers.gbm.statement import Statement, once_each
from simsuite.solvers.gbm.statistics.intervals import CONFIDENCE
from simsuite.solvers.gbm.statistics.replicates import LIKELY_ORDER
from simsuite.solvers.gbm.statistics.statistics import Estimate

REAL_WORLD = "real-world"  # the measure of discounted payoffs, where the scenario gives a drift
_MOST_EXCESS = 1e15  # largest ratio of an error to the target; more paths than can be made would be needed anyway


def rows(statement: Statement, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """The row of the frame that the last batch has reached."""
    prices = _prices(statement, observed)
    found = {
        "time": np.array(prices.time),
        "price_mean": prices.mean,
        "price_std": prices.std,
        "price_quantile": prices.quantiles,
    }
    if not statement.uses_sobol:
        found |= {
            "price_mean_standard_error": prices.mean_error,
            "price_std_standard_error": prices.std_error,
            "price_quantile_low": prices.intervals[0],
            "price_quantile_high": prices.intervals[1],
        }
    if "paths" in observed.arrays:
        step = statement.frame_steps[statement.frame_of_row(observed.step)]
        found["path"] = stored_prices(statement.scenario, statement.dynamics, step, observed.arrays["paths"])
    frame, n = statement.frame_of_row(observed.step), _paths(statement, observed)
    return {**found, **portfolio_results.rows(statement, frame, n, observed)}


def totals(statement: Statement, observed: Snapshot) -> Mapping[str, np.ndarray]:
    """The totals of options and portfolio; nothing before the last path has ended."""
    if observed.step < statement.clock.end:
        return {}
    prices = option_estimates(statement, observed)
    book = book_estimates(statement, observed)
    found = dict(portfolio_results.totals(statement, observed, price_of_book(book)))
    if prices:
        found["option_price"] = np.array([e.value for e in prices])
        found["option_standard_error"] = np.array([e.standard_error for e in prices])
        found |= greek_totals(statement, observed)
        found |= exercise_totals(statement, observed)
        found |= book_totals(statement, book)
    return found


def results(statement: Statement, observed: Snapshot) -> dict[str, Any]:
    """The results that `run --json` prints. A number that a single path does not give (a standard error, a deviation)
    is None. Before the end of a run, results of assets are those at the last frame that all paths have passed, at
    `assets_time`, if there is one after the start."""
    scenario = statement.scenario
    estimates = option_estimates(statement, observed)
    options = {
        name: option_results(statement, observed, o, e)
        for o, (name, e) in enumerate(zip(scenario.option_names, estimates))
    }
    n = _paths(statement, observed)
    ended = observed.step == statement.clock.end
    assets, passed = {}, statement.frame_steps[statement.frame_of_row(observed.step)]
    if passed > 0:
        prices = _prices(statement, observed)
        assets = {name: _asset_results(statement, prices, a, n) for a, name in enumerate(scenario.asset_names)}
    portfolio: dict[str, Any] = {}
    if ended:
        book = book_estimates(statement, observed)
        portfolio = portfolio_results.results(statement, n, observed, price_of_book(book))
        portfolio |= book_results(statement, book)
    reached = bool(estimates) and all(e.standard_error <= statement.target for e in estimates)
    target = {"standard_error": statement.target, "reached": reached}
    return {
        "paths": n,
        **({"replicates": statement.numbering[0]} if statement.uses_sobol else {}),
        **({"target": target} if statement.target > 0 else {}),
        **({"measure": REAL_WORLD} if scenario.market.drift is not None else {}),
        "options": options,
        "assets": assets,
        **({} if ended or not assets else {"assets_time": statement.time(passed)}),
        **portfolio,
    }


def option_results(statement: Statement, observed: Snapshot, option: int, price: Estimate) -> dict[str, Any]:
    """The results of an option, after the last path has ended. `reasons` say why numbers that are None are not
    known."""
    greeks, reasons = greek_results(statement, observed, option)
    if price.unknown:
        reasons = {"standard_error": price.unknown, **reasons}
    part, seen, number_in_part = of_option(statement, observed, option)
    stated = statement.scenario.option[option].maturity is not None
    found = {
        **({"maturity": part.scenario.time.end} if stated else {}),
        "price": price.value,
        "standard_error": number(price.standard_error),
        "ci95": numbers(price.ci95),
        **unseen_results(price),
        **greeks,
        **exercise_results(part, seen, number_in_part),
    }
    return with_reasons(found, reasons)


def _asset_results(statement: Statement, prices: PriceStatistics, asset: int, paths: int) -> dict[str, Any]:
    levels = statement.scenario.output.quantiles
    found = {
        "mean": float(prices.mean[asset]),
        "mean_standard_error": number(prices.mean_error[asset]),
        **({"mean_exact": float(prices.expected[asset])} if _mean_is_known(statement, prices, asset) else {}),
        "std": number(prices.std[asset]),
        "std_standard_error": number(prices.std_error[asset]),
        "quantiles": {f"{q:g}": float(p) for q, p in zip(levels, prices.quantiles[:, asset])},
        "quantile_ci95": {f"{q:g}": numbers(bounds) for q, bounds in zip(levels, prices.intervals[:, :, asset].T)},
        "confidence": CONFIDENCE,
    }
    return with_reasons(found, asset_reasons(statement, paths, found))


def _mean_is_known(statement: Statement, prices: PriceStatistics, asset: int) -> bool:
    """Whether the mean price of an asset follows from the equation, and is a finite number."""
    if not math.isfinite(prices.expected[asset]):
        return False
    return statement.dynamics.scheme is Scheme.EXACT and not statement.dynamics.step_terms.paying[asset]


def option_estimates(statement: Statement, observed: Snapshot) -> list[Estimate]:
    """The price of each option; an empty list before the last path has ended."""
    if observed.step < statement.clock.end or "options" not in observed.arrays:
        return []
    return _estimates(statement, observed)


def paths_needed(statement: Statement, observed: Snapshot) -> int:
    """Roughly the number of paths with which every price reaches the target; the number of those done if the target is
    reached. An error of 0 does not count as reached if the price is random: the paths that differ are then yet to
    come."""
    errors = []
    for part in parts_of(statement):
        own, seen = part.statement, part.seen(observed)
        random = [mean for mean in own.payoffs.prices if payoff_jumps_of(own)[mean.value].random]
        errors += [mean_estimate(own, seen, mean).standard_error for mean in random]
    if not all(error > 0 for error in errors):
        return statement.scenario.paths.count
    done = int(observed.arrays["done"][0])
    excess = min(max(errors, default=0.0) / statement.target, _MOST_EXCESS)
    order = LIKELY_ORDER if statement.uses_sobol else 0.5
    return done if excess <= 1 else max(math.ceil(done * excess ** (1 / order)), done + 1)


@once_each
def _estimates(statement: Statement, observed: Snapshot) -> list[Estimate]:
    """The price of each option from the paths that are done."""
    found = []
    for option in range(len(statement.scenario.option)):
        part, seen, o = of_option(statement, observed, option)
        found.append(mean_estimate(part, seen, part.payoffs.prices[o]))
    return found


def _paths(statement: Statement, observed: Snapshot) -> int:
    """The number of paths that have passed the frame of a row. Where rows come after all batches, it is the number of
    paths that have been made so far."""
    done = int(observed.arrays["done"][0])
    return done if statement.rows_late or observed.step >= statement.batches_end else statement.scenario.paths.count


def _prices(statement: Statement, observed: Snapshot) -> PriceStatistics:
    step = statement.frame_steps[statement.frame_of_row(observed.step)]
    moments, histogram = observed.arrays["moments"], observed.arrays["histogram"]
    n = _paths(statement, observed)
    found = price_statistics(statement.scenario, statement.dynamics, step, n, moments, histogram)
    if not statement.uses_sobol:
        return found
    errors = ("mean_error", "std_error", "intervals")  # these need independent paths, which Sobol points are not
    return replace(found, **{name: np.full_like(getattr(found, name), math.nan) for name in errors})

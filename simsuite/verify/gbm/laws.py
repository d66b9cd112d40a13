"""Checks of the law of prices at every frame: mean, deviation and quantiles; and, for discretised prices, of their
exact errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import ndtri

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.closed_forms.schemes import Scheme
from simsuite.verify.checks import Check, near, not_checked
from simsuite.verify.convergence import fitted_line
from simsuite.verify.gbm.cases import ANTITHETIC, CASH, JUMPS, PLAIN, Case, Way, world
from simsuite.verify.gbm.prices import within
from simsuite.verify.gbm.runs import Note, label, problem_of, run, scenario_of

LAW, MARTINGALE, RISK = "law", "martingale", "risk"
WEAK, STRONG, ORDER = "weak error", "strong error", "strong order"
GROWTH, SIGMA, SPOT = 0.08, 0.3, 100.0
LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
PRICES = Case(
    "prices",
    world([{"spot": SPOT, "volatility": SIGMA}], 6, [], market={"rate": 0.03, "drift": GROWTH}),
    (("float64", PLAIN), ("mixed", PLAIN), ("float32", PLAIN)),
)
HELD = Case("one share", world([{"spot": SPOT, "volatility": SIGMA, "holding": 1.0}], 1, [], market={"rate": GROWTH}))
RISK_LEVELS = (0.9, 0.99)
SKETCHED = 1e-5  # tolerance, relative to the spot, for what is lost where losses are counted in bins
Z95 = 1.959963984540054
FAST, WILD = 0.5, 0.5  # growth and volatility so large that the errors of schemes can be seen
SCHEME_STEPS = (4, 8, 16, 32)
SCHEMES: tuple[Scheme, ...] = ("euler", "milstein")
ORDER_WITHIN = 0.05
STRONG_PATHS = 1 << 14


def law_checks(backend: Backend, paths: int, note: Note) -> Iterator[Check]:
    """Checks of the law of prices at every frame of `PRICES`, and of the mean of prices that jump or pay."""
    for way in PRICES.ways:
        outcome = run(problem_of(scenario_of(PRICES, way, paths, frames=4, quantiles=list(LEVELS))), backend)
        for row in outcome.rows:
            yield from _law(way, outcome.problem.scenario, row, paths)
    for case in (JUMPS, CASH):
        for way in (("float64", PLAIN), ("float64", ANTITHETIC)):
            yield from _martingale(backend, case, way, paths, note)


def _law(way: Way, model: GbmScenario, row: Mapping[str, np.ndarray], paths: int) -> Iterator[Check]:
    t = float(row["time"])

    def check(what: str, found: float, wanted: float, error: float) -> Check:
        return within(label(PRICES, way, f"{what} at {t:.3g}"), LAW, float(found), wanted, error, way, model)

    mean, std = exact.price_mean(SPOT, GROWTH, t), exact.price_std(SPOT, GROWTH, SIGMA, t)
    yield check("mean", row["price_mean"][0], mean, std / math.sqrt(paths))
    spread = std * math.sqrt((exact.price_excess_kurtosis(SIGMA, t) + 2) / (4 * paths))
    yield check("std", row["price_std"][0], std, spread)
    for q, found in zip(LEVELS, row["price_quantile"][:, 0]):
        price, z = exact.price_quantile(SPOT, GROWTH, SIGMA, t, q), float(ndtri(q))
        density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) / (price * SIGMA * math.sqrt(t))
        yield check(f"{100 * q:g} % quantile", found, price, math.sqrt(q * (1 - q) / paths) / density)


def _martingale(backend: Backend, case: Case, way: Way, paths: int, note: Note) -> Iterator[Check]:
    """Checks that the mean of the discounted price, with the dividends paid, is the spot."""
    model = scenario_of(case, way, paths)
    try:
        outcome = run(problem_of(model), backend)
    except ScenarioError as refusal:
        note(not_checked(label(case, way, "mean price"), refusal))
        return
    ((_, found),) = outcome.results["assets"].items()
    (asset,), end = model.asset, model.time.end
    growth = model.market.rate.value - asset.dividend_yield.value
    value = found["mean"] * math.exp(-growth * end)
    paid = math.fsum((d.cash or 0.0) * math.exp(-growth * d.time) for d in asset.dividends)
    error = found["std"] / math.sqrt(paths)  # the mean of antithetic prices scatters less
    yield within(label(case, way, "mean price"), MARTINGALE, value + paid, asset.spot, error, way, model)


def risk_checks(backend: Backend, paths: int, note: Note) -> Iterator[Check]:
    """Checks of the value at risk and the expected shortfall of a share, by the errors that come with them."""
    for way in (("float64", PLAIN), ("float32", ANTITHETIC)):
        model = scenario_of(HELD, way, paths, risk={"levels": list(RISK_LEVELS)})
        try:
            found = run(problem_of(model), backend).results["risk"]["levels"]
        except ScenarioError as refusal:
            note(not_checked(label(HELD, way, "value at risk"), refusal))
            continue
        for level in RISK_LEVELS:
            figures, terms = found[f"{level:g}"], (SPOT, GROWTH, SIGMA, model.time.end, level)
            low, high = figures["value_at_risk_ci95"]
            for what, wanted, error in (
                ("value_at_risk", exact.value_at_risk(*terms), (high - low) / (2 * Z95)),
                ("expected_shortfall", exact.expected_shortfall(*terms), figures["expected_shortfall_standard_error"]),
            ):
                name = label(HELD, way, f"{what.replace('_', ' ')} {100 * level:g} %")
                yield within(name, RISK, figures[what], wanted, error, way, model, rounding=SKETCHED)


def scheme_checks(backend: Backend, paths: int, note: Note) -> Iterator[Check]:
    """Checks of the weak and strong errors of Euler's and Milstein's schemes, which are known exactly, and of the order
    of the strong errors.

    With so few steps the orders are not yet 1/2 and 1, but those of the known errors.
    """
    for scheme in SCHEMES:
        strong, known = [], []
        for steps in SCHEME_STEPS:
            case, way = _scheme_case(steps, scheme), ("float64", PLAIN)
            try:
                problem = problem_of(scenario_of(case, way, paths))
            except ScenarioError as refusal:
                note(not_checked(f"{scheme}: weak and strong errors", refusal))
                break
            model, mean = problem.scenario, exact.scheme_mean(SPOT, FAST, 1.0, steps)
            found = run(problem, backend).results["assets"]["A"]
            square = exact.scheme_second_moment(SPOT, FAST, WILD, 1.0, steps, scheme)
            error, bias = math.sqrt((square - mean**2) / paths), mean - exact.price_mean(SPOT, FAST, 1.0)
            name = f"{scheme}, {steps} steps"
            yield within(name, WEAK, found["mean"] - mean + bias, bias, error, way, model)
            differences = _ends(backend, case) - _ends(backend, _scheme_case(steps, "exact"))
            squares = differences**2
            size = math.sqrt(squares.mean())
            wanted = exact.scheme_strong_error(SPOT, FAST, WILD, 1.0, steps, scheme)
            scatter = float(squares.std()) / math.sqrt(len(squares)) / (2 * wanted)
            yield within(name, STRONG, size, wanted, scatter, way, model)
            strong.append(size)
            known.append(wanted)
        else:
            sizes = [1.0 / steps for steps in SCHEME_STEPS]
            slope, factor = fitted_line(sizes, strong)
            data = {"sizes": sizes, "errors": strong, "factor": factor, "order": slope}
            yield near(scheme, ORDER, slope, fitted_line(sizes, known)[0], ORDER_WITHIN, **data)


def _scheme_case(steps: int, scheme: str) -> Case:
    asset = {"spot": SPOT, "volatility": WILD}
    return Case(scheme, world([asset], steps, [], market={"rate": FAST}, time={"scheme": scheme}))


def _ends(backend: Backend, case: Case) -> np.ndarray:
    """The last price of every path."""
    outcome = run(problem_of(scenario_of(case, ("float64", PLAIN), STRONG_PATHS, store_paths=STRONG_PATHS)), backend)
    return outcome.rows[-1]["path"][:, 0]

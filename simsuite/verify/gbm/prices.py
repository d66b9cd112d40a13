"""Checks of prices and Greeks of every kind of option against closed forms, quadrature, and published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks
from simsuite.verify.checks import Check, not_checked
from simsuite.verify.gbm.cases import Case, Way
from simsuite.verify.gbm.runs import ROUNDING, Note, Outcome, deviations, label, prices_of, problem_of, run, scenario_of

REFERENCE, PUBLISHED, GREEK = "reference", "published", "greek"
LIMIT = 4.0  # largest deviation from the exact price, in standard errors
CLOSED_FORM = 1e-9  # errors of closed forms, and of their derivatives, relative to the spot
MOST_IF_LOW = 1 << 19  # with more paths the standard error of such estimates is less than their bias
LOW = (-3.0, 2.0)  # range of deviations, in standard errors, of estimates that are biased to the lower side


def price_checks(
    backend: Backend, cases: Sequence[Case], with_greeks: Sequence[Case], paths: int, note: Note
) -> Iterator[Check]:
    """Checks of every case in all of its ways; Greeks are checked once, where the engine has them."""
    for case in cases:
        for way in case.ways:
            greeks = case in with_greeks and way == case.ways[0]
            model = scenario_of(case, way, min(paths, MOST_IF_LOW) if case.low else paths, greeks)
            try:
                problem = problem_of(model)
            except ScenarioError as refusal:
                note(not_checked(label(case, way, "prices"), refusal))
                continue
            outcome = run(problem, backend)
            yield from _prices(case, way, model, outcome)
            if greeks:
                yield from _greeks(case, way, model, outcome, note)


def _prices(case: Case, way: Way, model: GbmScenario, outcome: Outcome) -> Iterator[Check]:
    for name, exact in prices_of(case, model).items():
        kind = PUBLISHED if name in case.published else REFERENCE
        found = outcome.options[name]
        bounds = LOW if case.low else (-LIMIT, LIMIT)
        error, what = found["standard_error"], label(case, way, name)
        yield within(what, kind, found["price"], exact, error, way, model, bounds, CLOSED_FORM)


def _greeks(case: Case, way: Way, model: GbmScenario, outcome: Outcome, note: Note) -> Iterator[Check]:
    if not any("delta" in found for found in outcome.options.values()):
        note(f"not checked: {case.name}: Greeks: the engine has none yet")
        return
    for number, name in enumerate(model.option_names):
        exact = reference_greeks(model, number)
        if exact is None:
            continue
        for what, value, wanted, error in greeks_of(outcome.options[name], exact, model):
            named = label(case, way, f"{what} of {name}")
            yield within(named, GREEK, value, wanted, error, way, model, rounding=CLOSED_FORM)


def greeks_of(
    found: Mapping[str, Any], exact: Mapping[str, Any], model: GbmScenario
) -> Iterator[tuple[str, float, float, float]]:
    """Yields the name, value, exact value and standard error of each Greek that was found."""
    for greek, wanted in exact.items():
        values, errors = found.get(greek), found.get(f"{greek}_standard_error")
        if values is None or errors is None:
            continue
        if isinstance(wanted, list):
            several = len(wanted) > 1
            for name, *numbers in zip(model.asset_names, values, wanted, errors, strict=True):
                if None not in numbers:
                    yield (f"{greek} {name}" if several else greek, *numbers)
        else:
            yield greek, values, wanted, errors


def within(
    name: str,
    kind: str,
    value: float,
    exact: float,
    error: float,
    way: Way,
    model: GbmScenario,
    bounds: tuple[float, float] = (-LIMIT, LIMIT),
    rounding: float | None = None,
) -> Check:
    """A check that passes if `value` differs from the exact one by a number of standard errors within `bounds`, or so
    little that rounding explains it. rounding: the error of value by rounding, relative to the spot, that the standard
    error leaves out; by default that of the precision."""
    rounding = (ROUNDING[way[0]] if rounding is None else rounding) * max(asset.spot for asset in model.asset)
    z = deviations(value, exact, error, way, rounding)
    low, high = bounds
    words = (
        f"{exact:.10g} +- {high:g} x {error:.2g}"
        if -low == high
        else f"{exact:.10g}, {low:g} .. {high:g} x {error:.2g}"
    )
    return Check(name, kind, value, words, low <= z <= high, {"exact": exact, "standard_error": error, "deviations": z})

"""The order at which errors fall with the number of paths: n^-1/2 for random numbers, nearly n^-1 for Sobol points.

The error of an estimator is the root mean square over seeds of its distance from the exact price. The order is fitted
to that, and not to standard errors, which would be small even if estimates were off. Over 48 seeds that root mean
square scatters by 10 %, and the order by 0.03.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.verify.checks import Check, not_checked
from simsuite.verify.convergence import fitted_line
from simsuite.verify.gbm.cases import ANTITHETIC, PLAIN, SOBOL, Case, option, world
from simsuite.verify.gbm.runs import Note, prices_of, problem_of, reseeded, run, scenario_of

CONVERGENCE = "convergence"
PAIR = ("plain", "control variate")
CASE = Case(
    "convergence",
    world(
        [{"spot": 100.0, "volatility": 0.2}],
        12,
        [
            option(PAIR[0], "asian", strike=100.0, control_variate=False),
            option(PAIR[1], "asian", strike=100.0),
        ],
    ),
    published=dict.fromkeys(PAIR, 6.1560407664),
)
RANDOM = (-0.65, -0.35)  # range of the order for random numbers
EVEN = (-1.6, -0.65)  # range for Sobol points; kinks keep orders above n^-1, and what a control variate leaves is rough


@dataclass(frozen=True)
class Extent:
    """The amount of checking. paths: the number of paths of each level. seeds: how many seeds there are."""

    paths: Sequence[int]
    seeds: int


def rate_checks(backend: Backend, extent: Extent, note: Note) -> Iterator[Check]:
    """Checks of the order, for all estimators of the price of an arithmetic Asian call."""
    for sampling in (PLAIN, ANTITHETIC, SOBOL):
        way, found = ("float64", sampling), dict[str, list[list[tuple[float, float]]]]()
        for count in extent.paths:
            try:
                problem = problem_of(scenario_of(CASE, way, count))
            except ScenarioError as refusal:
                note(not_checked(f"rate of convergence, {sampling}", refusal))
                break
            exact = prices_of(CASE, problem.scenario)
            with backend.on_threads(1):
                levels = [run(reseeded(problem, seed), backend).options for seed in range(1, extent.seeds + 1)]
            for name, price in exact.items():
                pairs = [(level[name]["price"] - price, level[name]["standard_error"]) for level in levels]
                found.setdefault(_estimator(name, sampling), []).append(pairs)
        for name, of_levels in found.items():
            yield _order(name, extent.paths, of_levels, EVEN if sampling == SOBOL else RANDOM)


def _estimator(option_name: str, sampling: str) -> str:
    words = [word for word in (sampling, option_name) if word != PLAIN]
    return " with ".join(words) or PLAIN


def _order(
    name: str, paths: Sequence[int], found: Sequence[Sequence[tuple[float, float]]], bounds: tuple[float, float]
) -> Check:
    errors = [math.sqrt(math.fsum(off**2 for off, _ in level) / len(level)) for level in found]
    slope, factor = fitted_line(paths, errors)
    data = {
        "estimator": name,
        "paths": list(paths),
        "errors": errors,
        "order": slope,
        "factor": factor,
        "differences": [[off for off, _ in level] for level in found],
        "standard_errors": [math.sqrt(math.fsum(s**2 for _, s in level) / len(level)) for level in found],
    }
    low, high = bounds
    return Check(name, CONVERGENCE, slope, f"order {low:g} .. {high:g}", low <= slope <= high, data)

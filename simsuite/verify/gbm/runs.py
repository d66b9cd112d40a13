"""One Monte Carlo run from its first step to its last on a backend, without files, and the distance of its results from
the truth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr

from simsuite.core import Backend, Snapshot
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.reference_prices.prices import reference_price
from simsuite.solvers.gbm.solver import GbmSolver
from simsuite.verify.gbm.cases import ANTITHETIC, PLAIN, REPLICATES, SOBOL, Case, Way

Note = Callable[[str], None]
# errors that no number of paths averages out, relative to the spot
ROUNDING = {"float64": 1e-11, "mixed": 1e-6, "float32": 2e-6}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run. rows: what a result file has for each frame after the start. results: what `run --json`
    prints under "results"."""

    problem: GbmProblem
    rows: Sequence[Mapping[str, np.ndarray]]
    results: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        options: Mapping[str, Mapping[str, Any]] = self.results["options"]
        return options


def scenario_of(case: Case, way: Way, count: int, greeks: bool = False, **output: Any) -> GbmScenario:
    """The scenario of a case with so many paths, drawn in one of the ways."""
    precision, sampling = way
    paths: dict[str, Any] = {"count": count, **case.scenario.get("paths", {})}
    if sampling == SOBOL:
        paths |= {"sampling": "sobol", "replicates": REPLICATES}
    paths |= {"antithetic": sampling == ANTITHETIC}
    parts = {
        "run": {"precision": precision, "seed": 1},
        "paths": paths,
        "option": [{**option, "greeks": greeks} for option in case.scenario["option"]],
        "output": {**case.scenario["output"], **output},
    }
    return GbmScenario.model_validate({**case.scenario, **parts})


def problem_of(model: GbmScenario) -> GbmProblem:
    """The problem of a scenario. Raises ScenarioError for what cannot be computed."""
    return GbmSolver.from_scenario(model, Path())


def reseeded(problem: GbmProblem, seed: int) -> GbmProblem:
    """The problem with another seed."""
    model = problem.scenario
    other = model.model_copy(update={"run": model.run.model_copy(update={"seed": seed})})
    return dataclasses.replace(problem, scenario=other)


def run(problem: GbmProblem, backend: Backend, parts: Sequence[int] = ()) -> Outcome:
    """Runs a problem on a backend. parts: numbers of steps, by which the run is divided at its beginning."""
    stepper = problem.stepper(backend, problem.initial())
    (series,) = problem.layout.series
    marks = {int(k) for k in np.cumsum(np.asarray(parts, np.int64)) if k < problem.clock.end}
    rows: list[Mapping[str, np.ndarray]] = []
    results: Mapping[str, Any] = {}
    for stop in sorted({*series.steps, *marks} - {0}):
        stepper.advance(stop - stepper.step)
        if stop in series.steps:
            with stepper.observe(series.dim) as held:
                observed = Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})
            row = problem.rows(series.dim, observed)
            rows += [row] if row["time"] > 0 else []
            results = problem.results(observed)
    return Outcome(problem, rows, results)


def prices_of(case: Case, model: GbmScenario) -> dict[str, float]:
    """The prices of the options whose price is known."""
    found = {}
    for name, option in zip(model.option_names, model.option):
        price = case.published.get(name, reference_price(model, option))
        if price is not None:
            found[name] = price
    return found | {name: found[other] for name, other in case.alike.items()}


def label(case: Case, way: Way, what: str) -> str:
    """The name of a check."""
    return ", ".join([f"{case.name}: {what}", *(word for word in way if word not in ("float64", PLAIN))])


def deviations(value: float, exact: float, error: float, way: Way, rounding: float = 0.0) -> float:
    """The number of standard errors by which `value` is too high, less what rounding may explain.

    Means over few replicates of Sobol points have Student's law; for these the result is the normal number with the
    same odds.
    """
    off = value - exact
    off = math.copysign(max(abs(off) - rounding, 0.0), off)
    if off == 0:
        return 0.0
    z = off / error if error > 0 else math.copysign(math.inf, off)
    if way[1] != SOBOL or math.isinf(z):
        return z
    return math.copysign(float(-ndtri(stdtr(REPLICATES - 1, -abs(z)))), z)

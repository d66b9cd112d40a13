"""One Monte Carlo run from its first step to its last on a backend, with no files, and how far it is from the truth."""

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
ROUNDING = {"float64": 1e-11, "mixed": 1e-6, "float32": 2e-6}  # that no estimate averages out, relative to the spot


@dataclass(frozen=True)
class Outcome:
    """rows: what a result file has of each frame after the start. results: what `run --json` prints under "results"."""

    problem: GbmProblem
    rows: Sequence[Mapping[str, np.ndarray]]
    results: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        options: Mapping[str, Mapping[str, Any]] = self.results["options"]
        return options


def scenario_of(case: Case, way: Way, count: int, greeks: bool = False, **output: Any) -> GbmScenario:
    """A case with so many paths, in one of the ways to draw them."""
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
    """Raises ScenarioError for what cannot be computed."""
    return GbmSolver.from_scenario(model, Path())


def reseeded(problem: GbmProblem, seed: int) -> GbmProblem:
    """The same with other random numbers."""
    model = problem.scenario
    other = model.model_copy(update={"run": model.run.model_copy(update={"seed": seed})})
    return dataclasses.replace(problem, scenario=other)


def run(problem: GbmProblem, backend: Backend, parts: Sequence[int] = ()) -> Outcome:
    """The outcome of a problem on a backend. parts: steps that are made first, one after another."""
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
    """What the options are worth, of those of which it is known."""
    found = {}
    for name, option in zip(model.option_names, model.option):
        price = case.published.get(name, reference_price(model, option))
        if price is not None:
            found[name] = price
    return found | {name: found[other] for name, other in case.alike.items()}


def label(case: Case, way: Way, what: str) -> str:
    """Of a check."""
    return ", ".join([f"{case.name}: {what}", *(word for word in way if word not in ("float64", PLAIN))])


def deviations(value: float, exact: float, error: float, way: Way, rounding: float = 0.0) -> float:
    """How many standard errors `value` is too high, less what rounding may explain.

    Few replicates of Sobol points have Student's law, of which this is the normal number with the same odds.
    """
    off = value - exact
    off = math.copysign(max(abs(off) - rounding, 0.0), off)
    if off == 0:
        return 0.0
    z = off / error if error > 0 else math.copysign(math.inf, off)
    if way[1] != SOBOL or math.isinf(z):
        return z
    return math.copysign(float(-ndtri(stdtr(REPLICATES - 1, -abs(z)))), z)

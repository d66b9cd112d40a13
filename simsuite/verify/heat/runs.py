"""One run from its first step to its last on a backend, with no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.capabilities import taken
from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run. temperature: at the end, (ny, nx), float64. results: what `run --json` prints under
    "results". steps: the number of steps that were taken."""

    problem: HeatProblem
    temperature: np.ndarray
    results: Mapping[str, Any]
    steps: int

    @property
    def dt(self) -> tuple[float, float]:
        """The shortest and the longest step, s."""
        shortest, longest = self.results.get("dt", self.problem.lengths(0))
        return float(shortest), float(longest)

    @property
    def end(self) -> float:
        """The time at the last step, s."""
        return self.problem.clock.time(self.problem.clock.end)


def run(problem: HeatProblem, backend: Backend) -> Outcome:
    """The outcome of a problem on a backend."""
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end - stepper.step)
    with stepper.observe(problem.layout.series[0].dim) as observed:
        results = problem.results(observed)
    with stepper.snapshot() as snapshot:
        temperature = np.array(snapshot.arrays["temperature"], np.float64)
    return Outcome(problem, temperature, results, taken(problem, stepper))


def problem_of(scenario: Mapping[str, Any]) -> HeatProblem:
    """The problem of a scenario that names no files. Raises ScenarioError."""
    return HeatProblem.from_scenario(HeatScenario.model_validate(scenario), Path())


def run_scenario(scenario: Mapping[str, Any], backend: Backend) -> Outcome:
    """The outcome of a scenario that names no files, on a backend."""
    return run(problem_of(scenario), backend)

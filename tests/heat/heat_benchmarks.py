"""The benchmarks in simsuite/verify/benchmarks: their files, what they expect, and how to run them without writing
files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.backends import open_backend
from simsuite.scenario import load
from simsuite.scenario.common import Output
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.problem import HeatProblem

ROOT = Path(__file__).parents[2]
FILES = {path.stem: path for path in sorted((ROOT / "simsuite" / "verify" / "benchmarks").glob("*.toml"))}
ERROR = "relative_l2"


@dataclass(frozen=True)
class Found:
    """A run at its end. figures: probes that have a published value, and the error norm where there is one."""

    problem: HeatProblem
    figures: Mapping[str, float]
    results: Mapping[str, Any]
    temperature: np.ndarray


def model_of(name: str) -> HeatScenario:
    scenario = load(FILES[name])
    assert isinstance(scenario.model, HeatScenario)
    return scenario.model


def run(model: HeatScenario) -> Found:
    problem = HeatProblem.from_scenario(model, ROOT)
    stepper = problem.stepper(open_backend("cpu"), problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.observe("time") as observed:
        results = problem.results(observed)
        temperature = np.array(observed.arrays["temperature"])
    figures = dict(results["probes"])
    if "error" in results:
        figures[ERROR] = results["error"][ERROR]
    return Found(problem, figures, results, temperature)


def coarser(model: HeatScenario, factor: int) -> HeatScenario:
    g = model.grid
    grid = g.model_copy(update={"nx": g.nx // factor, "ny": max(1, g.ny // factor)})
    return model.model_copy(update={"grid": grid, "output": Output(frames=2)})


def allowed(name: str) -> dict[str, tuple[float, float]]:
    """(expected, within) of every figure."""
    model = model_of(name)
    figures = {p.name: (p.expected, p.within) for p in model.probe}
    if model.reference is not None and model.reference.within is not None:
        figures[ERROR] = (0.0, model.reference.within)
    return figures

"""The scenarios in `simsuite/verify/benchmarks` have known answers: each run must come as close as its file says, and
closer on a finer grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from simsuite.core import Backend
from simsuite.scenario import load
from simsuite.scenario.heat import HeatScenario
from simsuite.verify.checks import Check, near
from simsuite.verify.convergence import ROUND_OFF, root_mean_square
from simsuite.verify.heat.refinement import problems
from simsuite.verify.heat.runs import Outcome, run

BENCHMARK, FINER = "benchmark", "finer is closer"
# share of what a figure may be off by: a smaller change shows only the rounding of the published figure
CONVERGED = 1e-2


def benchmark_checks(backend: Backend, files: list[Path], refine: bool) -> Iterator[Check]:
    """A check of every figure that the files expect. refine: whether to check it on a grid twice as fine as well."""
    for path in files:
        scenario = load(path)
        made = problems(scenario.model, scenario.base, 2 if refine else 1)
        found = [run(problem, backend) for problem in made]
        scale = max(root_mean_square(outcome.temperature) for outcome in found)
        allowed = tolerances(scenario.model)
        if not allowed:
            yield Check(path.stem, BENCHMARK, math.nan, "an expected figure", False)
        for name, (expected, within) in allowed.items():
            values = [figures(outcome)[name] for outcome in found]
            label = f"{path.stem} {name}"
            yield near(label, BENCHMARK, values[0], expected, within, file=path.name)
            if refine:
                yield _closer(label, values, expected, within, ROUND_OFF * (1.0 if name == ERROR else scale))


ERROR = "relative_l2"


def tolerances(model: HeatScenario) -> dict[str, tuple[float, float]]:
    """(expected, within) of every probe that has them, and of the error against the reference."""
    found = {p.name: (p.expected, p.within) for p in model.probe if p.expected is not None and p.within is not None}
    if model.reference is not None and model.reference.within is not None:
        found[ERROR] = (0.0, model.reference.within)
    return found


def figures(outcome: Outcome) -> Mapping[str, float]:
    """The figures of a run that `tolerances` names."""
    error = outcome.results.get("error", {})
    return {**outcome.results["probes"], **{name: value for name, value in error.items() if name == ERROR}}


def _closer(name: str, values: list[float], expected: float, within: float, round_off: float) -> Check:
    """A check that passes if the figure is closer on the finer grid, or if neither value changes: then the figure is
    exact, or the published one is rounded."""
    first, second = (abs(value - expected) for value in values)
    still = abs(values[1] - values[0]) <= max(CONVERGED * within, round_off)
    passed = second < first or still
    return Check(name, FINER, second, f"< {first:.3g}" + (" or unmoved" if still else ""), passed, {"values": values})

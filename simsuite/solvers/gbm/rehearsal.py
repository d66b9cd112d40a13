"""A few paths before a run that is to reach a standard error: whether it can, with as many paths as it may make."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from simsuite.core import Backend
from simsuite.errors import Mistake, ScenarioError
from simsuite.solvers.gbm.outcome import option_estimates
from simsuite.solvers.gbm.statistics import GROUP

if TYPE_CHECKING:
    from simsuite.solvers.gbm.problem import GbmProblem

PATHS, MATCHED_PATHS = 16 * GROUP, 128 * GROUP  # the latter where groups are observations
MARGIN = 1.5  # standard errors by a few paths are rough: what looks out of reach by less may be in reach


def rehearse(problem: GbmProblem, base: Path, backend: Backend) -> None:
    """Raises ScenarioError if the target is out of reach. Evenly spread points are not asked: their error falls faster
    than that of a few of them can tell."""
    scenario = problem.scenario
    count = scenario.paths.count
    paths = MATCHED_PATHS if scenario.paths.moment_matching else PATHS
    if count <= paths or scenario.paths.sampling == "sobol":
        return
    few = scenario.paths.model_copy(update={"count": paths, "target_standard_error": 0.0, "batch": None})
    end_only = scenario.output.model_copy(update={"frames": 2, "every": None, "times": None, "store_paths": 0})
    pilot = type(problem).from_scenario(scenario.model_copy(update={"paths": few, "output": end_only}), base)
    stepper = pilot.stepper(backend, pilot.initial())
    stepper.advance(pilot.clock.end)
    with stepper.observe("time") as observed:
        errors = [e.standard_error for e in option_estimates(pilot, observed)]
    worst = max(range(len(errors)), key=errors.__getitem__)
    require_reach(problem, worst, paths * (errors[worst] / problem.target) ** 2)


def require_reach(problem: GbmProblem, option: int, paths: float) -> None:
    """Raises ScenarioError if `paths`, which an option takes to get to the target, are more than the run may make."""
    count = problem.scenario.paths.count
    if math.isfinite(paths) and paths > MARGIN * count:
        reached = problem.target * math.sqrt(paths / count)
        name = problem.scenario.option_names[option]
        message = f"option {name!r} takes about {paths:.2g} paths to get there; {count} reach about {reached:.2g}"
        help = f"set count to at least {_round_up(MARGIN * paths)}, or the target to at least {MARGIN * reached:.2g}"
        raise ScenarioError([Mistake(("paths", "target_standard_error"), message, help)])


def _round_up(paths: float) -> int:
    """To two digits."""
    unit = 10 ** (math.floor(math.log10(paths)) - 1)
    return math.ceil(paths / unit) * unit

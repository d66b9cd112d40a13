"""Runs a few paths before a run that has a target for the standard error, to see whether the target can be reached with
the paths that the run may make."""

from __future__ import annotations

import math
from collections.abc import Callable

from simsuite.core import Backend
from simsuite.errors import Mistake, ScenarioError
from simsuite.libraries import special
from simsuite.scenario.gbm import MOST_PATHS, MOST_POINTS, GbmScenario
from simsuite.solvers.gbm.checks.alternatives import alternatives
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.results.results import option_estimates
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.replicates import BEST_ORDER, LIKELY_ORDER
from simsuite.solvers.gbm.statistics.statistics import GROUP

PATHS = 16 * GROUP
# standard errors from a few paths are rough: a target counts as out of reach only if missed by this factor
MARGIN = 1.5
DOUBT = 1e-4  # probability that an error from replicates exceeds the true one by more than is taken for plausible


def require_feasible(statement: Statement, plan_of: Callable[[GbmScenario], PathPlan], backend: Backend) -> None:
    """Raises ScenarioError if the target is out of reach. plan_of: makes the plan that runs the scenario with a few
    paths."""
    scenario = statement.scenario
    count = scenario.paths.count
    paths = GROUP * scenario.paths.scrambles if statement.uses_sobol else PATHS
    if count <= paths:
        return
    few = scenario.paths.model_copy(update={"count": paths, "target_standard_error": 0.0, "batch": None})
    end_only = scenario.output.model_copy(update={"frames": 2, "every": None, "times": None, "store_paths": 0})
    pilot = plan_of(scenario.model_copy(update={"paths": few, "output": end_only}))
    stepper = PathStepper(pilot, backend, pilot.initial())
    stepper.advance(pilot.clock.end)
    with stepper.observe("time") as observed:
        errors = [e.standard_error for e in option_estimates(pilot, observed)]
    worst = max(range(len(errors)), key=lambda o: (not math.isnan(errors[o]), errors[o]))
    if statement.uses_sobol:
        _require_best(statement, worst, paths, errors[worst])
    else:
        require_reach(statement, worst, paths * (errors[worst] / statement.target) ** 2)


def _require_best(statement: Statement, option: int, paths: int, error: float) -> None:
    """Raises ScenarioError if all Sobol points of the run cannot lower the error of a few points to the target, even if
    the true error is smaller than found and falls at the fastest rate possible. The real rate cannot be told from a few
    points."""
    count, freedom = statement.scenario.paths.count, statement.numbering[0] - 1
    least = error * math.sqrt(freedom / float(special.chdtri(freedom, DOUBT)))
    best = least * (paths / (MARGIN * count)) ** BEST_ORDER
    if not (math.isfinite(best) and best > statement.target):
        return
    name = statement.scenario.option_names[option]
    message = (
        f"{count} Sobol points do not get option {name!r} there: {paths} have an error of {error:.2g}, which would "
        f"have to fall faster than count^-{BEST_ORDER:g}"
    )
    help = f"set the target to about {error * (paths / count) ** LIKELY_ORDER:.2g}"
    doublings = math.ceil(math.log2(error / statement.target) / LIKELY_ORDER)
    if paths << doublings <= min(MOST_PATHS, MOST_POINTS * (freedom + 1)):
        help += f", or count to about {paths << doublings}"
    help += f", as far as errors fall like count^-{LIKELY_ORDER:g}"
    raise ScenarioError([Mistake(("paths", "target_standard_error"), message, help)])


def require_reach(statement: Statement, option: int, paths: float) -> None:
    """Raises ScenarioError if `paths`, the number that an option needs to reach the target, is more than the run may
    make."""
    count, width = statement.scenario.paths.count, statement.width
    if not (math.isfinite(paths) and paths > MARGIN * count):
        return
    reached = statement.target * math.sqrt(paths / count)
    name = statement.scenario.option_names[option]
    message = f"option {name!r} takes about {paths:.2g} paths to get there; {count} reach about {reached:.2g}"
    most = MOST_PATHS // width * width
    if paths <= most:
        enough = min(_round_up(MARGIN * paths, width), most)
        help = f"to be safe, set count to {enough}, or the target to {MARGIN * reached:.2g}"
    else:
        least = MARGIN * statement.target * math.sqrt(paths / most)
        others = "".join(f", or try {change}" for change in alternatives(statement, option))
        reachable = f"set count to {most} and the target to {least:.2g}"
        help = f"a run can make {MOST_PATHS:.2g} paths at most: to be safe, {reachable}{others}"
    raise ScenarioError([Mistake(("paths", "target_standard_error"), message, help)])


def _round_up(paths: float, width: int) -> int:
    """Rounds up to two digits, and to a multiple of `width`."""
    unit = 10 ** (math.floor(math.log10(paths)) - 1)
    return -(-math.ceil(paths / unit) * unit // width) * width

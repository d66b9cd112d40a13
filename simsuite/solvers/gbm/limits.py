"""How much a run may be. All functions raise ScenarioError."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simsuite.errors import Mistake, ScenarioError
from simsuite.solvers.gbm.functionals import MOST_SCHEDULES, Functional, schedules

if TYPE_CHECKING:
    from simsuite.solvers.gbm.problem import GbmProblem

MOST_STEPS = 1 << 53  # of all batches: beyond, times are no longer exact


def require_schedules(functionals: Sequence[Functional], n_steps: int) -> None:
    """A bit each is what the table has room for."""
    if len(schedules(functionals, n_steps)) > MOST_SCHEDULES:
        message = f"the options look at prices at more than {MOST_SCHEDULES} different sets of dates"
        help = "price some of them in a run of their own (Greeks of payoffs with jumps may need another set)"
        raise ScenarioError([Mistake(("option",), message, help)])


def require_countable(problem: GbmProblem) -> None:
    """The steps of all batches."""
    if problem.clock.end >= MOST_STEPS:
        message = f"{problem.n_batches} batches of {problem.n_steps} steps are more than can be counted"
        key = "count" if problem.scenario.paths.batch is None else "batch"
        raise ScenarioError([Mistake(("paths", key), message, "take fewer steps, or fewer paths")])

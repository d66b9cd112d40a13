"""Multilevel Monte Carlo: most paths with few steps, few with all, to the same error for less (see allocation.py).

The clock counts portions of paths, by rounds. After each round the variances that have been found say how many paths
the next one makes (`settle`), and the clock leaves out what a round could have taken beyond. Rows of results fall due
after all rounds, in steps that compute nothing. Means and quantiles of prices, and paths that are stored, are those of
the fine paths of the last level.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Device, Layout, Problem, Snapshot, Stepper
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.checks.advice import blamed
from simsuite.solvers.gbm.checks.feasibility import require_reach
from simsuite.solvers.gbm.checks.unsupported import require_supported
from simsuite.solvers.gbm.error_allowances.payoff_jumps import payoff_jumps_of
from simsuite.solvers.gbm.multilevel import multilevel_results
from simsuite.solvers.gbm.multilevel.allocation import next_goals, wanted
from simsuite.solvers.gbm.multilevel.levels import STRIDE
from simsuite.solvers.gbm.multilevel.multilevel_stepper import MultilevelStepper
from simsuite.solvers.gbm.multilevel.plan import MultilevelPlan
from simsuite.solvers.gbm.paths.stepper import OPTIONS
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.results.layout import gbm_layout
from simsuite.solvers.gbm.schedule.level_steps import FEWEST_STEPS, level_steps
from simsuite.solvers.gbm.statistics.statistics import NO_FAULT
from simsuite.words import counted


@dataclass(frozen=True)
class MultilevelProblem(MultilevelPlan, GbmProblem):
    """A validated multilevel scenario; the attributes that it inherits are about the last level."""

    multilevel = True
    stepper_kind = MultilevelStepper

    @classmethod
    def from_scenario(
        cls, model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
        require_supported(model)
        levels = len(level_steps(model))
        if levels == 1:
            steps = counted(model.time.steps, "step")
            message = f"{steps} cannot be halved, to {FEWEST_STEPS} at least with all dates on them"
            help = "take a number of steps that is even for each two neighbouring dates, or leave multilevel out"
            raise ScenarioError([Mistake(("paths", "multilevel"), message, help, on_key=True)])
        options = [option.model_copy(update={"greeks": False}) for option in model.option]
        problem = super().from_scenario(model.model_copy(update={"option": options}), base, None, {})
        assert isinstance(problem, cls)
        if sum(problem.pilot) > model.paths.count:
            message = f"{levels} levels take {sum(problem.pilot)} paths at least"
            raise ScenarioError([Mistake(("paths", "count"), message, f"set count to {sum(problem.pilot)} or more")])
        if device is not None and decided is None:
            problem._require_feasible(device())
        return problem

    def _require_feasible(self, backend: Backend) -> None:
        """Raises ScenarioError if the target is out of reach."""
        stepper = self.stepper(backend, self.initial())
        stepper.advance(self.rounds_from[1])
        with stepper.observe(OPTIONS) as observed:
            variances = multilevel_results.variances(self, observed)
        paths = self.width * wanted(variances, self.costs, self.target).sum()
        require_reach(self, int(multilevel_results.errors(self, observed).argmax()), paths)

    def settle(self, stepper: Stepper) -> int:
        """Sets the goals of the next round and skips the steps that it does not take of its allotted ones, or ends the
        last round. Returns the step at which the round ends; there may be another round after it."""
        assert isinstance(stepper, MultilevelStepper)
        following = bisect.bisect_right(self.rounds_from, stepper.step)
        if stepper.behind is not None:  # the goals of this round have been set before
            return self.rounds_from[following]
        with stepper.observe(OPTIONS) as observed:
            goals, fault = self._goals(observed), observed.arrays["fault"][0] != NO_FAULT
        if fault or following == len(self.rounds_from) or np.array_equal(goals, stepper.done):
            stepper.step = self.batches_end + 1
            return self.clock.end
        taken = sum(-(-int(more) // portion) for more, portion in zip(goals - stepper.done, self.portions))
        stepper.goals = goals
        stepper.step = self.rounds_from[following] - taken
        return self.rounds_from[following]

    def _goals(self, observed: Snapshot) -> np.ndarray:
        count, random = (
            self.scenario.paths.count,
            [payoff_jumps_of(self)[mean.value].random for mean in self.payoffs.prices],
        )
        variances = multilevel_results.variances(self, observed)[:, random]
        return next_goals(observed.arrays["done"], variances, self.costs, self.width, self.target, count)

    # ---- what comes out

    @cached_property
    def layout(self) -> Layout:
        return multilevel_results.layout(self, gbm_layout(self))

    def extended(self, before: Problem, end: Snapshot, backend: Backend) -> Snapshot:
        """The start of a run with more paths: from nothing, as its rounds may be others."""
        return self.initial()

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return super().rows(series, multilevel_results.of_last_level(observed))

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return multilevel_results.totals(self, super().totals(multilevel_results.of_last_level(observed)), observed)

    def results(self, observed: Snapshot) -> dict[str, Any]:
        return multilevel_results.results(self, super().results(multilevel_results.of_last_level(observed)), observed)

    def fault(self, observed: Snapshot) -> str | None:
        code = int(observed.arrays["fault"][0])
        if code == NO_FAULT:
            return None
        path, asset = divmod(code, self.n_assets)
        level, number = divmod(path, STRIDE)
        steps = self.levels[level].steps
        return f"path {number} of {steps} steps of {blamed(self.scenario, asset)}"

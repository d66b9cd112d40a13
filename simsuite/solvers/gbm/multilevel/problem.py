"""Multilevel Monte Carlo: most paths with few steps, few with all, to the same error for less (see allocation.py).

The clock counts portions of paths, by rounds. After each round the variances that have been found say how many paths
the next one makes (`settle`), and the clock leaves out what a round could have taken beyond. Rows of results fall due
after all rounds, in steps that compute nothing. Means and quantiles of prices, and paths that are stored, are those of
the fine paths of the last level.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.core import Backend, Device, Layout, Problem, Snapshot, Stepper
from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.checks.feasibility import require_reach
from simsuite.solvers.gbm.multilevel import multilevel_results as outcome
from simsuite.solvers.gbm.multilevel.allocation import GROWTH, next_goals, rounds, wanted
from simsuite.solvers.gbm.multilevel.differences import GPU_CHUNK
from simsuite.solvers.gbm.multilevel.levels import STRIDE, Level, make_levels
from simsuite.solvers.gbm.multilevel.multilevel_stepper import MultilevelStepper
from simsuite.solvers.gbm.paths.tables import table_bytes
from simsuite.solvers.gbm.portfolio.portfolio import PAYOFFS_CHUNK
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.results.layout import gbm_layout
from simsuite.solvers.gbm.schedule.level_steps import FEWEST_STEPS, level_steps
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.statistics import GROUP, NO_FAULT
from simsuite.words import counted

_PILOT = 4 * GROUP  # paths of each level in the first round
_PORTION = 1 << 22  # path-steps, about


@dataclass(frozen=True)
class MultilevelProblem(GbmProblem):
    """A validated scenario; the inherited parts are about the last level."""

    multilevel = True

    @classmethod
    def from_scenario(
        cls, model: GbmScenario, base: Path, device: Device | None = None, decided: Mapping[str, Any] | None = None
    ) -> GbmProblem:
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
            problem._rehearse(device())
        return problem

    def _rehearse(self, backend: Backend) -> None:
        """Raises ScenarioError if the target is out of reach."""
        stepper = self.stepper(backend, self.initial())
        stepper.advance(self.rounds_from[1])
        with stepper.observe_options() as observed:
            variances = outcome.variances(self, observed)
        paths = self.width * wanted(variances, self.costs, self.target).sum()
        require_reach(self, int(outcome.errors(self, observed).argmax()), paths)

    # ---- when

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        return make_levels(self)

    @cached_property
    def room(self) -> int:
        """Paths that are made at once, at most."""
        return max(self.batch // GROUP, 1) * GROUP

    @cached_property
    def costs(self) -> np.ndarray:
        """[level]: path-steps of an observation."""
        return np.array([level.cost * self.width for level in self.levels], np.float64)

    @cached_property
    def pilot(self) -> list[int]:
        """[level]: paths of the first round."""
        each = min(_PILOT, max(self.scenario.paths.count // len(self.levels) // GROUP, 1) * GROUP)
        return [each] * (len(self.levels) - 1) + [max(each, self._storing)]

    @cached_property
    def portions(self) -> list[int]:
        """[level]: paths of a portion, about as much work on all of them."""
        fitting = [min(max(_PORTION // level.cost // GROUP, 1) * GROUP, self.room) for level in self.levels]
        return [*fitting[:-1], max(fitting[-1], self._storing)]

    @property
    def _storing(self) -> int:
        """Paths of the groups of which some are stored: they are made at once."""
        return -(-self.stored // GROUP) * GROUP

    @cached_property
    def rounds_from(self) -> list[int]:
        """The steps of the run at which rounds begin, then the last one's end: as long as they can be."""
        count, portions = self.scenario.paths.count, self.portions
        lengths = [
            sum(-(-min(paths * GROWTH**r, count) // portion) for paths, portion in zip(self.pilot, portions))
            for r in range(rounds(min(self.pilot), count))
        ]
        return [0, *itertools.accumulate(lengths)]

    @property
    def batches_end(self) -> int:
        return self.rounds_from[-1]

    def position(self, step: int) -> tuple[int, float]:
        """Nothing is told of portions."""
        k = self.frame_steps[self.frame_of_row(step)]
        return k, self.time(k)

    def stage(self, step: int) -> str | None:
        """The round."""
        return f"round {bisect.bisect_right(self.rounds_from, step)}" if step < self.batches_end else None

    def work(self, step: int) -> float:
        """As if steps were those of the first round, which is what is timed."""
        first = sum(paths * level.cost for paths, level in zip(self.pilot, self.levels))
        return first / self.rounds_from[1] * step

    def next_look(self, step: int) -> int | None:
        """After each round."""
        i = bisect.bisect_left(self.rounds_from, max(step, 1))
        return self.rounds_from[i] if i < len(self.rounds_from) else None

    def settle(self, stepper: Stepper) -> int:
        """Says what the next round makes, and skips what it does not take of its time; or ends the last one. There may
        be another round after the end that is told."""
        assert isinstance(stepper, MultilevelStepper)
        following = bisect.bisect_right(self.rounds_from, stepper.step)
        if stepper.behind is not None:  # it has been said before
            return self.rounds_from[following]
        with stepper.observe_options() as observed:
            goals, fault = self._goals(observed), observed.arrays["fault"][0] != NO_FAULT
        if fault or following == len(self.rounds_from) or np.array_equal(goals, stepper.done):
            stepper.step = self.batches_end + 1
            return self.clock.end
        taken = sum(-(-int(more) // portion) for more, portion in zip(goals - stepper.done, self.portions))
        stepper.goals = goals
        stepper.step = self.rounds_from[following] - taken
        return self.rounds_from[following]

    def _goals(self, observed: Snapshot) -> np.ndarray:
        count, random = self.scenario.paths.count, [self.leaps[mean.value].random for mean in self.payoffs.prices]
        variances = outcome.variances(self, observed)[:, random]
        return next_goals(observed.arrays["done"], variances, self.costs, self.width, self.target, count)

    # ---- what the stepper asks

    def along_paths(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Arrays that mean nothing between two portions, of fine and of coarse paths."""
        most = max(len(level.fine.functional_codes) for level in self.levels)
        kept = {"kept": ((most, self.batch), self.dtype)} if most else {}
        return {"x": ((self.n_assets, self.batch), self.dtype), **kept}

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        levels = len(self.levels)
        shapes = super()._shapes()
        shapes["options"] = ((levels, len(self.payoffs.products), LIMBS), np.int64)
        return shapes | {"done": ((levels,), np.int64), "goals": ((levels,), np.int64)}

    def initial(self) -> Snapshot:
        start = super().initial()
        start.arrays["goals"][...] = self.pilot
        return start

    def device_bytes(self) -> int:
        """All levels share the arrays along paths, and have tables of their own and what is seen."""
        along, state = self.along_paths(), self._shapes()
        for name in ("done", "goals"):
            del state[name]  # known on the host
        shapes = [*along.values(), *along.values(), *state.values()]
        values = len(self.payoffs.values)
        shapes.append(((values, min(GPU_CHUNK, self.room)), np.float64))
        shapes.append(((values + self.passing_arrays, min(PAYOFFS_CHUNK, self.room)), np.float64))
        found = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)
        for p in (p for level in self.levels for p in (level.fine, level.coarse) if p is not None):
            found += table_bytes(p) + p.most_watched * p.n_assets * p.batch * p.dtype.itemsize
        return found

    def stepper(self, backend: Backend, start: Snapshot) -> MultilevelStepper:
        return MultilevelStepper(self, backend, start)

    # ---- what comes out

    @cached_property
    def layout(self) -> Layout:
        return outcome.layout(self, gbm_layout(self))

    def extended(self, before: Problem, end: Snapshot, backend: Backend) -> Snapshot:
        """Rounds may take another course."""
        return self.initial()

    def rows(self, series: str, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return super().rows(series, outcome.of_last_level(observed))

    def totals(self, observed: Snapshot) -> Mapping[str, np.ndarray]:
        return outcome.totals(self, super().totals(outcome.of_last_level(observed)), observed)

    def results(self, observed: Snapshot) -> dict[str, Any]:
        return outcome.results(self, super().results(outcome.of_last_level(observed)), observed)

    def fault(self, observed: Snapshot) -> str | None:
        code = int(observed.arrays["fault"][0])
        if code == NO_FAULT:
            return None
        path, asset = divmod(code, self.n_assets)
        level, number = divmod(path, STRIDE)
        steps = self.levels[level].steps
        return f"path {number} of {steps} steps of asset {self.scenario.asset_names[asset]!r}"

"""Levels of multilevel Monte Carlo: a scenario with fewer and fewer steps.

Level l of 0 .. L has steps / 2^(L - l) steps. Its fine paths are those of a run with so many; its coarse ones, with
half as many, are driven by the same Brownian motion: the normal number of a coarse step is (z_1 + z_2) / sqrt 2 of the
fine steps in it. Their law is that of the fine paths of level l - 1, whatever volatilities do within a coarse step.

How many steps there are is found by `level_steps.py`. What is looked at after every step is looked at after a level's
own ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.read_options import read_payoffs
from simsuite.solvers.gbm.schedule.level_steps import level_steps

STRIDE = 1 << 48  # distance between the path numbers of two levels: more than a run has paths


class CoarsePlan(PathPlan):
    """The coarse paths of a level, which take the random numbers of the next level's fine paths."""

    summed = 2


@dataclass(frozen=True)
class Level:
    """A level of multilevel Monte Carlo. fine, coarse: the plans of its paths; coarse is None on level 0, whose fine
    paths are those of a plain run. On the other levels neither plan has payoffs. payoffs, fewer_steps: what the options
    pay on fine and on coarse paths. shifts[option]: what is subtracted before sums are taken. first_path: number of the
    first path."""

    fine: PathPlan
    payoffs: Payoffs
    coarse: PathPlan | None
    fewer_steps: Payoffs | None
    shifts: np.ndarray
    first_path: int

    @property
    def steps(self) -> int:
        return self.fine.n_steps

    @property
    def cost(self) -> int:
        """The path-steps of a path on level 0, or of a pair of paths on the other levels."""
        return self.steps + (self.coarse.n_steps if self.coarse is not None else 0)


def make_levels(finest: PathPlan) -> tuple[Level, ...]:
    """The levels of a run. finest: the plan of the last level; its frames are looked at on that level only."""
    model, found = finest.scenario, list[Level]()
    before: Level | None = None
    for number, steps in enumerate(level_steps(model)):
        fine = _with_steps(finest, steps)
        if before is None:
            level = Level(fine, fine.payoffs, None, None, fine.shifts, 0)
        else:
            coarse, shifts = _coarse(before), np.zeros(len(fine.payoffs.values))
            level = Level(_bare(fine), fine.payoffs, coarse, before.payoffs, shifts, number * STRIDE)
        found.append(level)
        before = level
    return tuple(found)


def _with_steps(finest: PathPlan, steps: int) -> PathPlan:
    model, frames, payoffs, dynamics = finest.scenario, finest.frame_steps, finest.payoffs, finest.dynamics
    if steps < model.time.steps:
        ends = {"frames": 2, "every": None, "times": None, "store_paths": 0}
        parts = {
            "time": model.time.model_copy(update={"steps": steps}),
            "output": model.output.model_copy(update=ends),
        }
        model, frames = model.model_copy(update=parts), (0, steps)
        dynamics = Dynamics.of(model)
        payoffs = read_payoffs(model, dynamics)
    return PathPlan(model, dynamics, payoffs, frames, finest.batch, share=finest.share)


def _bare(plan: PathPlan) -> PathPlan:
    """The plan without payoffs."""
    return replace(plan, payoffs=replace(plan.payoffs, trees=(), controls=(), greeks=(), exercise_indicators=()))


def _coarse(level: Level) -> PathPlan:
    fine = _bare(level.fine)
    return CoarsePlan(fine.scenario, fine.dynamics, fine.payoffs, fine.frame_steps, fine.batch, share=fine.share)

"""Limits of how much a run may do, and of how much is done at once."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.errors import Mistake, ScenarioError
from simsuite.scenario.gbm import GROUP, GbmScenario
from simsuite.solvers.gbm.payoffs.functionals import MOST_SCHEDULES, Functional, schedules
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS
from simsuite.solvers.gbm.schedule.timeline import Timeline

SEEN_BYTES = 1 << 30  # bytes of prices at frames that are looked at together
_BATCH_BYTES = 1 << 30  # bytes of what is kept along paths
_LARGEST_BATCH, _SMALLEST_BATCH = 1 << 24, 1 << 22
_TARGET_BATCH = 1 << 20  # paths between two looks at the standard errors
MOST_STEPS = 1 << 53  # steps of all batches: beyond, times are no longer exact


def paths_together(model: GbmScenario, functionals: int, frames: int, beside: int = 0) -> int:
    """The size of a batch: the one given, or as many paths as fit into memory. There are few enough for all frames to
    be looked at after one launch, if that still leaves a GPU enough work. beside: how many numbers
    of a path are kept in other markets."""
    if model.paths.batch is not None:
        batch = model.paths.batch
    else:
        price = PRECISIONS[model.run.precision][0].itemsize
        fitting = _BATCH_BYTES // (price * (len(model.asset) + functionals + beside))
        looked_at = SEEN_BYTES // (price * len(model.asset) * max(frames - 1, 1))
        looked_after = model.paths.target_standard_error > 0 and model.paths.sampling != "sobol"
        most = _TARGET_BATCH if looked_after else _LARGEST_BATCH
        batch = max(min(fitting, most, max(looked_at, _SMALLEST_BATCH)) // GROUP, 1) * GROUP
    return max(batch, -(-(model.output.store_paths or 0) // GROUP) * GROUP)  # stored paths are all in the first batch


def require_schedules(functionals: Sequence[Functional], n_steps: int) -> None:
    """Raises ScenarioError if there are more sets of dates than the table has bits for."""
    if len(schedules(functionals, n_steps)) > MOST_SCHEDULES:
        message = f"the options look at prices at more than {MOST_SCHEDULES} different sets of dates"
        help = "price some of them in a run of their own (Greeks of payoffs with jumps may need another set)"
        raise ScenarioError([Mistake(("option",), message, help)])


def require_countable(timeline: Timeline) -> None:
    """Raises ScenarioError if the steps of all batches are too many to be counted."""
    if timeline.clock.end >= MOST_STEPS:
        message = f"{timeline.n_batches} batches of {timeline.n_steps} steps are more than can be counted"
        key = "count" if timeline.scenario.paths.batch is None else "batch"
        raise ScenarioError([Mistake(("paths", key), message, "take fewer steps, or fewer paths")])

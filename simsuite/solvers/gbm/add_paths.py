"""Adds paths to a finished run: turns its end into the start of a run with more paths, which then makes only the new
ones.

Both runs have the same sums over whole groups of paths. If the last group of the finished run is not whole, its paths
are made once more and their sums are subtracted; since sums are kept as whole numbers (`exact_sums.py`), this removes
them without a trace.
"""

from __future__ import annotations

import numpy as np

from simsuite.core import Backend, Snapshot
from simsuite.solvers.gbm.paths.plan import PathPlan
from simsuite.solvers.gbm.paths.shared_state import SUMS
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.statistics.statistics import GROUP


def with_added_paths(plan: PathPlan, before: PathPlan, end: Snapshot, backend: Backend) -> Snapshot:
    """The start of `plan`, a run like `before` but with more paths. It is made from the end of `before`, or from
    nothing if that end cannot be used."""
    done = int(end.arrays["done"][0])
    start = plan.initial()
    whole = min(done, before.numbering[1]) if plan.uses_sobol else done // GROUP * GROUP
    arrays = {name: a for name, a in end.arrays.items() if name in start.arrays}
    fits = arrays.keys() == start.arrays.keys() and all(a.shape == start.arrays[n].shape for n, a in arrays.items())
    if not (
        fits
        and whole
        and plan.keeps_frames
        and before.keeps_frames
        and _same_exercise(plan, before)
        and _same_bumps(plan, before)
    ):
        return start
    if done > whole:
        arrays |= _without(arrays, _last_group(before, end, whole, backend))
    return Snapshot(plan.batches.of(whole) * plan.n_steps, arrays | {"done": np.array([whole])})


def _last_group(plan: PathPlan, end: Snapshot, first_path: int, backend: Backend) -> Snapshot:
    """The sums over the paths from the given one to the end of a run."""
    start = plan.initial()
    batch = plan.batches.of(first_path)
    learnt = {name: a for name, a in end.arrays.items() if name == "policy"}
    arrays = {**start.arrays, **learnt, "done": np.array([first_path])}
    stepper = PathStepper(plan, backend, Snapshot(batch * plan.n_steps, arrays))
    stepper.advance(plan.clock.end - stepper.step)
    with stepper.snapshot() as held:
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def _same_exercise(plan: PathPlan, before: PathPlan) -> bool:
    """Whether both runs learn the exercise of American options from the same number of paths, whose default depends on
    the number of paths of the run."""
    american = any(option.exercised_early for option in plan.scenario.option)
    return not american or plan.scenario.paths.regression_paths == before.scenario.paths.regression_paths


def _same_bumps(plan: PathPlan, before: PathPlan) -> bool:
    """Whether Greeks by bumping have the same bumps in both runs, which depend on the number of paths."""
    each = [[] if p.joint is None else p.joint.sizes for p in (plan, before)]
    return each[0] == each[1]


def _without(arrays: dict[str, np.ndarray], taken: Snapshot) -> dict[str, np.ndarray]:
    return {name: arrays[name] - taken.arrays[name] for name in SUMS if name in arrays}

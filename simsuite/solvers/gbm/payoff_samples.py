"""What options pay on single paths: the first paths of a run, made again.

A run keeps sums over its paths, and no path. As a path is a function of the seed and its number, some of them can be
made again, for pictures of how payoffs are distributed and of how their mean settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.sharing import evaluate_each
from simsuite.scenario.gbm import GROUP, GbmScenario
from simsuite.solvers.gbm.parts import parts_of
from simsuite.solvers.gbm.paths.launches_numba import ends
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.problem import GbmProblem

MOST = 1 << 16  # paths
_WORK = 5e7  # prices on paths that are made at most, at the ends of all steps, where that leaves one group of paths
_TOGETHER = 4 * GROUP  # paths of which all payoffs are in memory at a time


@dataclass(frozen=True)
class PayoffSamples:
    """options: numbers of options. values[option, path]: what each of them pays, discounted to the start, in units of
    price. book[path]: the same of all options held, each times its number; None where none is held. width: paths that
    make one independent observation, 0 where the error of a mean does not come from how paths scatter (Sobol points).
    """

    options: tuple[int, ...]
    values: np.ndarray
    book: np.ndarray | None
    width: int


def with_few_paths(model: GbmScenario) -> GbmScenario:
    """The scenario with the first paths alone and no results but prices. What follows from the number of paths, the
    points of Sobol and the rule of exercise, is that of so few; time steps are those of all levels' finest."""
    groups = int(min(MOST, _WORK / (len(model.asset) * model.time.steps))) // GROUP
    turn = GROUP * (model.paths.scrambles if model.paths.sampling == "sobol" else 1)
    few = max(groups * GROUP // turn, 1) * turn
    count = min(model.paths.count, few)
    paths = model.paths.model_copy(
        update={"count": count, "batch": None, "target_standard_error": 0.0, "multilevel": False}
    )
    output = model.output.model_copy(
        update={"frames": 2, "times": None, "risk": None, "exposure": False, "store_paths": 0}
    )
    return model.model_copy(update={"paths": paths, "output": output})


def payoff_samples(model: GbmScenario, base: Path, backend: Backend, options: Sequence[int]) -> PayoffSamples:
    """Make the first paths again. base: as `from_scenario` takes it. options: numbers of those whose payoffs are kept.

    Raises ScenarioError and DeviceError as the run did."""
    few = with_few_paths(model)
    problem = replace(GbmProblem.from_scenario(few, base), joint=None)
    stepper = PathStepper(problem, backend, problem.initial())
    stepper.advance(problem.n_steps)
    noise, kept = backend.to_host(stepper.launches.seen)[0], stepper.state.get("kept")
    taken = None if kept is None else backend.to_host(kept)
    n = problem.batches.end(0)
    discounts = np.empty(len(model.option))
    for part in parts_of(problem):
        discounts[list(part.options)] = part.statement.discount
    trees = [problem.payoffs.values[price.value] for price in problem.payoffs.prices]
    holdings = np.array([option.holding for option in model.option])
    held = np.flatnonzero(holdings)
    needed = sorted({*options, *held.tolist()})
    values, book = np.empty((len(options), n)), np.zeros(n)
    for begin in range(0, n, _TOGETHER):
        some = slice(begin, min(begin + _TOGETHER, n))
        with np.errstate(all="ignore"):
            found = evaluate_each([trees[o] for o in needed], ends(problem, noise, taken, some))
        for o, paid in zip(needed, found):
            if o in options:
                values[options.index(o), some] = discounts[o] * paid
            book[some] += holdings[o] * discounts[o] * paid
    width = 0 if problem.uses_sobol else problem.width
    return PayoffSamples(tuple(options), values, book if held.size else None, width)

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
from simsuite.sobol import replicates
from simsuite.solvers.gbm.parts import parts_of
from simsuite.solvers.gbm.paths.launches_numba import ends
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.numbering import numbering_of
from simsuite.solvers.gbm.random_numbers.numbering_kernels import runs
from simsuite.solvers.gbm.statistics.intervals import Z95

MOST = 1 << 16  # paths
FIRST, _MEANS = 256, 80  # paths of the first mean; how many means there are at most
_WORK = 5e7  # prices on paths that are made at most, at the ends of all steps, where that leaves one group of paths
_TOGETHER = 4 * GROUP  # paths of which all payoffs are in memory at a time


@dataclass(frozen=True)
class PayoffSamples:
    """options: numbers of options. values[option, path]: what each of them pays, discounted to the start, in units of
    price. book[path]: the same of all options held, each times its number; None where none is held. width: paths that
    make one independent observation, 0 where the error of a mean does not come from how paths scatter (Sobol points).
    replicates[replicate, point]: of Sobol points, the numbers of their paths.
    """

    options: tuple[int, ...]
    values: np.ndarray
    book: np.ndarray | None
    width: int
    replicates: np.ndarray | None = None

    def first(self, paths: int) -> PayoffSamples:
        """Those of so few of the paths; of Sobol points a multiple of what replicates take in a turn."""
        book = None if self.book is None else self.book[:paths]
        points = self.replicates
        if points is not None:
            points = points[:, : paths // len(points)]
        return replace(self, values=self.values[:, :paths], book=book, replicates=points)

    def settling(self, option: int) -> Settling | None:
        """How the mean of what an option pays settles; None where its payoffs are not kept, are too few or not finite.
        option: its number."""
        if option not in self.options:
            return None
        values = self.values[self.options.index(option)]
        if len(values) < 2 * FIRST or not np.isfinite(values).all():
            return None
        return _of_paths(values, self.width) if self.replicates is None else _of_points(values[self.replicates])


@dataclass(frozen=True)
class Settling:
    """mean[i]: of the discounted payoffs on the first paths[i] paths, without a control variate. reach[i]: half the
    width of its interval of 95 %. replicates: how many there are, of Sobol points."""

    paths: np.ndarray
    mean: np.ndarray
    reach: np.ndarray
    replicates: int | None = None


def _of_paths(values: np.ndarray, width: int) -> Settling:
    """Of independent observations, of `width` paths each."""
    seen = values[: len(values) // width * width].reshape(-1, width).mean(axis=1)
    n = np.unique(np.geomspace(FIRST // width, len(seen), _MEANS).round().astype(int))
    centred = seen - seen.mean()  # as the squares of large numbers that are alike would cancel
    mean, square = (np.cumsum(each)[n - 1] / n for each in (centred, centred**2))
    reach = Z95 * np.sqrt(np.maximum(square - mean**2, 0.0) / (n - 1))
    return Settling(n * width, mean + seen.mean(), reach)


def _of_points(values: np.ndarray) -> Settling:
    """Of values[replicate, point] on Sobol points, which are even where there are 2^k of them: of the first 1, 2, 4, ..
    points of each replicate, and of all, the mean over the replicates and what their spread says of it."""
    count, most = values.shape
    n = [1 << k for k in range(most.bit_length()) if count << k >= FIRST and 1 << k < most] + [most]
    found = [replicates.estimate(values[:, :m].mean(axis=1).tolist()) for m in n]
    reach = np.array([each.interval[1] - each.mean for each in found])
    return Settling(count * np.array(n), np.array([each.mean for each in found]), reach, count)


def with_few_paths(model: GbmScenario) -> GbmScenario:
    """The scenario with the first paths alone and no results but prices. Sobol points are the first ones of each
    replicate, as these take turns (`random_numbers/numbering.py`). The rule of exercise, which follows from the number
    of paths, is that of so few; time steps are those of all levels' finest."""
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
    shown = book if held.size else None
    if problem.uses_sobol:
        return PayoffSamples(tuple(options), values, shown, 0, _points(n, numbering_of(few.paths)))
    return PayoffSamples(tuple(options), values, shown, problem.width)


def _points(n: int, numbering: tuple[int, int, int]) -> np.ndarray:
    """The numbers of n paths by replicate and point."""
    found = np.empty((numbering[0], n // numbering[0]), dtype=np.int64)
    for begin, end, replicate, point in runs(0, n, n, numbering):
        found[replicate, point : point + end - begin] = np.arange(begin, end)
    return found

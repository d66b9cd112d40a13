"""What comes out of a multilevel run: prices from the sums of all levels, and what the levels say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.core import Layout, Snapshot, Variable
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.multilevel.allocation import bias_estimate, likely, standard_errors
from simsuite.solvers.gbm.multilevel.plan import MultilevelPlan
from simsuite.solvers.gbm.results.greek_results import greek_totals
from simsuite.solvers.gbm.results.results import option_results
from simsuite.solvers.gbm.statistics.statistics import Estimate, mean_and_variance
from simsuite.solvers.gbm.unseen_errors.unseen import completed

_LEVELS = {  # dimensions, unit, what it is
    "level_paths": (("multilevel",), "1", "paths, or pairs of them, of a level"),
    "level_cost": (("multilevel",), "1", "steps of all paths of a level"),
    "level_mean": (("multilevel", "option"), "1", "mean of the discounted payoff less that with half the steps"),
    "level_variance": (("multilevel", "option"), "1", "variance of the same"),
    "option_bias_estimate": (("option",), "1", "size of the error that the scheme makes in option_price, roughly"),
}


def layout(problem: MultilevelPlan, plain: Layout) -> Layout:
    """plain: of a run with the last level alone."""
    steps = np.array([level.steps for level in problem.levels])
    levels = Variable("multilevel", ("multilevel",), np.int64, {"long_name": "time steps of a level"}, steps)
    more = (
        Variable(name, dims, attrs={"units": unit, "long_name": what}) for name, (dims, unit, what) in _LEVELS.items()
    )
    return replace(plain, sizes={**plain.sizes, "multilevel": len(steps)}, variables=(*plain.variables, levels, *more))


def of_last_level(observed: Snapshot) -> Snapshot:
    """What the outcome of prices takes: options are another matter."""
    arrays = {name: a for name, a in observed.arrays.items() if name != "options"}
    return Snapshot(observed.step, arrays | {"done": observed.arrays["done"][-1:]})


def of_first_level(observed: Snapshot) -> Snapshot:
    """Whose paths tell what a payoff is, and not only a difference."""
    first = {name: observed.arrays[name][:1] for name in ("options", "done")}
    return Snapshot(observed.step, {**observed.arrays, **first})


def moments(problem: MultilevelPlan, observed: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    """[level, option]: mean and variance of an observation, discounted."""
    found = np.empty((2, len(problem.levels), len(problem.payoffs.prices)))
    for k, (level, sums) in enumerate(zip(problem.levels, observed.arrays["options"])):
        n = int(observed.arrays["done"][k]) // problem.width
        for option, mean in enumerate(problem.payoffs.prices):
            found[:, k, option] = mean_and_variance(sums[mean.rows], n)
            found[0, k, option] += level.shifts[mean.value]
    return problem.discount * found[0], problem.discount**2 * found[1]


def variances(problem: MultilevelPlan, observed: Snapshot) -> np.ndarray:
    """[level, option]: of an observation, as far as they are believed."""
    strong_order = 1.0 if problem.dynamics.scheme is Scheme.MILSTEIN else 0.5
    return likely(moments(problem, observed)[1], strong_order)


def errors(problem: MultilevelPlan, observed: Snapshot) -> np.ndarray:
    """[option]: standard errors by the variances that are believed."""
    return standard_errors(variances(problem, observed), observed.arrays["done"] / problem.width)


def _estimates(problem: MultilevelPlan, observed: Snapshot) -> list[Estimate]:
    """Of each option; none before the end."""
    if observed.step < problem.clock.end:
        return []
    means, _ = moments(problem, observed)
    found = []
    for price, error, mean in zip(means.sum(axis=0), errors(problem, observed), problem.payoffs.prices):
        made = Estimate(float(price), float(error))
        found.append(made if error > 0 else completed(problem, of_first_level(observed), mean, made, problem.discount))
    return found


def totals(problem: MultilevelPlan, plain: Mapping[str, np.ndarray], observed: Snapshot) -> Mapping[str, np.ndarray]:
    """plain: of the last level alone."""
    prices = _estimates(problem, observed)
    if not prices:
        return plain
    means, found = moments(problem, observed)
    done = observed.arrays["done"]
    return {
        **plain,
        "option_price": np.array([e.value for e in prices]),
        "option_standard_error": np.array([e.standard_error for e in prices]),
        **greek_totals(problem, observed),
        "level_paths": done.astype(np.float64),
        "level_cost": _costs(problem, done).astype(np.float64),
        "level_mean": means,
        "level_variance": found,
        "option_bias_estimate": bias_estimate(means),
    }


def results(problem: MultilevelPlan, plain: dict[str, Any], observed: Snapshot) -> dict[str, Any]:
    """plain: of the last level alone."""
    prices, names, done = _estimates(problem, observed), problem.scenario.option_names, observed.arrays["done"]
    if not prices:
        return plain | {"paths": int(done.sum())}
    options = {name: option_results(problem, observed, o, e) for o, (name, e) in enumerate(zip(names, prices))}
    reached = all(e.standard_error <= problem.target for e in prices)
    return {
        **plain,
        "paths": int(done.sum()),
        "target": {"standard_error": problem.target, "reached": reached},
        "options": options,
        "multilevel": _levels(problem, observed, prices),
    }


def _levels(problem: MultilevelPlan, observed: Snapshot, prices: list[Estimate]) -> dict[str, Any]:
    """plain_cost: path-steps of plain Monte Carlo with the standard errors that have been reached, by the variances of
    payoffs on level 0."""
    names, done = problem.scenario.option_names, observed.arrays["done"]
    means, found = moments(problem, observed)
    costs = _costs(problem, done)
    levels = [
        {
            "steps": level.steps,
            "paths": int(n),
            "mean": dict(zip(names, map(float, mean))),
            "variance": dict(zip(names, map(float, variance))),
            "cost": int(cost),
        }
        for level, n, mean, variance, cost in zip(problem.levels, done, means, found, costs)
    ]
    plain = max((v / e.standard_error**2 for v, e in zip(found[0], prices) if e.standard_error > 0), default=0.0)
    return {
        "levels": levels,
        "cost": int(costs.sum()),
        "plain_cost": float(plain * problem.n_steps * problem.width),
        "bias_estimate": dict(zip(names, map(float, bias_estimate(means)))),
    }


def _costs(problem: MultilevelPlan, done: np.ndarray) -> np.ndarray:
    """[level]: path-steps made."""
    return np.array([level.cost for level in problem.levels], np.int64) * done

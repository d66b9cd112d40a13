"""What comes out of a multilevel run: prices from the sums of all levels, and what the levels say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simsuite.core import Layout, Snapshot, Variable
from simsuite.solvers.gbm.error_allowances.allowances import completed
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.multilevel.allocation import bias_estimate, likely, standard_errors
from simsuite.solvers.gbm.multilevel.plan import MultilevelPlan
from simsuite.solvers.gbm.results.greek_results import greek_totals
from simsuite.solvers.gbm.results.results import option_results
from simsuite.solvers.gbm.statistics.statistics import Estimate, mean_and_variance

_LEVELS = {  # dimensions, unit and meaning of each variable
    "level_paths": (("multilevel",), "1", "paths, or pairs of them, of a level"),
    "level_cost": (("multilevel",), "1", "steps of all paths of a level"),
    "level_mean": (("multilevel", "option"), "1", "mean of the discounted payoff less that with half the steps"),
    "level_variance": (("multilevel", "option"), "1", "variance of the same"),
    "option_bias_estimate": (("option",), "1", "size of the error that the scheme makes in option_price, roughly"),
}


def layout(plan: MultilevelPlan, plain: Layout) -> Layout:
    """The layout of the result file. plain: the layout of a run with the last level alone."""
    steps = np.array([level.steps for level in plan.levels])
    levels = Variable("multilevel", ("multilevel",), np.int64, {"long_name": "time steps of a level"}, steps)
    more = (
        Variable(name, dims, attrs={"units": unit, "long_name": what}) for name, (dims, unit, what) in _LEVELS.items()
    )
    return replace(plain, sizes={**plain.sizes, "multilevel": len(steps)}, variables=(*plain.variables, levels, *more))


def of_last_level(observed: Snapshot) -> Snapshot:
    """The part of a snapshot from which the results of prices are made: that of the last level. Results of options are
    made from all levels instead."""
    arrays = {name: a for name, a in observed.arrays.items() if name != "options"}
    return Snapshot(observed.step, arrays | {"done": observed.arrays["done"][-1:]})


def of_first_level(observed: Snapshot) -> Snapshot:
    """The part of a snapshot about the first level, whose paths give payoffs and not only differences."""
    first = {name: observed.arrays[name][:1] for name in ("options", "done")}
    return Snapshot(observed.step, {**observed.arrays, **first})


def moments(plan: MultilevelPlan, observed: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    """[level, option]: mean and variance of an observation, discounted."""
    found = np.empty((2, len(plan.levels), len(plan.payoffs.prices)))
    for k, (level, sums) in enumerate(zip(plan.levels, observed.arrays["options"])):
        n = int(observed.arrays["done"][k]) // plan.width
        for option, mean in enumerate(plan.payoffs.prices):
            found[:, k, option] = mean_and_variance(sums[mean.rows], n)
            found[0, k, option] += level.shifts[mean.value]
    return plan.discount * found[0], plan.discount**2 * found[1]


def variances(plan: MultilevelPlan, observed: Snapshot) -> np.ndarray:
    """[level, option]: variance of an observation, raised where it is too small to be believed
    (`allocation.likely`)."""
    strong_order = 1.0 if plan.dynamics.scheme is Scheme.MILSTEIN else 0.5
    return likely(moments(plan, observed)[1], strong_order)


def errors(plan: MultilevelPlan, observed: Snapshot) -> np.ndarray:
    """[option]: standard errors from the variances of `variances`."""
    return standard_errors(variances(plan, observed), observed.arrays["done"] / plan.width)


def _estimates(plan: MultilevelPlan, observed: Snapshot) -> list[Estimate]:
    """The price of each option; an empty list before the end."""
    if observed.step < plan.clock.end:
        return []
    means, _ = moments(plan, observed)
    found = []
    for price, error, mean in zip(means.sum(axis=0), errors(plan, observed), plan.payoffs.prices):
        made = Estimate(float(price), float(error))
        found.append(made if error > 0 else completed(plan, of_first_level(observed), mean, made, plan.discount))
    return found


def totals(plan: MultilevelPlan, plain: Mapping[str, np.ndarray], observed: Snapshot) -> Mapping[str, np.ndarray]:
    """Totals for the result file. plain: the totals of the last level alone."""
    prices = _estimates(plan, observed)
    if not prices:
        return plain
    means, found = moments(plan, observed)
    done = observed.arrays["done"]
    return {
        **plain,
        "option_price": np.array([e.value for e in prices]),
        "option_standard_error": np.array([e.standard_error for e in prices]),
        **greek_totals(plan, observed),
        "level_paths": done.astype(np.float64),
        "level_cost": _costs(plan, done).astype(np.float64),
        "level_mean": means,
        "level_variance": found,
        "option_bias_estimate": bias_estimate(means),
    }


def results(plan: MultilevelPlan, plain: dict[str, Any], observed: Snapshot) -> dict[str, Any]:
    """Results for `run --json`. plain: the results of the last level alone."""
    prices, names, done = _estimates(plan, observed), plan.scenario.option_names, observed.arrays["done"]
    if not prices:
        return plain | {"paths": int(done.sum())}
    options = {name: option_results(plan, observed, o, e) for o, (name, e) in enumerate(zip(names, prices))}
    reached = all(e.standard_error <= plan.target for e in prices)
    return {
        **plain,
        "paths": int(done.sum()),
        "target": {"standard_error": plan.target, "reached": reached},
        "options": options,
        "multilevel": _levels(plan, observed, prices),
    }


def _levels(plan: MultilevelPlan, observed: Snapshot, prices: list[Estimate]) -> dict[str, Any]:
    """The part of the results about levels. Its plain_cost, from the variances of payoffs on level 0, is the number of
    path-steps that plain Monte Carlo takes for the same standard errors."""
    names, done = plan.scenario.option_names, observed.arrays["done"]
    means, found = moments(plan, observed)
    costs = _costs(plan, done)
    levels = [
        {
            "steps": level.steps,
            "paths": int(n),
            "mean": dict(zip(names, map(float, mean))),
            "variance": dict(zip(names, map(float, variance))),
            "cost": int(cost),
        }
        for level, n, mean, variance, cost in zip(plan.levels, done, means, found, costs)
    ]
    plain = max((v / e.standard_error**2 for v, e in zip(found[0], prices) if e.standard_error > 0), default=0.0)
    return {
        "levels": levels,
        "cost": int(costs.sum()),
        "plain_cost": float(plain * plan.n_steps * plan.width),
        "bias_estimate": dict(zip(names, map(float, bias_estimate(means)))),
    }


def _costs(plan: MultilevelPlan, done: np.ndarray) -> np.ndarray:
    """[level]: path-steps that have been made."""
    return np.array([level.cost for level in plan.levels], np.int64) * done

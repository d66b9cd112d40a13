"""Estimates of prices and Greeks from sums over paths, with all that their standard errors are made of."""

from __future__ import annotations

from simsuite.core import Snapshot
from simsuite.solvers.gbm.payoffs.payoffs import Mean
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.matched_groups import grouped_estimate
from simsuite.solvers.gbm.statistics.replicates import replicated_estimate
from simsuite.solvers.gbm.statistics.statistics import Estimate, controlled_estimate, estimate
from simsuite.solvers.gbm.unseen_errors.unseen import completed


def mean_estimate(problem: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """By the paths that are done."""
    return completed(problem, observed, mean, _estimate(problem, observed, mean), problem.discount)


def _estimate(problem: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """With an error from the spread of observations alone."""
    n, sums = int(observed.arrays["done"][0]) // problem.width, observed.arrays["options"][:, mean.rows]
    shift = float(problem.shifts[mean.value])
    known = None if mean.control is None else mean.control_mean - float(problem.shifts[mean.control])
    if problem.scenario.paths.moment_matching:
        return grouped_estimate(sums[0], n, problem.discount, shift, known)
    if problem.quasi:
        return replicated_estimate(sums, n // problem.sharing[0], problem.discount, shift, known)
    if known is None:
        return estimate(sums[0], n, problem.discount, shift)
    return controlled_estimate(sums[0], n, problem.discount, shift, known)

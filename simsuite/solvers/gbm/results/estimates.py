"""Estimates of prices and Greeks from sums over paths, with all parts of their standard errors."""

from __future__ import annotations

import numpy as np

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.allowances import completed
from simsuite.solvers.gbm.payoffs.payoffs import Mean
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.replicates import replicated_estimate
from simsuite.solvers.gbm.statistics.statistics import Estimate, controlled_estimate, estimate


def mean_estimate(statement: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """The estimate of a mean from the paths that are done."""
    return completed(statement, observed, mean, sampled_estimate(statement, observed, mean), statement.discount)


def sampled_estimate(statement: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """The estimate of a mean, with an error from the spread of observations alone."""
    shift = float(statement.shifts[mean.value])
    known = None if mean.control is None else mean.control_mean - float(statement.shifts[mean.control])
    sums = observed.arrays["options"][:, mean.rows]
    return _estimate(statement, observed, sums, statement.discount, shift, known)


def joint_estimate(statement: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """The same of a joint payoff, which is in today's money."""
    known = None if mean.control is None else mean.control_mean
    return _estimate(statement, observed, observed.arrays["joint"][:, mean.rows], 1.0, 0.0, known)


def _estimate(
    statement: Statement, observed: Snapshot, sums: np.ndarray, discount: float, shift: float, known: float | None
) -> Estimate:
    n = int(observed.arrays["done"][0]) // statement.width
    if statement.uses_sobol:
        return replicated_estimate(sums, n // statement.numbering[0], discount, shift, known)
    if known is None:
        return estimate(sums[0], n, discount, shift)
    return controlled_estimate(sums[0], n, discount, shift, known)

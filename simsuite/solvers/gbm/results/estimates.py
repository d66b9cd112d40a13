"""Estimates of prices and Greeks from sums over paths, with all parts of their standard errors."""

from __future__ import annotations

from simsuite.core import Snapshot
from simsuite.solvers.gbm.error_allowances.allowances import completed
from simsuite.solvers.gbm.payoffs.payoffs import Mean
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.replicates import replicated_estimate
from simsuite.solvers.gbm.statistics.statistics import Estimate, controlled_estimate, estimate


def mean_estimate(statement: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """The estimate of a mean from the paths that are done."""
    return completed(statement, observed, mean, _estimate(statement, observed, mean), statement.discount)


def _estimate(statement: Statement, observed: Snapshot, mean: Mean) -> Estimate:
    """The estimate of a mean, with an error from the spread of observations alone."""
    n, sums = int(observed.arrays["done"][0]) // statement.width, observed.arrays["options"][:, mean.rows]
    shift = float(statement.shifts[mean.value])
    known = None if mean.control is None else mean.control_mean - float(statement.shifts[mean.control])
    if statement.uses_sobol:
        return replicated_estimate(sums, n // statement.numbering[0], statement.discount, shift, known)
    if known is None:
        return estimate(sums[0], n, statement.discount, shift)
    return controlled_estimate(sums[0], n, statement.discount, shift, known)

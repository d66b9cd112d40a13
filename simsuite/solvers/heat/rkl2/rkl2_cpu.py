"""Stages of the RKL2 step on the CPU: rows in parallel. See `rkl2`."""

from __future__ import annotations

import numpy as np

from simsuite.parallel_for import kernel, parallel_for
from simsuite.solvers.heat.arguments import Plate
from simsuite.solvers.heat.operator.operator_cpu import row_rates


@parallel_for
def _first_stage(begin, end, T, out, first_rate, mt, plate, at):
    for y in range(begin, end):
        row_rates(T, plate, at, y, first_rate[y])
        for x in range(T.shape[1]):
            out[y, x] = T[y, x] + mt * first_rate[y, x]


@kernel
def first_stage(T, out, first_rate, mt, plate, at):
    """Computes Y_1 into `out` and M(Y_0) into `first_rate`."""
    _first_stage(T.shape[0], (T, out, first_rate, mt, Plate(*plate), at))


@parallel_for
def _later_stage(begin, end, Y1, Y2, Y0, first_rate, out, factors, plate, at):
    mu, nu, mt, gt = factors
    rates = np.empty(Y1.shape[1], Y1.dtype)
    for y in range(begin, end):
        row_rates(Y1, plate, at, y, rates)
        for x in range(Y1.shape[1]):
            base = Y0[y, x]
            changes = mu * (Y1[y, x] - base) + nu * (Y2[y, x] - base)
            out[y, x] = base + (changes + (mt * rates[x] + gt * first_rate[y, x]))


@kernel
def later_stage(Y1, Y2, Y0, first_rate, out, mu, nu, mt, gt, plate, at):
    """Computes Y_j from Y_{j-1} and Y_{j-2} into `out`, which may be the field of Y_{j-2}."""
    _later_stage(Y1.shape[0], (Y1, Y2, Y0, first_rate, out, (mu, nu, mt, gt), Plate(*plate), at))

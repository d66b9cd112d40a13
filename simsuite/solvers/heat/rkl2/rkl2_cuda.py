"""Stages of the RKL2 step on a GPU: one thread for each cell. See `rkl2`."""

from __future__ import annotations

from numba import cuda

from simsuite.solvers.heat.arguments import Plate
from simsuite.solvers.heat.operator.operator_cuda import cell, rate_of


@cuda.jit(cache=True)
def first_stage(T, out, first_rate, mt, plate, at):
    """Computes Y_1 into `out` and M(Y_0) into `first_rate`."""
    plate = Plate(*plate)
    x, y = cell()
    if x < T.shape[1] and y < T.shape[0]:
        rate = rate_of(T, plate, at, x, y)
        first_rate[y, x] = rate
        out[y, x] = T[y, x] + mt * rate


@cuda.jit(cache=True)
def later_stage(Y1, Y2, Y0, first_rate, out, mu, nu, mt, gt, plate, at):
    """Computes Y_j from Y_{j-1} and Y_{j-2} into `out`, which may be the field of Y_{j-2}."""
    plate = Plate(*plate)
    x, y = cell()
    if x < Y1.shape[1] and y < Y1.shape[0]:
        middle, before, base, first = Y1[y, x], Y2[y, x], Y0[y, x], first_rate[y, x]
        rate = rate_of(Y1, plate, at, x, y)
        changes = mu * (middle - base) + nu * (before - base)
        out[y, x] = base + (changes + (mt * rate + gt * first))

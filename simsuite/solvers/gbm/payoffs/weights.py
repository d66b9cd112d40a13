"""Functions of the date that functionals weight prices with, for derivatives by the market's coefficients.

All are tables over steps: t_k the time after k of them, v_k the variance of the noise y_k (dynamics.py), T the end
of the options that they are for.

    TIME        t_k / T
    VARIANCE    v_k / v_T: how far the path of y goes along if its end is moved, in the direction of least effort
    DRIFT       log 2 (centre_k + log 2 v_k): what d log S / d eps = log S - DRIFT has, all volatilities being (1 + eps)
                times as large
    BEFORE_END  TIME, but to any power 0 at the end
    PRECISION   1 / (variance of y_k - y_j), j the date before k
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Quantity, Weight, weighted


def weight_table(functionals: Sequence[Functional], dynamics: Dynamics, length: int) -> np.ndarray:
    """[row, step], padded to `length`: the weights; rows are in the order of `functionals.weighted`."""
    wanted = weighted(functionals)
    table = np.zeros((len(wanted), length))
    for row, (asset, weight, dates) in zip(table, wanted):
        row[: dynamics.n_steps] = _row(asset, weight, dates, dynamics)
    return table


def shares(
    quantity: Quantity, asset: int, steps: np.ndarray, dynamics: Dynamics, until: int | None = None
) -> np.ndarray:
    """TIME or VARIANCE after so many steps, for options that end after `until` of them, or with the last."""
    last = dynamics.n_steps if until is None else until
    if quantity == Quantity.TIME:
        return steps / last
    variance, (end,) = dynamics.variance(steps)[asset], dynamics.variance(np.array([last]))[asset]
    return variance / end


def _row(asset: int, weight: Weight, dates: Dates, dynamics: Dynamics) -> np.ndarray:
    if weight.quantity == Quantity.PRECISION:
        steps, row = dates.steps(dynamics.n_steps), np.zeros(dynamics.n_steps)
        row[steps - 1] = 1 / np.diff(dynamics.variance(steps)[asset], prepend=0.0)
        return row
    last = dynamics.n_steps if dates.until is None else dates.until
    steps = np.arange(1, dynamics.n_steps + 1)
    if weight.quantity == Quantity.DRIFT:
        return LN2 * (dynamics.centre(steps)[asset] + LN2 * dynamics.variance(steps)[asset]) - weight.less
    if weight.quantity == Quantity.BEFORE_END:
        return np.where(steps < last, (steps / last) ** weight.power, 0.0) - weight.less
    return shares(weight.quantity, asset, steps, dynamics, dates.until) ** weight.power - weight.less

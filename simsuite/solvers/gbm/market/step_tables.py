"""Tables that kernels read of schemes, jumps and dividends in cash, see `step_terms.py`."""

from __future__ import annotations

import numpy as np

from simsuite.solvers.gbm.market.cash_dividends import cash_table
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.market.jumps import jump_tables
from simsuite.solvers.gbm.market.schemes import Scheme


def step_term_tables(dynamics: Dynamics, length: int, real: np.dtype) -> dict[str, np.ndarray]:
    """The tables of the module's docstring. drift[2 asset, step]: a and c of `schemes.coefficients` (one column where
    all steps are equal); jumps[asset, 4] and thresholds[asset, number]: `jumps.jump_tables`; cash[2 asset, step]:
    `cash_dividends.cash_table` (one column if no cash is paid). length: the number of columns of tables over steps,
    which reach to the end of a block."""
    step_terms, n_steps = dynamics.step_terms, dynamics.n_steps
    drift = dynamics.drift().reshape(2 * len(step_terms.jumping), -1)
    if drift.shape[1] > 1:
        drift = np.pad(drift, ((0, 0), (0, length - n_steps)))
    cash = np.zeros((2 * len(step_terms.paying), 1))
    if any(step_terms.paying):
        cash = np.pad(cash_table(dynamics.paid, dynamics.centre()), ((0, 0), (0, length - n_steps)))
    numbers, thresholds = jump_tables(dynamics.jumps, dynamics.dt)
    along = {"drift": drift.astype(real), "jumps": numbers.astype(real), "cash": cash.astype(real)}
    return along | {"thresholds": thresholds}


def step_term_bytes(dynamics: Dynamics, length: int, size: int) -> int:
    """The bytes of all these tables, found without making those over steps. size: bytes of a number."""
    step_terms, n = dynamics.step_terms, len(dynamics.jumps)
    drift = length if dynamics.varying and step_terms.scheme is not Scheme.EXACT else 1
    cash = length if any(step_terms.paying) else 1
    _, thresholds = jump_tables(dynamics.jumps, dynamics.dt)
    return n * size * (2 * drift + 2 * cash + 4) + thresholds.nbytes

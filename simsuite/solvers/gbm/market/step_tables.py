"""Tables that kernels read of schemes, jumps and dividends in cash, see `step_terms.py`."""

from __future__ import annotations

import numpy as np

from simsuite.solvers.gbm.market.cash_dividends import cash_table
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.market.jumps import jump_tables
from simsuite.solvers.gbm.market.schemes import Scheme


def move_tables(dynamics: Dynamics, length: int, real: np.dtype) -> dict[str, np.ndarray]:
    """drift[2 asset, step]: a and c of `schemes.coefficients` (one column where steps are equal); jumps[asset, 4] and
    thresholds[asset, number]: `jumps.jump_tables`; cash[2 asset, step]: `cash.cash_table` (one column if there is
    none). length: of rows over steps, to the end of a block."""
    moves, n_steps = dynamics.moves, dynamics.n_steps
    drift = dynamics.drift().reshape(2 * len(moves.jumping), -1)
    if drift.shape[1] > 1:
        drift = np.pad(drift, ((0, 0), (0, length - n_steps)))
    cash = np.zeros((2 * len(moves.paying), 1))
    if any(moves.paying):
        cash = np.pad(cash_table(dynamics.paid, dynamics.centre()), ((0, 0), (0, length - n_steps)))
    numbers, thresholds = jump_tables(dynamics.jumps, dynamics.dt)
    along = {"drift": drift.astype(real), "jumps": numbers.astype(real), "cash": cash.astype(real)}
    return along | {"thresholds": thresholds}


def move_bytes(dynamics: Dynamics, length: int, size: int) -> int:
    """Of them all, without making those over steps. size: of a number."""
    moves, n = dynamics.moves, len(dynamics.jumps)
    drift = length if dynamics.varying and moves.scheme is not Scheme.EXACT else 1
    cash = length if any(moves.paying) else 1
    _, thresholds = jump_tables(dynamics.jumps, dynamics.dt)
    return n * size * (2 * drift + 2 * cash + 4) + thresholds.nbytes

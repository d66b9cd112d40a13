"""What a path does in a step besides a normal increment of its logarithm: what kernels are made for and read.

In this order, for each asset: y gains the normal increment, or what a scheme makes of it (`schemes.py`); then what
jumps add (`jumps.py`); then dividends in cash are paid (`cash_dividends.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simsuite.solvers.gbm.market.cash_dividends import cash_table
from simsuite.solvers.gbm.market.jumps import jump_tables
from simsuite.solvers.gbm.market.schemes import Scheme

if TYPE_CHECKING:
    from simsuite.solvers.gbm.market.dynamics import Dynamics


@dataclass(frozen=True)
class Moves:
    """jumping, paying: of each asset, whether it jumps, and whether it pays dividends in cash."""

    scheme: Scheme
    jumping: tuple[bool, ...]
    paying: tuple[bool, ...]

    @classmethod
    def of(cls, dynamics: Dynamics) -> Moves:
        jumping = tuple(jumps is not None for jumps in dynamics.jumps)
        paying = tuple(any(payment.amount for payment in paid) for paid in dynamics.paid)
        return cls(dynamics.scheme, jumping, paying)

    @classmethod
    def none(cls, n_assets: int) -> Moves:
        """Nothing but normal increments."""
        return cls(Scheme.EXACT, (False,) * n_assets, (False,) * n_assets)

    @property
    def lognormal(self) -> bool:
        """Whether prices follow the lognormal law of the exact scheme, up to shares that are paid."""
        return self.lognormal_of(range(len(self.jumping)))

    def lognormal_of(self, assets: Iterable[int]) -> bool:
        """The same of some of them: what others do is no concern of theirs."""
        return self.scheme is Scheme.EXACT and not any(self.jumping[a] or self.paying[a] for a in assets)

    @property
    def absorbing(self) -> bool:
        """Whether a price can be 0."""
        return self.scheme is not Scheme.EXACT or any(self.paying)


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

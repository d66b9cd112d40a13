"""What a path does in a step besides a normal increment of its logarithm. Kernels are made for these terms and read
their tables.

In this order, for each asset: y gains the normal increment, or what a scheme makes of it (`schemes.py`); then what
jumps add (`jumps.py`); then dividends in cash are paid (`cash_dividends.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simsuite.scenario.gbm import Jumps
from simsuite.solvers.gbm.market.cash_dividends import Payment
from simsuite.solvers.gbm.market.schemes import Scheme


@dataclass(frozen=True)
class StepTerms:
    """The scheme, and for each asset whether it jumps (`jumping`) and whether it pays dividends in cash (`paying`)."""

    scheme: Scheme
    jumping: tuple[bool, ...]
    paying: tuple[bool, ...]

    @classmethod
    def of(cls, scheme: Scheme, jumps: Sequence[Jumps | None], paid: Sequence[Sequence[Payment]]) -> StepTerms:
        """The terms of a scenario. jumps, paid: the jumps and the payments of each asset."""
        jumping = tuple(jump is not None for jump in jumps)
        return cls(scheme, jumping, tuple(any(payment.amount for payment in payments) for payments in paid))

    @classmethod
    def none(cls, n_assets: int) -> StepTerms:
        """The terms of paths with nothing but normal increments."""
        return cls(Scheme.EXACT, (False,) * n_assets, (False,) * n_assets)

    @property
    def lognormal(self) -> bool:
        """Whether all prices follow the lognormal law of the exact scheme, apart from dividends in proportion to the
        price."""
        return self.lognormal_of(range(len(self.jumping)))

    def lognormal_of(self, assets: Iterable[int]) -> bool:
        """Whether the prices of these assets follow the lognormal law of the exact scheme, as in `lognormal`."""
        return self.scheme is Scheme.EXACT and not any(self.jumping[a] or self.paying[a] for a in assets)

    @property
    def absorbing(self) -> bool:
        """Whether a price can be 0."""
        return self.scheme is not Scheme.EXACT or any(self.paying)

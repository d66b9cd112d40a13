"""The option that all roads price."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Contract:
    """A call on an asset that follows geometric Brownian motion, dS / S = rate dt + volatility dW.

    spot, strike: in money. rate, volatility: per year, per root of a year. maturity: in years. steps: of equal length,
    to the maturity. asian: the payoff is of the mean of the prices after all steps, not of the last one.
    """

    spot: float = 100.0
    strike: float = 100.0
    rate: float = 0.05
    volatility: float = 0.2
    maturity: float = 1.0
    steps: int = 256
    asian: bool = False

    @property
    def drift(self) -> float:
        """The mean change of log S in a step."""
        return (self.rate - self.volatility**2 / 2) * self.maturity / self.steps

    @property
    def deviation(self) -> float:
        """The standard deviation of log S in a step."""
        return self.volatility * math.sqrt(self.maturity / self.steps)

    @property
    def discount(self) -> float:
        return math.exp(-self.rate * self.maturity)

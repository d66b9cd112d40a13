"""An option on something lognormal, and its derivatives by the market.

With log G normal of mean m and deviation s, L = m + s^2 / 2 = log E G and c = E max(+-(G - strike), 0), F. Black, J.
Financial Economics 3 (1976):

    c_L = +-E G N(+-d1),   c_LL = c_L + E G n(d1) / s,   c_s = E G n(d1),   d1 = (L - log strike) / s + s / 2
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from simsuite.libraries import special
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, density, lognormal_option
from simsuite.solvers.gbm.market.dynamics import Dynamics


@dataclass(frozen=True)
class LognormalOption:
    """An option on a lognormal G. by_spot[asset]: derivative of log G by the logarithm of the spot.
    by_volatility[asset]: derivatives of its mean and its deviation by the logarithm of all volatilities of the asset.
    by_rate: derivative of its mean by a shift of all rates."""

    log_mean: float
    deviation: float
    strike: float
    payoff: Payoff
    by_spot: Mapping[int, float]
    by_volatility: Mapping[int, tuple[float, float]]
    by_rate: float

    @property
    def forward(self) -> float:
        return math.exp(self.log_mean + self.deviation**2 / 2)

    @property
    def mean(self) -> float:
        """The expectation c of what the option pays."""
        return lognormal_option(self.forward, self.deviation, self.strike, self.payoff)

    def greek(self, name: str, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        """The Greek of this name by asset (0 if it is about all): undiscounted, as in `greeks.py`. Empty where there is
        no derivative."""
        if self.deviation <= 0 or self.strike <= 0:
            return {}
        found: dict[int, float] = getattr(self, f"_{name}")(model, dynamics)
        return found

    def _slopes(self) -> tuple[float, float, float]:
        """The derivatives c_L, c_LL and c_s."""
        sign, s = 1.0 if self.payoff == "call" else -1.0, self.deviation
        d1 = (self.log_mean + s**2 - math.log(self.strike)) / s
        slope, spread = sign * self.forward * float(special.ndtr(sign * d1)), self.forward * float(density(d1))
        return slope, slope + spread / s, spread

    def _delta(self, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        slope, _, _ = self._slopes()
        return {a: power * slope / model.asset[a].spot for a, power in self.by_spot.items()}

    def _gamma(self, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        slope, bend, _ = self._slopes()
        return {a: (power**2 * bend - power * slope) / model.asset[a].spot ** 2 for a, power in self.by_spot.items()}

    def _vega(self, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        slope, _, spread = self._slopes()
        found, end = {}, dynamics.dt * dynamics.n_steps
        for a, (mean, deviation) in self.by_volatility.items():
            moved = slope * (mean + self.deviation * deviation) + spread * deviation
            found[a] = moved / model.asset[a].volatility.root_mean_square(end)
        return found

    def _rho(self, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        slope, _, _ = self._slopes()
        priced = model.market.drift is None
        return {0: (slope * self.by_rate if priced else 0.0) - dynamics.dt * dynamics.n_steps * self.mean}

    def _theta(self, model: GbmScenario, dynamics: Dynamics) -> dict[int, float]:
        slope, bend, _ = self._slopes()
        volatility = [v.at(0.0) for v in dynamics.volatility]
        found = model.market.rate.at(0.0) * self.mean
        for a, power in self.by_spot.items():
            found -= (dynamics.growth[a].at(0.0) - volatility[a] ** 2 / 2) * power * slope
            for b, other in self.by_spot.items():
                found -= 0.5 * volatility[a] * volatility[b] * dynamics.correlation[a, b] * power * other * bend
        return {0: found}

"""Exposure of a long forward contract, whose value is V_t = S_t e^{-q(T-t)} - strike e^{-r(T-t)} before its end T.

None of the figures is discounted to today. J. Gregory, The xVA Challenge (2015), chapter 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simsuite.solvers.gbm.closed_forms.laws import price_mean, price_quantile
from simsuite.solvers.gbm.closed_forms.vanilla import lognormal_option


@dataclass(frozen=True)
class Exposure:
    expected: float  # EE: E max(V_t, 0)
    negative: float  # ENE: E max(-V_t, 0)
    potential: float  # PFE: a quantile of V_t


def forward_exposure(
    spot: float,
    strike: float,
    rate: float,
    dividend_yield: float,
    growth: float,
    volatility: float,
    t: float,
    end: float,
    level: float = 0.95,
) -> Exposure:
    """The exposure at time t. `growth` is that of the price under the measure of the exposure, `level` is the level of
    the PFE."""
    unit, cash = math.exp(-dividend_yield * (end - t)), strike * math.exp(-rate * (end - t))
    mean, deviation = unit * price_mean(spot, growth, t), volatility * math.sqrt(t)
    return Exposure(
        lognormal_option(mean, deviation, cash, "call"),
        lognormal_option(mean, deviation, cash, "put"),
        unit * price_quantile(spot, growth, volatility, t, level) - cash,
    )

"""Cash-or-nothing options: they pay `cash` at the end if S_T is above the strike (call) or below it (put).

M. Rubinstein and E. Reiner, Unscrambling the binary code, Risk 4 (1991).
"""

from __future__ import annotations

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.terms import Greeks, Terms, lognormal_greeks
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, density, moneyness


def digital(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    payoff: Payoff,
    cash: float = 1.0,
) -> float:
    """e^{-rT} cash P(S_T above or below the strike)."""
    return digital_greeks(Terms.constant(spot, rate, growth, volatility, end), strike, payoff, cash).price


def digital_greeks(terms: Terms, strike: float, payoff: Payoff, cash: float = 1.0) -> Greeks:
    """Price and derivatives. Raises ValueError without volatility."""
    F, d = terms.forward, terms.deviation
    sign = 1.0 if payoff == "call" else -1.0
    d1 = moneyness(terms, strike)
    slope = sign * cash * float(density(d1 - d)) / (F * d)
    return lognormal_greeks(terms, cash * float(special.ndtr(sign * (d1 - d))), slope, -slope * d1 / (F * d))

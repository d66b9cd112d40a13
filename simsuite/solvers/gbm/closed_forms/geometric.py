"""Options on the geometric mean of prices: the mean of normal logarithms is normal.

Of n fixings in all, m are to come. The step before number k = 0, 1, .. of them moves the logarithm of the mean by
(m - k) / n of what it moves that of the price (P. Glasserman, Monte Carlo Methods in Financial Engineering (2003),
section 3.2.2).
Continuous: A. Kemna and A. Vorst, J. Banking and Finance 14 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.quadrature import Vector
from simsuite.solvers.gbm.closed_forms.terms import Greeks, Steps
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, density, lognormal_option


def geometric_mean_law(spot: float, steps: Steps, past: Sequence[float] = ()) -> tuple[float, float]:
    """The law of the geometric mean G of the prices `past` and those after each of `steps`: (E G, standard deviation of
    log G)."""
    m, n = len(steps.growths), len(steps.growths) + len(past)
    share = _shares(m, n)
    log_mean = (m * math.log(spot) + sum(map(math.log, past))) / n
    log_mean += float(share @ (steps.growths - steps.deviations**2 / 2))
    variance = float(share**2 @ steps.deviations**2)
    return math.exp(log_mean + variance / 2), math.sqrt(variance)


def _shares(m: int, n: int) -> Vector:
    return np.arange(m, 0, -1) / n


def geometric_asian(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    fixings: Sequence[float],
    payoff: Payoff,
    past: Sequence[float] = (),
) -> float:
    """The price of an option on the geometric mean of the prices `past`, already seen, and those at the increasing
    times `fixings`.

    The option is paid at `end`. Times are in years from now, and `spot` is today's price.
    """
    forward, deviation = geometric_mean_law(spot, Steps.constant(growth, volatility, fixings), past)
    return math.exp(-rate * end) * lognormal_option(forward, deviation, strike, payoff)


def geometric_asian_greeks(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    fixings: Sequence[float],
    payoff: Payoff,
    past: Sequence[float] = (),
) -> Greeks:
    """Price and derivatives of `geometric_asian`, by the chain rule. Raises ValueError without volatility.

    theta is the derivative as all dates come nearer together; it requires that the first fixing is later than now.
    """
    F, d = geometric_mean_law(spot, Steps.constant(growth, volatility, fixings), past)
    if d <= 0 or strike <= 0:
        raise ValueError("derivatives of a price need a volatility and a strike above 0")
    m, n = len(fixings), len(fixings) + len(past)
    lengths, share, power = np.diff([0.0, *fixings]), _shares(m, n), m / n  # F grows like S^power
    time, spread = float(share @ lengths), float(share**2 @ lengths)  # d^2 = sigma^2 spread
    discount, sign = math.exp(-rate * end), 1.0 if payoff == "call" else -1.0
    d1 = math.log(F / strike) / d + d / 2
    price = discount * lognormal_option(F, d, strike, payoff)
    slope = discount * F * sign * float(special.ndtr(sign * d1))  # F dV/dF
    curvature = discount * F * float(density(d1)) / d  # F^2 d2V/dF2
    delta = power * slope / spot
    gamma = power * (power * curvature + (power - 1) * slope) / spot**2
    vega = volatility * ((spread - time) * slope + spread * curvature)
    rho = time * slope - end * price
    theta = rate * price - growth * spot * delta - (volatility * spot) ** 2 / 2 * gamma
    return Greeks(price, delta, gamma, vega, rho, theta)


def continuous_geometric_asian(
    spot: float, strike: float, rate: float, growth: float, volatility: float, end: float, payoff: Payoff
) -> float:
    """The price of an option on the geometric mean over all of [0, end]: the mean is the exponential of a normal
    variable with mean (growth - sigma^2/2) T/2 and variance sigma^2 T/3, times the spot."""
    forward = spot * math.exp((growth - volatility**2 / 6) * end / 2)
    return math.exp(-rate * end) * lognormal_option(forward, volatility * math.sqrt(end / 3), strike, payoff)

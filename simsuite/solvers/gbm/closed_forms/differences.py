"""Derivatives of any of the price functions here, by differentiating their interpolants at Chebyshev points.

For analytic functions the error falls geometrically with the number of points (L. Trefethen, Approximation Theory and
Approximation Practice (2013), chapters 8 and 21). Rounding causes errors of about 1e-11 in a first derivative and 1e-9
in a second.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simsuite.solvers.gbm.closed_forms.terms import Greeks

POINTS = 17
REACH = 0.1  # half the interval of interpolation: relative to spot and volatility, absolute in rates


def derivatives(f: Callable[[float], float], x: float, reach: float) -> tuple[float, float]:
    """(f', f'') at x from values of f in [x - reach, x + reach]."""
    z = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    fit = np.polynomial.chebyshev.chebfit(z, [f(x + reach * float(point)) for point in z], POINTS - 1)
    chebder, chebval = np.polynomial.chebyshev.chebder, np.polynomial.chebyshev.chebval
    return float(chebval(0.0, chebder(fit))) / reach, float(chebval(0.0, chebder(fit, 2))) / reach**2


def greeks_by_differences(
    price: Callable[[float, float, float, float], float],
    spot: float,
    rate: float,
    growth: float,
    volatility: float,
    reach: float = REACH,
) -> Greeks:
    """The Greeks of price(spot, rate, growth, volatility), which must be smooth over `reach`: no barrier may be nearer
    to the spot.

    theta follows from the Black-Scholes equation: as time passes, all dates come nearer together.
    """
    delta, gamma = derivatives(lambda s: price(s, rate, growth, volatility), spot, reach * spot)
    vega, _ = derivatives(lambda v: price(spot, rate, growth, v), volatility, reach * volatility)
    rho, _ = derivatives(lambda shift: price(spot, rate + shift, growth + shift, volatility), 0.0, reach * 0.1)
    value = price(spot, rate, growth, volatility)
    theta = rate * value - growth * spot * delta - (volatility * spot) ** 2 / 2 * gamma
    return Greeks(value, delta, gamma, vega, rho, theta)

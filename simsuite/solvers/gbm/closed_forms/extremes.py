"""Laws of the lowest and highest price over [0, T] and E of what they exceed, watched at all times or on dates.

At all times: J. Harrison, Brownian Motion and Stochastic Flow Systems (1985), section 1.8, for Y = log(S / S_0) with
drift nu = growth - sigma^2 / 2:

    P(max Y >= y) = N((nu T - y) / (sigma sqrt T)) + e^{2 nu y / sigma^2} N((-y - nu T) / (sigma sqrt T)),    y > 0.

On dates T/m, 2T/m, .., T: D. Lindley, Proc. Cambridge Philosophical Society 48 (1952). The highest of 0 and m partial
sums has the law of W_m, W_0 = 0, W_{i+1} = max(0, W_i + step): an atom at 0 and a density that is smooth above.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from simsuite.solvers.gbm.closed_forms.quadrature import TAIL, Vector, gauss_legendre, resolving, steps_between
from simsuite.solvers.gbm.closed_forms.vanilla import density, truncated_option

POINTS = 128


def maximum_tail(spot: float, growth: float, volatility: float, end: float, level: float) -> float:
    """P(S_t >= level for some t in [0, end]). ValueError without volatility."""
    return float(_tail(np.asarray(math.log(level / spot)), growth - volatility**2 / 2, volatility, end))


def minimum_tail(spot: float, growth: float, volatility: float, end: float, level: float) -> float:
    """P(S_t <= level for some t in [0, end]). ValueError without volatility."""
    return float(_tail(np.asarray(math.log(spot / level)), volatility**2 / 2 - growth, volatility, end))


def _tail(y: Vector, drift: float, volatility: float, end: float) -> Vector:
    if volatility <= 0 or end <= 0:
        raise ValueError("the extremes of a path need a volatility and a time above 0")
    d = volatility * math.sqrt(end)
    # the exponential alone may overflow where the product is a probability
    reflected = np.exp(2 * drift * y / volatility**2 + log_ndtr((-y - drift * end) / d))
    return np.where(y <= 0, 1.0, ndtr((drift * end - y) / d) + reflected)


def _reach(drift: float, volatility: float, end: float) -> float:
    """How high Y gets, but for 1e-17 of its law, and of that weighted with the price."""
    return max(drift, 0.0) * end + volatility**2 * end + TAIL * volatility * math.sqrt(end)


def maximum_excess(spot: float, growth: float, volatility: float, end: float, strike: float) -> float:
    """E max(max S_t - strike, 0) over all t in [0, end]: the integral of P(max S_t >= x) over x > strike.

    By quadrature of the law above, and so without the division by `growth` of the formulas in print.
    """
    inside = max(spot - strike, 0.0)
    low, drift = math.log(max(strike, spot) / spot), growth - volatility**2 / 2
    y, w = gauss_legendre(low, max(low, 0.0) + _reach(drift, volatility, end), POINTS)
    return inside + spot * float(w @ (np.exp(y) * _tail(y, drift, volatility, end)))


def minimum_shortfall(spot: float, growth: float, volatility: float, end: float, strike: float) -> float:
    """E max(strike - min S_t, 0) over all t in [0, end]."""
    inside = max(strike - spot, 0.0)
    low, drift = math.log(spot / min(strike, spot)), volatility**2 / 2 - growth
    y, w = gauss_legendre(low, max(low, 0.0) + _reach(drift, volatility, end), POINTS)
    return inside + spot * float(w @ (np.exp(-y) * _tail(y, drift, volatility, end)))


def discrete_maximum_excess(
    spot: float, growth: float, volatility: float, end: float, strike: float, dates: int
) -> float:
    """E max(max S_i - strike, 0), the highest price being that of today and of `dates` equidistant dates up to the end.

    Errors are about 1e-13 of the spot. ValueError without volatility.
    """
    drift, step, s = _step(growth, volatility, end, dates)
    base = max(strike, spot)
    y, mass, atom = _lindley(drift * step, s, drift * end, volatility * math.sqrt(end), dates - 1)
    start = spot * math.exp(growth * step) * np.exp(np.append(y, 0.0))
    return max(spot - strike, 0.0) + float(np.append(mass, atom) @ truncated_option(start, s, base, "call"))


def discrete_minimum_shortfall(
    spot: float, growth: float, volatility: float, end: float, strike: float, dates: int
) -> float:
    """E max(strike - min S_i, 0), the lowest price being that of the same dates."""
    drift, step, s = _step(growth, volatility, end, dates)
    base = min(strike, spot)
    y, mass, atom = _lindley(-drift * step, s, -drift * end, volatility * math.sqrt(end), dates - 1)
    start = spot * math.exp(growth * step) * np.exp(-np.append(y, 0.0))
    return max(strike - spot, 0.0) + float(np.append(mass, atom) @ truncated_option(start, s, base, "put"))


def _step(growth: float, volatility: float, end: float, dates: int) -> tuple[float, float, float]:
    if volatility <= 0 or end <= 0 or dates < 1:
        raise ValueError("the extremes on dates need a volatility, a time and a number of dates above 0")
    return growth - volatility**2 / 2, end / dates, volatility * math.sqrt(end / dates)


def _lindley(mean: float, s: float, mean_at_end: float, spread: float, steps: int) -> tuple[Vector, Vector, float]:
    """W after `steps` steps with this mean and deviation: nodes above 0, their probabilities, that of 0."""
    if steps == 0:
        return np.zeros(0), np.zeros(0), 1.0
    y, w = resolving(0.0, max(mean_at_end, 0.0) + spread**2 + TAIL * spread, s)
    moves, first, falls = steps_between(y, y, mean, s) * w, density((y - mean) / s) / s * w, ndtr(-(y + mean) / s)
    mass, atom = np.zeros_like(y), 1.0
    for _ in range(steps):
        mass, atom = mass @ moves + atom * first, float(mass @ falls + atom * ndtr(-mean / s))
    return y, mass, atom

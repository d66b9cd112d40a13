"""Laws of the lowest and highest price over [0, T], watched at all times or on dates, and the means of their excesses.

At all times: J. Harrison, Brownian Motion and Stochastic Flow Systems (1985), section 1.8, for Y = log(S / S_0) with
drift nu = growth - sigma^2 / 2:

    P(max Y >= y) = N((nu T - y) / (sigma sqrt T)) + e^{2 nu y / sigma^2} N((-y - nu T) / (sigma sqrt T)),    y > 0.

On dates: D. Lindley, Proc. Cambridge Philosophical Society 48 (1952). The highest M of 0 and the partial sums of some
steps is max(0, X + M'), where X is the first step and M' is the highest of 0 and the partial sums of the later steps.
The recursion runs from the last step back; the law of M is an atom at 0 and a smooth density above."""

from __future__ import annotations

import math

import numpy as np

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.quadrature import TAIL, Vector, gauss_legendre, resolving, steps_between
from simsuite.solvers.gbm.closed_forms.terms import Steps
from simsuite.solvers.gbm.closed_forms.vanilla import density, truncated_option

POINTS = 128


def maximum_tail(spot: float, growth: float, volatility: float, end: float, level: float) -> float:
    """P(S_t >= level for some t in [0, end]). Raises ValueError without volatility."""
    return float(_tail(np.asarray(math.log(level / spot)), growth - volatility**2 / 2, volatility, end))


def minimum_tail(spot: float, growth: float, volatility: float, end: float, level: float) -> float:
    """P(S_t <= level for some t in [0, end]). Raises ValueError without volatility."""
    return float(_tail(np.asarray(math.log(spot / level)), volatility**2 / 2 - growth, volatility, end))


def _tail(y: Vector, drift: float, volatility: float, end: float) -> Vector:
    if volatility <= 0 or end <= 0:
        raise ValueError("the extremes of a path need a volatility and a time above 0")
    d = volatility * math.sqrt(end)
    # the exponential alone may overflow even though the product is a probability
    reflected = np.exp(2 * drift * y / volatility**2 + special.log_ndtr((-y - drift * end) / d))
    return np.where(y <= 0, 1.0, special.ndtr((drift * end - y) / d) + reflected)


def _reach(drift: float, volatility: float, end: float) -> float:
    """A height that the maximum of Y exceeds with a probability of no more than 1e-17, also if paths are weighted with
    the price."""
    return max(drift, 0.0) * end + volatility**2 * end + TAIL * volatility * math.sqrt(end)


def maximum_excess(spot: float, growth: float, volatility: float, end: float, strike: float) -> float:
    """E max(max S_t - strike, 0) over all t in [0, end]: the integral of P(max S_t >= x) over x > strike.

    It is found by quadrature of the law above, and so without the division by `growth` of the formulas in print.
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


def maximum_excess_on_dates(spot: float, steps: Steps, strike: float) -> float:
    """E max(max S_i - strike, 0), the highest price being that of today and of the dates after each of `steps`.

    Errors are about 1e-13 of the spot. Raises ValueError without noise in each step.
    """
    y, mass = _lindley(steps, 1.0)
    rest = truncated_option(spot * np.exp(steps.growths[0] + y), float(steps.deviations[0]), max(strike, spot), "call")
    return max(spot - strike, 0.0) + float(mass @ rest)


def minimum_shortfall_on_dates(spot: float, steps: Steps, strike: float) -> float:
    """E max(strike - min S_i, 0), the lowest price being that of today and of the dates after each of `steps`."""
    y, mass = _lindley(steps, -1.0)
    rest = truncated_option(spot * np.exp(steps.growths[0] - y), float(steps.deviations[0]), min(strike, spot), "put")
    return max(strike - spot, 0.0) + float(mass @ rest)


def _lindley(steps: Steps, sign: float) -> tuple[Vector, Vector]:
    """The law of the highest of 0 and the partial sums of all steps but the first, each step times `sign`: its values
    and their probabilities.

    From the last step to the second, W becomes max(0, W + step). The last of the values is the atom at 0.
    """
    if not len(steps.growths) or np.any(steps.deviations <= 0):
        raise ValueError("extremes on dates need dates, and a volatility above 0")
    means, deviations = sign * (steps.growths - steps.deviations**2 / 2)[:0:-1], steps.deviations[:0:-1]
    if not len(means):
        return np.zeros(1), np.ones(1)
    reach = float(np.maximum(means, 0.0).sum()) + steps.deviation**2 + TAIL * steps.deviation
    y, w = resolving(0.0, reach, float(deviations.min()))
    mass, atom, made_for = np.zeros_like(y), 1.0, (math.nan, math.nan)
    for step in zip(means, deviations):
        if step != made_for:
            mean, s = made_for = step
            moves, first, falls = (
                steps_between(y, y, mean, s) * w,
                density((y - mean) / s) / s * w,
                special.ndtr(-(y + mean) / s),
            )
        mass, atom = mass @ moves + atom * first, float(mass @ falls + atom * special.ndtr(-mean / s))
    return np.append(y, 0.0), np.append(mass, atom)

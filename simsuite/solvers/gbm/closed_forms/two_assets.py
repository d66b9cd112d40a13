"""Options on two assets at the end: the exchange of one for the other, the better and the worse of two; and the
bivariate normal law.

The arguments are the forwards F_i = E S_i, the standard deviations d_i of log S_i, and the correlation rho of the
logarithms. `discount` is e^{-rT}.
"""

from __future__ import annotations

import math
from typing import Literal

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, lognormal_option

Pair = tuple[float, float]


def bivariate_normal(h: float, k: float, rho: float) -> float:
    """P(X < h, Y < k) for standard normal X and Y with correlation rho, to about 1e-15, by Owen's function.

    D. Owen, Annals of Mathematical Statistics 27 (1956), equation 2.1.
    """
    if rho >= 1:
        return float(special.ndtr(min(h, k)))
    if rho <= -1:
        return max(float(special.ndtr(h) - special.ndtr(-k)), 0.0)
    if math.isinf(h) or math.isinf(k):
        return float(special.ndtr(h) * special.ndtr(k))
    root = math.sqrt((1 - rho) * (1 + rho))
    if h == k == 0:
        return 0.25 + math.asin(rho) / (2 * math.pi)
    opposite = 0.5 if (h < 0) != (k < 0) else 0.0
    return float((special.ndtr(h) + special.ndtr(k)) / 2) - _owen(h, k, rho, root) - _owen(k, h, rho, root) - opposite


def _owen(h: float, k: float, rho: float, root: float) -> float:
    slope = (k - rho * h) / root
    return float(special.owens_t(h, slope / h if h else math.copysign(math.inf, slope)))


def difference_deviation(deviations: Pair, rho: float) -> float:
    """Standard deviation of log(S_1 / S_2)."""
    a, b = deviations
    return math.sqrt((a - b) ** 2 + 2 * (1 - rho) * a * b)


def exchange(forwards: Pair, deviations: Pair, rho: float, discount: float) -> float:
    """e^{-rT} E max(S_1 - S_2, 0). W. Margrabe, J. Finance 33 (1978)."""
    return discount * lognormal_option(forwards[0], difference_deviation(deviations, rho), forwards[1], "call")


def best_or_worst(
    forwards: Pair,
    deviations: Pair,
    rho: float,
    strike: float,
    discount: float,
    payoff: Payoff,
    combine: Literal["max", "min"],
) -> float:
    """The price of a call or put on the higher or lower of two prices. R. Stulz, J. Financial Economics 10 (1982).

    Raises ValueError unless the deviations of both prices and of their ratio are above 0.
    """
    low = _worst_call(forwards, deviations, rho, strike)
    low_mean = forwards[0] - exchange(forwards, deviations, rho, 1.0)
    call, mean = low, low_mean
    if combine == "max":
        call = sum(lognormal_option(F, d, strike, "call") for F, d in zip(forwards, deviations)) - low
        mean = sum(forwards) - low_mean
    return discount * (call if payoff == "call" else call - mean + strike)


def _worst_call(forwards: Pair, deviations: Pair, rho: float, strike: float) -> float:
    d = difference_deviation(deviations, rho)
    if min(*deviations, d, strike) <= 0:
        raise ValueError("the better and the worse of two need prices and a ratio that scatter, and a strike above 0")
    value = 0.0
    for i, j in ((0, 1), (1, 0)):
        F, own = forwards[i], deviations[i]
        above = math.log(F / strike) / own + own / 2
        behind = math.log(forwards[j] / F) / d - d / 2
        value += F * bivariate_normal(above, behind, (rho * deviations[j] - own) / d)
    below = [math.log(F / strike) / own - own / 2 for F, own in zip(forwards, deviations)]
    return value - strike * bivariate_normal(below[0], below[1], rho)

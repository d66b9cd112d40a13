"""What Euler's and Milstein's schemes do to geometric Brownian motion, exactly.

Both multiply the price by an independent factor a step, so all moments are powers. With h = T / N, W the Brownian
motion, drift g and volatility sigma:

    Euler      1 + g h + sigma dW
    Milstein   1 + g h + sigma dW + sigma^2 (dW^2 - h) / 2

E of the factor is 1 + g h; of its square (1 + g h)^2 + sigma^2 h, and sigma^4 h^2 / 2 more for Milstein; of its product
with the exact factor e^{g h} (1 + g h + sigma^2 h), and with Milstein e^{g h} sigma^4 h^2 / 2 more.
Orders: P. Kloeden and E. Platen, Numerical Solution of Stochastic Differential Equations (1992), chapters 10 and 14.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Literal

Scheme = Literal["euler", "milstein"]


def scheme_mean(spot: float, growth: float, end: float, steps: int) -> float:
    """E X_N, the same for both schemes."""
    return spot * math.exp(steps * math.log1p(growth * end / steps))


def scheme_weak_error(spot: float, growth: float, end: float, steps: int) -> float:
    """E X_N - E S_T, without cancellation."""
    h = end / steps
    return spot * math.exp(growth * end) * math.expm1(steps * (math.log1p(growth * h) - growth * h))


def scheme_second_moment(
    spot: float, growth: float, volatility: float, end: float, steps: int, scheme: Scheme
) -> float:
    """E X_N^2."""
    return spot**2 * float(_moments(growth, volatility, end, steps, scheme)[0])


def scheme_cross_moment(spot: float, growth: float, volatility: float, end: float, steps: int, scheme: Scheme) -> float:
    """E X_N S_T, both driven by the same Brownian motion."""
    return spot**2 * float(_moments(growth, volatility, end, steps, scheme)[1])


def scheme_strong_error(spot: float, growth: float, volatility: float, end: float, steps: int, scheme: Scheme) -> float:
    """sqrt(E (X_N - S_T)^2)."""
    own, cross, exact = _moments(growth, volatility, end, steps, scheme)
    return spot * math.sqrt(own - 2 * cross + exact)


def _moments(
    growth: float, volatility: float, end: float, steps: int, scheme: Scheme
) -> tuple[Decimal, Decimal, Decimal]:
    """E X_N^2, E X_N S_T and E S_T^2 for spot 1, with enough decimals that the difference of all three can be taken."""
    with localcontext(prec=50):
        g, v, h = Decimal(growth), Decimal(volatility) ** 2, Decimal(end) / steps
        more = (v * h) ** 2 / 2 if scheme == "milstein" else Decimal(0)
        own = (1 + g * h) ** 2 + v * h + more
        cross = (g * h).exp() * (1 + g * h + v * h + more)
        return own**steps, cross**steps, ((2 * g + v) * Decimal(end)).exp()

"""Merton's jump diffusion: dS / S- = (growth - intensity k) dt + sigma dW + (e^J - 1) dN, J normal, k = E e^J - 1.

R. Merton, J. Financial Economics 3 (1976): given the number of jumps the price is lognormal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, lognormal_option


def merton(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    intensity: float,
    jump_mean: float,
    jump_deviation: float,
    payoff: Payoff,
) -> float:
    """The price of a European option; `intensity` is the number of jumps a year, `jump_mean` and `jump_deviation` are
    those of J = log(S / S-)."""

    def paid(forward: float, deviation: float) -> float:
        return lognormal_option(forward, deviation, strike, payoff)

    market = (spot, growth, volatility, end, intensity, jump_mean, jump_deviation)
    return math.exp(-rate * end) * _over_jumps(paid, *market)


def merton_digital(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    intensity: float,
    jump_mean: float,
    jump_deviation: float,
    payoff: Payoff,
    cash: float = 1.0,
) -> float:
    """e^{-rT} cash P(S_T above or below the strike). The arguments are those of `merton`."""
    sign = 1.0 if payoff == "call" else -1.0

    def likely(forward: float, deviation: float) -> float:
        if deviation == 0 or strike == 0:
            return float(sign * (forward - strike) > 0)
        return float(special.ndtr(sign * (math.log(forward / strike) / deviation - deviation / 2)))

    market = (spot, growth, volatility, end, intensity, jump_mean, jump_deviation)
    return math.exp(-rate * end) * cash * _over_jumps(likely, *market)


def _over_jumps(
    paid: Callable[[float, float], float],
    spot: float,
    growth: float,
    volatility: float,
    end: float,
    intensity: float,
    jump_mean: float,
    jump_deviation: float,
) -> float:
    """The mean, over the number of jumps, of `paid`: a function of the expectation of a lognormal price and the
    deviation of its logarithm."""
    gain = jump_mean + jump_deviation**2 / 2  # log E e^J
    base = spot * math.exp((growth - intensity * math.expm1(gain)) * end)
    return math.fsum(
        weight * paid(base * math.exp(n * gain), math.sqrt(volatility**2 * end + n * jump_deviation**2))
        for n, weight in jump_counts(intensity * end)
    )


def jump_counts(expected: float) -> Iterator[tuple[int, float]]:
    """Yields the numbers of jumps and their probabilities by Poisson's law, as far as these are not negligible."""
    for n in range(math.ceil(expected + 12 * math.sqrt(expected)) + 30):
        yield n, math.exp(n * math.log(expected) - expected - math.lgamma(n + 1)) if expected else float(n == 0)

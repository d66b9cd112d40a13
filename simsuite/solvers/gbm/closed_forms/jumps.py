"""Merton's jump diffusion: dS / S- = (growth - intensity k) dt + sigma dW + (e^J - 1) dN, J normal, k = E e^J - 1.

R. Merton, J. Financial Economics 3 (1976): given the number of jumps the price is lognormal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

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
    """A European option; `intensity` in jumps a year, `jump_mean` and `jump_deviation` those of J = log(S / S-)."""
    gain = jump_mean + jump_deviation**2 / 2  # log E e^J
    base = spot * math.exp((growth - intensity * math.expm1(gain)) * end)
    expected = intensity * end
    total = 0.0
    for n, weight in jump_counts(expected):
        deviation = math.sqrt(volatility**2 * end + n * jump_deviation**2)
        total += weight * lognormal_option(base * math.exp(n * gain), deviation, strike, payoff)
    return math.exp(-rate * end) * total


def jump_counts(expected: float) -> Iterator[tuple[int, float]]:
    """How many jumps there may be, and how likely that is, by Poisson's law; as far as it can be told from 0."""
    for n in range(math.ceil(expected + 12 * math.sqrt(expected)) + 30):
        yield n, math.exp(n * math.log(expected) - expected - math.lgamma(n + 1)) if expected else float(n == 0)

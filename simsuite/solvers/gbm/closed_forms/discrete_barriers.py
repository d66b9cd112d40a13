"""Barrier options watched on dates: a recursion over the dates, backwards.

V_{m-1}(x), x the log-price and m the number of dates, is a Black-Scholes price over the living side; V_i(x) is the
integral of the normal density of a step times V_{i+1} over that side, analytic up to the barrier, so Gauss-Legendre
rules converge geometrically (G. Fusai and M. Recchioni, J. Economic Dynamics and Control 31 (2007), compare rules for
this recursion). Errors are about 1e-13 of the spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simsuite.solvers.gbm.closed_forms.continuous_barriers import Direction, Knock, alive
from simsuite.solvers.gbm.closed_forms.quadrature import TAIL, Vector, resolving, steps_between
from simsuite.solvers.gbm.closed_forms.terms import Steps
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, lognormal_option, partial_moments, truncated_option


def discrete_barrier(
    spot: float,
    strike: float,
    rate: float,
    growth: float,
    volatility: float,
    end: float,
    payoff: Payoff,
    direction: Direction,
    knock: Knock,
    level: float,
    dates: int,
    rebate: float = 0.0,
) -> float:
    """The price of a barrier option watched at the times i end / dates, i = 1, .., dates; today is not one of them.
    Rebates are paid at the end.

    Raises ValueError without volatility.
    """
    steps = Steps.equidistant(growth, volatility, end, dates)
    return math.exp(-rate * end) * barrier_on_dates(spot, strike, steps, payoff, direction, knock, level, rebate)


def barrier_on_dates(
    spot: float,
    strike: float,
    steps: Steps,
    payoff: Payoff,
    direction: Direction,
    knock: Knock,
    level: float,
    rebate: float = 0.0,
) -> float:
    """The undiscounted price of a barrier option that is watched after each of `steps` and paid after the last one.
    Raises ValueError if one of the steps has no noise."""
    low, high = alive(direction, level)

    def last(forwards: Vector, deviation: float) -> Vector:
        return truncated_option(forwards, deviation, strike, payoff, low, high)

    without = _backwards(spot, steps, direction, level, last)
    hit = hit_on_dates(spot, steps, direction, level) if rebate else 0.0
    if knock == "out":
        return without + rebate * hit
    vanilla = lognormal_option(spot * math.exp(steps.growth), steps.deviation, strike, payoff)
    return vanilla - without + rebate * (1 - hit)


def hit_on_dates(spot: float, steps: Steps, direction: Direction, level: float) -> float:
    """P(the price is at the level or beyond after one of `steps`). Raises ValueError if one of the steps has no
    noise."""
    low, high = alive(direction, level)

    def last(forwards: Vector, deviation: float) -> Vector:
        return partial_moments(forwards, deviation, low, high)[1]

    return 1 - _backwards(spot, steps, direction, level, last)


def _backwards(
    spot: float, steps: Steps, direction: Direction, level: float, last: Callable[[Vector, float], Vector]
) -> float:
    """The expectation, over paths that are alive before the last step, of `last`: a function of forwards and the
    deviation of the last step that gives the expected payoff after it."""
    if not len(steps.growths) or np.any(steps.deviations <= 0):
        raise ValueError("a barrier on dates needs dates, and a volatility above 0")
    x, s = np.array([math.log(spot)]), float(steps.deviations.min())
    means = steps.growths - steps.deviations**2 / 2
    if len(means) == 1:
        return float(last(np.exp(x + steps.growths), s)[0])
    paths, spread = np.cumsum(means), TAIL * steps.deviation
    below = x[0] + min(paths.min(), 0.0) - spread
    above = x[0] + max(paths.max(), 0.0) + steps.deviation**2 + spread  # calls weight paths with the price
    edge = math.log(level)
    low, high = (edge, max(edge + s, above)) if direction == "down" else (min(edge - s, below), edge)
    y, w = resolving(low, high, s)
    values = last(np.exp(y + steps.growths[-1]), float(steps.deviations[-1]))
    moves, made_for = np.zeros((0, 0)), (math.nan, math.nan)
    for step in zip(means[-2:0:-1], steps.deviations[-2:0:-1]):
        if step != made_for:
            moves, made_for = steps_between(y, y, *step) * w, step
        values = moves @ values
    return float((steps_between(x, y, means[0], float(steps.deviations[0])) @ (w * values))[0])

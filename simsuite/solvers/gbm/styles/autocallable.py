"""Autocallable notes: coupons, an early end on the first date on which prices are high, protection down to a level.

With w_i the worst performance on date i of n, p_i = 1 if a coupon is due (w_i >= coupon_level), a_i what 1 that is paid
on date i is worth at the end, N the notional and c the coupon, all in shares of N:

    V_i = c a_i p_i m_i + (a_i if i >= first_call and w_i >= call_level_i, else V_{i+1}),
    V_n = c p_n m_n + (1 if protected, else min(w_n, 1)),

where m_i = 1, or with memory i less the number of the last date before i with a coupon, 0 if there was none. The note
pays N V_1 in money of the end. Dates on which it has ended are never looked at, so that it needs no memory of that.
"""

from __future__ import annotations

import math

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Autocallable
from simsuite.solvers.gbm.payoffs.functionals import Dates
from simsuite.solvers.gbm.payoffs.reader import (
    PayoffReader,
    Tree,
    add,
    at_least,
    largest,
    least,
    subtract,
    times,
    where,
)
from simsuite.solvers.gbm.style_record import StyleRecord


def _payoff(option: Autocallable, reader: PayoffReader) -> Node:
    dates = _dates(option, reader)
    steps = dates.steps(reader.n).tolist()
    worst = [_worst(option, reader, step) for step in steps]
    due = [at_least(w, option.coupon_level) if option.coupon_level else 1.0 for w in worst]
    accrued = [_accrued(reader, step) for step in steps]
    value: Tree = add(
        _coupon(option, due, len(steps) - 1, 1.0),
        where(_protected(option, reader, worst, dates), 1.0, least(worst[-1], 1.0)),
    )
    for i in reversed(range(len(steps) - 1)):
        if i + 1 >= option.first_call:
            value = where(at_least(worst[i], option.call_levels[i]), accrued[i], value)
        if option.coupon:
            value = add(_coupon(option, due, i, accrued[i]), value)
    return times(option.notional, value)


def _dates(option: Autocallable, reader: PayoffReader) -> Dates:
    if isinstance(option.observations, list):
        return Dates(listed=tuple(map(reader.model.time.nearest_step, option.observations)))
    return reader.dates(option.observations)


def _worst(option: Autocallable, reader: PayoffReader, step: int) -> Tree:
    each = [reader.performance(a, step) for a in option.asset_numbers(reader.names)]
    return each[0] if len(each) == 1 else least(*each)


def _accrued(reader: PayoffReader, step: int) -> float:
    """What 1 that is paid after so many steps is worth at the end."""
    time, rate = reader.model.time, reader.model.market.rate
    return math.exp(rate.integral(time.end * (step / time.steps), time.end))


def _coupon(option: Autocallable, due: list[Tree], i: int, accrued: float) -> Tree:
    """What is paid as coupons on date number i, from 0 on, in money of the end."""
    amount: Tree = option.coupon * accrued
    if option.memory and option.coupon_level and option.coupon and i > 0:
        paid = [times(float(j + 1), due[j]) for j in range(i)]
        amount = times(amount, subtract(float(i + 1), largest(*paid) if len(paid) > 1 else paid[0]))
    return times(amount, due[i])


def _protected(option: Autocallable, reader: PayoffReader, worst: list[Tree], dates: Dates) -> Tree:
    if option.watched == "end":
        return at_least(worst[-1], option.protection)
    if option.watched == "steps":
        dates = Dates.all(reader.n)
    numbers = option.asset_numbers(reader.names)
    lows = [reader.lowest_performance(a, dates) for a in numbers]
    return at_least(lows[0] if len(lows) == 1 else least(*lows), option.protection)


RECORD = StyleRecord[Autocallable](payoff=_payoff, pays_early=True)

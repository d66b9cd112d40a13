"""Dividends in cash: at the end of a step the price falls by an amount, not by a share.

Model:      S <- max(S - D, 0). A price that is less than the dividend falls to 0, where it stays: the company pays
            what it has, the "liquidator" of E. G. Haug, J. Haug and A. Lewis, "Back to basics: a new approach to the
            discrete dividend problem", Wilmott magazine (September 2003), 37-51.
Scheme:     y += log2(max(1 - q 2^-y, 0)) - c, where q is the dividend by the price of y = 0 just before it is paid, and
            c, near the mean of the first, is what it takes from `centre`. Exact.

Several dividends at one step are paid in order. As a price of 0 stays there, that is (..((S p1 - D1) p2 - D2)..) =
S p1 p2 - D1 p2 - D2 or 0: all shares first, then an amount.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import Asset, Time
from simsuite.solvers.gbm.logarithms import LN2

# logarithms are centred at no less than this share of the expected price, even if dividends take more
_LEAST_REST = 1 / 16


@dataclass(frozen=True)
class Payment:
    """A payment after a step. amount: the cash, in units of the spot. fall: what is added to the centre of natural
    logarithms, a number below 0, so that y stays centred. wider: the factor by which y spreads out."""

    step: int
    amount: float
    fall: float
    wider: float


def payments(asset: Asset, time: Time, log_mean: Callable[[int], float]) -> tuple[Payment, ...]:
    """The payments of an asset in order of time, those of shares alone included; at one step the shares keep the order
    of the list. log_mean(step): natural logarithm of the expected price in units of the spot, if nothing were paid."""
    found: list[Payment] = []
    fallen = 0.0
    steps = [time.nearest_step(dividend.time) for dividend in asset.dividends]
    for step in sorted(set(steps)):
        cash = 0.0
        for dividend in (d for d, s in zip(asset.dividends, steps) if s == step):
            share = dividend.proportion or 0.0
            cash = cash * (1 - share) + (dividend.cash or 0.0)
            if share:
                found.append(Payment(step, 0.0, math.log1p(-share), 1.0))
                fallen += found[-1].fall
        if cash:
            rest = max(1 - cash / asset.spot / math.exp(log_mean(step) + fallen), _LEAST_REST)
            found.append(Payment(step, cash / asset.spot, math.log(rest), 1 / rest))
            fallen += found[-1].fall
    return tuple(found)


def cash_table(paid: Sequence[Sequence[Payment]], centre: np.ndarray) -> np.ndarray:
    """float64[2 asset, step]: q of all assets, 0 where nothing is paid, then c of all. centre: float64[asset, step], to
    base 2, after the payments."""
    n = len(paid)
    found = np.zeros((2 * n, centre.shape[1]))
    for a, own in enumerate(paid):
        for payment in own:
            if payment.amount:
                k, c = payment.step - 1, payment.fall / LN2
                found[a, k] = payment.amount * 2.0 ** (c - centre[a, k])
                found[n + a, k] = c
    return found

"""Control variates: payoffs that resemble those that are wanted, and whose means are known.

P. Glasserman, "Monte Carlo Methods in Financial Engineering" (2003), section 4.1. For arithmetic means, over dates or
over assets, the control is the geometric mean (A. Kemna and A. Vorst, J. Banking and Finance 14, 1990): its logarithm
is normal, so that options on it have a price in closed form, and the two means hardly differ on a path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.expressions.tree import Node
from simsuite.scenario.gbm import Asian, Basket, GbmScenario
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Dates
from simsuite.solvers.gbm.payoffs.lognormal_option import LognormalOption


@dataclass(frozen=True)
class Control:
    """A control variate. tree: its payoff, undiscounted. mean: the expectation of that. law: the lognormal option that
    has this expectation, if it is an option."""

    tree: Node
    mean: float
    law: LognormalOption | None = None


@dataclass(frozen=True)
class GeometricBasket:
    """The geometric mean factor * product of S_a^power_a over all assets, where the powers add up to 1. On the path of
    expected prices it is equal to their weighted sum, and so are its derivatives."""

    factor: float
    powers: np.ndarray

    @classmethod
    def like(cls, option: Basket, model: GbmScenario, dynamics: Dynamics) -> GeometricBasket | None:
        """The geometric mean that resembles a basket; None where there is none."""
        weights = np.array(option.weights_of(len(model.asset)))
        if option.combine != "sum" or np.any(weights < 0) or not np.any(weights > 0):
            return None
        logarithms = (
            _end_logarithms(model, dynamics) + LN2**2 * dynamics.variance(np.array([dynamics.n_steps]))[:, 0] / 2
        )
        parts = weights * np.exp(logarithms)
        powers = parts / parts.sum()
        return cls(float(parts.sum() / np.exp(powers @ logarithms)), powers)


def law_of_asian(option: Asian, asset: int, dates: Dates, model: GbmScenario, dynamics: Dynamics) -> LognormalOption:
    """The option on the geometric mean of prices over dates that resembles an Asian option."""
    past = option.past_fixings
    m, n = dates.count, dates.count + len(past)
    steps = dates.steps(dynamics.n_steps)
    variances = LN2**2 * dynamics.variance(steps)[asset]
    deviation = math.sqrt(float((np.arange(m, 0, -1) / n) ** 2 @ np.diff(variances, prepend=0.0)))
    known = math.fsum(map(math.log, past)) + m * math.log(model.asset[asset].spot)
    log_mean = (known + LN2 * float(dynamics.centre(steps)[asset].sum())) / n
    return LognormalOption(
        log_mean,
        deviation,
        option.strike,
        option.payoff,
        by_spot={asset: m / n},
        by_volatility={asset: (-float(variances.sum()) / n, deviation)},
        by_rate=dynamics.dt * float(steps.sum()) / n,
    )


def law_of_basket(
    option: Basket, geometric: GeometricBasket, model: GbmScenario, dynamics: Dynamics
) -> LognormalOption:
    """The option on the geometric mean of the assets that resembles a basket option; its factor and powers do not move
    with the market."""
    powers, covariance = geometric.powers, LN2**2 * dynamics.end_covariance()
    log_mean = math.log(geometric.factor) + float(powers @ _end_logarithms(model, dynamics))
    deviation = math.sqrt(float(powers @ covariance @ powers))
    shares = powers * (covariance @ powers)
    return LognormalOption(
        log_mean,
        deviation,
        option.strike,
        option.payoff,
        by_spot={a: float(p) for a, p in enumerate(powers) if p},
        by_volatility={
            a: (-float(p * covariance[a, a]), float(shares[a] / deviation) if deviation else 0.0)
            for a, p in enumerate(powers)
            if p
        },
        by_rate=dynamics.dt * dynamics.n_steps,
    )


def _end_logarithms(model: GbmScenario, dynamics: Dynamics) -> np.ndarray:
    """[asset]: expectation of the natural logarithm of the price in the end."""
    spots = np.log([asset.spot for asset in model.asset])
    return spots + LN2 * dynamics.centre(np.array([dynamics.n_steps]))[:, 0]

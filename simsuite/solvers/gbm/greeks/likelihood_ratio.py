"""Scores of a lognormal law: derivatives of the logarithm of its density, by which expectations are differentiated
without differentiating what is expected.

Let Y be the noise in the natural logarithms of prices of some assets at a date, normal with covariance C. If all prices
from that date on are scaled in asset a by 1 + eps, as the spot does, and f depends on no earlier ones, then

    d E f / d eps_a           = E f w_a,                    w = C^-1 Y
    d2 E f / d eps_a d eps_b  = E f (w_a w_b - C^-1_ab)     = E (d f / d eps_a) w_b where f is continuous

so the first date at which f looks at prices serves; the later it is, the less w scatters: as 1 / (volatility sqrt(t)).
M. Broadie and P. Glasserman, "Estimating security price derivatives using simulation", Management Science 42 (1996);
P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.expressions.derivative import multiply, subtract
from simsuite.expressions.tree import Name, Node, Number
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives, total
from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.payoffs.functionals import Dates, Functional, Kind
from simsuite.solvers.gbm.payoffs.variables import kept, noise

_WORST_CONDITION = 1e10


@dataclass(frozen=True)
class Score:
    """The score of some assets after some step. precision: the matrix C^-1, [asset, asset] in the order of `assets`.
    noises: the variables Y."""

    assets: tuple[int, ...]
    precision: np.ndarray
    noises: tuple[Node, ...]

    @classmethod
    def at(cls, step: int, assets: tuple[int, ...], pathwise: PathwiseDerivatives) -> Score | None:
        """The score of these assets after a step; None if some combination of the prices has no noise until then."""
        covariance = LN2**2 * pathwise.dynamics.covariance(step)[np.ix_(assets, assets)]
        deviation = np.sqrt(np.diag(covariance))
        if not assets or np.any(deviation <= 0):
            return None
        correlation = covariance / np.outer(deviation, deviation)
        if not np.linalg.cond(correlation) < _WORST_CONDITION:
            return None
        precision = np.linalg.inv(correlation) / np.outer(deviation, deviation)
        return cls(assets, precision, tuple(_noise(a, step, pathwise) for a in assets))

    def of(self, asset: int) -> Node:
        """The component w_a of the score for an asset."""
        return self.combined(self.precision[self.assets.index(asset)])

    def combined(self, weights: np.ndarray) -> Node:
        """The sum of the noises Y with these weights."""
        return total(multiply(Number(float(w)), noise) for w, noise in zip(weights, self.noises) if w)


def last_step(asset: int, pathwise: PathwiseDerivatives) -> Node | None:
    """The score w of the last step alone: by the logarithm of the last price, which moves while all before it stay.
    None where that step has no noise."""
    dynamics = pathwise.dynamics
    n = dynamics.n_steps
    before, end = (0.0, *LN2**2 * dynamics.variance(np.array([n - 1, n]) if n > 1 else np.array([n]))[asset])[-2:]
    if end <= before:
        return None
    moved = _noise(asset, n, pathwise)
    if n > 1:
        moved = subtract(moved, _noise(asset, n - 1, pathwise))
    return multiply(Number(1 / (end - before)), moved)


def _noise(asset: int, step: int, pathwise: PathwiseDerivatives) -> Node:
    if step == pathwise.dynamics.n_steps:
        y = Name(noise(asset))
    else:
        functional = Functional(Kind.LOGARITHMS, asset, Dates(listed=(step,)))
        y = Name(kept(pathwise.functionals.number(functional)))
    return multiply(Number(LN2), y)

"""Greeks by bumping: central differences of payoffs in markets that differ in one parameter, with the same random
numbers.

P. Glasserman, "Monte Carlo Methods in Financial Engineering" (Springer 2003), section 7.1. With common random numbers
the difference is formed path by path. Of n paths and a bump h of a parameter x, the central difference

    D(h) = (V(x + h) - V(x - h)) / (2 h)  or  (V(x + h) - 2 V(x) + V(x - h)) / h^2

has a bias b h^2 + O(h^4), and its variance over single paths is

    O(1)     a first derivative of a payoff without jumps: h may be small
    O(1/h)   a first derivative of a payoff with jumps (7.1.2), or a second one without: best h ~ n^(-1/5)
    O(h^-3)  a second derivative of a payoff with jumps: best h ~ n^(-1/7)

The same paths give D(2 h), and what is told is R = (4 D(h) - D(2 h)) / 3, whose bias is O(h^4) (L. F. Richardson,
Phil. Trans. R. Soc. A 210, 1911). R - D(h) estimates the bias b h^2 of D(h). Half of it counts as an error of R: with
the next term, c h^4, R is off by 4 c h^4, which is less as long as c h^2 < b / 6; of a normal density and h = s / 4 it
is b / 50. With jumps R has 1.2 times the standard error of D(h).

Bumps are measured by how far the logarithm of the price moves: with s = sqrt(s_1 s_T), where s_1 and s_T are the
deviations of the logarithm, by volatility alone, at the first date that the option looks at and at its end,

    h = s / 128 (s / 16 with float32 along the path),  s n^(-1/5),  s n^(-1/7)

in the three cases. A payoff that jumps on its first date is smeared out by s_1 before, at its end by s_T. This is the
relative bump of the spot, at most 1/4. The volatility takes the same with s = 1, as what it multiplies is a number of
deviations. Jumps do not count in s: a law that is narrow but for a few jumps bends the price as sharply as one without.
Of options on several assets, both are multiplied by r = sqrt(1 - R^2), where R is the multiple correlation of the asset
with the others: s r is its deviation once these are known, the width of the law of a spread. The rate takes h / T;
time, see `markets.py`, the part of the first step whose variance is s h, at most 0.45 (so that twice the bump fits). Of
options that are bumped together the smallest s counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from simsuite.solvers.gbm.logarithms import LN2
from simsuite.solvers.gbm.market.dynamics import Dynamics

MOST = 0.25  # largest relative bump of a spot or a volatility
_MOST_OF_STEP = 0.45
_FINE, _COARSE = 1 / 128, 1 / 16


class Parameter(Enum):
    SPOT = "spot"
    VOLATILITY = "volatility"
    RATE = "rate"
    TIME = "time"


BY = {
    "delta": Parameter.SPOT,
    "gamma": Parameter.SPOT,
    "vega": Parameter.VOLATILITY,
    "rho": Parameter.RATE,
    "theta": Parameter.TIME,
}


class Roughness(Enum):
    """How the variance of a difference grows as the bump gets smaller. The value is the root of n by which the best
    bump falls."""

    NONE = 0
    FIRST = 5
    SECOND = 7

    @classmethod
    def of(cls, greek: str, smooth: bool) -> Roughness:
        if greek == "gamma":
            return cls.FIRST if smooth else cls.SECOND
        return cls.NONE if smooth else cls.FIRST


@dataclass(frozen=True)
class Bump:
    """The smaller bump of a parameter. asset: 0 where there is but one parameter of this kind. size: relative for spot
    and volatility, per year for the rate, in first time steps for time."""

    parameter: Parameter
    asset: int
    size: float


@dataclass(frozen=True)
class Reach:
    """How an option sees its market. scale: s of each asset that it depends on, or 1 of none. apart: r of each. end: in
    years. least: the distance of the logarithm to a barrier that is watched at all times, which no bump may cross."""

    scale: dict[int, float]
    apart: dict[int, float]
    end: float
    least: float = math.inf


def deviation_scale(dynamics: Dynamics, asset: int, first: int) -> float:
    """s of an asset for an option that looks at a price after so many steps first."""
    steps = np.array([first, dynamics.n_steps])
    variance = LN2**2 * dynamics.variance(steps)[asset]
    return math.sqrt(math.sqrt(variance[0] * variance[1]))


def independent_shares(dynamics: Dynamics, assets: Sequence[int]) -> dict[int, float]:
    """r of each of these assets among them."""
    factor = dynamics.factor[list(assets)]
    inverse = np.diag(np.linalg.inv(factor @ factor.T))
    return {a: min(1 / math.sqrt(found), 1.0) for a, found in zip(assets, inverse)}


def bump(
    parameter: Parameter, asset: int, roughness: Roughness, reaches: list[Reach], paths: int, dynamics: Dynamics,
    single: bool,
) -> Bump:  # fmt: skip
    """The bump of a parameter for the Greeks of these options. dynamics: of the whole run. single: whether paths are
    added up in float32."""
    share = (_COARSE if single else _FINE) if roughness is Roughness.NONE else paths ** (-1 / roughness.value)
    if parameter is Parameter.SPOT:
        own = (reach.scale[asset] * reach.apart[asset] for reach in reaches)
        scale = min((s for s in own if s > 0), default=MOST)
        return Bump(parameter, asset, min(scale * share, MOST, *(reach.least / 4 for reach in reaches)))
    if parameter is Parameter.VOLATILITY:
        return Bump(parameter, asset, min(share * min(reach.apart[asset] for reach in reaches), MOST))
    scale = min((s for reach in reaches for s in reach.scale.values() if s > 0), default=MOST)
    if parameter is Parameter.RATE:
        return Bump(parameter, 0, min(scale * share, MOST) / max(reach.end for reach in reaches))
    variance = LN2**2 * float(dynamics.variance(np.array([1])).max())
    fitting = scale**2 * share / variance if variance > 0 else _MOST_OF_STEP
    return Bump(parameter, 0, min(fitting, _MOST_OF_STEP))

"""Options on weighted sums of prices at the end: given all but one normal variable they are Black-Scholes prices.

Two assets: given the second price, an option on the first; the remaining integral is a Gauss-Legendre quadrature, split
where the strike for the first price is 0. A few assets with equal volatilities and correlations: all prices have the
factor e^{c M} of the common direction M, so given the other directions the sum is lognormal; in those the integrand is
smooth and takes a Gauss-Hermite rule. Problem and prices: P. Krekel, J. de Kock, R. Korn and T. Man, Wilmott Magazine,
July 2004.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from simsuite.libraries import special
from simsuite.solvers.gbm.closed_forms.quadrature import TAIL, gauss_legendre, gauss_normal
from simsuite.solvers.gbm.closed_forms.two_assets import Pair
from simsuite.solvers.gbm.closed_forms.vanilla import Payoff, density

POINTS = 200  # Gauss-Legendre points of each panel of the quadrature over the second price
HERMITE = {2: 64, 3: 48, 4: 48, 5: 20}  # Gauss-Hermite nodes in each direction, by the number of assets


def two_asset_basket(
    forwards: Pair, deviations: Pair, rho: float, weights: Pair, strike: float, discount: float, payoff: Payoff
) -> float:
    """e^{-rT} E max(+-(w_1 S_1 + w_2 S_2 - strike), 0). A spread has weights of both signs. For the arguments see
    `two_assets`.

    Raises ValueError if the first price has no noise or its weight is 0.
    """
    own = deviations[0] * math.sqrt((1 - rho) * (1 + rho))
    first, second = weights
    if own <= 0 or first == 0:
        raise ValueError("the first price of a basket needs a weight, and scatter of its own")
    sign = (1.0 if payoff == "call" else -1.0) * math.copysign(1.0, first)
    reach = TAIL + 2 * max(deviations)
    edges = [-reach, reach]
    if second * strike > 0:
        kink = (math.log(strike / (second * forwards[1])) + deviations[1] ** 2 / 2) / deviations[1]
        edges = sorted([*edges, min(max(kink, -reach), reach)])
    total = 0.0
    for low, high in itertools.pairwise(edges):
        z, w = gauss_legendre(low, high, POINTS)
        F = forwards[0] * np.exp(rho * deviations[0] * z - (rho * deviations[0]) ** 2 / 2)
        other = forwards[1] * np.exp(deviations[1] * z - deviations[1] ** 2 / 2)
        K = (strike - second * other) / first
        d2 = (np.log(F) - np.log(np.where(K > 0, K, 1.0))) / own - own / 2
        inside = sign * (F * special.ndtr(sign * (d2 + own)) - K * special.ndtr(sign * d2))
        total += float(w @ (density(z) * np.where(K > 0, inside, np.maximum(sign * (F - K), 0.0))))
    return discount * abs(first) * total


def equicorrelated_basket(
    forwards: Sequence[float],
    deviation: float,
    rho: float,
    weights: Sequence[float],
    strike: float,
    discount: float,
    payoff: Payoff,
) -> float:
    """e^{-rT} E max(+-(sum w_i S_i - strike), 0), all weights above 0, all log-prices alike: 2 to 5 of them.

    Errors are about 1e-12 of the strike for deviations up to 1. Raises ValueError for other numbers of assets, or
    correlations not in (-1 / (n - 1), 1].
    """
    n = len(forwards)
    if n not in HERMITE or min(*weights, strike, deviation) <= 0 or not -1 / (n - 1) < rho <= 1:
        raise ValueError("a basket of equicorrelated prices needs 2 to 5, positive weights, and a common direction")
    sign = 1.0 if payoff == "call" else -1.0
    # deviation of every log-price along the direction (1, .., 1) / sqrt(n)
    common = deviation * math.sqrt((1 + (n - 1) * rho) / n)
    x, w = gauss_normal(HERMITE[n])
    z = np.stack(np.meshgrid(*[x] * (n - 1), indexing="ij")).reshape(n - 1, -1)
    probability = np.prod(np.stack(np.meshgrid(*[w] * (n - 1), indexing="ij")).reshape(n - 1, -1), axis=0)
    others = np.linalg.svd(np.ones((1, n)))[2][1:]  # orthonormal basis of the vectors whose components sum up to 0
    logs = deviation * math.sqrt(1 - rho) * (others.T @ z) - (deviation**2 - common**2) / 2
    sums = np.einsum("i,ij->j", np.asarray(weights) * np.asarray(forwards), np.exp(logs))
    d2 = np.log(sums / strike) / common - common / 2
    values = sign * (sums * special.ndtr(sign * (d2 + common)) - strike * special.ndtr(sign * d2))
    return discount * float(probability @ values)

"""The first and the last of m strata of equal probability of the normal law; one of m Sobol points is in each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simsuite.libraries import special

CELLS = 256
_DECAY = 690.0  # the cells reach to shares of e^-690 of the stratum, as far as floating-point numbers do


def outer_strata(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of the outer strata: (z[side, cell], weight[cell]), the number of deviations above and below the middle,
    and the probability of each cell within its stratum. Cells end where shares e^-x of the stratum lie farther out."""
    x = _DECAY * np.linspace(0.0, 1.0, CELLS + 1) ** 2
    out = -special.ndtri_exp(-(x[1:] + x[:-1]) / 2 - np.log(points))
    return np.array([out, -out]), -np.diff(np.exp(-x))


def scatter(curve: Callable[[np.ndarray], np.ndarray], spread: float, points: int) -> float:
    """The part of the variance of a mean over so many points that comes from the first and the last of them, where a
    point's value is `curve` of a normal number with the deviation `spread`. NaN if it overflows."""
    z, weight = outer_strata(points)
    with np.errstate(all="ignore"):
        values = curve(spread * z)
        off = values - (values * weight).sum(axis=1, keepdims=True)
        return float((off**2 * weight).sum()) / points**2

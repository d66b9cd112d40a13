"""The first and the last of m strata of the normal law, in each of which one of m Sobol points is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri_exp

CELLS = 256
_DECAY = 690.0  # of shares of the stratum: e^-690, as far as numbers reach


def outer_strata(points: int) -> tuple[np.ndarray, np.ndarray]:
    """(z[side, cell], weight[cell]): deviations above and below the middle, and how probable each cell is in its
    stratum. A share e^-x of a stratum lies farther out than each."""
    x = _DECAY * np.linspace(0.0, 1.0, CELLS + 1) ** 2
    out = -ndtri_exp(-(x[1:] + x[:-1]) / 2 - np.log(points))
    return np.array([out, -out]), -np.diff(np.exp(-x))


def scatter(curve: Callable[[np.ndarray], np.ndarray], spread: float, points: int) -> float:
    """Variance of a mean over so many points, of `curve` of a number of the deviation `spread`, that comes from the
    first and the last of them. NaN if it is beyond all numbers."""
    z, weight = outer_strata(points)
    with np.errstate(all="ignore"):
        values = curve(spread * z)
        off = values - (values * weight).sum(axis=1, keepdims=True)
        return float((off**2 * weight).sum()) / points**2

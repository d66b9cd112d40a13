"""Orders of convergence, and the limit that a sequence of grids suggests, computed from plain numbers.

Sources: P. J. Roache, Perspective: a method for uniform reporting of grid refinement studies, J. Fluids Eng. 116, 405
(1994); P. J. Roache, Code verification by the method of manufactured solutions, J. Fluids Eng. 124, 4 (2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SAFETY = 1.25  # Roache's safety factor for three and more grids.
ROUND_OFF = 1e-11  # Relative differences below this are round-off and have no order.


def fitted_line(sizes: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """(p, c) such that error = c·sizeᵖ, by least squares on the logarithms; NaN where an error is 0 or not finite.

    sizes: those of cells or time steps, at least two. Raises ValueError for fewer, or if there are not as many errors.
    """
    if len(sizes) != len(errors) or len(sizes) < 2:
        raise ValueError(f"cannot fit a line to {len(sizes)} sizes and {len(errors)} errors")
    e = np.asarray(errors, np.float64)
    if not (np.isfinite(e).all() and (e > 0).all()):
        return math.nan, math.nan
    slope, intercept = np.polyfit(np.log(np.asarray(sizes, np.float64)), np.log(e), 1)
    return float(slope), float(np.exp(intercept))


def orders(sizes: Sequence[float], errors: Sequence[float]) -> list[float]:
    """The order between each two neighbouring levels; NaN where an error is 0 or not finite."""
    return [fitted_line(h, e)[0] for h, e in zip(pairwise(sizes), pairwise(errors))]


def is_round_off(errors: Sequence[float], scale: float) -> bool:
    """Whether all errors of something of size `scale` are round-off, so that refining cannot make them smaller."""
    return all(abs(e) <= ROUND_OFF * max(abs(scale), np.finfo(np.float64).tiny) for e in errors)


@dataclass(frozen=True)
class Limit:
    """The limit of a quantity, as three grids suggest it, each `ratio` times finer than the one before.

    order: the observed one. extrapolated: Richardson's value. gci: the grid convergence index of the finest grid, the
    band around its value in which the limit lies, in the quantity's own unit (temperatures have no natural zero to be
    relative to). The last two are NaN where the differences do not shrink, and all are where the quantity goes up and
    down from grid to grid.
    """

    order: float
    extrapolated: float
    gci: float


def limit(coarse: float, middle: float, fine: float, ratio: float = 2.0) -> Limit:
    """The limit of a number: p = ln|(middle - coarse)/(fine - middle)| / ln ratio; GCI = 1.25 |fine - middle|/(ratioᵖ -
    1).
    """
    if (middle - coarse) * (fine - middle) < 0:
        return Limit(math.nan, math.nan, math.nan)
    p, gci = _order_and_gci(abs(middle - coarse), abs(fine - middle), ratio)
    if not p > 0:
        return Limit(p, math.nan, math.nan)
    return Limit(p, fine + (fine - middle) / (ratio**p - 1), gci)


def limit_of_field(first: float, second: float, ratio: float = 2.0) -> Limit:
    """The limit of a field, from norms of the differences coarse to middle and middle to fine; it has no extrapolated
    value.
    """
    p, gci = _order_and_gci(first, second, ratio)
    return Limit(p, math.nan, gci)


def _order_and_gci(first: float, second: float, ratio: float) -> tuple[float, float]:
    if not (math.isfinite(first) and math.isfinite(second) and first > 0 and second > 0):
        return math.nan, math.nan
    p = math.log(first / second) / math.log(ratio)
    return p, SAFETY * second / (ratio**p - 1) if p > 0 else math.nan


def changes(values: Sequence[float]) -> list[float]:
    """The change from each value to the next."""
    return [b - a for a, b in pairwise(values)]


def averaged(field: np.ndarray, factor: int) -> np.ndarray:
    """A field (ny, nx) averaged to a grid that is `factor` times coarser: each coarse cell holds the mean of its cells,
    as finite volumes do.
    """
    if factor == 1:
        return field
    ny, nx = field.shape
    if ny % factor or nx % factor:
        raise ValueError(f"{nx} × {ny} cells cannot be averaged by {factor}")
    means: np.ndarray = field.reshape(ny // factor, factor, nx // factor, factor).mean(axis=(1, 3))
    return means


def root_mean_square(field: np.ndarray) -> float:
    """The root of the mean of the field's squares."""
    return float(np.sqrt(np.mean(np.square(field, dtype=np.float64))))

"""How the power of a source on the grid, which takes it in the middle of cells, differs from its own.

Its own power is the mean over many places in each cell. A source that moves over the cells is compared at many times of
a run; that is cheap where it is a sum of products X(x, t) Y(y, t), as spots and rectangles are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.separable import Pair, separate
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN

_FEW_PARTS, _SOME_PARTS, _PARTS = 4, 8, 16  # of a cell along each axis: at first; of what moves and is no sum; else
_FEW_TIMES, _TIMES = 64, 4096  # of a run, at first and then, at most
_LOOKS, _LOOKS_AT_ONCE = 1 << 24, 1 << 20  # in all places and at all times together
_MOST_CELLS = 1 << 18  # of a source that is no sum of products
_PERHAPS = 0.03  # of its own power: by what a source may be off, or go up and down, to be looked at closely
_COUNTS = 0.1  # of the mean size of its own power: where it is less, ratios say nothing
_ONE_SIGN = 0.9  # of the power without its sign: where that with its sign is less, a source both heats and cools
_GROSS_TIMES, _GROSS_PARTS = 16, 4  # at which, and parts of a cell in which, the power without its sign is looked at


@dataclass(frozen=True)
class GridPower:
    """What a source gives on the grid, compared with its own power.

    given, own: the means over the plate and the run, W/m³. signed: whether it heats here and cools there, so that they
    are small beside what moves, and their quotient says nothing. off: the difference of these means, as a share of the
    mean size of its own power, which counts without its sign; error: what that may be wrong by, as times are few.
    least, most: the quotient at single times; swing: its standard deviation; of sources of one sign only.
    """

    given: float = 0.0
    own: float = 0.0
    signed: bool = False
    off: float = 0.0
    error: float = 0.0
    least: float = 1.0
    most: float = 1.0
    swing: float = 0.0

    @property
    def ratio(self) -> float:
        """The quotient of the means over a run."""
        return self.given / self.own if self.own != 0.0 else math.nan


def grid_power(f: Expression, made: Discretisation, end: float) -> GridPower:
    """That of a source in a run until `end`. The grid is taken for good where it has too many cells to look."""
    if not (f.depends_on("x") or f.depends_on("y")):
        return GridPower()
    pairs = separate(f, (0.0, made.nx * made.dx), (0.0, made.ny * made.dy), (0.0, end))
    if pairs is None and made.nx * made.ny > _MOST_CELLS:
        return GridPower()
    parts = _SOME_PARTS if pairs is None and f.depends_on("t") else _PARTS
    with np.errstate(all="ignore"):
        found = _looked_at(f, pairs, made, end, _FEW_PARTS, _FEW_TIMES)
        if max(found.off, found.swing) > _PERHAPS:
            found = _looked_at(f, pairs, made, end, parts, _TIMES)
    return found


def _looked_at(
    f: Expression, pairs: tuple[Pair, ...] | None, made: Discretisation, end: float, parts: int, most: int
) -> GridPower:
    """By so many parts of each cell along each axis, at so many times at most."""
    looks = parts * (made.nx + made.ny) if pairs is not None else parts**2 * made.nx * made.ny
    count = max(1, min(most, _LOOKS // looks)) if f.depends_on("t") else 1
    times = end * ((np.arange(count) + 1) * GOLDEN % 1.0)
    grid, own = (_powers(f, pairs, made, times, n) for n in (1, parts))
    signed, size = _size(f, pairs, made, times, own)
    if not 0.0 < size < math.inf:
        return GridPower()
    difference, some = (grid - own) / size, np.abs(own) > _COUNTS * size
    ratios = np.ones(1) if signed else grid[some] / own[some]
    return GridPower(
        given=float(np.mean(grid)),
        own=float(np.mean(own)),
        signed=signed,
        off=abs(float(np.mean(difference))),
        error=float(np.std(difference)) / math.sqrt(times.size),
        least=float(np.min(ratios)),
        most=float(np.max(ratios)),
        swing=float(np.std(ratios)),
    )


def _size(
    f: Expression, pairs: tuple[Pair, ...] | None, made: Discretisation, times: np.ndarray, own: np.ndarray
) -> tuple[bool, float]:
    """Whether a source both heats and cools, and the mean size of its power; own: that with its sign, at each time.

    Without its sign, the power of a sum of products is at most that of all products. Where that is much more than what
    comes out, the field itself is looked at, at some of the times.
    """
    net = float(np.mean(np.abs(own)))
    if pairs is not None:
        most = sum(_powers(f, ((a, b),), made, times, _GROSS_PARTS, without_sign=True) for a, b in pairs)
        if not float(np.mean(most)) > net / _ONE_SIGN:
            return False, net
        if _GROSS_PARTS**2 * made.nx * made.ny > _LOOKS:
            return True, float(np.mean(most))
    count = max(1, min(_GROSS_TIMES, _LOOKS // (_GROSS_PARTS**2 * made.nx * made.ny)))
    gross, some = (
        float(np.mean(np.abs(_powers(f, None, made, times[:count], _GROSS_PARTS, without_sign))))
        for without_sign in (True, False)
    )
    signed = gross > some / _ONE_SIGN
    return signed, max(gross, net) if signed else net


def _powers(
    f: Expression,
    pairs: tuple[Pair, ...] | None,
    made: Discretisation,
    times: np.ndarray,
    parts: int,
    without_sign: bool = False,
) -> np.ndarray:
    """The mean of f over the plate at each time, from so many places in each cell along each axis; or that of |f|, for
    which there must be one product at most."""
    size = np.abs if without_sign else np.asarray
    x, y = ((np.arange(n * parts) + 0.5) * (d / parts) for n, d in ((made.nx, made.dx), (made.ny, made.dy)))
    if pairs is not None:
        at_once = max(1, _LOOKS_AT_ONCE // (x.size + y.size))
        some = np.split(times, range(at_once, times.size, at_once))
        return np.concatenate([sum(_mean(size, a, t, x=x) * _mean(size, b, t, y=y) for a, b in pairs) for t in some])
    T, _ = made.temperatures((0.0,))
    rows = np.array_split(y[:, None], -(-x.size * y.size // _LOOKS_AT_ONCE))
    return np.array([sum(len(row) * np.mean(size(f(x=x, y=row, t=t, T=T))) for row in rows) / y.size for t in times])


def _mean(size: Callable[[np.ndarray], np.ndarray], f: Expression, t: np.ndarray, **places: np.ndarray) -> np.ndarray:
    """The mean over some places, at each time, of the size of f."""
    return np.broadcast_to(np.mean(np.atleast_1d(size(f(t=t[:, None], **places))), axis=-1), t.shape)

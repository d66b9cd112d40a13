"""How the power of a source on the grid, which takes it in the middle of cells, differs from its own.

Its own power is the mean over many places in each cell. A source that moves over the cells is compared at many times of
a run, most of which lie where it acts (see `acting_times`); that is cheap where the source is a sum of products
X(x, t) Y(y, t), as spots and rectangles are. The places in a cell are evenly spaced, and shifted together from one time
to the next, so that the mean over all times is that of very many places. What does not depend on time is looked at
once, in more places. Cells that are held take no part."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.separable import Pair, separate
from simsuite.solvers.heat.checks.acting_times import ActingTimes, acting_times
from simsuite.solvers.heat.checks.drawn_power import drawn_powers
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.irregular import GOLDEN

# The number of places in a cell along each axis: the first one counts at first, and always for a source that depends on
# time and is no sum of products; the second one counts in all other cases. Sums of products that depend on time are
# looked at in more places where cells are few: in so many at one time, along both axes together.
_FEW_PARTS, _PARTS = 4, 16
_PLACES = 1024
_EXTREMES = 16  # the number of times of the largest quotients, and of the least, at which it is looked at closely
# the number of times of a run at which a source is looked at first, and the largest number after that
_FEW_TIMES, _TIMES = 64, 4096
# For what does not depend on time: the most places in a cell along an axis, and the most in all cells together.
_MOST_PARTS, _STILL_LOOKS = 1024, 1 << 16
# For cells within which a source differs that is at rest and no sum of products: the most places along each axis of a
# cell, and the most places in all.
_FINEST_PARTS, _FINE_LOOKS = 128, 1 << 19
_DIFFERS = 1e-3  # A source differs within a cell if its spread there is more than this share of the largest spread.
_DRAWN = 256  # the number of times at which places are drawn first
# The multiples of these two numbers, modulo 1, lie evenly in a square.
_SHIFTS = (0.7548776662466927, 0.5698402909980532)
# the most values in all places and at all times together; how many are computed at once, as caches hold them
_LOOKS, _CACHED = 1 << 24, 1 << 15
_MOST_CELLS = 1 << 18  # the most cells of a grid on which a source is looked at that is no sum of products
# A source is looked at closely if it is off, or goes up and down, by more than this share of its own power.
_PERHAPS = 0.03
# Share of the size that a source's own power has while it acts: where the power is less, ratios say nothing.
_COUNTS = 0.1
# A source both heats and cools if the power with its sign is less than this share of the power without sign.
_ONE_SIGN = 0.9
# the number of times at which the power without its sign is looked at, and of places in a cell along each axis
_GROSS_TIMES, _GROSS_PARTS = 16, 4


@dataclass(frozen=True)
class GridPower:
    """What a source gives on the grid, compared with its own power.

    given, own: the means over the plate and the run of the power on the grid and of the source's own power, W/m³; of a
    source that cools at some times, that counts as if it heated.
    signed: whether the source heats in some places and cools in others, so that both means are small and their quotient
    says nothing. off: the difference of the two means, as a share of the mean size of the source's own power without
    its sign. error: by how much `off` may be wrong, because times are few. least, most, swing: the least and the
    largest quotient at single times, and its standard deviation; they are 1, 1 and 0 for signed sources."""

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
        """The quotient of the mean power on the grid and the source's own mean power over a run."""
        return self.given / self.own if self.own != 0.0 else math.nan


def grid_power(f: Expression, made: Discretisation, end: float) -> GridPower:
    """The `GridPower` of a source in a run until `end`. Where the grid has too many cells to look at, the power on it
    is assumed to be right."""
    if not (f.depends_on("x") or f.depends_on("y")):
        return GridPower()
    pairs = separate(f, (0.0, made.nx * made.dx), (0.0, made.ny * made.dy), (0.0, end))
    if pairs is None and made.nx * made.ny > _MOST_CELLS:
        return GridPower()
    few, parts = _FEW_PARTS, _PARTS
    if f.depends_on("t"):
        many = 0 if pairs is None else min(_PLACES // (made.nx + made.ny), _MOST_PARTS)
        few, parts = max(_FEW_PARTS, many), max(_FEW_PARTS if pairs is None else _PARTS, many)
    with np.errstate(all="ignore"):
        acting = acting_times(f, made, end) if f.depends_on("t") else None
        found = _looked_at(f, pairs, made, acting, few, _FEW_TIMES)
        if acting is not None and pairs is None:
            missed = _missed(f, made, acting, found)
            if missed is not None:
                return missed
        if max(found.off, found.swing) > _PERHAPS:
            found = _looked_at(f, pairs, made, acting, parts, _TIMES, closely=True)
    return found


def _missed(f: Expression, made: Discretisation, acting: ActingTimes, found: GridPower) -> GridPower | None:
    """The `GridPower` of a source that is so narrow that places in cells miss it, as shows in its power from places
    that are drawn where it may act; None if that is not more than what was found, or if the source both heats and
    cools."""
    times, weights = _times(acting, _DRAWN)
    drawn = weights * drawn_powers(f, made, times[0])
    own, error = abs(float(np.mean(drawn))), float(np.std(drawn)) / math.sqrt(drawn.size)
    # The error says nothing if a few places have all of the power.
    sure = own > _ONE_SIGN * float(np.mean(np.abs(drawn))) and own > 5.0 * error
    if not (sure and own - abs(found.own) > max(0.5 * own, 5.0 * error)):
        return None
    times, weights = _times(acting, min(_TIMES, max(1, _LOOKS // (made.nx * made.ny))))
    drawn, grid = weights * drawn_powers(f, made, times[0]), weights * _powers(f, None, made, times, 1)
    given, own = float(np.mean(grid)), float(np.mean(drawn))
    error = math.hypot(float(np.std(grid)), float(np.std(drawn)) * given / own) / abs(own) / math.sqrt(grid.size)
    return GridPower(given=given, own=own, off=abs(given / own - 1.0), error=error)


def _looked_at(
    f: Expression,
    pairs: tuple[Pair, ...] | None,
    made: Discretisation,
    acting: ActingTimes | None,
    parts: int,
    most: int,
    closely: bool = False,
) -> GridPower:
    """The `GridPower` of a source, found with `parts` places in each cell along each axis, at `most` times at most.
    acting: where these times lie; None for a source that does not depend on time. closely: whether the power at the
    times of the least and the largest quotients is computed from many places in each cell, if that does not take long:
    the few that a mean over all times needs do not show how narrow a source is at one time."""
    looks = parts * (made.nx + made.ny) if pairs is not None else parts**2 * made.nx * made.ny
    times, weights = _times(acting, max(1, min(most, _LOOKS // looks)))
    grid, own = (_powers(f, pairs, made, times, n) for n in (1, parts))
    signed, size = _size(f, pairs, made, times, weights, own)
    if not 0.0 < size < math.inf:
        return GridPower()
    if not signed:  # what is lacking while it heats and what is lacking while it cools do not make up for each other
        cools = own < 0.0
        grid, own = np.where(cools, -grid, grid), np.abs(own)
    given, mean, gross = (float(np.mean(weights * power)) for power in (grid, own, np.abs(own)))
    # The power of a source that is always in the same places is off by the same share at all times.
    steady = given / mean if not signed and abs(mean) > _ONE_SIGN * gross else 1.0
    some = np.abs(own) * gross > _COUNTS * float(np.mean(weights * own**2))
    ratios, often = (np.ones(1), np.ones(1)) if signed or not some.any() else (grid[some] / own[some], weights[some])
    extremes = ratios
    if closely and pairs is not None and acting is not None and ratios.size > 1:
        ends = np.argsort(ratios)[[*range(_EXTREMES), *range(-_EXTREMES, 0)]] if ratios.size > 2 * _EXTREMES else ...
        finer = max(parts, min(_MOST_PARTS, _LOOKS // (2 * _EXTREMES * (made.nx + made.ny))))
        exact = np.abs(_powers(f, pairs, made, times[:, some][:, ends], finer))
        extremes = grid[some][ends] / np.where(exact > 0.0, exact, own[some][ends])
    return GridPower(
        given=given,
        own=mean,
        signed=signed,
        off=abs(float(np.mean(weights * (grid - own) / size))),
        error=float(np.std(weights * (grid - steady * own) / size)) / math.sqrt(weights.size),
        least=float(np.min(extremes)),
        most=float(np.max(extremes)),
        swing=math.sqrt(np.average((ratios - np.average(ratios, weights=often)) ** 2, weights=often)),
    )


def _size(
    f: Expression,
    pairs: tuple[Pair, ...] | None,
    made: Discretisation,
    times: np.ndarray,
    weights: np.ndarray,
    own: np.ndarray,
) -> tuple[bool, float]:
    """Whether a source both heats and cools, and the mean size of its power. own: the power with its sign at each time.

    The mean of |f| of a sum of products is at most the sum of the means of its products' absolute values. Where that
    sum is much more than the power with its sign, |f| itself is evaluated at some of the times."""
    net = float(np.mean(weights * np.abs(own)))
    if pairs is not None:
        powers = sum(_powers(f, ((a, b),), made, times, _GROSS_PARTS, without_sign=True) for a, b in pairs)
        most = float(np.mean(weights * powers))
        if not most > net / _ONE_SIGN:
            return False, net
        if _GROSS_PARTS**2 * made.nx * made.ny > _LOOKS:
            return True, most
    count = max(1, min(_GROSS_TIMES, _LOOKS // (_GROSS_PARTS**2 * made.nx * made.ny)))
    gross, some = (
        float(np.mean(weights[:count] * np.abs(_powers(f, None, made, times[:, :count], _GROSS_PARTS, without_sign))))
        for without_sign in (True, False)
    )
    signed = gross > some / _ONE_SIGN
    return signed, max(gross, net) if signed else net


def _times(acting: ActingTimes | None, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Irregular times of a run, and for each of them how far the places in cells are shifted along x and along y, as
    shares of the distance between places: an array (3, n); and the weight of each time in a mean over the run. Of a
    source that does not depend on time, time 0 is the only one."""
    if acting is None:
        return np.zeros((3, 1)), np.ones(1)
    multiples = np.arange(count) + 1
    times, weights = acting.at(multiples * GOLDEN % 1.0)
    return np.array([times, *(multiples * shift % 1.0 for shift in _SHIFTS)]), weights


def _powers(
    f: Expression,
    pairs: tuple[Pair, ...] | None,
    made: Discretisation,
    times: np.ndarray,
    parts: int,
    without_sign: bool = False,
) -> np.ndarray:
    """The mean over the plate, at each time, of f in the cells that are not held, from `parts` places in each cell
    along each axis. With `without_sign` it is the mean of |f|, for which `pairs` must have one product at most."""
    size = np.abs if without_sign else np.asarray
    free = ~np.broadcast_to(made.held, (made.ny, made.nx)) if made.any_held else None
    if pairs is None:
        T, _ = made.temperatures((0.0,))
        return np.array([_of_plate(f, T, made, time, parts, size, free) for time in times.T])
    rows, group = (np.ones((1, made.nx)), np.zeros(made.ny, int)) if free is None else _distinct_rows(free)
    total = np.zeros(times.shape[1])
    for a, b in pairs:
        along_x = _along("x", a, made.nx, made.dx, times, parts, size) @ rows.T
        along_y = _along("y", b, made.ny, made.dy, times, parts, size)
        by_group = np.stack([along_y[:, group == g].sum(axis=1) for g in range(len(rows))], axis=1)
        total += np.sum(along_x * by_group, axis=1)
    return total / (made.nx * made.ny)


def _distinct_rows(free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of `free`, and for each row of the plate the number of the distinct row that equals it."""
    rows, group = np.unique(free, axis=0, return_inverse=True)
    return rows.astype(float), group.reshape(-1)


def _along(
    axis: str,
    f: Expression,
    cells: int,
    d: float,
    times: np.ndarray,
    parts: int,
    size: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The mean of a factor in each cell along an axis, at each time: (times, cells), or (1, cells) if the factor does
    not depend on time."""
    if not f.depends_on("t"):
        times = times[:, :1]
        parts = max(parts, min(_MOST_PARTS, _STILL_LOOKS // cells)) if parts > 1 else 1
    at_once = max(1, _CACHED // (cells * parts))
    means = []
    for some in np.split(times, range(at_once, times.shape[1], at_once), axis=1):
        shift = some[1 if axis == "x" else 2, :, None] if f.depends_on("t") else 0.5
        at = _places(cells, d, parts, shift)
        values = np.broadcast_to(size(f(t=some[0, :, None], **{axis: at})), (some.shape[1], cells * parts))
        means.append(np.mean(values.reshape(-1, cells, parts), axis=2))
    return np.concatenate(means)


def _places(cells: int, d: float, parts: int, shift: np.ndarray | float) -> np.ndarray:
    """`parts` evenly spaced places in each cell along an axis; the cell's middle if `parts` is 1. shift: the distance
    of a place from the beginning of its part, as a share of the part."""
    return (np.arange(cells * parts) + (shift if parts > 1 else 0.5)) * (d / parts)


def _of_plate(
    f: Expression,
    T: float,
    made: Discretisation,
    time: np.ndarray,
    parts: int,
    size: Callable[[np.ndarray], np.ndarray],
    free: np.ndarray | None,
) -> float:
    """The mean over the plate, at one time and at temperature T, of a source that is no sum of products."""
    shift_x, shift_y = time[1:] if f.depends_on("t") else (0.5, 0.5)
    x, y = _places(made.nx, made.dx, parts, shift_x), _places(made.ny, made.dy, parts, shift_y)
    refined = parts > _FEW_PARTS and not f.depends_on("t")
    means, spread = np.empty((made.ny, made.nx)), np.zeros((made.ny, made.nx))
    height, total = max(1, _CACHED // (parts * x.size)), 0.0
    for first in range(0, made.ny, height):
        rows = slice(first, min(first + height, made.ny))
        at = y[rows.start * parts : rows.stop * parts, None]
        values = np.broadcast_to(size(f(x=x, y=at, t=time[0], T=T)), (at.size, x.size))
        if free is None and not refined:
            total += float(np.sum(values))
            continue
        values = values.reshape(-1, parts, made.nx, parts)
        means[rows] = values.sum(axis=1).sum(axis=-1) / parts**2
        if refined:
            spread[rows] = values.max(axis=1).max(axis=-1) - values.min(axis=1).min(axis=-1)
    if free is None and not refined:
        return total / (x.size * y.size)
    if refined:
        _refine(means, spread > _DIFFERS * np.max(spread), parts, lambda x, y: size(f(x=x, y=y, t=time[0], T=T)), made)
    return float(np.mean(means if free is None else np.where(free, means, 0.0)))


def _refine(
    means: np.ndarray, differing: np.ndarray, parts: int, f: Callable[..., np.ndarray], made: Discretisation
) -> None:
    """Replaces the means of f in cells within which it differs by means over more places, unless these cells are too
    many."""
    j, i = np.nonzero(differing)
    finer = min(_FINEST_PARTS, math.isqrt(_FINE_LOOKS // max(1, j.size)))
    if j.size and finer > parts:
        inside = (np.arange(finer) + 0.5) / finer
        x = (i[:, None, None] + inside) * made.dx
        y = (j[:, None, None] + inside[:, None]) * made.dy
        means[j, i] = np.mean(np.broadcast_to(f(x, y), (j.size, finer, finer)), axis=(1, 2))

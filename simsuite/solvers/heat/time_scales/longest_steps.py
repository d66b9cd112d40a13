"""How long steps may be at most where data go up and down many times in a run.

An estimate of the error of a step knows the data at a few times in the step only. Where they go up and down within it,
steps may meet them at the same phase again and again, and every estimate finds nothing. So the run is cut into WINDOWS
equal parts, and in each of them intervals are laid at irregular places, of half the length each time, until the
parabola through the values at their two ends and in the middle leads close to those at irregular times in between: A
step there may be as long as these intervals. A few intervals may miss this where peaks have stops of their own
(see `data_stops`), and none where there are more peaks than can be looked for one by one.

Close is a small part of the range of a function (CLOSE times the tolerance; a step of an accurate integrator is much
shorter than that), or what changes temperatures by less than the tolerance even if every step were off by it."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simsuite.core import BESIDE
from simsuite.expressions import Expression
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, TEMPERATURE, Piece
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.acting_cells import acting_cells, edge_points

WINDOWS = 32
# the share of a function's range that counts as close, in units of the tolerance, and its limits
CLOSE, LEAST_CLOSE, MOST_CLOSE = 30.0, 1e-3, 0.05
FINEST = 26  # how often an interval as long as the run is halved at most
_INTERVALS, _WORSE = 32, 2  # the number of intervals in each window, and how many of them may be worse
_BESIDE = 4  # the number of windows on either side of one in which peaks are assumed to be alike
_INSIDE = 8  # the number of times in an interval
_LOOKS = 512  # the number of times at which the range of a function is looked at
# the number of points along an edge; for a source, where it changes most, and of others
_AT_EDGE, _OF_SOURCE = 8, (6, 6)
# the most cells along each axis, and the number of times, at which it is looked where a source changes most
_MOST_CELLS = 128
_TIMES = 8
_IN_KELVIN = 0.1  # share of the tolerance that temperatures may be off by without notice
# A step ends where a window begins if steps there must be shorter than this share of those in the window before.
_LESS = 0.5


@dataclass(frozen=True)
class LongestSteps:
    """The longest steps in the parts of a run. begins: the times at which the parts begin, increasing from 0 on, s.
    longest: the longest step in each part, s. Both are empty where the data set no limit."""

    begins: tuple[float, ...] = ()
    longest: tuple[float, ...] = ()

    def at(self, t: float) -> float:
        """The longest step from a time t on, s."""
        return self.longest[bisect.bisect_right(self.begins, t) - 1] if self.begins else math.inf

    @property
    def least(self) -> float:
        """The shortest of the longest steps, s; infinite if there is no limit."""
        return min(self.longest, default=math.inf)

    @property
    def stops(self) -> tuple[float, ...]:
        """The times at which steps end because those after it must be much shorter, s."""
        pairs = zip(self.begins[1:], itertools.pairwise(self.longest))
        return tuple(t for t, (before, after) in pairs if after < _LESS * before)

    def steps(self, end: float) -> float:
        """The least number of steps in a run until `end`."""
        parts = zip(itertools.pairwise([*self.begins, end]), self.longest)
        return sum((b - a) / dt for (a, b), dt in parts)


@dataclass(frozen=True)
class Data:
    """A function of time at some points. kelvin: by how much temperatures are off at most if the function is off by one
    unit during the whole run. is_temperature: whether the function is a temperature of an edge or outside."""

    f: Expression
    points: Mapping[str, np.ndarray]
    kelvin: float
    is_temperature: bool = False

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """The values (..., points) at times t (...)."""
        size = len(next(iter(self.points.values())))
        return np.broadcast_to(self.f(**self.points, t=t[..., None]), (*t.shape, size))


def longest_steps(
    made: Discretisation,
    end: float,
    changes: Sequence[float],
    tolerance: float,
    with_peaks: Collection[Expression] = (),
) -> LongestSteps:
    """The longest steps with which data are followed closely enough.

    changes: times at which data jump or kink, and steps end, s. tolerance: of errors in time, relative to the range of
    the temperatures. with_peaks: functions that may have peaks at which no steps end."""
    close = min(max(CLOSE * tolerance, LEAST_CLOSE), MOST_CLOSE)
    unnoticed = _IN_KELVIN * tolerance * float(np.ptp(distinct(made.T0)))
    halved = np.zeros(WINDOWS, int)
    with np.errstate(all="ignore"):
        for data in data_of(made, end):
            range_ = float(np.max(np.ptp(data(end * (np.arange(_LOOKS) * GOLDEN % 1.0)), axis=0)))
            enough = max(close * range_, unnoticed / data.kelvin)
            if range_ > enough:
                found = _halved(data, end, np.sort(np.array(changes, float)), enough, data.f in with_peaks)
                halved = np.maximum(halved, found)
    if not halved.any():
        return LongestSteps()
    begins = np.flatnonzero(np.append(True, np.diff(halved) != 0))
    return LongestSteps(tuple((end * begins / WINDOWS).tolist()), tuple((end * 0.5 ** halved[begins]).tolist()))


def _halved(data: Data, end: float, changes: np.ndarray, enough: float, peaks: bool) -> np.ndarray:
    """How often an interval as long as the run is halved, in each window, until parabolas are close enough."""
    halved, left = np.zeros(WINDOWS, int), np.arange(WINDOWS)
    for times in range(FINEST + 1):
        halved[left] = times
        worse = np.count_nonzero(~(_off(data, end, changes, left, times) <= enough), axis=1)
        left = left[worse > (0 if peaks else _WORSE)]
        if not left.size:
            break
    if peaks:
        beside = np.lib.stride_tricks.sliding_window_view(np.pad(halved, _BESIDE, mode="edge"), 2 * _BESIDE + 1)
        halved = np.max(beside, axis=1)
    return halved


def _off(data: Data, end: float, changes: np.ndarray, windows: np.ndarray, times: int) -> np.ndarray:
    """The largest errors of parabolas in intervals that are as long as the run halved so many times: (windows,
    _INTERVALS). Intervals end where data jump or kink."""
    length, small, i = end * 0.5**times, BESIDE * end, np.arange(_INTERVALS)
    places = (i + (i + 1) * (times + 1) * GOLDEN % 1.0) / _INTERVALS
    begin = (windows[:, None] + places) * (end / WINDOWS)
    following = np.append(changes, end)[np.searchsorted(changes, begin, "right")]
    span = np.maximum(np.minimum(begin + length, following - small) - begin, 0.0)
    s = np.concatenate([[0.0, 0.5, 1.0], 0.03 + 0.94 * ((np.arange(_INSIDE) + 1) * GOLDEN % 1.0)])
    v = data(begin[..., None] + span[..., None] * s)
    first, middle, last = (v[:, :, k, None] for k in range(3))
    s = s[3:, None]
    parabola = first + s * (last - first) + 2.0 * s * (1.0 - s) * (2.0 * middle - first - last)
    return np.asarray(np.max(np.abs(v[:, :, 3:] - parabola), axis=(2, 3)))


def data_of(made: Discretisation, end: float, steady: bool = False) -> Iterator[Data]:
    """The data of edges and sources that depend on time. steady: whether data that do not depend on time are returned
    as well."""
    capacity, k = float(np.min(distinct(made.rho_c))), float(np.min(distinct(made.kx)))
    of_flux = end / (capacity * min(made.dx, made.dy))
    if k > 0:
        box = min(made.nx * made.dx, made.ny * made.dy)
        of_flux = min(of_flux, 2.0 * math.sqrt(end / (math.pi * k * capacity)) + 2.0 * end / (capacity * box))
    for piece in made.edges.pieces:
        kelvin = {FLUX: of_flux, TEMPERATURE: 1.0}.get(piece.kind, math.inf)
        found = [Data(piece.first, _along(piece.first, piece, end), kelvin, is_temperature=piece.kind == TEMPERATURE)]
        if piece.kind not in (FLUX, TEMPERATURE):
            found.append(Data(piece.second, _along(piece.second, piece, end), 1.0, is_temperature=True))
        yield from (data for data in found if steady or data.f.depends_on("t"))
    for f in made.sources:
        if steady or f.depends_on("t"):
            yield Data(f, _where_it_changes(f, made, end), end / capacity)


def _along(f: Expression, piece: Piece, end: float) -> Mapping[str, np.ndarray]:
    """Some points of a piece of an edge, evenly, and where a function changes most."""
    few = edge_points(f, piece, end, _AT_EDGE, _AT_EDGE)
    return {"x": piece.x[few], "y": piece.y[few]}


def _where_it_changes(f: Expression, made: Discretisation, end: float) -> Mapping[str, np.ndarray]:
    """Some cells of a source: those where it changes most at irregular times, and at any time, and others."""
    whole_x, whole_y = (a.ravel() for a in made.centres)
    x, y = (a[:: -(-a.size // _MOST_CELLS)] for a in (whole_x, whole_y))
    t = end * ((np.arange(_TIMES) + 1) * GOLDEN % 1.0)
    T = float(np.mean(distinct(made.T0)))
    values = np.broadcast_to(f(x=x, y=y[:, None], t=t[:, None, None], T=T), (_TIMES, y.size, x.size))
    most, others = _OF_SOURCE
    moving = np.argsort(np.ptp(values, axis=0), axis=None, kind="stable")[-most:]
    evenly = (x.size * y.size * ((np.arange(others) + 1) * GOLDEN % 1.0)).astype(int)
    row, column = np.divmod(np.unique(np.append(moving, evenly)), x.size)
    found = acting_cells(f, made, end, T, most)
    at = {"x": np.append(x[column], whole_x[found.columns]), "y": np.append(y[row], whole_y[found.rows])}
    return at | {"T": np.full(at["x"].size, T)}

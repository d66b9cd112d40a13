"""How fast a solution changes because its data do. Forecasts of steps with control of their error are based on this.

The length of a step of order 2 whose error is controlled is a fixed share of the time 1/ω in which the solution
changes. Here ω³ = |T'''|/R, R being the range of its temperatures (see `control`). So a run takes steps in proportion
to its turns, the integral of ω over time. Here T''' is estimated in the cells that data act on, each without its
neighbours:

    temperature u outside     T' = λ(u - T)               |T'''| ≤ |u'''| and λ|u''|
    flux q into an edge       T' = q/(ρc d)               |T'''| = |q''|/(ρc d)
    source q of a width w     T' = q/ρc - (α/w²)T         |T'''| ≤ |q''|/ρc and |q'''| w²/k

d is the depth of a cell, or √(α/ω), to which heat gets meanwhile, if that is more; where heat passes to a wall by
convection, λ is so much less. Where data jump, the solution is rough, and then changes in the time t that has gone by
since: ω ~ 1/t, and a jump costs ln(1 + t/t₀) turns by the next one, t₀ being the time in which a cell acts on its
neighbours. Derivatives are differences over times of many lengths, of which the largest counts, since those over longer
times are too small. They are taken where data do not jump or kink in between, and where they are more than rounding.
Data are looked at at irregular times, and between two stops at a peak (see `data_stops`) and on both sides of jumps as
well: a short pulse that was seen by its slopes alone would seem to change fast, and for ever."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from simsuite.core import BESIDE
from simsuite.expressions import Expression
from simsuite.expressions.changes import jumping
from simsuite.expressions.derivative import ONE, directional
from simsuite.expressions.tree import Node, names_in
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, RADIATION, TEMPERATURE, Piece, convective_beta
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.growth_bounds import fastest_growth
from simsuite.solvers.heat.time_scales.range_limits import SHARE
from simsuite.solvers.heat.time_scales.telling_places import Points, edge_places, source_places

# the number of parts of a run, in each of which derivatives are looked at; parts with peaks are divided there
_TIMES = 64
_MOST_PEAKS = 192  # the most stops at peaks that are used; where there are more, irregular times meet enough peaks
_EARLY = 2.0 ** -np.arange(7, 21)  # times soon after the start, as shares of a run
_LENGTHS = 2.0 ** -np.arange(4, 25)  # the lengths of time over which differences are taken, as shares of a run
_CORNERS = np.array([-1.5, -0.5, 0.5, 1.5])
_ROUNDING = 64 * np.finfo(np.float64).eps  # share of the largest value that counts as rounding
# places between two stops at peaks, as shares of the time between them, at which values are looked at
_BETWEEN = np.array([0.2, 0.4, 0.6, 0.8])
_LOOKS = 257  # the least number of times at which values are looked at, 0 and the end among them
_POINTS = 4  # the number of points along an edge
_ACROSS = 16  # the number of points along each axis of a source
_ROUGHENS = 0.2  # the share of what a jumping source heats that makes a solution rough, as jumps at edges do
# this share for a source that jumps in other cells each time, as seen in steps on such plates
_MOVING_ROUGHENS = 8.0 * _ROUGHENS
_MOST_JUMPS = 256  # the most jumps whose heights are looked at
_NEAR = 1e-3  # share of the time to the next jump: for so long slopes are looked at beside a jump
_GROWS = 1.5  # If temperatures may grow by more than e to this power, steps may be many more.
_MOST_CELLS = 1 << 18  # the most cells of a field that are looked at


@dataclass(frozen=True)
class Pace:
    """How many turns a solution makes. turns: ∫ω dt where data are smooth. rough: ∫ω dt after all times at which data
    jump. range: of the temperatures that data lead to, K, even if data do not change. times, turned: some times, s, and
    the turns that are made by each. growth: the logarithm of the factor by which this range grows from its beginning,
    where an edge moves away from a plate at rest."""

    turns: float = 0.0
    rough: float = 0.0
    range: float = field(default=0.0, compare=False)
    times: tuple[float, ...] = field(default=(), compare=False)
    turned: tuple[float, ...] = field(default=(), compare=False)
    growth: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class _Drive:
    """The effect of data on the cells that they act on.

    third: |T'''| at each of the times looked at, K/s³. reach: by how much temperatures come to differ, K. by: the share
    of `reach` that temperatures have come to differ by where each part of the run begins, and at its end. jumps: the
    change of temperature that follows from each jump looked at, K. moves_off: whether the data are a temperature that
    moves otherwise than by jumps."""

    third: np.ndarray
    reach: float
    by: np.ndarray
    jumps: np.ndarray
    moves_off: bool = False


@dataclass(frozen=True)
class _Looks:
    """What is looked at of a plate. k: conductivity, W/(m K). rho_c: J/(m³ K). T: initial temperature, K. end: of the
    run, s. changes: times at which data jump or kink, s. jumps: those of them whose heights are looked at. gaps: the
    time from each jump to the next, s. peaks: times on the flanks of peaks, s."""

    k: float
    rho_c: float
    T: tuple[float, float]
    end: float
    changes: np.ndarray
    jumps: np.ndarray
    gaps: np.ndarray
    peaks: np.ndarray

    @property
    def alpha(self) -> float:
        return self.k / self.rho_c

    @cached_property
    def spans(self) -> np.ndarray:
        """The parts of the run, s."""
        return np.diff(self.bounds)

    @cached_property
    def times(self) -> np.ndarray:
        """The times at which derivatives are looked at, one in each part, s."""
        return self.bounds[:-1] + self.spans * ((np.arange(self.spans.size) + 1) * GOLDEN % 1.0)

    @cached_property
    def bounds(self) -> np.ndarray:
        return np.unique(np.concatenate([np.linspace(0.0, self.end, _TIMES + 1), self._beginning, self.peaks]))

    @property
    def _beginning(self) -> np.ndarray:
        """Times soon after the start, where temperatures are still all the same, and √t changes fast."""
        return self.end * _EARLY

    @cached_property
    def at(self) -> np.ndarray:
        """The times at which values are looked at, s: irregular ones, which do not meet periodic data always at the
        same phase, and those of changes."""
        i = np.arange(_LOOKS - 2)
        t = self.end * np.concatenate([[0.0], (i + (i + 1) * GOLDEN % 1.0) / i.size, [1.0]])
        near = self.jumps if self.jumps.size == self.changes.size else np.zeros(0)
        beside = np.add.outer([-BESIDE * self.end, BESIDE * self.end], near).ravel()
        inside = self.peaks[:-1] + np.diff(self.peaks) * _BETWEEN[:, None]
        return np.unique(
            np.clip(np.concatenate([t, self._beginning, self.peaks, inside.ravel(), beside]), 0.0, self.end)
        )

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean over the whole run, from values at the times `at`, (times, points)."""
        return np.asarray(self._sums(values)[-1] / self.end)

    def swing(self, values: np.ndarray) -> float:
        """The range of the integral over time of the values less their mean."""
        return float(np.max(np.ptp(self._sums(values - self.mean(values)), axis=0)))

    def share_of_integral(self, values: np.ndarray) -> np.ndarray:
        """The entry `_Drive.by` where temperatures differ by the integral of the values, (times, points)."""
        return self.share(np.concatenate([np.zeros((1, values.shape[1])), self._sums(values)]))

    def share(self, values: np.ndarray) -> np.ndarray:
        """The entry `_Drive.by` where temperatures differ by the values, (times, points)."""
        largest = np.maximum.accumulate(np.max(np.abs(values), axis=1))
        return np.interp(self.bounds, self.at, largest / max(float(largest[-1]), 1e-300))

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """The integral of the values up to each of the times `at` but the first."""
        return np.cumsum(0.5 * np.diff(self.at)[:, None] * (values[1:] + values[:-1]), axis=0)


def pace(made: Discretisation, end: float, changes: Sequence[float], safe: float, peaks: Sequence[float] = ()) -> Pace:
    """The pace of a run that ends at `end`. changes: times at which data jump or kink. safe: largest stable explicit
    step, s. peaks: times on the flanks of peaks of smooth data, s."""
    at = np.sort(np.array(changes, float))
    gaps, stride = np.diff(np.append(at, end)), max(1, -(-at.size // _MOST_JUMPS))
    k, rho_c, T = (_few(a) for a in (made.kx, made.rho_c, made.T0))
    T_range = float(np.min(T)), float(np.max(T))
    few = np.array(peaks if len(peaks) <= _MOST_PEAKS else (), float)
    looks = _Looks(float(np.max(k)), float(np.min(rho_c)), T_range, end, at, at[::stride], gaps[::stride], few)
    with np.errstate(all="ignore"):
        drives = [*_of_edges(made, looks), *_of_sources(made, looks)]
        range_ = looks.T[1] - looks.T[0] + max((drive.reach for drive in drives), default=0.0)
        if not (0 < range_ < math.inf):
            return Pace()
        if not made.edges.moving and not any(f.depends_on("t") for f in made.sources):
            return Pace(range=range_)
        turns = _turns(drives, range_, looks)
        height = np.cbrt(np.minimum(np.max([d.jumps for d in drives], axis=0) / range_, 1.0))
        rough = stride * float(np.sum(height * np.log1p(looks.gaps / safe)))
    rough = rough if math.isfinite(rough) else 0.0
    turned = np.append(0.0, np.cumsum(turns))
    if not math.isfinite(turned[-1]):
        return Pace(0.0, rough, range_)
    at_first = max((looks.T[1] - looks.T[0] + max(drive.reach * drive.by[0] for drive in drives)) / range_, SHARE)
    growth = -math.log(min(at_first, 1.0)) if any(drive.moves_off for drive in drives) else 0.0
    return Pace(float(np.sum(turns)), rough, range_, tuple(looks.bounds.tolist()), tuple(turned.tolist()), growth)


def _turns(drives: Sequence[_Drive], range_: float, looks: _Looks) -> np.ndarray:
    """∫ω dt over each part of the run. range_: of all temperatures, K.

    When temperatures begin to differ, the range so far is next to nothing, which makes ω much larger. But as the range
    grows, ω falls, so that ∫ω dt is larger by no more than the logarithm of that growth: by 16 where the range begins
    at the least one that errors are measured by."""
    third = np.max([drive.third for drive in drives], axis=0)
    so_far = looks.T[1] - looks.T[0] + np.max([drive.reach * drive.by for drive in drives], axis=0)
    so_far = np.maximum(so_far, SHARE * range_)
    turns = looks.spans * np.cbrt(third / range_)
    at_first = looks.spans * np.cbrt(third / so_far[:-1])
    return np.asarray(turns + np.minimum(np.maximum(at_first - turns, 0.0), np.diff(np.log(so_far))))


def runs_away(made: Discretisation, end: float) -> bool:
    """Whether a source depends on T in another way than linearly. Then it shows only during the run how fast
    temperatures change: they may run away, or come to a temperature at which a thermostat switches.

    Where a source is linear in T and temperatures grow, errors grow too, by which steps may become much shorter; that
    counts as well."""
    return growth(made, end) > _GROWS or any(not _is_affine(f.tree) for f in made.sources if f.depends_on("T"))


def growth(made: Discretisation, end: float) -> float:
    """∫ (∂q/∂T)/ρc dt of a run until `end` at its first temperatures, where sources give most for a higher one: this is
    the logarithm of the factor by which temperatures grow if no heat gets away. They make as many turns."""
    low, high = (float(value) for value in (np.min(made.T0), np.max(made.T0)))
    times = end * ((np.arange(_TIMES) + 1) * GOLDEN % 1.0)
    return end * float(np.mean([fastest_growth(made, float(t), low, max(high, low + 1.0)) for t in times]))


def _is_affine(tree: Node) -> bool:
    """Whether an expression is a + bT, with a and b that do not depend on T."""
    try:
        slope = directional(tree, {"T": ONE})
    except ValueError:
        return False
    return "T" not in names_in(slope) and not any(jumping(tree, "T"))


def _of_edges(made: Discretisation, looks: _Looks) -> Iterator[_Drive]:
    pieces = [(piece, *_seen(piece, looks)) for piece in made.edges.pieces]
    outside = [
        first if piece.kind == TEMPERATURE else second for piece, _, first, second in pieces if piece.kind != FLUX
    ]
    most = max([looks.T[1], *map(np.max, outside)]) - min([looks.T[0], *map(np.min, outside)])
    for piece, points, first, second in pieces:
        depth = made.dx if piece.points[0] < 2 * made.ny else made.dy
        if piece.kind == FLUX:
            yield _of_flux(piece.first, points, first, depth, looks)
        elif piece.kind == TEMPERATURE:
            yield _of_temperature(piece.first, points, first, 2.0, depth, looks)
        else:
            h = coefficient(piece, first, max(looks.T[1], float(np.max(second))))
            beta = float(convective_beta(np.array(h), np.array(looks.k), np.array(depth)))
            yield _of_temperature(piece.second, points, second, beta, depth, looks)
            if piece.first.depends_on("t"):
                scale = float(most) * h / max(float(np.max(first)), 1e-300)
                yield _of_flux(piece.first, points, first, depth, looks, scale)


def _seen(piece: Piece, looks: _Looks) -> tuple[Points, np.ndarray, np.ndarray]:
    """A few points of an edge, and the values of the condition's data there."""
    points = edge_places(piece, looks.end, _POINTS, lambda f, points: _values(f, points, looks))
    return points, _values(piece.first, points, looks), _values(piece.second, points, looks)


def coefficient(piece: Piece, first: np.ndarray, hottest: float) -> float:
    """The largest heat transfer coefficient of a piece of an edge, W/(m² K)."""
    largest = float(np.max(first))
    return 4.0 * 5.67e-8 * largest * abs(hottest) ** 3 if piece.kind == RADIATION else largest


def _of_temperature(f: Expression, points: Points, u: np.ndarray, beta: float, depth: float, looks: _Looks) -> _Drive:
    rate = beta * looks.alpha / depth**2
    second, third = _derivatives(f, points, looks)
    moves = float(np.max(np.ptp(u, axis=0)))
    omega = np.cbrt(np.max(third) / moves) if moves > 0 else 0.0
    deep = max(depth, math.sqrt(looks.alpha / omega)) if omega > 0 else depth
    response = np.minimum(third, rate * second * (0.5 * beta + (1.0 - 0.5 * beta) * depth / deep))
    rests = max(float(np.max(u)), looks.T[1]) - min(float(np.min(u)), looks.T[0]) - moves
    mean = float(np.max(np.abs(looks.mean(u) - np.mean(looks.T))))
    follows = min(1.0, rate / omega) if omega > 0 else 1.0
    reach = max(moves * follows, min(1.0, rate * looks.end) * max(rests, mean))
    heights = _heights(f, points, looks) * -np.expm1(-rate * looks.gaps)
    by = looks.share(u - np.mean(looks.T))
    return _Drive(np.max(response, axis=1), reach, by, heights, _moves_between_changes(u, looks))


def _moves_between_changes(values: np.ndarray, looks: _Looks) -> bool:
    """Whether data change at other times than those at which they jump."""
    after = np.searchsorted(looks.changes, looks.at)
    return bool(np.any(np.diff(values, axis=0)[np.diff(after) == 0]))


def _of_flux(f: Expression, points: Points, q: np.ndarray, depth: float, looks: _Looks, scale: float = 1.0) -> _Drive:
    """The effect of a heat flux f on cells. scale: the flux in W/m² for one unit of f."""
    second, _ = _derivatives(f, points, looks)
    moves = float(np.max(np.ptp(q, axis=0)))
    omega = np.sqrt(second / moves) if moves > 0 else np.zeros_like(second)
    deep = np.maximum(depth, np.sqrt(looks.alpha / np.maximum(omega, 1.0 / looks.end)))
    lasting = max(depth, math.sqrt(looks.alpha * looks.end))
    mean = float(np.max(np.abs(looks.mean(q))))
    often = max(_often(second, moves, looks), 1.0 / looks.end)
    swing = min(moves / often, 2.0 * looks.swing(q)) / (looks.rho_c * max(depth, math.sqrt(looks.alpha / often)))
    reach = mean * looks.end / (looks.rho_c * lasting) + 0.5 * swing
    warmed = looks.gaps / (looks.rho_c * np.maximum(depth, np.sqrt(looks.alpha * looks.gaps)))
    heights = _heights(f, points, looks) * warmed
    third, by = np.max(scale * second / (looks.rho_c * deep), axis=1), looks.share_of_integral(q)
    return _Drive(third, scale * reach, by, scale * heights)


def _of_sources(made: Discretisation, looks: _Looks) -> Iterator[_Drive]:
    plate, T = made.nx * made.dx * made.ny * made.dy, float(np.mean(looks.T))
    for f in made.sources:
        points, share = source_places(f, made, T, looks.end, _ACROSS, lambda f, points: _values(f, points, looks))
        q = _values(f, points, looks)
        if not np.any(q):
            continue  # the source is 0 at the temperatures and places that are looked at
        area = share * plate  # what these places stand for
        second, third = _derivatives(f, points, looks)
        mean, moves = looks.mean(q), float(np.max(np.ptp(q, axis=0)))
        sizes = np.abs(q)
        width = area * float(np.max(np.mean(sizes, axis=1))) / max(float(np.max(sizes)), 1e-300)
        spreads = width / looks.alpha if looks.alpha > 0 else math.inf
        reach = share * abs(float(np.mean(mean))) * looks.end + float(np.max(np.abs(mean))) * min(looks.end, spreads)
        often = max(_often(second, moves, looks), 1.0 / spreads, 1.0 / looks.end)
        reach += min(0.5 * moves / often, looks.swing(q))
        moving = any(names_in(part) & {"x", "y"} for part in jumping(f.tree, "t"))
        share = _MOVING_ROUGHENS if moving else _ROUGHENS
        heights = share * _heights(f, points, looks) * np.minimum(looks.gaps, spreads)
        response = np.minimum(second, third * spreads)
        third, by = np.max(response, axis=1) / looks.rho_c, looks.share_of_integral(q)
        yield _Drive(third, reach / looks.rho_c, by, heights / looks.rho_c)


def _often(second: np.ndarray, moves: float, looks: _Looks) -> float:
    """The ω of data that change by `moves`: √(|f''|/moves), with the root mean square of |f''| over the run. second:
    |f''|, (times, points)."""
    squares = float(looks.spans @ np.max(second / moves, axis=1) ** 2) if moves > 0 else 0.0
    return float((squares / looks.end) ** 0.25)


def _values(f: Expression, points: Points, looks: _Looks) -> np.ndarray:
    """The values of f at all times looked at, (times, points)."""
    return np.broadcast_to(f(**points, t=looks.at[:, None]), (looks.at.size, len(points["x"])))


def _derivatives(f: Expression, points: Points, looks: _Looks) -> tuple[np.ndarray, np.ndarray]:
    """|f''| and |f'''|, (times, points); for one point only if f is the same at all points."""
    if not f.names - {"t"}:
        points = {name: values[:1] for name, values in points.items()}
    n = len(points["x"])
    if not f.depends_on("t"):
        return np.zeros((looks.times.size, n)), np.zeros((looks.times.size, n))
    h = looks.end * _LENGTHS
    t = looks.times[:, None, None] + h[:, None] * _CORNERS
    smooth = (t[..., 0] >= 0) & (t[..., -1] <= looks.end)
    smooth &= np.searchsorted(looks.changes, t[..., 0], "right") == np.searchsorted(looks.changes, t[..., -1], "left")
    v = np.broadcast_to(f(**points, t=np.clip(t, 0.0, looks.end)[..., None]), (*t.shape, n))
    least = _ROUNDING * np.max(np.abs(v), axis=(0, 1, 2))
    a, b, c, d = (v[:, :, i] for i in range(4))
    found = []
    for order, difference in ((2, 0.5 * ((d - c) - (b - a))), (3, (d - 3 * c) + (3 * b - a))):
        size = np.abs(difference)
        size = np.where(smooth[..., None] & (size > least), size, 0.0)
        found.append(np.max(size / h[:, None] ** order, axis=1))
    return found[0], found[1]


def _heights(f: Expression, points: Points, looks: _Looks) -> np.ndarray:
    """By how much f jumps at most at each of the times that are looked at; where f kinks, by how much it changes until
    the next of these times because of the kink. Where f depends on place, something may jump between the points; a jump
    that none of them shows counts like the largest one."""
    if not f.depends_on("t") or not looks.jumps.size:
        return np.zeros(looks.jumps.size)
    small = np.full(looks.jumps.size, BESIDE * looks.end)
    near = small + _NEAR * looks.gaps
    at = looks.jumps[:, None] + np.stack([-near - small, -small, small, near + small], axis=1)
    v = f(**points, t=np.clip(at, 0.0, looks.end)[..., None])
    v = np.broadcast_to(v, (*at.shape, len(points["x"])))
    kinks = np.abs((v[:, 3] - v[:, 2]) - (v[:, 1] - v[:, 0])) * (looks.gaps / near)[:, None]
    found = np.max(np.abs(v[:, 2] - v[:, 1]) + kinks, axis=1)
    if f.depends_on("x") or f.depends_on("y"):
        found[found == 0] = np.max(found)
    return found


def _few(values: np.ndarray) -> np.ndarray:
    """Some of the values of a field of cells."""
    found = distinct(values)
    return found[:: 1 + found.shape[0] // math.isqrt(_MOST_CELLS), :: 1 + found.shape[1] // math.isqrt(_MOST_CELLS)]

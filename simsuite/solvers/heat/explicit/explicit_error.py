"""An estimate, before a run, of the error that its explicit steps will make.

Forward Euler solves dT/dt = F as if it were off by Δt/2 d²T/dt², so that its error is Δt/2 ∫ S(t - s) d²T/dt² ds, where
S(t) is the operator that describes the effect of diffusion on a field in a time t (Hairer, Nørsett & Wanner, Solving
ODEs I, 2nd ed., 1993, section II.3). With steady data d²T/dt² = A S F(0): the error is at most

    Δt/2 max |F(0)|    and    0.27 Δt/t of the range for each mode, which decays as e^(-λt)

at a time t, whichever is less; the range is as wide as sources and given fluxes may make it. Data that move make rates
of change of their own: those of edge temperatures, and of what sources give each second, which do not grow under
diffusion. Data are looked at in some cells, spread evenly, and in those where they change most, which may be few; at
equidistant times, on both sides of their jumps and kinks and between two of these, and where they have peaks: a pulse,
however short, may be all that happens.

Where conductivities depend on T, rates of change may become larger by as much as a conductivity does, and decay more
slowly by as much: the estimate is multiplied by the square of the ratio of its largest value to its least one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from simsuite.core import BESIDE, Clock
from simsuite.solvers.heat.grid.discretisation import Discretisation, faces
from simsuite.solvers.heat.grid.edges import CONVECTION, FLUX, RADIATION, TEMPERATURE, at_points
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.acting_cells import acting_cells, edge_points, source_cells

_MODE = 0.27  # the largest value of (λt)²/2 e^(-λt)
# the number of times at which data that move are looked at, and the largest such number
_LOOKS, _MOST_LOOKS = 1025, 1 << 16
# the places of looks between two jumps or kinks of data, as shares of the time between them
_BETWEEN = np.array([0.4, 0.01, 0.7, 0.99])
_MANY = 4096  # With more jumps and kinks than that, only the first of these places is used.
_STEPS_TO_HALF = 8  # the number of steps until a cell has gone half the way to the temperature of the edge beside it
_MOST_CELLS = 1 << 20  # the most cells whose rates are computed, but for some where more is to be expected
# the numbers of points along an edge, and of cells along each axis, at which data that move are looked at
_AT_EDGE, _ACROSS = 16, 12
_ACTING = 16  # the number of points or cells beside these, in which data change most, or are largest


def explicit_error(
    made: Discretisation, clock: Clock, frames: Sequence[float], longest: float, peaks: Sequence[float] = ()
) -> float | None:
    """An estimate for the largest error at the frames, K; None where nothing is known of it. longest: time between two
    looks at data by which these are seen to go up and down, s. peaks: times on the flanks of peaks of smooth data. The
    times at which they jump or kink are the clock's."""
    end, dt = clock.times[-1], max(clock.dt(step) for step in clock.steps[:-1])
    if any(f.depends_on("T") for f in made.sources):
        return None
    first = min((t for t in frames if t > 0), default=end)
    with np.errstate(all="ignore"):
        low, high = made.reach(made.edges.looks(end), end)
        rough = min(0.5 * dt * _largest_rate(made), _MODE * dt / first * (high - low))
        looks = min(_LOOKS + math.ceil(end / longest), _MOST_LOOKS)
        error = rough + 0.5 * dt * _driving(made, end, looks, clock.changes, peaks)
        if made.law is not None and math.isfinite(error):
            error = min(error * _spread(made, (low, high)) ** 2, high - low)
    return float(error) if math.isfinite(error) else None


def _spread(made: Discretisation, bounds: tuple[float, float]) -> float:
    """The ratio of the largest conductivity to the least one that a cell may have at temperatures between two bounds,
    K."""
    most: list[np.ndarray] = []
    least: list[np.ndarray] = []
    for _, *pair in made.conductivities(bounds):
        k = [distinct(a) for a in pair]
        most = [np.maximum(a, b) for a, b in zip(most or k, k)]
        least = [np.minimum(a, b) for a, b in zip(least or k, k)]
    return max(float(np.max(a / b, where=~np.isnan(a / b), initial=1.0)) for a, b in zip(most, least))


def least_range(made: Discretisation, clock: Clock) -> float:
    """The least range that the temperatures surely come to, K. It is the range at the start; or half of the difference
    between an edge temperature and the cell beside it, if that is more, since the cell has gone half the way after some
    explicit steps."""
    found = float(np.ptp(distinct(made.T0)))
    if clock.end >= _STEPS_TO_HALF:
        at_edges = at_points(made.T0, made.T0).astype(np.float64)
        given, _ = made.edges.data(0.0)
        difference = np.abs(given - at_edges)[made.edges.kinds == TEMPERATURE]
        found = max(found, 0.5 * float(np.max(difference, initial=0.0)))
    return found


def _largest_rate(made: Discretisation) -> float:
    """The largest |dT/dt| at the start, K/s, in as many rows as can be computed quickly: some, spread evenly, and those
    where sources are largest or temperatures differ most from one cell to the next."""
    at_edges = at_points(made.T0, made.T0).astype(np.float64)
    beta, gamma = made.edges.coefficients(0.0, made.edge_k(), at_edges)
    left, right, bottom, top = np.split(gamma - beta * at_edges, np.cumsum([made.ny, made.ny, made.nx]))
    height = max(1, _MOST_CELLS // (8 * made.nx))
    stride = height * max(1, made.nx * made.ny // _MOST_CELLS)
    firsts = set(range(0, made.ny, stride))
    if stride > height:
        firsts |= {max(0, row - 1) // height * height for row in _telling_rows(made)}
    largest = 0.0
    for y in sorted(firsts):
        rows = slice(y, min(made.ny, y + height))
        outside = (left[rows], right[rows], bottom, top)
        largest = max(largest, float(np.max(np.abs(_rates(made, rows, outside)), initial=0.0)))
    return largest


def _telling_rows(made: Discretisation) -> Iterator[int]:
    """The numbers of rows in which sources are largest at the start, and of those in which initial temperatures differ
    most from one cell to the next."""
    for f in made.sources:
        yield from map(int, acting_cells(f, made, 0.0, 0.0, _ACTING, by_size=True).rows)
    T = distinct(made.T0)
    for axis in (0, 1):
        if T.shape[axis] > 1 and T.shape[0] > 1:
            steps = np.max(np.abs(np.diff(T, axis=axis)), axis=1)
            yield from map(int, np.argsort(-steps, kind="stable")[:_ACTING])


def _rates(made: Discretisation, rows: slice, outside: Sequence[np.ndarray]) -> np.ndarray:
    """dT/dt at the start in some rows, without the exchange across a periodic edge at the bottom or top. outside:
    differences to the ghosts at all edges."""
    first, last = rows.start, rows.stop
    near = slice(max(0, first - 1), min(made.ny, last + 1))
    kx, ky, held, T = (np.asarray(a[near], np.float64) for a in (made.kx, made.ky, made.held, made.T0))
    gx, gy = faces(kx, held > 0, made.wrap_x), faces(ky.T, held.T > 0, False).T
    along_x = np.zeros((T.shape[0], made.nx + 1))
    along_x[:, 1:-1] = gx[:, 1:-1] * np.diff(T, axis=1)
    around = gx[:, 0] * (T[:, 0] - T[:, -1])
    inner = slice(first - near.start, last - near.start)
    if made.wrap_x:
        along_x[:, 0] = along_x[:, -1] = around
    else:
        along_x[inner, 0], along_x[inner, -1] = -gx[inner, 0] * outside[0], gx[inner, -1] * outside[1]
    along_y = np.zeros((T.shape[0] + 1, made.nx))
    along_y[1:-1] = gy[1:-1] * np.diff(T, axis=0)
    if first == 0 and not made.wrap_y:
        along_y[0] = -gy[0] * outside[2]
    if last == made.ny and not made.wrap_y:
        along_y[-1] = gy[-1] * outside[3]
    heat = np.diff(along_x, axis=1) / made.dx**2 + np.diff(along_y, axis=0) / made.dy**2
    x, y = made.centres
    for f in made.sources:
        heat = heat + f(x=x, y=y[near], t=0.0, T=T)
    return np.asarray((heat * made.inverse_capacity[near])[inner])


def _looks(end: float, looks: int, changes: Sequence[float], peaks: Sequence[float]) -> np.ndarray:
    """The times at which data that move are looked at: so many equidistant ones, and others where data change or
    peak."""
    ends = np.concatenate([[0.0], np.sort(np.array(changes, float)), [end]])
    many = ends.size > _MANY
    inside = ends[:-1] + np.diff(ends) * _BETWEEN[: 1 if many else None, None]
    beside = np.add.outer([-BESIDE * end, 0.0, BESIDE * end], [] if many else ends[1:-1])
    times = (np.linspace(0.0, end, looks), inside.ravel(), beside.ravel(), np.array(peaks, float))
    return np.unique(np.clip(np.concatenate(times), 0.0, end))


def _driving(made: Discretisation, end: float, looks: int, changes: Sequence[float], peaks: Sequence[float]) -> float:
    """The largest rate at which temperatures outside change, K/s, plus the total variation over the run of the rate at
    which sources and given fluxes heat cells, K/s."""
    t = _looks(end, looks, changes, peaks)
    # a jump does not go on at the rate that its difference suggests
    gaps = np.maximum(np.diff(t), end / looks)[:, None]

    def moves(values: np.ndarray) -> np.ndarray:
        return np.abs(np.diff(values.reshape(t.size, -1), axis=0))

    total = 0.0
    rate = 0.0
    for piece in made.edges.pieces:
        for f in (piece.first, piece.second):
            if f.depends_on("t"):
                few = edge_points(f, piece, end, _AT_EDGE, _ACTING)
                values = np.broadcast_to(f(x=piece.x[few], y=piece.y[few], t=t[:, None]), (len(t), len(piece.x[few])))
                if f is piece.first and piece.kind in (CONVECTION, RADIATION):
                    return math.inf
                if piece.kind == FLUX:
                    depth = made.dx if piece.points[0] < 2 * made.ny else made.dy
                    capacity = float(np.min(distinct(made.rho_c)))
                    total += float(np.max(np.sum(moves(values), axis=0))) / (capacity * depth)
                else:
                    rate = max(rate, float(np.max(moves(values) / gaps)))
    for f in made.sources:
        if f.depends_on("t"):
            x, y = source_cells(f, made, end, 0.0, _ACROSS, _ACTING)
            values = np.broadcast_to(f(x=x, y=y, t=t[:, None], T=0.0), (len(t), len(x)))
            total += float(np.max(np.sum(moves(values), axis=0))) / float(np.min(distinct(made.rho_c)))
    return total + rate

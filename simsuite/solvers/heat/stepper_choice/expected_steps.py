"""About how many steps a run takes that controls their error.

The number of steps is in proportion to the turns that a solution makes because its data move or jump (see
`rates_of_change`) and because it starts out rough. Of everything else that `control` goes by, four things change the
number most:

A plate at rest. Where the temperature of an edge moves away from that of the plate, the range of temperatures, by which
errors are measured, begins at next to nothing and grows as t^1.5, and so ω = 0.72/t: that makes OF_GROWTH turns for
each growth by a factor of e.

Errors that a plate keeps. Where heat comes in as a flux, by convection or from a source, or where the conductivity
depends on T, errors of the same sign add up for as long as the plate keeps heat, and steps become shorter as soon as
their sum is near the tolerance. Each error must then be up to MOST_CLOSE times less; the geometric mean of that and 1
is the limit here, since errors of alternating signs cancel, and `many_more` tells how many more steps there may be.
Errors at an edge of given temperature get lost in it.

Rounding. An error that may consist of it, of ROUNDING units in the last place, does not make steps shorter. So no steps
are as short as a tolerance asks for that is less than what follows from such an error.

Conductivities that jump at a temperature, as that of soil where it freezes. The conductivity jumps in one cell after
the other while that temperature moves over the plate, and each of these jumps counts as a jump of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simsuite.expressions.changes import jumping
from simsuite.solvers.heat.error_control.control import KAPPA, LASTING, MOST_CLOSE, ROUNDING
from simsuite.solvers.heat.error_control.control_state import SAFETY
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import FLUX, TEMPERATURE, Piece
from simsuite.solvers.heat.grid.sampling import distinct
from simsuite.solvers.heat.time_scales.acting_cells import edge_points
from simsuite.solvers.heat.time_scales.rates_of_change import Pace, coefficient

# the number of steps at a tolerance of 1 for each turn of moving data
OF_TURNS = {"rkl2": 0.42, "adi": 0.2, "rkl2+adi": 0.33}
# the number of steps at a tolerance of 1 for each turn after jumps of data
OF_JUMPS = {"rkl2": 0.28, "adi": 0.2, "rkl2+adi": 0.28}
KEPT = 0.033  # what the errors that a plate keeps come to for each turn, as a share of the tolerance
OF_GROWTH = 0.48  # turns for each growth by a factor of e of temperatures that grow from nothing: 0.72/1.5
_SLOWEST = math.pi**2 / 4  # κ L²/α of the mode that decays slowest, where heat leaves at one end of a length L
_LEVELS = 257  # the number of temperatures at which conductivities are looked at
_MOST_CELLS = 32  # the most cells along each axis in which conductivities are looked at
# A change from one temperature to the next counts as a jump if it is more than this share of the largest conductivity.
_JUMP = 0.1
# the number of times at which edge temperatures are looked at, to count how often they pass that of a jump
_PASSES = 8192
_POINTS = 4  # the number of points along an edge
_DEEP = 3.0  # A wave reaches the temperature of a jump at most so many of its penetration depths below the edge.


@dataclass(frozen=True)
class Steps:
    """The number of steps at a tolerance of 1: by_turns for turns of moving data, at_first to begin a run, and
    after_changes after jumps and kinks."""

    by_turns: float
    at_first: float
    after_changes: float

    @property
    def all(self) -> float:
        return self.at_first + (self.by_turns + self.after_changes)

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of all steps that go with turns of moving data and that begin the run."""
        return self.by_turns / self.all, self.at_first / self.all


def expected_steps(methods: str, tolerance: float, end: float, safe: float, times: int, pace: Pace) -> int:
    """The number of steps that follows from turns alone, as it was seen on random plates. Steppers are compared by this
    number.

    safe: largest stable explicit step, s. times: the number of times at which steps end anyway."""
    return _number(_steps(methods, end, safe, pace), tolerance, times)


def foretold_steps(
    methods: str, tolerance: float, made: Discretisation, end: float, safe: float, times: int, pace: Pace
) -> tuple[int, Steps]:
    """The number of steps that follows from everything that is told above, and the `Steps` that it consists of at a
    tolerance of 1."""
    with np.errstate(all="ignore"):
        shorter = math.sqrt(min(max(kept_errors(made, end, pace.turns), 1.0), math.sqrt(MOST_CLOSE)))
        passed = cells_passed(made, end)
        least = least_tolerance(methods, made, end, pace.range)
    steps = _steps(methods, end, safe, pace)
    by_turns = shorter * steps.by_turns + OF_JUMPS[methods] * passed
    # Where rounding sets the lengths of steps, their number is smaller by the cube root of the range so far.
    seen = 3.0 + 1.5 * math.log(max(tolerance / least, 1.0)) if least > 0 else math.inf
    at_first = steps.at_first + OF_TURNS[methods] * max(OF_GROWTH * min(pace.growth, seen) - pace.turns, 0.0)
    steps = Steps(by_turns, at_first, steps.after_changes)
    return _number(steps, max(tolerance, least), times), steps


def _steps(methods: str, end: float, safe: float, pace: Pace) -> Steps:
    rough = 1.0 + 0.15 * math.log(max(end / safe, 1.0)) if math.isfinite(safe) else 1.0
    return Steps(OF_TURNS[methods] * pace.turns, 0.7 * rough, OF_JUMPS[methods] * pace.rough)


def _number(steps: Steps, tolerance: float, times: int) -> int:
    return math.ceil(steps.all / math.sqrt(tolerance)) + times


def least_tolerance(methods: str, made: Discretisation, end: float, range_: float) -> float:
    """The tolerance that is met by steps whose estimated errors are as large as those that may be rounding. range_: the
    range of the temperatures, K."""
    if range_ <= 0:
        return 0.0
    method = "adi" if methods == "adi" else "rkl2"
    hottest = max(map(abs, made.temperatures(made.edges.looks(end))))
    error = ROUNDING * float(np.finfo(made.T0.dtype).eps) * hottest
    return min(LASTING[method] / SAFETY * KAPPA[method] ** (1 / 3) * (error / range_) ** (2 / 3), 1.0)


def kept_errors(made: Discretisation, end: float, turns: float) -> float:
    """What errors of the same sign add up to, in units of the tolerance, if steps do not become shorter because of
    that."""
    return KEPT * turns * kept_share(made, end)


def kept_share(made: Discretisation, end: float) -> float:
    """For which share of a run a plate keeps errors of the same sign, if anything makes such errors; else 0."""
    feeding = any(f.depends_on("t") for f in made.sources) or made.law is not None
    feeding = feeding or any(_moves(piece) and piece.kind != TEMPERATURE for piece in made.edges.pieces)
    return min(1.0, memory(made) / end) if feeding else 0.0


def many_more(made: Discretisation, end: float) -> float:
    """The factor by which steps may be more than foretold because errors of the same sign are kept for the whole run:
    then each of them may have to be MOST_CLOSE times less for most of it."""
    return math.sqrt(MOST_CLOSE) if kept_share(made, end) == 1.0 else 1.0


def memory(made: Discretisation) -> float:
    """For how long a plate keeps heat, s, until it loses it at edges of given temperature, of convection or of
    radiation."""
    k, rho_c = (float(np.mean(distinct(a))) for a in (made.kx, made.rho_c))
    hottest = max(map(abs, made.temperatures([0.0])))
    found = [math.inf]
    for piece in made.edges.pieces:
        if piece.kind == FLUX:
            continue
        length = made.nx * made.dx if piece.points[0] < 2 * made.ny else made.ny * made.dy
        through = 0.0
        if piece.kind != TEMPERATURE:
            h = coefficient(piece, piece.first(x=piece.x, y=piece.y, t=0.0), hottest)
            through = rho_c * length / h if h > 0 else math.inf
        found.append(rho_c * length**2 / (_SLOWEST * k) + through if k > 0 else through)
    return min(found)


def _moves(piece: Piece) -> bool:
    return piece.first.depends_on("t") or piece.second.depends_on("t")


def cells_passed(made: Discretisation, end: float) -> float:
    """How many cells are passed by temperatures at which the conductivity jumps, as these move inwards from an edge
    through one row of cells after another. A cell counts each time that it is passed."""
    levels = _jumps_of_law(made, end)
    if not levels.size:
        return 0.0
    alpha = float(np.mean(distinct(made.kx)) / np.mean(distinct(made.rho_c)))
    return max((_passed(made, piece, levels, alpha, end) for piece in made.edges.pieces if _moves(piece)), default=0.0)


def jumps_without_number(made: Discretisation, end: float) -> bool:
    """Whether a conductivity jumps at a temperature that comes up. Cells may then stay at that temperature, with a jump
    in every step."""
    if made.law is None or not any(jumping(f.tree, "T") for f in (made.law.along_x, made.law.along_y)):
        return False
    with np.errstate(all="ignore"):
        return _jumps_of_law(made, end).size > 0


def _passed(made: Discretisation, piece: Piece, levels: np.ndarray, alpha: float, end: float) -> float:
    f = {FLUX: None, TEMPERATURE: piece.first}.get(piece.kind, piece.second)
    if f is None:
        return 0.0
    few = edge_points(f, piece, end, _POINTS, _POINTS)
    t = np.linspace(0.0, end, _PASSES)[:, None]
    u = np.broadcast_to(f(x=piece.x[few], y=piece.y[few], t=t), (_PASSES, len(piece.x[few])))
    across = piece.points[0] < 2 * made.ny
    cells, size = (made.nx, made.dx) if across else (made.ny, made.dy)
    return sum(_of_level(u, level, alpha, end, cells, size) for level in levels)


def _of_level(u: np.ndarray, level: float, alpha: float, end: float, cells: int, size: float) -> float:
    """How many cells are passed by the temperature `level` of a jump. u: temperatures at points of an edge,
    (times, points)."""
    passes = int(np.max(np.count_nonzero(np.diff(u > level, axis=0), axis=0)))
    if not passes:
        return 0.0
    # penetration depth √(2α/ω) of a wave that passes so often
    depth = math.sqrt(2.0 * alpha * end / (math.pi * passes))
    away = abs(level - float(np.mean(u)))
    half = 0.5 * float(np.max(np.ptp(u, axis=0)))
    deep = min(math.log(half / away), _DEEP) if half > away > 0 else _DEEP if half > away else 0.0
    return passes * min(float(cells), 1.0 + deep * depth / size)


def _jumps_of_law(made: Discretisation, end: float) -> np.ndarray:
    """The temperatures, K, at which the conductivity of some cell jumps, or changes as steeply as in a jump."""
    if made.law is None:
        return np.zeros(0)
    low, high = made.temperatures(made.edges.looks(end))
    T = np.linspace(low, high, _LEVELS)[:, None, None]
    x, y = made.centres
    k = np.stack([np.broadcast_to(values, (_LEVELS, *values.shape[1:])) for values in _laws(made, x, y, T)])
    change = np.max(np.abs(np.diff(k, axis=1)), axis=(0, 2, 3))
    steep = change > _JUMP * float(np.max(np.abs(k)))
    first = steep & ~np.append(False, steep[:-1])
    return 0.5 * (T[:-1, 0, 0] + T[1:, 0, 0])[first]


def _laws(made: Discretisation, x: np.ndarray, y: np.ndarray, T: np.ndarray) -> Iterator[np.ndarray]:
    """Conductivities along x and along y of some cells, (temperatures, ny, nx)."""
    assert made.law is not None
    names = {"x": _some(np.atleast_2d(x)), "y": _some(np.atleast_2d(y)), "which": _some(distinct(made.law.which))}
    shape = np.broadcast_shapes(*(values.shape for values in names.values()))
    for f, k in ((made.law.along_x, made.kx), (made.law.along_y, made.ky)):
        few = _some(distinct(k))
        whole = np.broadcast_shapes(shape, few.shape)
        yield np.broadcast_to(f(**names, T=T, k=few), (len(T), *whole))


def _some(values: np.ndarray) -> np.ndarray:
    """Every few rows and columns of a field of cells, so that at most about _MOST_CELLS along each axis are left."""
    rows, columns = (1 + n // _MOST_CELLS for n in values.shape)
    return values[::rows, ::columns]

"""Data of a heat scenario that are NaN or infinite: at the start, or at some time later in the run.

Edges are looked at at the start, as sources are elsewhere (`statement`). What depends on time is looked at in some
cells at irregular times, which meet every span of time that is not very short, and at frames. Since steps end at
frames, even a single moment counts there, such as t = 50 in `1/(t - 50)`. Sources that depend on T are looked at at the
start only, as nobody knows later temperatures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.expressions.undefined import undefined
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import CONVECTION, RADIATION, Piece
from simsuite.solvers.heat.grid.faces import faces_of
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.schedule import frame_times
from simsuite.words import cell_in_words

_LOOKS = 32  # the number of irregular times at which data are looked at, and the most frames
_POINTS = 256  # the most points along an edge that are looked at after the start
_CELLS = 32  # the most cells along each axis that are looked at after the start
_HALVINGS = 50  # how often the time between two looks is halved in search of the first moment
_HOTTEST = 1e300  # the highest temperature that is considered where temperatures grow without bound
_TOO_COLD = (
    "nothing outside the {} edge is cold enough for that solution: take a larger emissivity there, or another kind"
)

Path = tuple[str | int, ...]


@dataclass(frozen=True, eq=False)
class _Data:
    """A function of place and time, and the points where it counts.

    x, y: the points, as arrays that broadcast. path: the place of the function's text in the scenario. name: the
    function's name in words. free: which points count. columns, rows: the columns and rows of the cells whose centres
    the points are; None at an edge. help: what to do if the function is not finite, where that does not follow from the
    expression."""

    path: Path
    name: str
    f: Expression
    x: np.ndarray
    y: np.ndarray
    free: np.ndarray
    columns: np.ndarray | None = None
    rows: np.ndarray | None = None
    help: str = ""

    def bad(self, t: float) -> np.ndarray:
        """For each point, whether the function is not finite there at time t."""
        return np.asarray(~np.isfinite(self.f(x=self.x, y=self.y, t=t)) & self.free)

    def place(self, t: float) -> str:
        """Says where the first point is at which the function is not finite at time t, and which value it has there."""
        x, y, bad = np.broadcast_arrays(*map(np.atleast_2d, (self.x, self.y, self.bad(t))))
        j, i = np.argwhere(bad)[0]
        value = float(self.f(x=x[j, i], y=y[j, i], t=t))
        if self.columns is None or self.rows is None:
            return f"{value:g} at x = {x[j, i]:g} m, y = {y[j, i]:g} m"
        return f"{value:g} in {cell_in_words(self.columns[i], self.rows[j])}"


@dataclass(frozen=True)
class NotFinite:
    """A condition or source that is not finite at some time.

    path, name: its place in the scenario, and its name in words. text: its value, where, and when. help: why it is not
    finite, and what to do. t: when that begins, s. lasts: whether that is so for some time, and not only for a moment.
    """

    path: Path
    name: str
    text: str
    help: str
    t: float
    lasts: bool

    @property
    def message(self) -> str:
        """The message for users. Data that follow from a manufactured solution have no place of their own in the
        scenario, so that their message begins with their name."""
        return f"{self.name} is {self.text}" if self.path[0] == "reference" else f"is not finite: it is {self.text}"


def not_finite(scenario: HeatScenario, made: Discretisation) -> list[NotFinite]:
    """For every condition of an edge and every source, the first moment at which it is known not to be finite."""
    end = scenario.time.end or 0.0
    found = []
    for data in _edges(scenario, made, 1):
        if np.any(data.bad(0.0)):
            found.append(_found(data, 0.0, True, made, end))
    if scenario.time.steady or found:
        return found
    stride = max(1, max(made.nx, made.ny) // _POINTS)
    looks = end * ((np.arange(_LOOKS) + (np.arange(_LOOKS) + 1) * GOLDEN % 1.0) / _LOOKS)
    frames = np.array(frame_times(scenario.output, end))
    frames = frames[:: 1 + frames.size // _LOOKS]
    for data in (*_edges(scenario, made, stride), *_sources(scenario, made)):
        if data.f.depends_on("t"):
            bad = [float(t) for t in looks if np.any(data.bad(t))]
            if bad:
                before = max((float(t) for t in looks if t < bad[0]), default=0.0)
                found.append(_found(data, _first(data, before, bad[0]), True, made, end))
            elif moments := [float(t) for t in frames if np.any(data.bad(t))]:
                found.append(_found(data, moments[0], False, made, end))
    return found


def not_finite_mistakes(scenario: HeatScenario, made: Discretisation) -> list[Mistake]:
    """The mistakes among what `not_finite` finds: data that are not finite in such a way that a run cannot get to its
    end."""
    early = scenario.time.steady_tolerance > 0.0  # a run that ends at a steady state may end before data are not finite
    return [
        Mistake(one.path, one.message, one.help)
        for one in not_finite(scenario, made)
        if one.t == 0.0 or (one.lasts and not early)
    ]


def not_finite_warnings(scenario: HeatScenario, made: Discretisation) -> list[str]:
    """A sentence for each datum that is not finite at some time, but is no mistake in `not_finite_mistakes`."""
    return [
        f"{one.name} is {one.text}: a run whose steps come to that moment may end there with NaN; {one.help}"
        for one in not_finite(scenario, made)
    ]


def _found(data: _Data, t: float, lasts: bool, made: Discretisation, end: float) -> NotFinite:
    shown = "at the start" if t == 0.0 else f"at t = {t:.6g} s"
    if lasts and t > 0.0 and not np.any(data.bad(float(f"{t:.6g}"))):
        shown = f"just after t = {t:.6g} s"  # as a root of (5000 - t), which is 0 at 5000 s
    help = data.help or why_undefined(data.f, made, end, data.columns is None) or "check its expression"
    return NotFinite(data.path, data.name, f"{data.place(t)} {shown}", help, t, lasts)


def why_undefined(f: Expression, made: Discretisation, end: float, at_edge: bool = False) -> str:
    """Which part of an expression may not be a finite number at some time until `end`, at any temperature, and what to
    do about it; an empty text where that is not known."""
    parts = undefined(f.tree, _ranges(made, end, at_edge))
    return f"it has {' and '.join(parts[:2])}: keep it from that, as by max(.., 1e-9)" if parts else ""


def _ranges(made: Discretisation, end: float, at_edge: bool) -> dict[str, tuple[float, float]]:
    """The ranges of the variables x, y, t and T. Those of x and y go from the first to the last cell, or from edge to
    edge if `at_edge`; T may be any temperature."""
    x, y = (a.ravel() for a in made.centres)
    if at_edge:
        x, y = np.array([0.0, made.nx * made.dx]), np.array([0.0, made.ny * made.dy])
    places = {"x": (float(x[0]), float(x[-1])), "y": (float(y[0]), float(y[-1]))}
    return {**places, "t": (0.0, end), "T": (-_HOTTEST, _HOTTEST)}


def _first(data: _Data, good: float, bad: float) -> float:
    """The first moment between the times `good` and `bad` at which the data are not finite; the start, if they are not
    finite from there on."""
    if good == 0.0 and np.any(data.bad(good)):
        return good
    for _ in range(_HALVINGS):
        middle = good + (bad - good) / 2
        good, bad = (good, middle) if np.any(data.bad(middle)) else (middle, bad)
    return bad


def _edges(scenario: HeatScenario, made: Discretisation, stride: int) -> Iterator[_Data]:
    for piece in (*made.edges.pieces, *faces_of(scenario).pieces):
        keys = ("h" if piece.kind == CONVECTION else "emissivity", "ambient")
        if piece.kind not in (CONVECTION, RADIATION):
            keys = ("value", "")
        x, y = piece.x[::stride], piece.y[::stride]
        for key, f in zip(keys, (piece.first, piece.second)):
            if f.names:
                at_edge = len(piece.path) > 1
                where = f"the {piece.path[1]} edge" if at_edge else "the faces"
                name, free = f"`{key}` of {where}", np.ones(x.shape, bool)
                derived = scenario.manufactured and piece.kind == RADIATION and at_edge
                help = _TOO_COLD.format(piece.path[1]) if derived else ""
                yield _Data(_path(scenario, piece, key), name, f, x, y, free, help=help)


def _path(scenario: HeatScenario, piece: Piece, key: str) -> Path:
    """The place in the scenario of a key of an edge's condition; data that follow from a manufactured solution have no
    place of their own."""
    derived = scenario.manufactured and key in ("value", "ambient") and piece.path[0] == "boundary"
    return ("reference", "temperature") if derived else (*piece.path, key)


def _sources(scenario: HeatScenario, made: Discretisation) -> Iterator[_Data]:
    heating, stride = made.heating, max(1, max(made.nx, made.ny) // _CELLS)
    columns, rows = np.arange(0, made.nx, stride), np.arange(0, made.ny, stride)
    x, y = made.centres[0][columns], made.centres[1][rows]
    free = ~np.broadcast_to(made.held, (made.ny, made.nx))[::stride, ::stride]
    for i, f in enumerate(made.sources):
        if not f.depends_on("T"):
            own = i < len(heating)
            path: Path = heating[i].path if own else ("reference", "temperature")
            name = heating[i].words if own else "the source of the manufactured solution"
            yield _Data(path, name, f, x, y, free, columns, rows)

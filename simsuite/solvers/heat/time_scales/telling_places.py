"""A few places at which data of edges and sources are looked at, that stand for all of them.

They are spread evenly, unless data are twice as large, or change by twice as much, somewhere between them: then they
are the places where that is so, since a source may act in a single row of cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from simsuite.expressions import Expression
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import Piece
from simsuite.solvers.heat.grid.irregular import GOLDEN
from simsuite.solvers.heat.time_scales.acting_cells import acting_cells, edge_points

Points: TypeAlias = Mapping[str, np.ndarray]
Values: TypeAlias = Callable[[Expression, Points], np.ndarray]

_ACTING = 8  # the most places at which data change most, and the number of times at which they are largest or least
_TOLD = 0.5  # share of what is seen at any place that evenly spread ones show, if they tell enough


def edge_places(piece: Piece, end: float, evenly: int, values: Values) -> Points:
    """About so many points of a piece of an edge, or in their place those where its data change most, and those where
    they are largest or least. values: those of a function at some points, (times, points)."""
    data = piece.first, piece.second
    few = np.arange(0, len(piece.x), -(-len(piece.x) // evenly))
    all_ = [edge_points(f, piece, end, evenly, _ACTING) for f in data]
    all_ += [_outermost(f, piece, end) for f in data if f.depends_on("x") or f.depends_on("y")]
    some, more = ({"x": piece.x[at], "y": piece.y[at]} for at in (few, np.unique(np.concatenate(all_))))
    enough = all(np.ptp(values(f, some)) >= _TOLD * np.ptp(values(f, more)) for f in data)
    return some if enough else more


def _outermost(f: Expression, piece: Piece, end: float) -> np.ndarray:
    """The numbers of the points of a piece of an edge at which f is largest or least at some time."""
    t = end * np.append(0.0, (np.arange(_ACTING) + 1) * GOLDEN % 1.0)[:, None]
    found = np.broadcast_to(f(x=piece.x, y=piece.y, t=t), (t.size, len(piece.x)))
    return np.unique([np.argmax(found, axis=1), np.argmin(found, axis=1)])


def source_places(
    f: Expression, made: Discretisation, T: float, end: float, across: int, values: Values
) -> tuple[Points, float]:
    """About so many cells along each axis, or in their place some in which a source changes most or is largest, and the
    share of the plate that these stand for. T: the temperature at which it is looked at, K. values: as above."""
    x, y = (a.ravel() for a in made.centres)

    def at(x: np.ndarray, y: np.ndarray) -> Points:
        return {"x": x, "y": y, "T": np.full(x.size, T)}

    some = at(*(a.ravel() for a in np.meshgrid(*(a[:: -(-a.size // across)] for a in (x, y)))))
    size, change = _size_and_change(values(f, some))
    for by_size in (False, True):
        found = acting_cells(f, made, end, T, _ACTING, by_size)
        if found.rows.size:
            cells = at(x[found.columns], y[found.rows])
            larger, changing = _size_and_change(values(f, cells))
            if _TOLD * larger > size or _TOLD * changing > change:
                return cells, found.share
    return some, 1.0


def _size_and_change(q: np.ndarray) -> tuple[float, float]:
    return float(np.max(np.abs(q))), float(np.max(np.ptp(q, axis=0)))

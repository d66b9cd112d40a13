"""Cells in which a source changes, and points at which an edge does, however few they are and however short it takes.

A source that acts in a few cells is missed by cells that are spread evenly, and one that acts for a short part of a run
by times that are. Interval arithmetic bounds its values over the whole run at once, first in blocks of cells, then in
the cells of those blocks whose bounds are furthest apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.edges import Piece

_BLOCKS = 64  # the most blocks along each axis
_OPENED = 16  # the number of blocks whose cells are looked at
_ALIKE = 0.5  # share of the largest difference between bounds, or of the largest one, from which on cells count


@dataclass(frozen=True)
class ActingCells:
    """Cells in which a source changes most, or is largest. rows, columns: of some of them, spread over all. share: of
    the plate that all of them cover."""

    rows: np.ndarray
    columns: np.ndarray
    share: float


def acting_cells(
    f: Expression, made: Discretisation, end: float, T: float, most: int, by_size: bool = False
) -> ActingCells:
    """At most so many cells in which a source changes most from 0 to `end`, or is largest if `by_size`, as far as
    bounds tell. T: the temperature at which it is looked at, K."""
    x, y = (a.ravel() for a in made.centres)
    rows, columns = np.arange(y.size), np.arange(x.size)
    blocks = 1.0  # the share of the plate that blocks cover which act
    if max(x.size, y.size) > _BLOCKS:
        firsts = [np.arange(0, a.size, -(-a.size // _BLOCKS)) for a in (y, x)]
        lasts = [np.append(first[1:], a.size) - 1 for first, a in zip(firsts, (y, x))]
        (low_y, low_x), (high_y, high_x) = ([y[i], x[j]] for i, j in (firsts, lasts))
        acts = _acts(f, (low_x, high_x), (low_y[:, None], high_y[:, None]), end, T, by_size)
        blocks = np.count_nonzero(_alike(acts)) / acts.size
        opened = np.argsort(-acts, axis=None, kind="stable")[:_OPENED]
        pairs = [
            (i, j)
            for row, column in zip(*np.unravel_index(opened, acts.shape))
            for i in range(firsts[0][row], lasts[0][row] + 1)
            for j in range(firsts[1][column], lasts[1][column] + 1)
        ]
        rows, columns = np.array(pairs).T
    else:
        rows, columns = (a.ravel() for a in np.meshgrid(rows, columns, indexing="ij"))
    found = np.flatnonzero(_alike(_acts(f, (x[columns],) * 2, (y[rows],) * 2, end, T, by_size)))
    some = _spread(found, most)
    return ActingCells(rows[some], columns[some], blocks * found.size / rows.size)


def acting_points(f: Expression, x: np.ndarray, y: np.ndarray, end: float, T: float, most: int) -> np.ndarray:
    """The numbers of at most so many points (x, y) at which data change most from 0 to `end`, as `acting_cells` has it
    of cells."""
    return _spread(np.flatnonzero(_alike(_acts(f, (x, x), (y, y), end, T, False))), most)


def edge_points(f: Expression, piece: Piece, end: float, evenly: int, most: int) -> np.ndarray:
    """The numbers of about `evenly` points of a piece of an edge, spread evenly, and of at most so many at which f
    changes most."""
    few = np.arange(0, len(piece.x), -(-len(piece.x) // evenly))
    return np.append(few, acting_points(f, piece.x, piece.y, end, 0.0, most)) if f.depends_on("t") else few


def source_cells(
    f: Expression, made: Discretisation, end: float, T: float, evenly: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """x and y, m, of cells: about `evenly` along each axis, spread evenly, and at most so many in which f changes
    most."""
    x, y = (a.ravel() for a in made.centres)
    xs, ys = (a.ravel() for a in np.meshgrid(*(a[:: -(-a.size // evenly)] for a in (x, y))))
    found = acting_cells(f, made, end, T, most)
    return np.append(xs, x[found.columns]), np.append(ys, y[found.rows])


def _spread(found: np.ndarray, most: int) -> np.ndarray:
    """At most so many of these numbers, from the first to the last one."""
    return found[np.unique(np.linspace(0, found.size - 1, most).astype(int))] if found.size else found


def _alike(acts: np.ndarray) -> np.ndarray:
    """Where numbers count as the largest one."""
    return np.asarray((acts >= _ALIKE * np.max(acts, initial=0.0)) & (acts > 0))


def _acts(
    f: Expression,
    x: tuple[np.ndarray, np.ndarray],
    y: tuple[np.ndarray, np.ndarray],
    end: float,
    T: float,
    by_size: bool,
) -> np.ndarray:
    """How far apart the bounds of a source from 0 to `end` are in each of some boxes, or how large the larger one is if
    `by_size`; finite."""
    shape = np.broadcast_shapes(x[0].shape, y[0].shape)
    point, run = np.full(1, T), (np.zeros(1), np.full(1, end))
    bounds = bounds_within(f.tree, {"x": x, "y": y, "T": (point, point), "t": run}, infinite=True)
    with np.errstate(all="ignore"):
        lower, upper = (np.broadcast_to(bound, shape) for bound in bounds)
        acts = np.maximum(np.abs(lower), np.abs(upper)) if by_size else upper - lower
    return np.asarray(np.minimum(np.nan_to_num(acts, posinf=1e300, neginf=0.0), 1e300))

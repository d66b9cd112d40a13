"""Cells in which a source changes, and points at which an edge does, however few they are and however short it takes.

A source that acts in a few cells is missed by cells that are spread evenly, and one that acts for a short part of a run
by times that are. Interval arithmetic bounds its values over the whole run at once, first in blocks of cells, then in
the cells of those blocks whose bounds are furthest apart."""

from __future__ import annotations

import numpy as np

from simsuite.expressions import Expression
from simsuite.expressions.intervals import bounds_within
from simsuite.solvers.heat.grid.discretisation import Discretisation

_BLOCKS = 64  # the most blocks along each axis
_OPENED = 16  # the number of blocks whose cells are looked at
_ALIKE = 0.5  # share of the largest difference between bounds from which on cells count as those that change most


def acting_cells(f: Expression, made: Discretisation, end: float, T: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of at most so many cells in which a source changes most from 0 to `end`, as far as bounds tell,
    spread over all such cells. T: the temperature at which it is looked at, K."""
    x, y = (a.ravel() for a in made.centres)
    rows, columns = np.arange(y.size), np.arange(x.size)
    if max(x.size, y.size) > _BLOCKS:
        firsts = [np.arange(0, a.size, -(-a.size // _BLOCKS)) for a in (y, x)]
        lasts = [np.append(first[1:], a.size) - 1 for first, a in zip(firsts, (y, x))]
        (low_y, low_x), (high_y, high_x) = ([y[i], x[j]] for i, j in (firsts, lasts))
        apart = _apart(f, (low_x, high_x), (low_y[:, None], high_y[:, None]), end, T)
        blocks = np.argsort(-apart, axis=None, kind="stable")[:_OPENED]
        pairs = [
            (i, j)
            for row, column in zip(*np.unravel_index(blocks, apart.shape))
            for i in range(firsts[0][row], lasts[0][row] + 1)
            for j in range(firsts[1][column], lasts[1][column] + 1)
        ]
        rows, columns = np.array(pairs).T
    else:
        rows, columns = (a.ravel() for a in np.meshgrid(rows, columns, indexing="ij"))
    found = acting_points(f, x[columns], y[rows], end, T, most)
    return rows[found], columns[found]


def acting_points(f: Expression, x: np.ndarray, y: np.ndarray, end: float, T: float, most: int) -> np.ndarray:
    """The numbers of at most so many points (x, y) at which data change most from 0 to `end`, as `acting_cells` has it
    of cells."""
    apart = _apart(f, (x, x), (y, y), end, T)
    found = np.flatnonzero((apart >= _ALIKE * np.max(apart, initial=0.0)) & (apart > 0))
    return found[np.unique(np.linspace(0, found.size - 1, most).astype(int))] if found.size else found


def _apart(
    f: Expression, x: tuple[np.ndarray, np.ndarray], y: tuple[np.ndarray, np.ndarray], end: float, T: float
) -> np.ndarray:
    """How far apart the bounds of a source from 0 to `end` are in each of some boxes; finite."""
    shape = np.broadcast_shapes(x[0].shape, y[0].shape)
    point, run = np.full(1, T), (np.zeros(1), np.full(1, end))
    lower, upper = bounds_within(f.tree, {"x": x, "y": y, "T": (point, point), "t": run}, infinite=True)
    with np.errstate(all="ignore"):
        apart = np.nan_to_num(np.broadcast_to(upper, shape) - np.broadcast_to(lower, shape), posinf=1e300, neginf=0.0)
    return np.asarray(np.minimum(apart, 1e300))

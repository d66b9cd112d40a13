"""Cells that a table marks, as a part of expressions: 1 in them and 0 in the others.

A point belongs to the cell that it lies in; points on the line between two cells belong to the one to the right or
above, and points outside the grid to the nearest cell."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from simsuite.expressions.tree import Marked


def marked(cells: np.ndarray, dx: float, dy: float) -> Marked:
    """The function of x and y that is 1 in the marked cells of a grid. cells: (ny, nx), bool, y upwards. dx, dy: the
    size of a cell; the corner of the first one is at (0, 0)."""
    cells = np.ascontiguousarray(cells, bool)
    counts = np.zeros((cells.shape[0] + 1, cells.shape[1] + 1), np.int64)
    counts[1:, 1:] = cells.cumsum(axis=0).cumsum(axis=1)
    about = repr((cells.shape, dx, dy)).encode()
    return Marked(hashlib.sha256(about + np.packbits(cells).tobytes()).hexdigest()[:16], cells, counts, dx, dy)


def mark_at(node: Marked, x: Any, y: Any) -> np.ndarray:
    """1 or 0 at points, which broadcast."""
    ny, nx = node.cells.shape
    return np.asarray(node.cells[_cell(y, node.dy, ny), _cell(x, node.dx, nx)], np.float64)


def marks_within(
    node: Marked, x: tuple[np.ndarray, np.ndarray], y: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value in boxes, which are given by their lower and upper bounds."""
    ny, nx = node.cells.shape
    (low_x, high_x), (low_y, high_y) = (
        (_cell(ends[0], delta, n), _cell(ends[1], delta, n) + 1)
        for ends, delta, n in ((x, node.dx, nx), (y, node.dy, ny))
    )
    c = node.counts
    count = c[high_y, high_x] - c[low_y, high_x] - c[high_y, low_x] + c[low_y, low_x]
    return 1.0 * (count == (high_x - low_x) * (high_y - low_y)), 1.0 * (count > 0)


def _cell(at: Any, delta: float, n: int) -> np.ndarray:
    return np.asarray(np.clip(np.nan_to_num(np.floor(np.asarray(at) / delta)), 0, n - 1).astype(np.int64))

"""Which points are in a rectangle, a circle or a polygon. All shapes are closed: points on the outline belong to them.

Whether a point is on the outline is not left to rounding: one that is outside by no more than `outline_margin` counts
as a point on the outline."""

from __future__ import annotations

import math

import numpy as np

from simsuite.scenario.heat.shapes import CircleShape, RectangleShape, Shape


def inside_shape(x: np.ndarray, y: np.ndarray, shape: Shape, margin: float) -> np.ndarray:
    """Which points are in a shape or on its outline, (ny, nx). x: (nx,) and y: (ny, 1), both ascending, m."""
    if isinstance(shape, RectangleShape):
        return _between(x, shape.x, margin) & _between(y, shape.y, margin)
    if isinstance(shape, CircleShape):
        return (x - shape.center[0]) ** 2 + (y - shape.center[1]) ** 2 <= (shape.radius + margin) ** 2
    sides = list(zip(shape.points, shape.points[1:] + shape.points[:1]))
    inside = _even_odd(x, y, sides)
    for a, b in sides:
        _add_side(inside, x, y, a, b, margin)
    return inside


def _between(x: np.ndarray, interval: list[float], margin: float) -> np.ndarray:
    return (interval[0] - margin <= x) & (x <= interval[1] + margin)


def _even_odd(x: np.ndarray, y: np.ndarray, sides: list[tuple[list[float], list[float]]]) -> np.ndarray:
    """Which points are in a polygon, by the even-odd rule: a ray from the point to the right crosses the sides an odd
    number of times (M. Shimrat, Algorithm 112, 1962)."""
    inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
    for (x0, y0), (x1, y1) in sides:
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            inside ^= crosses & (x < x0 + (y - y0) * ((x1 - x0) / (y1 - y0)))
    return inside


def _add_side(inside: np.ndarray, x: np.ndarray, y: np.ndarray, a: list[float], b: list[float], margin: float) -> None:
    """Mark the points that are within the margin of the side from a to b."""
    columns, rows = _span(x, a[0], b[0], margin), _span(y.ravel(), a[1], b[1], margin)
    u, v = x[columns] - a[0], y[rows] - a[1]
    along, up = b[0] - a[0], b[1] - a[1]
    length = math.hypot(along, up)
    away = np.abs(u * up - v * along) if length > 0 else np.hypot(u, v)
    inside[rows, columns] |= away <= margin * (length if length > 0 else 1.0)


def _span(x: np.ndarray, a: float, b: float, margin: float) -> slice:
    """The slice of ascending numbers x that are between a and b, or outside by no more than the margin."""
    return slice(*np.searchsorted(x, [min(a, b) - margin, max(a, b) + margin]))

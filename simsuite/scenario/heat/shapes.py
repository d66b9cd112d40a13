"""Shapes in the plate, which `[[region]]` and `[[source]]` share. All are closed: the outline belongs to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field

from simsuite.scenario.common import Positive, Section
from simsuite.scenario.types import mistake
from simsuite.scenario.units import LENGTH, Unit

_MARGIN = 4e-12  # the margin as a share of the larger side of the plate


def outline_margin(lx: float, ly: float) -> float:
    """The distance from a shape, m, up to which points outside count as on its outline, on a plate of that size: far
    above rounding and far below the size of a cell. So the same shape has the same cells however it is written, and a
    shape that is symmetric on the grid gets symmetric cells."""
    return _MARGIN * max(lx, ly)


def _ascending(interval: list[float]) -> list[float]:
    if not interval[0] < interval[1]:
        raise mistake((), f"must go upwards, but {interval[0]:g} is not less than {interval[1]:g}", "write [from, to]")
    return interval


Pair: TypeAlias = Annotated[list[float], Field(min_length=2, max_length=2)]
Interval: TypeAlias = Annotated[Pair, AfterValidator(_ascending)]
OTHER_SHAPES = {
    **dict.fromkeys(("square", "box", "rect"), 'write "rectangle", with x = [from, to], y = [from, to]'),
    **dict.fromkeys(("disk", "disc"), 'write "circle", with center and radius'),
}
SHAPES_FROM_FILES = {
    **dict.fromkeys(("triangle", "ellipse", "ring"), 'write "polygon", with points, or "mask", with file'),
    **dict.fromkeys(("image", "picture", "array", "file"), 'write "mask", with file'),
}


class RectangleShape(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"x": LENGTH, "y": LENGTH}

    shape: Literal["rectangle"] = Field(description="all between two x and two y")
    x: Interval = Field(description="from where to where: [from, to], m from the left edge")
    y: Interval = Field(description="from where to where: [from, to], m from the bottom edge")

    def misses(self, lx: float, ly: float) -> bool:
        """Whether it is wholly outside a domain of that size, in m."""
        return self.x[1] <= 0 or self.x[0] >= lx or self.y[1] <= 0 or self.y[0] >= ly


class CircleShape(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"center": LENGTH, "radius": LENGTH}

    shape: Literal["circle"] = Field(description="all within a distance of a point")
    center: Pair = Field(description="where its centre is: [x, y], m from the left and bottom edges")
    radius: Positive = Field(description="distance of its edge from its centre, m")

    def misses(self, lx: float, ly: float) -> bool:
        """Whether it is wholly outside a domain of that size, in m."""
        x, y = self.center
        return math.hypot(max(-x, 0, x - lx), max(-y, 0, y - ly)) >= self.radius


class PolygonShape(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"points": LENGTH}

    shape: Literal["polygon"] = Field(description="all inside a polygon")
    points: Annotated[list[Pair], Field(min_length=3)] = Field(
        description="its corners in order, [[x, y], ..], m from the left and bottom edges"
    )

    def misses(self, lx: float, ly: float) -> bool:
        """Whether it is wholly outside a domain of that size, in m: clipped to the domain, nothing is left.

        I. E. Sutherland, G. W. Hodgman, Reentrant polygon clipping, Commun. ACM 17, 32 (1974).
        """
        points = self.points
        for axis, side, bound in ((0, 1, 0.0), (0, -1, lx), (1, 1, 0.0), (1, -1, ly)):
            points = _clipped(points, axis, side, bound)
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return not points or min(xs) == max(xs) or min(ys) == max(ys)


Shape: TypeAlias = RectangleShape | CircleShape | PolygonShape


def _clipped(points: list[list[float]], axis: int, side: int, bound: float) -> list[list[float]]:
    """What a polygon has above (side 1) or below (side -1) a bound of one coordinate."""
    kept = []
    for a, b in zip(points, points[1:] + points[:1]):
        u, v = side * (a[axis] - bound), side * (b[axis] - bound)
        if u >= 0:
            kept.append(a)
        if (u >= 0) != (v >= 0):
            crossing = [p + (q - p) * u / (u - v) for p, q in zip(a, b)]
            crossing[axis] = bound
            kept.append(crossing)
    return kept

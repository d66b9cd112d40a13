"""`[[region]]`: parts of the domain of another material, or held at a temperature. Later ones win."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, field_validator, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import Positive
from simsuite.scenario.heat.material import MATERIAL_KEYS, THREE, Material, MaterialKeys, Part, array_or_image
from simsuite.scenario.types import FileName, NumberOrExpression, mistake
from simsuite.scenario.units import LENGTH, TEMPERATURE, Unit


def _ascending(interval: list[float]) -> list[float]:
    if not interval[0] < interval[1]:
        raise mistake((), f"must go upwards, but {interval[0]:g} is not less than {interval[1]:g}", "write [from, to]")
    return interval


_UNCHANGED = "a region is held at a temperature that does not change: write a number or an expression in x and y"
Pair: TypeAlias = Annotated[list[float], Field(min_length=2, max_length=2)]
Interval: TypeAlias = Annotated[Pair, AfterValidator(_ascending)]
Held: TypeAlias = Annotated[
    Expression,
    NumberOrExpression("x", "y", notes=tuple((name, _UNCHANGED) for name in ("t", "T"))),
]


class RegionKeys(MaterialKeys):
    """What regions of all shapes can say."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"temperature": TEMPERATURE}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "shape": {
            **dict.fromkeys(("square", "box", "rect"), 'write "rectangle", with x = [from, to], y = [from, to]'),
            **dict.fromkeys(("disk", "disc"), 'write "circle", with center and radius'),
            **dict.fromkeys(("triangle", "ellipse", "ring"), 'write "polygon", with points, or "mask", with file'),
            **dict.fromkeys(("image", "picture", "array", "file"), 'write "mask", with file'),
        }
    }

    temperature: Held | None = Field(
        None, description="K (or °C): what the region is held at; number or expression in x, y; excludes material keys"
    )

    @model_validator(mode="after")
    def _sets_something(self) -> RegionKeys:
        if self.temperature is not None and self.material_keys:
            key = self.material_keys[0]
            help = "a region that is held at a temperature has no material: leave one of them out"
            raise mistake((key,), f"`temperature` and `{key}` exclude each other", help, on_key=True)
        if self.temperature is None and not self.material_keys:
            raise mistake((), "this region sets nothing", f"give temperature or some of {', '.join(MATERIAL_KEYS)}")
        return self

    @property
    def k_parts(self) -> tuple[Part, Part] | None:
        """Conductivity or diffusivity along x and along y; None where the region leaves it as it is."""
        return self.conducting_parts()


class Rectangle(RegionKeys):
    measured_in: ClassVar[Mapping[str, Unit]] = {"x": LENGTH, "y": LENGTH}

    shape: Literal["rectangle"] = Field(description="all between two x and two y")
    x: Interval = Field(description="from where to where: [from, to], m from the left edge")
    y: Interval = Field(description="from where to where: [from, to], m from the bottom edge")

    def misses(self, lx: float, ly: float) -> bool:
        """Whether it is wholly outside a domain of that size, in m."""
        return self.x[1] <= 0 or self.x[0] >= lx or self.y[1] <= 0 or self.y[0] >= ly


class Circle(RegionKeys):
    measured_in: ClassVar[Mapping[str, Unit]] = {"center": LENGTH, "radius": LENGTH}

    shape: Literal["circle"] = Field(description="all within a distance of a point")
    center: Pair = Field(description="where its centre is: [x, y], m from the left and bottom edges")
    radius: Positive = Field(description="distance of its edge from its centre, m")

    def misses(self, lx: float, ly: float) -> bool:
        """Whether it is wholly outside a domain of that size, in m."""
        x, y = self.center
        return math.hypot(max(-x, 0, x - lx), max(-y, 0, y - ly)) >= self.radius


class Polygon(RegionKeys):
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


class Mask(RegionKeys):
    shape: Literal["mask"] = Field(description="all that a file marks")
    file: FileName = Field(
        description="array of shape (ny, nx) in a .npy file, the region being where it is not 0, or picture stretched "
        "over the domain, the region being where it is bright (grey level at least 128); relative to the scenario file"
    )

    @field_validator("file")
    @classmethod
    def _array_or_image(cls, file: str) -> str:
        return array_or_image(file)

    def path(self, base: Path) -> Path:
        """Where the file is. base: the directory that relative names start from."""
        return base / self.file

    def misses(self, lx: float, ly: float) -> bool:
        """It covers the domain, whatever its size."""
        return False


Region: TypeAlias = Annotated[Rectangle | Circle | Polygon | Mask, Field(discriminator="shape")]


def region_mistakes(regions: list[Region], material: Material, lx: float, ly: float) -> list[Mistake]:
    """Regions outside a domain of lx by ly m, and such that do not go with `[material]`."""
    found = []
    for i, region in enumerate(regions):
        if region.misses(lx, ly):
            message = f"this {region.shape} covers nothing of the domain"
            found.append(Mistake(("region", i), message, f"x goes from 0 to {lx:g}, y from 0 to {ly:g} (m)"))
        for key in region.material_keys:
            if material.alone != (key == "diffusivity"):
                other, given = ("diffusivity", "that") if material.alone else (", ".join(THREE), "these")
                message = (
                    f"`{key}` does not go with the {'diffusivity' if material.alone else 'conductivity'} in [material]"
                )
                help = f"[material] gives {other}, so a region may change only {given}"
                found.append(Mistake(("region", i, key), message, help, on_key=True))
    return found

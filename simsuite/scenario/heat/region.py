"""`[[region]]`: parts of the domain of another material, or held at a temperature. Later ones win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat.mask import MaskShape
from simsuite.scenario.heat.material import MATERIAL_KEYS, THREE, Material, MaterialKeys, Part
from simsuite.scenario.heat.shapes import OTHER_SHAPES, SHAPES_FROM_FILES, CircleShape, PolygonShape, RectangleShape
from simsuite.scenario.types import NumberOrExpression, mistake
from simsuite.scenario.units import TEMPERATURE, Unit

_UNCHANGED = "a region is held at a temperature that does not change: write a number or an expression in x and y"
Held: TypeAlias = Annotated[
    Expression,
    NumberOrExpression("x", "y", notes=tuple((name, _UNCHANGED) for name in ("t", "T"))),
]


class RegionKeys(MaterialKeys):
    """What regions of all shapes can say."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"temperature": TEMPERATURE}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "shape": {
            **OTHER_SHAPES,
            **SHAPES_FROM_FILES,
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


class Rectangle(RectangleShape, RegionKeys):
    pass


class Circle(CircleShape, RegionKeys):
    pass


class Polygon(PolygonShape, RegionKeys):
    pass


class Mask(MaskShape, RegionKeys):
    pass


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

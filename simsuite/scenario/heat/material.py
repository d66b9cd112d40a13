"""`[material]`, and the coefficients of which it and each `[[region]]` are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field, ValidationInfo, field_validator, model_validator

from simsuite.expressions import Expression
from simsuite.scenario.common import Positive, Section
from simsuite.scenario.heat import foreign
from simsuite.scenario.similar_names import IMAGES
from simsuite.scenario.types import FileName, FileRef, NumberOrExpression, mistake
from simsuite.scenario.units import CONDUCTIVITY, DENSITY, DIFFUSIVITY, SPECIFIC_HEAT, Unit

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_GREY = re.compile(r"\d{1,3}")


def is_image(file: str) -> bool:
    """Whether a file's name is that of a picture."""
    return PurePath(file).suffix.lower() in IMAGES


def array_or_image(file: str) -> str:
    """The name of a file of cells, if it can be one. Raises `FieldMistake`."""
    if not is_image(file) and PurePath(file).suffix.lower() != ".npy":
        raise mistake(
            (), f"cannot tell what {file!r} holds", f"an array ends in .npy, a picture in {', '.join(IMAGES)}"
        )
    return file


class ImageRef(Section):
    """A picture that is stretched over the domain, its colours standing for values."""

    file: FileName = Field(description="picture (.png, .jpg, .bmp, .gif, .tif), relative to the scenario file")
    values: Annotated[dict[str, Positive], Field(min_length=1)] = Field(
        description="what colours or grey levels stand for, in the unit of the key that the picture is given for: "
        'values = {"#ff0000" = 45.0, "128" = 1.0}'
    )

    @field_validator("file")
    @classmethod
    def _array_or_image(cls, file: str) -> str:
        return array_or_image(file)

    @field_validator("values")
    @classmethod
    def _for_pictures(cls, values: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        file = info.data.get("file")
        if file is not None and not is_image(file):
            raise mistake(
                (), "`values` goes with pictures only", f'an array has its own: {{file = "{file}"}}', None, True
            )
        seen: dict[tuple[int, int, int], str] = {}
        for name in values:
            colour = _colour(name)
            if colour is None:
                help = 'write "#rrggbb", or a grey level from "0" to "255"'
                raise mistake((name,), f"`{name}` is neither a colour nor a grey level", help, on_key=True)
            if colour in seen:
                raise mistake((name,), f"`{name}` is the same colour as `{seen[colour]}`", on_key=True)
            seen[colour] = name
        return values

    @property
    def colours(self) -> dict[tuple[int, int, int], float]:
        """The value of each colour: red, green and blue from 0 to 255, all alike for a grey level."""
        named = ((_colour(name), value) for name, value in self.values.items())
        return {colour: value for colour, value in named if colour is not None}


def _colour(name: str) -> tuple[int, int, int] | None:
    if _COLOUR.fullmatch(name):
        return int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16)
    if _GREY.fullmatch(name) and name.isascii() and int(name) <= 255:
        return int(name), int(name), int(name)
    return None


class ArrayRef(FileRef):
    """A file with one number a cell."""

    file: FileName = Field(description="array of shape (ny, nx) in a .npy file, relative to the scenario file")

    @field_validator("file")
    @classmethod
    def _is_array(cls, file: str) -> str:
        if is_image(file):
            raise mistake((), "a picture needs `values`", 'add values = {"#ff0000" = 45.0, "128" = 1.0}')
        return array_or_image(file)


Part: TypeAlias = Expression | FileRef | ImageRef

_NO_TIME = ("t", "materials do not change with time")
_NO_TEMPERATURE = (
    "T",
    "density and specific heat are the same at all temperatures, so that the heat that is stored is ρc·T: take their "
    "means over those of the run; conductivity and diffusivity may depend on T",
)
_InPlace = Annotated[Expression, NumberOrExpression("x", "y", gt=0, notes=(_NO_TIME, _NO_TEMPERATURE))]
_InPlaceAndTemperature = Annotated[Expression, NumberOrExpression("x", "y", "T", gt=0, notes=(_NO_TIME,))]

Capacity: TypeAlias = _InPlace | ImageRef | ArrayRef
Coefficient: TypeAlias = _InPlaceAndTemperature | ImageRef | ArrayRef
Conducting: TypeAlias = Coefficient | Annotated[list[Coefficient], Field(min_length=2, max_length=2)]

THREE = ("conductivity", "density", "specific_heat")
HOW = "give either diffusivity, or conductivity, density and specific_heat"
_FORMS = "number, expression in x, y{}, {{file = 'k.npy'}} or {{file = 'map.png', values = {{..}}}}"
_PAIR = _FORMS.format(", T") + "; [along x, along y] if orthotropic"


class MaterialKeys(Section):
    """What `[material]` and a `[[region]]` can say of a material."""

    measured_in: ClassVar[Mapping[str, Unit]] = {
        "diffusivity": DIFFUSIVITY,
        "conductivity": CONDUCTIVITY,
        "density": DENSITY,
        "specific_heat": SPECIFIC_HEAT,
    }
    expected_keys: ClassVar[Mapping[str, str]] = foreign.MATERIAL

    diffusivity: Conducting | None = Field(
        None, description=f"α = k/(ρc), m²/s; flux, h and sources are then divided by ρc; {_PAIR}"
    )
    conductivity: Conducting | None = Field(None, description=f"k, W/(m·K); {_PAIR}")
    density: Capacity | None = Field(None, description=f"ρ, kg/m³; {_FORMS.format('')}")
    specific_heat: Capacity | None = Field(None, description=f"c, J/(kg·K); {_FORMS.format('')}")

    @property
    def material_keys(self) -> tuple[str, ...]:
        """The material keys that are given."""
        return tuple(name for name in MATERIAL_KEYS if getattr(self, name) is not None)

    def material_parts(self, key: str) -> tuple[Part, ...]:
        """What the value of a material key is made of: one part, two if orthotropic, none if it is not given."""
        value = getattr(self, key)
        if value is None:
            return ()
        return tuple(value) if isinstance(value, list) else (value,)

    def conducting_parts(self) -> tuple[Part, Part] | None:
        """Conductivity or diffusivity, whichever is given, along x and along y; None if neither is."""
        parts = self.material_parts("diffusivity") or self.material_parts("conductivity")
        return (parts[0], parts[-1]) if parts else None


MATERIAL_KEYS = ("diffusivity", *THREE)


class Material(MaterialKeys):
    """Either the diffusivity alone, and then ρc counts as 1, or conductivity, density and specific heat. A steady state
    depends on the conductivity alone, so there density and specific heat may be left out."""

    @model_validator(mode="after")
    def _one_or_three(self) -> Material:
        given = [name for name in self.material_keys if name in THREE]
        if self.alone and given:
            raise mistake((given[0],), f"`diffusivity` and `{given[0]}` exclude each other", HOW, on_key=True)
        if not self.alone and self.conductivity is None:
            raise mistake((), self.incomplete or "", HOW, on_key=True)
        return self

    @property
    def incomplete(self) -> str | None:
        """Which keys a run in time needs besides those that are given, as a message; None if there are none."""
        missing = [] if self.alone else [name for name in THREE if getattr(self, name) is None]
        names = ", ".join(f"`{name}`" for name in missing)
        return f"the material is incomplete: no {names}" if missing else None

    @property
    def alone(self) -> bool:
        """Whether only the diffusivity is given; ρc counts as 1."""
        return self.diffusivity is not None

    @property
    def k_parts(self) -> tuple[Part, Part]:
        """Conductivity in W/(m·K), or diffusivity in m²/s if `alone`: along x and along y."""
        parts = self.conducting_parts()
        assert parts is not None
        return parts

    @property
    def rho_c_parts(self) -> tuple[Part, ...]:
        """What ρc in J/(m³·K) is the product of: density and specific heat, as far as they are given."""
        return tuple(part for key in self.rho_c_keys for part in self.material_parts(key))

    @property
    def rho_c_keys(self) -> tuple[str, ...]:
        """The keys of these parts."""
        return tuple(key for key in ("density", "specific_heat") if self.material_parts(key))

"""`[surface]`: heat that goes through the faces of a thin plate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from simsuite.expressions import Expression
from simsuite.scenario.common import Section
from simsuite.scenario.heat.boundary import Moving
from simsuite.scenario.types import NumberOrExpression, mistake
from simsuite.scenario.units import SHARE, TEMPERATURE, TRANSFER, Unit

_MOVING = ("x", "y", "t")
_NOT_T = ("T", "write a number or an expression in x, y and t")


class Surface(Section):
    """What flows in through each square metre of a face is h (ambient - T) + ε σ (ambient⁴ - T⁴), W/m²: the plate is so
    thin that its temperature is the same from face to face, which h · thickness / k well below 1 makes sure."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        "kind": "faces have h, emissivity or both: leave kind out",
        **dict.fromkeys(("value", "temperature", "T_inf", "t_inf"), "write `ambient`, K (or °C)"),
        "epsilon": "did you mean `emissivity`?",
    }
    measured_in: ClassVar[Mapping[str, Unit]] = {"h": TRANSFER, "ambient": TEMPERATURE, "emissivity": SHARE}

    h: Annotated[Expression, NumberOrExpression(*_MOVING, ge=0, notes=(_NOT_T,))] | None = Field(
        None, description="heat transfer coefficient of each face, W/(m²·K); number or expression in x, y, t"
    )
    emissivity: Annotated[Expression, NumberOrExpression(*_MOVING, ge=0, le=1, notes=(_NOT_T,))] | None = Field(
        None, description="ε of each face, from 0 to 1; number or expression in x, y, t"
    )
    ambient: Moving = Field(description="temperature of the surroundings, K (or °C); number or expression in x, y, t")
    faces: Literal[1, 2] = Field(2, description="through how many faces heat goes: 1 if the other is insulated")

    @model_validator(mode="after")
    def _something(self) -> Surface:
        if self.h is None and self.emissivity is None:
            raise mistake((), "no heat goes through these faces", "give h, W/(m²·K), or emissivity, or both")
        return self

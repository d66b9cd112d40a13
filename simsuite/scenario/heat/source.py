"""`[[source]]`: heat that arises in the domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, Field

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import Section
from simsuite.scenario.types import NumberOrExpression, mistake
from simsuite.scenario.units import HEAT_DENSITY, Unit


def _identifier(name: str) -> str:
    for i, character in enumerate(name):
        if not (character.isascii() and (character.isalnum() or character == "_")):
            raise mistake((), "must be made of letters a to z, digits and _", "results are named after it", column=i)
    return name


SourceName: TypeAlias = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_identifier)]


_CIRCLE = 'power = "1e6*(hypot(x - 0.5, y - 0.5) < 0.1)"'
_NO_SHAPE = (
    "a source is where its power is not 0: multiply it by comparisons, for a rectangle\n"
    'power = "1e6*(x > 0.1)*(x < 0.2)*(y > 0.1)*(y < 0.3)"\n'
    f"and for a circle {_CIRCLE}"
)


class Source(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"power": HEAT_DENSITY}
    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("shape", "region"), _NO_SHAPE),
        **dict.fromkeys(("x", "y", "center", "radius", "points"), f"goes into the expression, such as {_CIRCLE}"),
        **dict.fromkeys(("value", "heat", "q", "rate"), "W/m³ are given as power = .."),
        **dict.fromkeys(
            ("total", "total_power", "watts", "W"),
            "write power = .., in W/m³: the heat for each metre of depth, W/m, over the area where it arises, m²",
        ),
    }
    power: Annotated[Expression, NumberOrExpression("x", "y", "t", "T")] = Field(
        description="heat that arises, W/m³ (K/s if [material] gives the diffusivity alone); number or expression in "
        "x, y, t, T"
    )
    name: SourceName | None = Field(None, description="its name in the results (default source1, source2, ..)")


def source_names(sources: list[Source]) -> tuple[str, ...]:
    """The name of each source, given or by its number from 1 on."""
    return tuple(source.name or f"source{i + 1}" for i, source in enumerate(sources))


def source_mistakes(sources: list[Source]) -> list[Mistake]:
    """Mistakes about names that are given to two sources."""
    found = []
    seen: set[str] = set()
    for i, name in enumerate(source_names(sources)):
        if name in seen:
            message = f"there are two sources named `{name}`"
            found.append(Mistake(("source", i, "name"), message, "give each its own"))
        seen.add(name)
    return found

"""`[[source]]`: heat that arises in the domain, everywhere or in a shape, always or at times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import FieldMistake, NonNegative, Positive, Section
from simsuite.scenario.heat.mask import MaskShape
from simsuite.scenario.heat.shapes import OTHER_SHAPES, SHAPES_FROM_FILES, CircleShape, PolygonShape, RectangleShape
from simsuite.scenario.types import NumberOrExpression, mistake
from simsuite.scenario.units import HEAT_DENSITY, SECONDS, WATTS, Unit
from simsuite.words import closest

_ORDER = "write them in order, or as one"
MOST_CORNERS = 60  # of a polygon: each is some 40 parts of the expression that the source becomes
SURFACE = "surface"  # what the heat through the faces is called in the results


def _identifier(name: str) -> str:
    for i, character in enumerate(name):
        if not (character.isascii() and (character.isalnum() or character == "_")):
            raise mistake((), "must be made of letters a to z, digits and _", "results are named after it", column=i)
    return name


SourceName: TypeAlias = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_identifier)]


Times: TypeAlias = Annotated[list[NonNegative], Field(min_length=1, max_length=2)]

_ONLY_TIME = tuple((name, "watts are of the whole source: write a number or an expression in t") for name in "xyT")


class SourceKeys(Section):
    """What sources everywhere and in a shape can say."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("region",), "write shape, with its keys, as a [[region]] has"),
        **dict.fromkeys(("value", "heat", "q", "rate"), "W/m³ are given as power = .., and W as watts = .."),
        **dict.fromkeys(("total", "total_power", "W"), "write watts = .., W in all"),
        **dict.fromkeys(("from", "start", "begin", "switch", "times"), "write on = [[from, to], ..], s"),
    }
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "shape": {
            **OTHER_SHAPES,
            **SHAPES_FROM_FILES,
        }
    }
    measured_in: ClassVar[Mapping[str, Unit]] = {
        "power": HEAT_DENSITY,
        "watts": WATTS,
        **dict.fromkeys(("on", "ramp"), SECONDS),
    }

    power: Annotated[Expression, NumberOrExpression("x", "y", "t", "T")] | None = Field(
        None,
        description="heat that arises, W/m³ (K/s if [material] gives the diffusivity alone); number or expression in "
        "x, y, t, T",
    )
    watts: Annotated[Expression, NumberOrExpression("t", notes=_ONLY_TIME)] | None = Field(
        None,
        description="heat that arises in all, W, in place of power: spread evenly over the cells of the source; number "
        "or expression in t; needs thickness in [grid]",
    )
    on: Times | Annotated[list[Times], Field(min_length=1, max_length=1000)] | None = Field(
        None,
        description="when it acts, s: [from, to], or [[from, to], ..]; [from] is for the rest of the run (default: all "
        "the time)",
    )
    ramp: Positive | None = Field(
        None, description="how long it takes to reach its power, in a straight line, from each from and to of on, s"
    )
    name: SourceName | None = Field(None, description="its name in the results (default source1, source2, ..)")

    @model_validator(mode="after")
    def _check(self) -> SourceKeys:
        found = [*self._power_mistakes(), *self._time_mistakes()]
        if found:
            raise FieldMistake(*found)
        return self

    def _power_mistakes(self) -> Iterator[Mistake]:
        if self.power is None and self.watts is None:
            yield Mistake(("power",), "missing key `power` in [[source]]", "W/m³; or watts = .., W in all")
        if self.power is not None and self.watts is not None:
            yield Mistake(("watts",), "`power` and `watts` exclude each other", "keep one of them", on_key=True)
        if self.name == SURFACE:
            yield Mistake(("name",), f"`{SURFACE}` is the name of the heat that [surface] brings", "take another name")

    def _time_mistakes(self) -> Iterator[Mistake]:
        if self.on is None:
            if self.ramp is not None:
                help = "add on = [[from, to], ..]"
                yield Mistake(("ramp",), "there is no `on` that it belongs to", help, on_key=True)
            return
        times = self.intervals
        paths = [("on", i) if isinstance(self.on[0], list) else ("on",) for i in range(len(times))]
        for i, (path, interval) in enumerate(zip(paths, times)):
            if len(interval) == 1 and i < len(times) - 1:
                yield Mistake(path, "has no end, but others come after it", "write [from, to]")
            elif len(interval) == 2 and not interval[0] < interval[1]:
                message = f"must go upwards, but {interval[0]:g} is not less than {interval[1]:g}"
                yield Mistake(path, message, "write [from, to]")
            elif len(interval) == 2 and self.ramp is not None and interval[1] - interval[0] < self.ramp * (1 - 1e-9):
                message = f"is shorter than the ramp of {self.ramp:g} s: the source would not reach its power"
                yield Mistake(path, message)
        for path, (before, after) in zip(paths[1:], pairwise(times)):
            if len(before) == 2 and after[0] < before[1] + (self.ramp or 0.0) * (1 - 1e-9):
                ramp = ", with its ramp," if self.ramp else ""
                message = f"must begin later: at {after[0]:g} s the one in front of it{ramp} has not ended"
                yield Mistake(path, message, _ORDER)

    @property
    def intervals(self) -> list[list[float]]:
        """When it acts, [from, to] each, the last one perhaps without an end; none if it does so all the time."""
        if self.on is None:
            return []
        nested = [times for times in self.on if isinstance(times, list)]
        return nested or [[t for t in self.on if not isinstance(t, list)]]


class Source(SourceKeys):
    """A source all over the plate, as far as its power says."""


class RectangleSource(RectangleShape, SourceKeys):
    pass


class CircleSource(CircleShape, SourceKeys):
    pass


class PolygonSource(PolygonShape, SourceKeys):
    @model_validator(mode="after")
    def _few_corners(self) -> PolygonSource:
        if len(self.points) > MOST_CORNERS:
            message = f"has {len(self.points)} corners, and a source may have {MOST_CORNERS}"
            raise mistake(
                ("points",), message, "leave corners out that lie on one line, make it of several, or write a mask"
            )
        return self


class MaskSource(MaskShape, SourceKeys):
    pass


InShape: TypeAlias = Annotated[
    RectangleSource | CircleSource | PolygonSource | MaskSource, Field(discriminator="shape")
]
_SHAPES = (RectangleShape, CircleShape, PolygonShape, MaskShape)
_PLACING = list(dict.fromkeys(key for shape in _SHAPES for key in shape.model_fields))


def _extent(source: object) -> str:
    """The tag of the models that a source is meant as: one that has a key of a shape, perhaps misspelt, is in a shape,
    though other keys of it may be missing."""
    given = source if isinstance(source, Mapping) else getattr(source, "model_fields_set", ())
    known = (*Source.model_fields, *Source.expected_keys, *_PLACING)
    return "everywhere" if {*_PLACING}.isdisjoint(closest(str(key), known) for key in given) else "in a shape"


AnySource: TypeAlias = Annotated[
    Annotated[Source, Tag("everywhere")] | Annotated[InShape, Tag("in a shape")], Discriminator(_extent)
]


def source_names(sources: list[AnySource]) -> tuple[str, ...]:
    """The name of each source, given or by its number from 1 on."""
    return tuple(source.name or f"source{i + 1}" for i, source in enumerate(sources))


def source_mistakes(sources: list[AnySource], lx: float, ly: float, *, thick: bool, alone: bool) -> list[Mistake]:
    """Mistakes about names that are given to two sources, and sources that do not fit a plate of lx by ly m. thick:
    whether its thickness is given. alone: whether its material is given by the diffusivity alone."""
    found = []
    seen: set[str] = set()
    for i, (name, source) in enumerate(zip(source_names(sources), sources)):
        if name in seen:
            message = f"there are two sources named `{name}`"
            found.append(Mistake(("source", i, "name"), message, "give each its own"))
        seen.add(name)
        if not isinstance(source, Source) and source.misses(lx, ly):
            message = f"this {source.shape} covers nothing of the domain"
            found.append(Mistake(("source", i), message, f"x goes from 0 to {lx:g}, y from 0 to {ly:g} (m)"))
        if source.watts is not None and alone:
            message = "watts need to know what heat does to the material, of which only the diffusivity is given"
            found.append(
                Mistake(("source", i, "watts"), message, "give conductivity, density and specific_heat", on_key=True)
            )
        elif source.watts is not None and not thick:
            message = "watts are of the whole thickness of the plate, which is not given"
            help = "add thickness = .. to [grid], m; or write power, W/m³"
            found.append(Mistake(("source", i, "watts"), message, help, on_key=True))
    return found

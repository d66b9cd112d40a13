"""The whole of a heat scenario, and what must hold between its sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import AnyRun, FieldMistake, Output, Positive, Section
from simsuite.scenario.constants import Constants
from simsuite.scenario.heat import foreign
from simsuite.scenario.heat.boundary import EDGES, Boundary, Moving, Radiation, derived_keys, fixes_level
from simsuite.scenario.heat.grid import Grid
from simsuite.scenario.heat.heating import Heating, heating
from simsuite.scenario.heat.material import HOW, Material
from simsuite.scenario.heat.region import Region, region_mistakes
from simsuite.scenario.heat.sound_parts import sound_parts
from simsuite.scenario.heat.source import AnySource, source_mistakes
from simsuite.scenario.heat.surface import Surface
from simsuite.scenario.heat.time import Time
from simsuite.scenario.reaching import LOOKS_HEAT, HeatReaching, of_mistakes, reaching_mistakes
from simsuite.scenario.spans import Table
from simsuite.scenario.types import FileRef, Name, NumberOrExpression, Title, mistake
from simsuite.scenario.units import DIFFERENCE, LENGTH, TEMPERATURE, Unit

_ABSOLUTE = 'radiation goes by the fourth power of absolute temperatures, but units = "degC" says that all are in °C'
_IN_KELVIN = 'write units = "K" and all temperatures in K, 273.15 more than in °C'
_DERIVED = "follows from the manufactured solution"
_NO_STEADY = "leave {} out, or set steady = false in [time]"
_AT_TIME_0 = tuple((name, "the state at time 0 is a number or an expression in x and y") for name in ("T", "t"))


class Initial(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"temperature": TEMPERATURE}
    expected_keys: ClassVar[Mapping[str, str]] = foreign.INITIAL

    temperature: Annotated[Expression, NumberOrExpression("x", "y", notes=_AT_TIME_0)] | FileRef = Field(
        Expression.constant(0.0, ("x", "y")),
        description="temperature at time 0, K (or °C): number, expression in x, y, or {file = 'T0.npy'} of shape "
        "(ny, nx)",
    )


class Probe(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {
        "x": LENGTH,
        "y": LENGTH,
        "expected": TEMPERATURE,
        "within": DIFFERENCE,
    }
    expected_keys: ClassVar[Mapping[str, str]] = foreign.PROBE

    name: Name = Field(description="its name in the results")
    x: float = Field(description="where it is, m from the left edge")
    y: float = Field(description="where it is, m from the bottom edge")
    expected: float | None = Field(
        None, description="published temperature there at the end of the run, K (or °C); `simsuite verify` compares"
    )
    within: Positive | None = Field(None, description="how far the result may be from `expected`, K; needed with it")

    @model_validator(mode="after")
    def _expected_within(self) -> Probe:
        if self.expected is not None and self.within is None:
            raise mistake(
                ("expected",), "`expected` needs `within`", "add within = .., how far off is right, K", None, True
            )
        if self.within is not None and self.expected is None:
            raise mistake(
                ("within",), "`within` needs `expected`", "add expected = .., the published temperature, K", None, True
            )
        return self


class Reference(Section):
    temperature: Moving = Field(description="exact solution in x, y, t: error norms are reported against it")
    manufactured: bool = Field(
        False, description="derive initial state, boundary values and a source from it, so that it is the solution"
    )
    within: Positive | None = Field(
        None, description="largest relative_l2 error at the end of the run that `simsuite verify` lets pass"
    )


class HeatRun(AnyRun):
    precision: Literal["float64", "float32", "float32c"] = Field(
        "float64",
        description="arithmetic of the state; float32c: float32 with compensated sums, which lose no small increments "
        "(explicit stepper only)",
    )
    kernel: Literal["auto", "numba", "nvrtc"] = Field("auto", description="which GPU kernels take explicit steps")

    @property
    def compensated(self) -> bool:
        """Whether what rounding loses of the temperatures is kept and added again."""
        return self.precision == "float32c"

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers that temperatures are stored as."""
        return np.dtype("float32" if self.compensated else self.precision)


class HeatScenario(Section):
    expected_keys: ClassVar[Mapping[str, str]] = foreign.SECTIONS
    sound_parts: ClassVar = staticmethod(sound_parts)

    solver: Literal["heat"] = Field(description="the equation: ρc ∂T/∂t = ∇·(k∇T) + q on a rectangle")
    title: Title = Field("", description="shown in pictures and stored with the results")
    units: Literal["K", "degC"] = Field(
        "K",
        description="of all temperatures, in the scenario and in the results: K, or degC for °C; edges that radiate "
        "need K",
    )
    constants: Constants
    run: HeatRun = Field(HeatRun(), description="device and arithmetic")
    grid: Grid = Field(description="the rectangle and its cells")
    material: Material = Field(description="of what: diffusivity, or conductivity, density and specific_heat")
    region: list[Region] = Field(
        default_factory=list, description="parts of another material or held at a temperature; later ones win"
    )
    initial: Initial = Field(Initial(), description="the state at time 0")
    boundary: Boundary = Field(Boundary(), description="what happens at the four edges")
    source: list[AnySource] = Field(default_factory=list, description="heat that arises in the domain; all add up")
    surface: Surface | None = Field(None, description="heat that goes through the faces of a thin plate")
    probe: list[Probe] = Field(default_factory=list, description="points whose temperature is recorded")
    reaching: list[HeatReaching] = Field(
        default_factory=list, alias="event", description="temperatures to be reached, whose times are looked for"
    )
    time: Time = Field(description="end (s) at least, or steady = true; and by what method")
    reference: Reference | None = Field(None, description="what the result is compared with")
    output: Output = Field(Output(), description="what is stored, where and when")

    @model_validator(mode="after")
    def _check(self) -> HeatScenario:
        g = self.grid
        found = self._probe_mistakes()
        found += region_mistakes(self.region, self.material, g.lx, g.ly)
        thick = g.thickness is not None
        found += source_mistakes(self.source, g.lx, g.ly, thick=thick, alone=self.material.alone)
        found += self._surface_mistakes()
        found += self.boundary.pair_mistakes()
        for edge in EDGES:
            found += self.boundary.coverage_mistakes(edge, self.edge_length(edge))
        found += self._derived_mistakes()
        if self.units == "degC":
            found += self._absolute_mistakes()
        if self.time.steady:
            found += self._steady_mistakes()
        elif self.material.incomplete:
            found.append(Mistake(("material",), self.material.incomplete, HOW, on_key=True))
        if self.run.compensated:
            found += self._compensated_mistakes()
        found += reaching_mistakes(self.reaching, self.output)
        found += of_mistakes(self.reaching, [probe.name for probe in self.probe])
        if found:
            raise FieldMistake(*found)
        return self

    @model_serializer(mode="wrap")
    def _without_what_is_derived(self, handler: SerializerFunctionWrapHandler) -> Table:
        """Where the solution is manufactured, the initial state cannot be given, so its default is not written."""
        data: Table = handler(self)
        if self.manufactured:
            del data["initial"]
        return data

    @property
    def degrees(self) -> str:
        """The unit of all temperatures, as people write it."""
        return "°C" if self.units == "degC" else "K"

    @property
    def unit_of_heat(self) -> str:
        """The unit of the ledger: that of heat, of a steady state that of power, per metre of depth unless the
        thickness is given; with ρc counted as 1 where the diffusivity alone is."""
        depth = " m-1" if self.grid.thickness is None else ""
        if self.material.alone:
            return ("K m2" if depth else "K m3") + " s-1" * self.time.steady
        return ("W" if self.time.steady else "J") + depth

    @property
    def written_out(self) -> bool:
        """Whether every key stands in the file, defaults too, as in the scenario that a run keeps: nobody has chosen
        these."""
        derived = {"initial"} if self.manufactured else set()
        return all(
            getattr(section, key) is None or key in section.model_fields_set | derived
            for section in (self, self.time, self.run)
            for key in type(section).model_fields
        )

    @property
    def random(self) -> bool:
        """Whether results depend on run.seed."""
        return False

    @property
    def looks(self) -> int | None:
        """How often it is looked whether events have come; None where there are none."""
        return (self.output.looks or LOOKS_HEAT) if self.reaching else None

    @property
    def manufactured(self) -> bool:
        """Whether initial state, boundary values and a source are derived from the reference."""
        return self.reference is not None and self.reference.manufactured

    @property
    def heating(self) -> tuple[Heating, ...]:
        """All that heats the plate: its sources, and what comes in through its faces."""
        return heating(self.source, self.surface, self.grid)

    def edge_length(self, edge: str) -> float:
        """The length of one of `EDGES`, in m."""
        return self.grid.ly if edge in ("left", "right") else self.grid.lx

    def _probe_mistakes(self) -> list[Mistake]:
        found = []
        seen: set[str] = set()
        for i, probe in enumerate(self.probe):
            for axis, length in (("x", self.grid.lx), ("y", self.grid.ly)):
                at = getattr(probe, axis)
                if not 0 <= at <= length:
                    message = f"probe `{probe.name}` is outside the domain: {axis} = {at:g}"
                    help = f"{axis} must be between 0 and grid.l{axis} = {length:g}"
                    found.append(Mistake(("probe", i, axis), message, help))
            if probe.name in seen:
                found.append(Mistake(("probe", i, "name"), f"there are two probes named `{probe.name}`"))
            seen.add(probe.name)
        return found

    def _derived_mistakes(self) -> list[Mistake]:
        """Mistakes where the file gives what follows from a manufactured solution, or where neither gives it."""
        found = []
        for edge in EDGES:
            for path, condition in self.boundary.conditions(edge):
                for key in derived_keys(condition):
                    given = getattr(condition, key) is not None
                    if given and self.manufactured:
                        found.append(Mistake((*path, key), f"`{key}` {_DERIVED}", f"leave {key} out", on_key=True))
                    if not given and not self.manufactured:
                        message = f"missing key `{key}` in `{'.'.join(map(str, path))}`"
                        help = type(condition).model_fields[key].description
                        found.append(Mistake((*path, key), message, help))
        return found + (self._manufactured_mistakes() if self.manufactured else [])

    def _manufactured_mistakes(self) -> list[Mistake]:
        found = []
        if "temperature" in self.initial.model_fields_set:
            message = f"the initial temperature {_DERIVED}"
            found.append(Mistake(("initial", "temperature"), message, "leave [initial] out", on_key=True))
        for key in self.material.material_keys:
            if not all(isinstance(part, Expression) for part in self.material.material_parts(key)):
                message = "a manufactured solution needs a material that can be differentiated"
                found.append(Mistake(("material", key), message, "give a number or an expression, no file"))
        for i, region in enumerate(self.region):
            key = "temperature" if region.temperature is not None else region.material_keys[0]
            message = "a manufactured solution is smooth: it cannot have regions"
            help = "leave the region out, or set manufactured = false in [reference]"
            found.append(Mistake(("region", i, key), message, help, on_key=True))
        return found

    def _absolute_mistakes(self) -> list[Mistake]:
        """Mistakes where something needs absolute temperatures although they are in °C."""
        return [
            Mistake((*path, "kind"), _ABSOLUTE, _IN_KELVIN)
            for edge in EDGES
            for path, condition in self.boundary.conditions(edge)
            if isinstance(condition, Radiation)
        ]

    def _surface_mistakes(self) -> list[Mistake]:
        """Mistakes where the faces do not go with the rest."""
        if self.surface is None:
            return []
        found = []
        if self.grid.thickness is None:
            message, help = "how thick the plate between the faces is, is not given", "add thickness = .. to [grid], m"
            found.append(Mistake(("surface",), message, help, on_key=True))
        if self.manufactured:
            message = "a manufactured solution has its own source of heat: it cannot have faces"
            help = "leave [surface] out, or set manufactured = false in [reference]"
            found.append(Mistake(("surface",), message, help, on_key=True))
        if self.surface.emissivity is not None and self.units == "degC":
            found.append(Mistake(("surface", "emissivity"), _ABSOLUTE, _IN_KELVIN, on_key=True))
        if self.surface.emissivity is not None and self.material.alone:
            message = "radiation needs to know what heat does to the material, of which only the diffusivity is given"
            help = "give conductivity, density and specific_heat"
            found.append(Mistake(("surface", "emissivity"), message, help, on_key=True))
        return found

    def _compensated_mistakes(self) -> list[Mistake]:
        """Mistakes where compensated steps are asked for that do not exist."""
        stepper = self.time.stepper
        if self.time.steady:
            help = 'write precision = "float64", or "float32"'
            return [Mistake(("run", "precision"), "float32c is a way to take steps: a steady state has none", help)]
        if stepper in ("auto", "explicit"):
            return []
        message = f'precision = "float32c" is for explicit steps: `{stepper}` has no compensated ones'
        why = "go from frame to frame" if stepper == "exact" else "are long, with large increments"
        help = f'write stepper = "explicit"; or precision = "float32": steps of `{stepper}` {why}'
        return [Mistake(("time", "stepper"), message, help)]

    def _steady_mistakes(self) -> list[Mistake]:
        """Mistakes that keep a steady state from existing or from being the only one."""
        named: list[tuple[tuple[str | int, ...], object]] = []
        message, help = "no event can happen in a steady state, which has no times", _NO_STEADY.format("the event")
        timed = [Mistake(("event", i, "of"), message, help, on_key=True) for i in range(len(self.reaching))]
        conditions = [item for edge in EDGES for item in self.boundary.conditions(edge)]
        for path, condition in conditions:
            named += [((*path, key), getattr(condition, key)) for key in type(condition).model_fields]
        for i, source in enumerate(self.source):
            named += [(("source", i, key), getattr(source, key)) for key in ("power", "watts")]
            if source.on is not None:
                message, help = "a steady state has no times", _NO_STEADY.format("on")
                timed.append(Mistake(("source", i, "on"), message, help, on_key=True))
        if self.surface is not None:
            named += [(("surface", key), getattr(self.surface, key)) for key in ("h", "ambient", "emissivity")]
        named += [(("reference", "temperature"), self.reference.temperature)] if self.reference else []
        found = timed + [
            Mistake(
                path,
                "must not depend on t: the state is steady",
                f"leave t out{', as in its mean over time' * (path[0] == 'source')}, or set steady = false in [time]",
            )
            for path, value in named
            if isinstance(value, Expression) and value.depends_on("t")
        ]
        held = any(region.temperature is not None for region in self.region)
        fed_back = any(each.power.depends_on("T") for each in self.heating)
        if not (held or fed_back or any(fixes_level(condition) for _, condition in conditions)):
            message = "a steady state is not determined: there is none if more heat comes in than goes out, or less, "
            message += "and else any constant can be added to it"
            help = "give one edge a temperature, convection or radiation, or hold a region at a temperature"
            found.append(Mistake(("time", "steady"), message, help))
        return found

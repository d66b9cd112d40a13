"""Scenario files with ``solver = "heat"``: ρc ∂T/∂t = ∇·(k∇T) on a rectangle. SI units."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import Output, Positive, Run, Section
from simsuite.scenario.types import FieldMistake, FileRef, Name, NumberOrExpression, Title, mistake

Moving = Annotated[Expression, NumberOrExpression("x", "y", "t")]
MOST_CELLS = 1 << 18  # along an axis: what the grid of a CUDA launch can hold
EDGES = ("left", "right", "bottom", "top")


class Grid(Section):
    nx: Annotated[int, Field(ge=1, le=MOST_CELLS)] = Field(description="cells along x")
    ny: Annotated[int, Field(ge=1, le=MOST_CELLS)] = Field(description="cells along y")
    lx: Positive = Field(1.0, description="width, m")
    ly: Positive = Field(1.0, description="height, m")


class Material(Section):
    """Either the diffusivity alone, and then ρc counts as 1, or conductivity, density and specific heat."""

    diffusivity: Positive | None = Field(None, description="α = k/(ρc), m²/s; flux and h are then divided by ρc")
    conductivity: Positive | None = Field(None, description="k, W/(m·K)")
    density: Positive | None = Field(None, description="ρ, kg/m³")
    specific_heat: Positive | None = Field(None, description="c, J/(kg·K)")

    @model_validator(mode="after")
    def _one_or_three(self) -> Material:
        three = {name: getattr(self, name) for name in ("conductivity", "density", "specific_heat")}
        given = [name for name, value in three.items() if value is not None]
        if self.diffusivity is not None and given:
            raise mistake(
                (given[0],),
                f"`diffusivity` and `{given[0]}` exclude each other",
                "give either diffusivity, or conductivity, density and specific_heat",
                on_key=True,
            )
        missing = [name for name in three if name not in given]
        if self.diffusivity is None and missing:
            raise mistake(
                (),
                f"the material is incomplete: no {', '.join(f'`{name}`' for name in missing)}",
                "give either diffusivity, or conductivity, density and specific_heat",
                on_key=True,
            )
        return self

    @property
    def k(self) -> float:
        """Conductivity, W/(m·K)."""
        return self.conductivity if self.conductivity is not None else float(self.diffusivity or 0.0)

    @property
    def rho_c(self) -> float:
        """Heat capacity of a volume, J/(m³·K); 1 where only the diffusivity is given."""
        return 1.0 if self.density is None or self.specific_heat is None else self.density * self.specific_heat


class Initial(Section):
    temperature: Annotated[Expression, NumberOrExpression("x", "y")] | FileRef = Field(
        Expression.constant(0.0, ("x", "y")),
        description="number, expression in x, y, or {file = 'T0.npy'} of shape (ny, nx)",
    )


class Temperature(Section):
    kind: Literal["temperature"]
    value: Moving = Field(description="temperature of the edge; number or expression in x, y, t")


class Flux(Section):
    kind: Literal["flux"]
    value: Moving = Field(description="heat flux into the domain, W/m²; number or expression in x, y, t")


class Insulated(Section):
    kind: Literal["insulated"]


class Convection(Section):
    kind: Literal["convection"]
    h: Annotated[Expression, NumberOrExpression("x", "y", "t", ge=0)] = Field(
        description="heat transfer coefficient, W/(m²·K)"
    )
    ambient: Moving = Field(description="temperature of the surroundings")


class Periodic(Section):
    kind: Literal["periodic"]


Edge = Annotated[Temperature | Flux | Insulated | Convection | Periodic, Field(discriminator="kind")]


class Boundary(Section):
    left: Edge = Field(Insulated(kind="insulated"), description="the edge at x = 0")
    right: Edge = Field(Insulated(kind="insulated"), description="the edge at x = lx")
    bottom: Edge = Field(Insulated(kind="insulated"), description="the edge at y = 0")
    top: Edge = Field(Insulated(kind="insulated"), description="the edge at y = ly")

    @model_validator(mode="after")
    def _periodic_in_pairs(self) -> Boundary:
        mistakes = []
        for a, b in (("left", "right"), ("bottom", "top")):
            kinds = {name: getattr(self, name).kind == "periodic" for name in (a, b)}
            if kinds[a] != kinds[b]:
                one, other = (a, b) if kinds[a] else (b, a)
                mistakes.append(
                    Mistake(
                        (one, "kind"),
                        f"the {one} edge is periodic but the {other} edge is not",
                        f'write {other} = {{kind = "periodic"}} too',
                    )
                )
        if mistakes:
            raise FieldMistake(*mistakes)
        return self


class Probe(Section):
    name: Name = Field(description="its name in the results")
    x: float = Field(description="m from the left edge")
    y: float = Field(description="m from the bottom edge")


class Time(Section):
    end: Positive = Field(description="s")
    stepper: Literal["auto", "explicit"] = Field("auto", description="time integration")
    dt: Literal["auto"] | Positive = Field("auto", description="time step, s; refused when it is unstable")


class Reference(Section):
    temperature: Moving = Field(description="exact solution in x, y, t: error norms are reported against it")


class HeatScenario(Section):
    solver: Literal["heat"]
    title: Title = Field("", description="shown in pictures and stored with the results")
    run: Run = Run()
    grid: Grid
    material: Material
    initial: Initial = Initial()
    boundary: Boundary = Boundary()
    probe: list[Probe] = Field(default_factory=list, description="points whose temperature is recorded")
    time: Time
    reference: Reference | None = Field(None, description="what the result is compared with")
    output: Output = Output()

    @model_validator(mode="after")
    def _probes_inside(self) -> HeatScenario:
        mistakes = []
        seen: set[str] = set()
        for i, probe in enumerate(self.probe):
            for axis, length in (("x", self.grid.lx), ("y", self.grid.ly)):
                at = getattr(probe, axis)
                if not 0 <= at <= length:
                    mistakes.append(
                        Mistake(
                            ("probe", i, axis),
                            f"probe `{probe.name}` is outside the domain: {axis} = {at:g}",
                            f"{axis} must be between 0 and grid.l{axis} = {length:g}",
                        )
                    )
            if probe.name in seen:
                mistakes.append(Mistake(("probe", i, "name"), f"there are two probes named `{probe.name}`"))
            seen.add(probe.name)
        if mistakes:
            raise FieldMistake(*mistakes)
        return self

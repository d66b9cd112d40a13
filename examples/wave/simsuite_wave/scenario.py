"""Scenario files with ``solver = "wave"``: u_tt = c² (u_xx + u_yy) on a rectangle whose edges are held. SI units."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from simsuite.expressions import Expression
from simsuite.scenario.any_scenario import AnyScenario
from simsuite.scenario.common import Count, Positive, Section
from simsuite.scenario.types import NumberOrExpression
from simsuite.scenario.units import LENGTH, SECONDS, Unit


class Grid(Section):
    measured_in: ClassVar = {"lx": LENGTH, "ly": LENGTH}
    nx: Count = Field(description="number of cells along x; displacements are at their corners")
    ny: Count = Field(description="number of cells along y")
    lx: Positive = Field(description="length along x, m")
    ly: Positive = Field(description="length along y, m")


class Medium(Section):
    measured_in: ClassVar = {"speed": Unit("m/s")}
    speed: Positive = Field(description="of waves, m/s")


class Initial(Section):
    displacement: Annotated[Expression, NumberOrExpression("x", "y")] = Field(description="at rest at time 0, m")


class Time(Section):
    measured_in: ClassVar = {"end": SECONDS, "dt": SECONDS}
    end: Positive = Field(description="of the run, s")
    dt: Literal["auto"] | Positive = Field("auto", description="the longest step, s; auto: 0.9 of what is stable")


class WaveScenario(AnyScenario):
    solver: Literal["wave"] = Field(description="the equation: u_tt = c² (u_xx + u_yy)")
    grid: Grid = Field(description="the rectangle and its cells")
    medium: Medium = Field(description="what waves run through")
    initial: Initial = Field(description="the state at time 0")
    time: Time = Field(description="how long, in what steps")

"""`[time]`: how far, and how the solution is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import FieldMistake, NonNegative, Positive, Section
from simsuite.scenario.heat import foreign
from simsuite.scenario.units import HEATING_RATE, SECONDS, Unit

_END = "add end = .., the time at which the run ends, s; or steady = true, for the steady state without any steps"
_IMPLICIT = 'write "adi", which is implicit and of second order, or "auto", which takes what is fastest'
_EULER = 'write "explicit", which is forward Euler; implicit is "adi"'
_RUNGE_KUTTA = 'write "rkl2", a Runge-Kutta method of second order with as many stages as a step needs, or "auto"'
_IMPLICIT_WORDS = (
    *("implicit", "cranknicolson", "cn", "backwardeuler", "impliciteuler", "bdf", "bdf2", "btcs", "theta"),
    *("imex", "semiimplicit", "lod", "douglas", "peacemanrachford"),
)
STEPPERS: Mapping[str, str] = {  # each with what the description of the key says of it
    "explicit": "first order",
    "rkl2": "stabilised explicit, second order",
    "adi": "implicit, second order",
    "exact": "no steps; constant coefficients only",
}
if TYPE_CHECKING:
    StepperName = str
else:
    StepperName = Literal["auto", *STEPPERS]


class Time(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"end": SECONDS, "dt": SECONDS, "steady_tolerance": HEATING_RATE}
    expected_keys: ClassVar[Mapping[str, str]] = foreign.TIME
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "stepper": {
            **dict.fromkeys(_IMPLICIT_WORDS, _IMPLICIT),
            **dict.fromkeys(("euler", "forwardeuler", "expliciteuler", "ftcs"), _EULER),
            **dict.fromkeys(("rk", "rk2", "rk4", "rk45", "rungekutta", "rkc", "rkl", "sts", "heun"), _RUNGE_KUTTA),
            **dict.fromkeys(("spectral", "fft", "analytic"), 'write "exact", for coefficients that are constant'),
            **dict.fromkeys(("adaptive", "default"), 'write "auto", whose steps are as long as their error allows'),
            **dict.fromkeys(("steady", "stationary"), "leave stepper out, and write steady = true"),
        }
    }
    end: Positive | None = Field(None, description="time at which the run ends, s; needed unless steady = true")
    stepper: StepperName = Field(
        "auto",
        description=f"time integration: {', '.join(f'{name} ({what})' for name, what in STEPPERS.items())}",
    )
    dt: Literal["auto"] | Positive = Field(
        "auto",
        description="length of a time step, s; refused when it is unstable; auto: as long as tolerance allows, with "
        "explicit 0.9 of the longest stable one, or less beside an edge with a temperature",
    )
    tolerance: Positive = Field(
        1e-5, description='largest error of time integration with dt = "auto", relative to the range of temperatures'
    )
    steady_tolerance: NonNegative = Field(0.0, description="stop when the largest |dT/dt| falls below, K/s; 0 = off")
    steady: bool = Field(False, description="solve for the steady state at once, without steps in time")

    @model_validator(mode="after")
    def _check(self) -> Time:
        found = []
        if self.end is None and not self.steady:
            found.append(Mistake(("end",), "missing key `end` in [time]", _END))
        if self.steady and self.stepper != "auto":
            found.append(Mistake(("stepper",), "a steady state is found without a stepper", 'write stepper = "auto"'))
        if self.steady and self.dt != "auto":
            found.append(Mistake(("dt",), "a steady state is found without steps", "leave dt out", on_key=True))
        if found:
            raise FieldMistake(*found)
        return self

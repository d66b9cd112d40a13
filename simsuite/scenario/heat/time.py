"""`[time]`: how far, and how the solution is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import NonNegative, Positive, Section
from simsuite.scenario.types import FieldMistake


class Time(Section):
    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("duration", "t_end", "stop"), "write `end`, in s"),
        "steps": "their number follows from `end` and `dt`",
    }
    end: Positive | None = Field(None, description="time at which the run ends, s; needed unless steady = true")
    stepper: Literal["auto", "explicit", "rkl2", "adi", "exact"] = Field(
        "auto",
        description="time integration: explicit (first order), rkl2 (stabilised explicit, second order), "
        "adi (implicit, second order), exact (no steps; constant coefficients only)",
    )
    dt: Literal["auto"] | Positive = Field(
        "auto", description="length of a time step, s; refused when it is unstable; auto: as long as tolerance allows"
    )
    tolerance: Positive = Field(1e-5, description='error of time integration that dt = "auto" must reach, relative')
    steady_tolerance: NonNegative = Field(0.0, description="stop when the largest |dT/dt| falls below, K/s; 0 = off")
    steady: bool = Field(False, description="solve for the steady state at once, without steps in time")

    @model_validator(mode="after")
    def _check(self) -> Time:
        found = []
        if self.end is None and not self.steady:
            found.append(Mistake(("end",), "missing key `end` in [time]", "s; or steady = true"))
        if self.steady and self.stepper != "auto":
            found.append(Mistake(("stepper",), "a steady state is found without a stepper", 'write stepper = "auto"'))
        if self.steady and self.dt != "auto":
            found.append(Mistake(("dt",), "a steady state is found without steps", "leave dt out", on_key=True))
        if found:
            raise FieldMistake(*found)
        return self

"""`[time]`: the steps of all paths, and the step that a date falls on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from simsuite.scenario.common import Positive, Section, Steps
from simsuite.scenario.units import YEARS, Unit
from simsuite.words import measured

_ROUNDING = 1e-9  # a date may be beyond the end by this share of the whole time


class Time(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"end": YEARS}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "scheme": {
            **dict.fromkeys(("eulermaruyama", "em", "maruyama"), 'write "euler", which is Euler-Maruyama'),
            **dict.fromkeys(
                ("log", "logeuler", "lognormal", "gbm", "analytic", "auto"),
                'write "exact", which draws logarithms of prices by their law, or leave scheme out',
            ),
        }
    }
    end: Positive = Field(description="end of the simulation, and maturity of options that say none, years")
    steps: Steps = Field(description="number of equal time steps")
    scheme: Literal["exact", "euler", "milstein"] = Field(
        "exact",
        description="exact: the law of the path is exact at every step; euler and milstein: discretised prices, "
        "with an error that vanishes as steps get shorter",
    )

    def nearest_step(self, t: float) -> int:
        """The number of steps after which the time is nearest to t, at most `steps`."""
        return min(math.floor(t / self.end * self.steps + 0.5), self.steps)

    def until(self, t: float | None) -> Time:
        """The steps up to the one nearest to t; all of them for None."""
        steps = self.steps if t is None else self.nearest_step(t)
        if steps == self.steps:
            return self
        return self.model_copy(update={"end": self.end * (steps / self.steps), "steps": steps})

    def date_mistake(self, t: float, too_early: str) -> tuple[str, str | None] | None:
        """Message and help for a date that falls on no step. too_early: the advice for a date that is nearest to the
        start."""
        if t > self.end * (1 + _ROUNDING):
            return f"is after the end at {measured(f'{self.end:g}', 'year')}", None
        if self.nearest_step(t) < 1:
            half = measured(f"{self.end / self.steps / 2:g}", "year")
            return f"is less than half a step, {half}, after the start", too_early
        return None

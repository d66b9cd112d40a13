"""`[[option]]` of style "autocallable": notes that end early if prices are high, pay coupons, and protect the notional
down to some level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, field_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import Count, NonNegative, Positive
from simsuite.scenario.gbm.asset import Asset, Price
from simsuite.scenario.gbm.contract import IN_PRICE, Contract, unknown_asset
from simsuite.scenario.gbm.output import increasing
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.types import Name
from simsuite.scenario.units import YEARS, Unit
from simsuite.words import counted

Level: TypeAlias = Annotated[float, Field(gt=0, le=100)]
_ROUNDING = 1e-9
_MOST = 33  # dates: a run has room for 32 sets of them, and the end needs none


class Autocallable(Contract):
    """All levels are of the performance, S / S(0), of the worst of some assets."""

    measured_in: ClassVar[Mapping[str, Unit]] = {**Contract.measured_in, "observations": YEARS}

    style: Literal["autocallable"] = Field(
        description="pays coupons, and the notional on the first of some dates on which the worst of its assets is "
        "high enough, else at the end"
    )
    worst_of: Annotated[list[Name], Field(min_length=1)] | None = Field(
        None, description="names of the assets whose performance S / S(0) is looked at: the worst (default: all)"
    )
    observations: Count | Annotated[list[Positive], Field(min_length=1)] = Field(
        description="number of dates, at i end / observations for i = 1 .. observations, or their times in years, the "
        "last of them its end; each is the step nearest to it"
    )
    notional: Price = Field(100.0, description=f"what is paid back, {IN_PRICE}")
    call_level: Level | Annotated[list[Level], Field(min_length=1)] = Field(
        1.0,
        description="it ends with the first date on which the worst performance is no lower than this; a list has one "
        "for each date",
    )
    first_call: Count = Field(1, description="number of the first date on which it may end early")
    coupon: NonNegative = Field(0.0, description="what is paid on a date, as a share of the notional")
    coupon_level: Annotated[float, Field(ge=0, le=100)] = Field(
        0.0, description="a coupon is paid if the worst performance is no lower than this; 0: always"
    )
    memory: bool = Field(False, description="a coupon brings those with it that were not paid on the dates before")
    protection: Level = Field(
        1.0,
        description="at the end the notional is paid if the worst performance is no lower than this, else the notional "
        "times the worst performance, at most all of it",
    )
    watched: Literal["end", "dates", "steps"] = Field(
        "end",
        description="when protection is lost for good: at the end only, on any of the dates, or after any time step",
    )

    @field_validator("observations")
    @classmethod
    def _increasing(cls, observations: int | list[float]) -> int | list[float]:
        return increasing(observations) if isinstance(observations, list) else observations

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        for k, name in enumerate(self.worst_of or []):
            yield from unknown_asset(("worst_of", k), name, names)
            if name in (self.worst_of or [])[:k]:
                yield Mistake(("worst_of", k), f"{name!r} stands twice", "name each asset once")
        yield from self._date_mistakes(time)
        count = self.count
        if isinstance(self.call_level, list) and len(self.call_level) != count:
            levels = counted(len(self.call_level), "level")
            yield Mistake(
                ("call_level",), f"has {levels} for {counted(count, 'date')}", "give a number, or one for each"
            )
        if self.first_call > count:
            yield Mistake(
                ("first_call",), f"is beyond the last of {counted(count, 'date')}", "give the number of one of them"
            )

    def _date_mistakes(self, time: Time) -> Iterator[Mistake]:
        if self.count > _MOST:
            message = f"looks at more than {_MOST} dates"
            yield Mistake(("observations",), message, "take fewer: each is a set of dates of its own")
            return
        if isinstance(self.observations, int):
            if self.observations > time.steps:
                message = f"{self.observations} dates do not fit on {counted(time.steps, 'time step')}"
                yield Mistake(("observations",), message, "raise time.steps, best to a multiple")
            return
        last = len(self.observations) - 1
        for k, t in enumerate(self.observations):
            if wrong := time.date_mistake(t, "leave it out, or raise time.steps"):
                yield Mistake(("observations", k), *wrong)
                return
            if k == last and abs(t - time.end) > _ROUNDING * time.end and time.nearest_step(t) < time.steps:
                message = f"the last date, {t:g}, is not the end, {time.end:g}"
                yield Mistake(("observations", k), message, f"add {time.end:g}, or set maturity = {t:g}")
        steps = [time.nearest_step(t) for t in self.observations]
        for k, (before, step) in enumerate(pairwise(steps), 1):
            if step == before:
                message = f"the date {self.observations[k]:g} falls on the same time step as the one before"
                yield Mistake(("observations", k), message, "raise time.steps")

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        return [names.index(name) for name in self.worst_of] if self.worst_of else list(range(len(names)))

    @property
    def count(self) -> int:
        """The number of dates."""
        return self.observations if isinstance(self.observations, int) else len(self.observations)

    @property
    def call_levels(self) -> list[float]:
        """The level of each date."""
        return self.call_level if isinstance(self.call_level, list) else [self.call_level] * self.count

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "observations", self.observations

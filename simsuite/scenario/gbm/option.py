"""`[[option]]`: what is paid at the end, by style. The list of styles is at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression, ExpressionError
from simsuite.scenario.common import Count, Positive
from simsuite.scenario.gbm.asset import LARGEST_PRICE, Asset, Price
from simsuite.scenario.gbm.autocallable import Autocallable
from simsuite.scenario.gbm.contract import (
    IN_PRICE,
    STRIKE,
    AnyStrike,
    Contract,
    Monitored,
    OnOne,
    OnTwo,
    Payoff,
    Strike,
)
from simsuite.scenario.gbm.functionals import Timed, applied, parse_payoff, timed
from simsuite.scenario.gbm.output import increasing
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.numbers import terms_of
from simsuite.scenario.types import mistake
from simsuite.scenario.units import YEARS, Unit
from simsuite.words import counted

Weight: TypeAlias = Annotated[float, Field(ge=-1e6, le=1e6)]


class European(OnOne):
    style: Literal["european"] = Field(description="pays at the end, by the price then")
    payoff: Payoff = Field(description="call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=STRIKE)


class Digital(OnOne):
    style: Literal["digital"] = Field(description="pays a fixed sum at the end, or nothing")
    payoff: Payoff = Field(description="call: pays if S > strike; put: pays if S < strike")
    strike: Strike = Field(description=STRIKE)
    cash: Price = Field(1.0, description=f"what it pays, {IN_PRICE}")


class Asian(OnOne):
    measured_in: ClassVar[Mapping[str, Unit]] = {**OnOne.measured_in, "fixings": YEARS}

    style: Literal["asian"] = Field(description="pays at the end, by the mean of prices at fixing dates")
    payoff: Payoff = Field(description="call: max(mean - strike, 0); put: max(strike - mean, 0)")
    strike: Strike = Field(description=STRIKE)
    average: Literal["arithmetic", "geometric"] = Field("arithmetic", description="which mean of the fixings")
    fixings: Count | Annotated[list[Positive], Field(min_length=1)] | None = Field(
        None,
        description="number of fixing dates, at i end / fixings for i = 1 .. fixings, or their times in years, in "
        "increasing order; each is the step nearest to it (default: every step)",
    )
    past_fixings: list[Price] = Field(
        default_factory=list,
        description="prices fixed before the start, in units of price, which count like those to come (default: none)",
    )

    @field_validator("fixings")
    @classmethod
    def _increasing(cls, fixings: int | list[float] | None) -> int | list[float] | None:
        return increasing(fixings) if isinstance(fixings, list) else fixings

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        if isinstance(self.fixings, list):
            yield from _fixing_mistakes(self.fixings, time)
        yield from super().mistakes(assets, names, time)

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "fixings", self.fixings


class Barrier(Monitored):
    style: Literal["barrier"] = Field(
        description="pays at the end like a European option, if the price has reached a barrier, or has not"
    )
    payoff: Payoff = Field(description="call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=STRIKE)
    direction: Literal["down", "up"] = Field(description="whether the barrier is reached from above or from below")
    knock: Literal["out", "in"] = Field(description="out: void once the barrier is reached; in: void until then")
    level: Price = Field(description=f"of the barrier, {IN_PRICE}; down: below the spot, up: above")
    rebate: Annotated[float, Field(ge=0, le=LARGEST_PRICE)] = Field(
        0.0, description=f"paid at the end in place of the payoff where the option is void, {IN_PRICE}"
    )

    def mistakes_on(self, asset: Asset, time: Time) -> Iterator[Mistake]:
        if self.is_reached(asset.spot):
            side, other = ("below", "up") if self.direction == "down" else ("above", "down")
            message = f"the barrier at {self.level:g} is reached from the start: the spot is {asset.spot:g}"
            help = f'direction = "{self.direction}" needs a level {side} the spot'
            turned = f'; or write direction = "{other}"' if self.level != asset.spot else ""
            yield Mistake(("level",), message, help + turned)
        yield from super().mistakes_on(asset, time)

    def is_reached(self, price: float) -> bool:
        return price <= self.level if self.direction == "down" else price >= self.level


class Lookback(Monitored):
    style: Literal["lookback"] = Field(description="pays at the end, by the highest or lowest price so far")
    payoff: Payoff = Field(
        description="fixed: call: max(highest - strike, 0), put: max(strike - lowest, 0); floating: call: S - lowest, "
        "put: highest - S; the spot counts among the prices"
    )
    strike_type: Literal["fixed", "floating"] = Field(
        description="fixed: as strike says; floating: the lowest price of the path (call) or the highest (put)"
    )
    strike: Strike | None = Field(None, description=f"{STRIKE}; with a fixed strike only")

    @model_validator(mode="after")
    def _strike_if_fixed(self) -> Lookback:
        if self.strike_type == "fixed" and self.strike is None:
            help = 'add strike = .., or set strike_type = "floating"'
            raise mistake(("strike",), 'missing key `strike`, which goes with strike_type = "fixed"', help)
        if self.strike_type == "floating" and self.strike is not None:
            help = 'leave strike out, or set strike_type = "fixed"'
            raise mistake(("strike",), "a floating strike is the path's own extreme", help, None, True)
        return self


class Basket(Contract):
    style: Literal["basket"] = Field(description="pays at the end, by the prices of all assets together")
    payoff: Payoff = Field(description="call: max(basket - strike, 0); put: max(strike - basket, 0)")
    strike: AnyStrike = Field(description=STRIKE)
    combine: Literal["sum", "max", "min"] = Field(
        "sum",
        description="what the basket is of the weighted prices of all assets: their sum, the largest, the smallest",
    )
    weights: Annotated[list[Weight], Field(min_length=1)] | None = Field(
        None,
        description="by what each price is multiplied, one number for each asset, in order (default: equal and of sum "
        "1 for a sum, all 1 for max and min)",
    )

    @field_validator("weights")
    @classmethod
    def _not_nothing(cls, weights: list[float] | None) -> list[float] | None:
        if weights is not None and not any(weights):
            raise mistake((), "must not all be 0")
        return weights

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        if self.weights is not None and len(self.weights) != len(assets):
            entries = counted(len(self.weights), "entry", "entries")
            yield Mistake(("weights",), f"has {entries} for {counted(len(assets), 'asset')}")

    def weights_of(self, assets: int) -> list[float]:
        """The weights of so many assets; the default ones if none are given."""
        if self.weights is not None:
            return self.weights
        return [1 / assets if self.combine == "sum" else 1.0] * assets


class Exchange(OnTwo):
    """Pays max(S_A - S_B, 0)."""

    style: Literal["exchange"] = Field(description="pays max(S_A - S_B, 0) at the end")


class Spread(OnTwo):
    style: Literal["spread"] = Field(description="pays at the end, by the difference of two prices")
    payoff: Payoff = Field(description="call: max(S_A - S_B - strike, 0); put: max(strike - (S_A - S_B), 0)")
    strike: AnyStrike = Field(description=f"{STRIKE}; may be negative")


class American(OnOne):
    style: Literal["american"] = Field(description="pays when it is exercised, at any of some dates up to the end")
    payoff: Payoff = Field(description="when exercised: call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=STRIKE)
    exercise: Count | None = Field(
        None,
        description="number of dates at which it can be exercised, at i end / exercise for i = 1 .. exercise, or the "
        "step nearest to each (default: every step)",
    )
    degree: Annotated[int, Field(ge=1, le=8)] = Field(
        3,
        description="of the polynomial by which waiting is judged, in S / strike for puts, strike / S for calls",
    )

    exercised_early: ClassVar[bool] = True

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "exercise dates", self.exercise


class _Written:
    """The text of a value as the file has it, for the places of mistakes. It does not count when options are compared:
    one that is loaded back from a resolved scenario is the same."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Written)

    def __hash__(self) -> int:
        return 0


class Formula(Contract):
    style: Literal["expression"] = Field(description="pays at the end what an expression says")
    value: Annotated[str, Field(max_length=2000)] = Field(
        description="what it pays, an expression in last(A), mean(A), geomean(A), min(A), max(A) of any assets A: "
        "price at the end, both means over all steps, least and largest price with the spot among them; at(A, t): "
        "price at a time, years; mean(A, from, to) and so on: over the steps from one time to another, from 0 with the "
        "spot for min and max"
    )
    _constants: Mapping[str, float] = PrivateAttr(default_factory=dict)  # of the scenario
    _written: _Written = PrivateAttr(default_factory=lambda: _Written(""))

    @model_validator(mode="after")
    def _keep_constants(self, info: ValidationInfo) -> Formula:
        self._constants = terms_of(info.context).constants
        self._written = _Written(self.value)
        named = [name for _, name in applied(self.value, self._constants)]
        with contextlib.suppress(ExpressionError):  # which `mistakes` tells, at its place in the text as it was written
            self.__dict__["value"] = parse_payoff(self.value, list(dict.fromkeys(named)), self._constants).text
        return self

    def pays(self, names: Sequence[str]) -> Expression:
        """What it pays, in variables such as ``"mean(A)"`` of assets of these names. Raises `ExpressionError`."""
        return parse_payoff(self.value, names, self._constants)

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        try:
            self.pays(names)
        except ExpressionError as error:
            yield Mistake(("value",), error.message, error.help, error.column)
            return
        for part in timed(self._written.text or self.value, self._constants):
            yield from _time_mistakes(part, time)


def _time_mistakes(part: Timed, time: Time) -> Iterator[Mistake]:
    """Mistakes in the times of a functional in an expression."""
    *begins, end = part.times
    wrong = time.date_mistake(end, "the price there is the spot: write the number")
    if wrong:
        yield Mistake(("value",), f"the time {end:g} {wrong[0]}", wrong[1], part.columns[-1])
    for begin in begins:
        if not 0 <= begin <= end:
            message = f"{begin:g} is no time from 0 to {end:g}"
            yield Mistake(("value",), message, "write the earlier time first, in years", part.columns[0])


def _fixing_mistakes(fixings: Sequence[float], time: Time) -> Iterator[Mistake]:
    before = 0
    for k, t in enumerate(fixings):
        wrong = time.date_mistake(t, "the price there is the spot: give it as one of past_fixings")
        step = time.nearest_step(t)
        if wrong:
            yield Mistake(("fixings", k), *wrong)
        elif step == before:
            message = f"the fixing at {t:g} falls on the same time step as the fixing at {fixings[k - 1]:g}"
            yield Mistake(("fixings", k), message, "raise time.steps")
        before = step


Option: TypeAlias = Annotated[
    European | Digital | Asian | Barrier | Lookback | Basket | Exchange | Spread | American | Autocallable | Formula,
    Field(discriminator="style"),
]

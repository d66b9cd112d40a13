"""`[[option]]`: what is paid at the end, by style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from simsuite.scenario.common import Count, Positive, Section
from simsuite.scenario.gbm.asset import LARGEST_PRICE, Holding, Price
from simsuite.scenario.gbm.output import increasing
from simsuite.scenario.types import Name, mistake

Payoff: TypeAlias = Literal["call", "put"]
Monitoring: TypeAlias = Literal["discrete", "continuous"]
Strike: TypeAlias = Annotated[float, Field(ge=0, le=LARGEST_PRICE)]
AnyStrike: TypeAlias = Annotated[float, Field(ge=-LARGEST_PRICE, le=LARGEST_PRICE)]
Weight: TypeAlias = Annotated[float, Field(ge=-1e6, le=1e6)]
Pair: TypeAlias = Annotated[list[Name], Field(min_length=2, max_length=2)]

_IN_PRICE = "in units of price"
_STRIKE = f"strike price, {_IN_PRICE}"
_MONITORING = "discrete: at the dates; continuous: at all times in between too, by Brownian bridges (scheme exact only)"
_DATES = (
    "number of dates of discrete monitoring, at i end / dates for i = 1 .. dates, or the step nearest to each "
    "(default: every step)"
)


_KNOCK = 'write "barrier", with direction = "down" or "up" and knock = "out" or "in"'


class Contract(Section):
    """What options of all styles can say."""

    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "style": {
            **dict.fromkeys(("vanilla", "call", "put"), 'write "european", with payoff "call" or "put"'),
            "binary": 'write "digital"',
            "bermudan": 'write "american", with exercise = the number of dates',
            **dict.fromkeys(("knockout", "knockin", "upandout", "downandout", "upandin", "downandin"), _KNOCK),
            **dict.fromkeys(("rainbow", "bestof", "worstof"), 'write "basket", with combine "max" or "min"'),
            **dict.fromkeys(("margrabe", "outperformance"), 'write "exchange"'),
            "custom": 'write "expression", with value',
        },
        "average": {"mean": 'write "arithmetic"', "geomean": 'write "geometric"'},
        "strike_type": dict.fromkeys(("float", "floated"), 'write "floating"'),
        "monitoring": dict.fromkeys(("daily", "weekly", "monthly"), 'write "discrete", with dates = their number'),
    }

    name: Name | None = Field(None, description='name in results (default: "option1", .. in order)')
    greeks: bool = Field(True, description="estimate delta, gamma, vega, rho and theta too")
    control_variate: bool = Field(
        True, description="lower the standard error by something similar whose mean is known, where there is one"
    )
    holding: Holding = Field(0.0, description="units held in the portfolio of which risk is measured; may be negative")

    exercised_early: ClassVar[bool] = False

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers of the assets that it depends on. names: of all assets of the scenario, in order."""
        return list(range(len(names)))

    @property
    def watched_continuously(self) -> bool:
        """Whether what happens between the time steps counts."""
        return False

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        """What the dates are called that the option looks at, and their number or times; None for every step, and for
        options without such dates."""
        return "dates", None


class OnOne(Contract):
    """An option on a single asset."""

    asset: Name | None = Field(None, description="name of its asset (default: the first)")

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        return [0 if self.asset is None else names.index(self.asset)]


class European(OnOne):
    style: Literal["european"] = Field(description="pays at the end, by the price then")
    payoff: Payoff = Field(description="call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=_STRIKE)


class Digital(OnOne):
    style: Literal["digital"] = Field(description="pays a fixed sum at the end, or nothing")
    payoff: Payoff = Field(description="call: pays if S > strike; put: pays if S < strike")
    strike: Strike = Field(description=_STRIKE)
    cash: Price = Field(1.0, description=f"what it pays, {_IN_PRICE}")


class Asian(OnOne):
    style: Literal["asian"] = Field(description="pays at the end, by the mean of prices at fixing dates")
    payoff: Payoff = Field(description="call: max(mean - strike, 0); put: max(strike - mean, 0)")
    strike: Strike = Field(description=_STRIKE)
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

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "fixings", self.fixings


class Monitored(OnOne):
    """An option that depends on the extremes of the path."""

    monitoring: Monitoring = Field("discrete", description=_MONITORING)
    dates: Count | None = Field(None, description=_DATES)

    @model_validator(mode="after")
    def _dates_of_discrete(self) -> Monitored:
        if self.dates is not None and self.monitoring == "continuous":
            message = "continuous monitoring has no dates"
            raise mistake(("dates",), message, 'leave dates out, or set monitoring = "discrete"', None, True)
        return self

    @property
    def watched_continuously(self) -> bool:
        return self.monitoring == "continuous"

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "dates", self.dates


class Barrier(Monitored):
    style: Literal["barrier"] = Field(
        description="pays at the end like a European option, if the price has reached a barrier, or has not"
    )
    payoff: Payoff = Field(description="call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=_STRIKE)
    direction: Literal["down", "up"] = Field(description="whether the barrier is reached from above or from below")
    knock: Literal["out", "in"] = Field(description="out: void once the barrier is reached; in: void until then")
    level: Price = Field(description=f"of the barrier, {_IN_PRICE}; down: below the spot, up: above")
    rebate: Annotated[float, Field(ge=0, le=LARGEST_PRICE)] = Field(
        0.0, description=f"paid at the end in place of the payoff where the option is void, {_IN_PRICE}"
    )

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
    strike: Strike | None = Field(None, description=f"{_STRIKE}; with a fixed strike only")

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
    strike: AnyStrike = Field(description=_STRIKE)
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

    def weights_of(self, assets: int) -> list[float]:
        """With the default in place."""
        if self.weights is not None:
            return self.weights
        return [1 / assets if self.combine == "sum" else 1.0] * assets


class OnTwo(Contract):
    """An option on the difference of two prices."""

    assets: Pair = Field(description="names of two assets: what is received, what is given")

    @field_validator("assets")
    @classmethod
    def _different(cls, assets: list[str]) -> list[str]:
        if assets[0] == assets[1]:
            raise mistake((1,), f"the two assets are both {assets[0]!r}", "name two different ones")
        return assets

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        return [names.index(name) for name in self.assets]


class Exchange(OnTwo):
    """Pays max(S_A - S_B, 0)."""

    style: Literal["exchange"] = Field(description="pays max(S_A - S_B, 0) at the end")


class Spread(OnTwo):
    style: Literal["spread"] = Field(description="pays at the end, by the difference of two prices")
    payoff: Payoff = Field(description="call: max(S_A - S_B - strike, 0); put: max(strike - (S_A - S_B), 0)")
    strike: AnyStrike = Field(description=f"{_STRIKE}; may be negative")


class American(OnOne):
    style: Literal["american"] = Field(description="pays when it is exercised, at any of some dates up to the end")
    payoff: Payoff = Field(description="when exercised: call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description=_STRIKE)
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


class Formula(Contract):
    style: Literal["expression"] = Field(description="pays at the end what an expression says")
    value: Annotated[str, Field(max_length=2000)] = Field(
        description="what it pays, an expression in last(A), mean(A), geomean(A), min(A), max(A) of any assets A: "
        "price at the end, both means over all steps, least and largest price with the spot among them"
    )


Option: TypeAlias = Annotated[
    European | Digital | Asian | Barrier | Lookback | Basket | Exchange | Spread | American | Formula,
    Field(discriminator="style"),
]

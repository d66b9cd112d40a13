"""`[[asset]]`: a price, how it moves, what it pays, and how much of it is held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import Positive, Section
from simsuite.scenario.gbm.piecewise import PIECES, Rate, Volatility
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.schedule import Schedule
from simsuite.scenario.types import Name, mistake
from simsuite.scenario.units import PER_YEAR, SHARE, VOLATILITY, YEARS, Unit

# the largest spot or strike: prices beyond 1e150 count as overflown, since their squares would overflow
LARGEST_PRICE = 1e100

Price: TypeAlias = Annotated[float, Field(gt=0, le=LARGEST_PRICE)]
Holding: TypeAlias = Annotated[float, Field(ge=-1e15, le=1e15)]

_CASH_OR_PROPORTION = "give either cash, in units of price, or proportion, of the price"


class Dividend(Section):
    """Paid once: from then on the price is lower by that much."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"time": YEARS, "proportion": SHARE}
    expected_keys: ClassVar[Mapping[str, str]] = {
        "date": "did you mean `time`?",
        "amount": "did you mean `cash`?",
        "share": "did you mean `proportion`?",
    }

    time: Positive = Field(description="when it is paid, years; taken at the nearest time step")
    cash: Price | None = Field(None, description="amount, in units of price")
    proportion: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="share of the price; 0.02 means 2 %"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Dividend:
        if self.cash is not None and self.proportion is not None:
            raise mistake(
                ("proportion",), "`cash` and `proportion` exclude each other", _CASH_OR_PROPORTION, None, True
            )
        if self.cash is None and self.proportion is None:
            raise mistake((), "the dividend says not how much is paid", _CASH_OR_PROPORTION)
        return self


class Jumps(Section):
    """Jumps at random times (R. C. Merton, J. Financial Economics 3, 1976): the logarithm of the price jumps by a
    normal number. They are compensated: the expected growth of the price is the same as without.
    """

    measured_in: ClassVar[Mapping[str, Unit]] = {"intensity": PER_YEAR}
    expected_keys: ClassVar[Mapping[str, str]] = {
        "lambda": "did you mean `intensity`?",
        "mu": "did you mean `mean`?",
        **dict.fromkeys(("std", "sigma", "volatility"), "did you mean `deviation`?"),
    }

    intensity: Annotated[float, Field(gt=0, le=1e4)] = Field(description="expected number of jumps, 1/year")
    mean: Annotated[float, Field(ge=-10, le=10)] = Field(
        description="expected jump of the logarithm of the price; -0.1 means about -10 %"
    )
    deviation: Annotated[float, Field(ge=0, le=5)] = Field(description="standard deviation of a jump of the logarithm")


class Asset(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = {"volatility": VOLATILITY, "dividend_yield": PER_YEAR}

    name: Name | None = Field(None, description='name in results and options (default: "A", "B", .. in order)')
    spot: Price = Field(description="price at time 0; its currency is the unit of all prices")
    volatility: Volatility = Field(description=f"sigma, 1/sqrt(year); 0.2 means 20 %; {PIECES}")
    dividend_yield: Rate = Field(Schedule.constant(0.0), description=f"dividends paid continuously, 1/year; {PIECES}")
    dividends: list[Dividend] = Field(
        default_factory=list,
        description="paid at single dates: a list of {time, cash} or {time, proportion}; several at one step in the "
        "order of the list",
    )
    jumps: Jumps | None = Field(None, description="jumps at random times: {intensity, mean, deviation} (default: none)")
    holding: Holding = Field(0.0, description="units held in the portfolio of which risk is measured; may be negative")

    @property
    def pays_cash(self) -> bool:
        """Whether some of its dividends do not scale with the price."""
        return any(dividend.cash is not None for dividend in self.dividends)


def dividend_mistakes(assets: list[Asset], time: Time) -> list[Mistake]:
    """Mistakes about dividends that are not paid within the simulated time."""
    found = []
    for i, asset in enumerate(assets):
        for k, dividend in enumerate(asset.dividends):
            wrong = time.date_mistake(dividend.time, "take it off the spot, or raise time.steps")
            if wrong:
                found.append(Mistake(("asset", i, "dividends", k, "time"), *wrong))
    return found

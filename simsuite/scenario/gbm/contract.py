"""What all styles of options have in common, in `[[option]]`: a style is a class of its own (`option`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import Count, Positive, Section
from simsuite.scenario.gbm.asset import LARGEST_PRICE, Asset, Holding
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.types import Name, mistake
from simsuite.scenario.units import YEARS, Unit

Payoff: TypeAlias = Literal["call", "put"]
Monitoring: TypeAlias = Literal["discrete", "continuous"]
Strike: TypeAlias = Annotated[float, Field(ge=0, le=LARGEST_PRICE)]
AnyStrike: TypeAlias = Annotated[float, Field(ge=-LARGEST_PRICE, le=LARGEST_PRICE)]
Pair: TypeAlias = Annotated[list[Name], Field(min_length=2, max_length=2)]

IN_PRICE = "in units of price"
STRIKE = f"strike price, {IN_PRICE}"
_MONITORING = "discrete: at the dates; continuous: at all times in between too, by Brownian bridges (scheme exact only)"
_DATES = (
    "number of dates of discrete monitoring, at i end / dates for i = 1 .. dates, or the step nearest to each "
    "(default: every step)"
)
_KNOCK = 'write "barrier", with direction = "down" or "up" and knock = "out" or "in"'


class Contract(Section):
    """What options of all styles can say."""

    measured_in: ClassVar[Mapping[str, Unit]] = {"maturity": YEARS}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "style": {
            **dict.fromkeys(("vanilla", "call", "put"), 'write "european", with payoff "call" or "put"'),
            "binary": 'write "digital"',
            "bermudan": 'write "american", with exercise = the number of dates',
            **dict.fromkeys(("knockout", "knockin", "upandout", "downandout", "upandin", "downandin"), _KNOCK),
            **dict.fromkeys(("rainbow", "bestof", "worstof"), 'write "basket", with combine "max" or "min"'),
            **dict.fromkeys(("margrabe", "outperformance"), 'write "exchange"'),
            "custom": 'write "expression", with value',
            **dict.fromkeys(("autocall", "phoenix", "athena", "snowball"), 'write "autocallable"'),
            "cliquet": 'write "expression", with value in at(A, t)',
        },
        "greeks": dict.fromkeys(("bump", "bumps", "bumping", "differences"), 'write "bumped"'),
        "average": {"mean": 'write "arithmetic"', "geomean": 'write "geometric"'},
        "strike_type": dict.fromkeys(("float", "floated"), 'write "floating"'),
        "monitoring": dict.fromkeys(("daily", "weekly", "monthly"), 'write "discrete", with dates = their number'),
    }

    name: Name | None = Field(None, description='name in results (default: "option1", .. in order)')
    greeks: bool | Literal["auto", "bumped"] = Field(
        True,
        description="estimate delta, gamma, vega, rho and theta too: true on the paths of the price, where there is a "
        'way; "auto" the others by bumping, with the same random numbers; "bumped" all by bumping',
    )
    control_variate: bool = Field(
        True, description="lower the standard error by something similar whose mean is known, where there is one"
    )
    maturity: Positive | None = Field(
        None,
        description="when it ends, years, at the nearest time step; its dates, fixings and exercise are up to then "
        "(default: time.end)",
    )
    holding: Holding = Field(0.0, description="units held in the portfolio of which risk is measured; may be negative")

    exercised_early: ClassVar[bool] = False

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        """Mistakes where the option does not fit the assets, which have these names, or the time steps; paths are
        relative to the option."""
        yield from ()

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        """The indices of the assets that the option depends on. names: the names of all assets of the scenario, in
        order."""
        return list(range(len(names)))

    @property
    def watched_continuously(self) -> bool:
        """Whether what happens between the time steps counts."""
        return False

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        """What messages call the dates at which the option looks at prices, and their number or their times; None
        instead of these if it looks at every step or has no such dates."""
        return "dates", None


class OnOne(Contract):
    """An option on a single asset."""

    asset: Name | None = Field(None, description="name of its asset (default: the first)")

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        yield from unknown_asset(("asset",), self.asset, names)
        if self.asset is None or self.asset in names:
            yield from self.mistakes_on(assets[0 if self.asset is None else names.index(self.asset)], time)

    def mistakes_on(self, asset: Asset, time: Time) -> Iterator[Mistake]:
        """Mistakes where the option does not fit its asset."""
        yield from ()

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        return [0 if self.asset is None else names.index(self.asset)]


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

    def mistakes_on(self, asset: Asset, time: Time) -> Iterator[Mistake]:
        why = _no_bridge(asset, time) if self.watched_continuously else None
        if why:
            help = 'write monitoring = "discrete"'
            yield Mistake(("monitoring",), f"continuous monitoring goes by Brownian bridges, {why}", help)

    @property
    def watched_continuously(self) -> bool:
        return self.monitoring == "continuous"

    @property
    def own_dates(self) -> tuple[str, int | list[float] | None]:
        return "dates", self.dates


class OnTwo(Contract):
    """An option on the difference of two prices."""

    assets: Pair = Field(description="names of two assets: what is received, what is given")

    @field_validator("assets")
    @classmethod
    def _different(cls, assets: list[str]) -> list[str]:
        if assets[0] == assets[1]:
            raise mistake((1,), f"the two assets are both {assets[0]!r}", "name two different ones")
        return assets

    def mistakes(self, assets: Sequence[Asset], names: Sequence[str], time: Time) -> Iterator[Mistake]:
        for k, name in enumerate(self.assets):
            yield from unknown_asset(("assets", k), name, names)

    def asset_numbers(self, names: Sequence[str]) -> list[int]:
        return [names.index(name) for name in self.assets]


def unknown_asset(path: tuple[str | int, ...], name: str | None, names: Sequence[str]) -> Iterator[Mistake]:
    """The mistake if no asset has a name; nothing if one does."""
    if name is not None and name not in names:
        yield Mistake(path, f"there is no asset {name!r}", f"there is {', '.join(map(repr, names))}")


def _no_bridge(asset: Asset, time: Time) -> str | None:
    """Why the logarithm of the price is no Brownian motion between two steps, if it is none."""
    if time.scheme != "exact":
        return f"which need the exact scheme, not {time.scheme}"
    if asset.pays_cash:
        return "which cash dividends break"
    return "which jumps break" if asset.jumps is not None else None

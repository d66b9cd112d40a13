"""The scenario of a Monte Carlo simulation of geometric Brownian motion: dS/S = (r - q) dt + sigma dW."""

from __future__ import annotations

import string
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field, field_validator, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import Count, Output, Positive, Run, Section, Steps, frame_mistakes
from simsuite.scenario.types import FieldMistake, Name, Title, mistake

GROUP = 1024  # paths whose sum is taken in a fixed order; batches consist of whole groups

# exact sums hold those of 2^31 groups, see `solvers/gbm/exactsum.py`: 2.199e12 paths
MOST_PATHS = 2 * 10**12
LARGEST_PRICE = 1e100  # of a spot or strike: prices beyond 1e150 count as overflown, as their squares would

Price: TypeAlias = Annotated[float, Field(gt=0, le=LARGEST_PRICE)]
Strike: TypeAlias = Annotated[float, Field(ge=0, le=LARGEST_PRICE)]
Rate: TypeAlias = Annotated[float, Field(ge=-100, le=100)]
Probability: TypeAlias = Annotated[float, Field(gt=0, lt=1)]


class Market(Section):
    rate: Rate = Field(description="interest rate, continuously compounded, 1/year; 0.05 means 5 %")
    drift: Rate | None = Field(
        None,
        description="expected growth rate of every price, 1/year, in place of rate - dividend_yield: simulates a "
        "real-world measure, and option results are then expected discounted payoffs instead of prices",
    )
    correlation: Annotated[list[list[float]], Field(min_length=1)] | None = Field(
        None, description="of the Brownian motions of the assets, row by row (default: independent assets)"
    )

    @field_validator("correlation")
    @classmethod
    def _is_correlation(cls, rows: list[list[float]] | None) -> list[list[float]] | None:
        if rows is None:
            return None
        for i, row in enumerate(rows):
            if len(row) != len(rows):
                raise mistake((i,), f"row {i + 1} has {len(row)} entries, but the matrix has {len(rows)} rows")
        found = [
            Mistake((i, i), f"an asset's correlation with itself is 1, not {rows[i][i]:g}")
            for i in range(len(rows))
            if rows[i][i] != 1
        ]
        found += [
            Mistake((i, j), f"is {rows[i][j]:g}, but the entry across the diagonal is {rows[j][i]:g}")
            for i in range(len(rows))
            for j in range(i)
            if rows[i][j] != rows[j][i]
        ]
        if found:
            raise FieldMistake(*found)
        smallest = float(np.linalg.eigvalsh(np.array(rows))[0])
        if smallest <= len(rows) * np.finfo(np.float64).eps:
            message = f"the matrix is not positive definite: its smallest eigenvalue is {smallest:.3g}"
            raise mistake((), message, "weaken the correlations, or drop an asset that follows from the others")
        return rows


class Asset(Section):
    name: Name | None = Field(None, description='name in results and options (default: "A", "B", .. in order)')
    spot: Price = Field(description="price at time 0")
    volatility: Annotated[float, Field(ge=0, le=100)] = Field(description="sigma, 1/sqrt(year); 0.2 means 20 %")
    dividend_yield: Rate = Field(0.0, description="continuous, 1/year")


class Time(Section):
    end: Positive = Field(description="maturity of all options and end of the simulation, years")
    steps: Steps = Field(description="number of equal time steps")
    scheme: Literal["exact"] = Field("exact", description="exact: the law of the path is exact at every step")


class Paths(Section):
    count: Annotated[int, Field(ge=1, le=MOST_PATHS)] = Field(description="number of paths")
    antithetic: bool = Field(False, description="pair each path with one of opposite normals; needs an even count")
    sampling: Literal["pseudo"] = Field("pseudo", description="pseudo: Philox4x32-10 random numbers")
    batch: Annotated[int, Field(ge=GROUP, multiple_of=GROUP)] | None = Field(
        None,
        description=f"paths simulated at a time, a multiple of {GROUP}; at least those to be stored; changes no "
        "result, only the memory needed (default: all, as long as they fit in 1 GiB)",
    )

    @model_validator(mode="after")
    def _pairs(self) -> Paths:
        if self.antithetic and self.count % 2:
            raise mistake(
                ("count",), f"antithetic paths come in pairs, but {self.count} is odd", f"use {self.count + 1}"
            )
        return self


class European(Section):
    style: Literal["european"]
    name: Name | None = Field(None, description='name in results (default: "option1", .. in order)')
    asset: Name | None = Field(None, description="name of its asset (default: the first)")
    payoff: Literal["call", "put"] = Field(description="call: max(S - strike, 0); put: max(strike - S, 0)")
    strike: Strike = Field(description="in units of price")


class Asian(Section):
    style: Literal["asian"]
    name: Name | None = Field(None, description='name in results (default: "option1", .. in order)')
    asset: Name | None = Field(None, description="name of its asset (default: the first)")
    payoff: Literal["call", "put"] = Field(description="call: max(mean - strike, 0); put: max(strike - mean, 0)")
    strike: Strike = Field(description="in units of price")
    average: Literal["arithmetic", "geometric"] = Field("arithmetic", description="which mean of the fixings")
    fixings: Count | None = Field(
        None,
        description="number of fixing dates, at i end / fixings for i = 1 .. fixings, or the step nearest to each "
        "(default: every step)",
    )


Option: TypeAlias = Annotated[European | Asian, Field(discriminator="style")]


class GbmOutput(Output):
    quantiles: Annotated[list[Probability], Field(min_length=1)] = Field(
        [0.05, 0.25, 0.5, 0.75, 0.95], description="of each price at each frame, in increasing order"
    )
    store_paths: Annotated[int, Field(ge=0)] | None = Field(
        None, description="how many paths to keep whole, at the frames (default: 64, or all if there are fewer)"
    )

    @field_validator("quantiles")
    @classmethod
    def _increasing(cls, quantiles: list[float]) -> list[float]:
        for i in range(1, len(quantiles)):
            if quantiles[i] <= quantiles[i - 1]:
                raise mistake((i,), f"{quantiles[i]:g} does not come after {quantiles[i - 1]:g}: sort them")
        return quantiles


class GbmScenario(Section):
    solver: Literal["gbm"]
    title: Title = Field("", description="what is simulated, in words")
    run: Run = Field(default_factory=Run)
    market: Market
    asset: Annotated[list[Asset], Field(min_length=1)]
    time: Time
    paths: Paths
    option: list[Option] = Field(default_factory=list)
    output: GbmOutput = Field(default_factory=GbmOutput)

    @property
    def asset_names(self) -> list[str]:
        return [asset.name or _letters(i) for i, asset in enumerate(self.asset)]

    @property
    def option_names(self) -> list[str]:
        return [option.name or f"option{i + 1}" for i, option in enumerate(self.option)]

    @model_validator(mode="after")
    def _check(self) -> GbmScenario:
        found = [*_repeated("asset", self.asset_names), *_repeated("option", self.option_names)]
        found += [*self._market_mistakes(), *self._option_mistakes(), *self._output_mistakes()]
        if found:
            raise FieldMistake(*found)
        return self

    def _market_mistakes(self) -> list[Mistake]:
        found, rows = [], self.market.correlation
        if rows is not None and len(rows) != len(self.asset):
            message = f"is a {len(rows)} x {len(rows)} matrix, but there are {len(self.asset)} assets"
            found.append(Mistake(("market", "correlation"), message))
        for i, asset in enumerate(self.asset):
            if self.market.drift is not None and asset.dividend_yield != 0:
                message = "the market's drift is the growth rate of the prices themselves"
                found.append(
                    Mistake(("asset", i, "dividend_yield"), message, "leave the dividend yield out", on_key=True)
                )
        return found

    def _option_mistakes(self) -> list[Mistake]:
        found, names = [], self.asset_names
        for i, option in enumerate(self.option):
            if option.asset is not None and option.asset not in names:
                known = ", ".join(map(repr, names))
                found.append(
                    Mistake(("option", i, "asset"), f"there is no asset {option.asset!r}", f"there is {known}")
                )
            if isinstance(option, Asian) and option.fixings is not None and option.fixings > self.time.steps:
                message = f"{option.fixings} fixings do not fit on {self.time.steps} time steps"
                found.append(Mistake(("option", i, "fixings"), message, "raise time.steps, best to a multiple"))
        return found

    def _output_mistakes(self) -> list[Mistake]:
        found = []
        if self.output.samples is not None:
            found.append(Mistake(("output", "samples"), "paths have frames only", "use frames", on_key=True))
        end, steps = self.time.end, self.time.steps
        found += frame_mistakes(self.output, steps, end / steps, end, "years")
        if self.output.store_paths is not None and self.output.store_paths > self.paths.count:
            message = f"there are only {self.paths.count} paths"
            found.append(Mistake(("output", "store_paths"), message))
        return found


def _letters(i: int) -> str:
    """A, B, .., Z, AA, AB, .."""
    letters = ""
    while i >= 0:
        letters = string.ascii_uppercase[i % 26] + letters
        i = i // 26 - 1
    return letters


def _repeated(table: str, names: list[str]) -> list[Mistake]:
    return [
        Mistake((table, i, "name"), f"the name {name!r} is taken by an earlier {table}", "give each its own")
        for i, name in enumerate(names)
        if name in names[:i]
    ]

"""The whole of a Monte Carlo scenario, and what must hold between its sections."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.common import AnyRun, FieldMistake, Section, frame_mistakes
from simsuite.scenario.constants import Constants
from simsuite.scenario.gbm.asset import Asset, dividend_mistakes
from simsuite.scenario.gbm.book import with_book
from simsuite.scenario.gbm.market import Market
from simsuite.scenario.gbm.option import Formula, Option
from simsuite.scenario.gbm.option_mistakes import option_mistakes
from simsuite.scenario.gbm.output import GbmOutput
from simsuite.scenario.gbm.paths import Paths, dimension_mistakes
from simsuite.scenario.gbm.sound_parts import sound_parts
from simsuite.scenario.gbm.time import Time
from simsuite.scenario.types import FileName, Title
from simsuite.words import counted


class GbmRun(AnyRun):
    precision: Literal["float64", "float32", "mixed"] = Field(
        "float64", description="arithmetic of the paths; mixed: float32 normals, float64 sums"
    )
    kernel: Literal["auto", "numba", "nvrtc"] = Field("auto", description="which GPU kernels make the paths")


class GbmScenario(Section):
    expected_keys: ClassVar[Mapping[str, str]] = {
        "event": "every path has times of its own: an [[option]] of style barrier, or an expression in min and max, "
        "says what is paid where a price reaches a level"
    }

    solver: Literal["gbm"] = Field(description="the equation: dS/S = (r - q) dt + σ dW for every asset")
    title: Title = Field("", description="what is simulated, in words")
    constants: Constants
    run: GbmRun = Field(default_factory=GbmRun, description="device, arithmetic and seed")
    market: Market = Field(description="what all assets share")
    asset: Annotated[list[Asset], Field(min_length=1)] = Field(description="the prices that are simulated")
    time: Time = Field(description="how long, in how many steps")
    paths: Paths = Field(description="how many paths are simulated, and from what numbers")
    option: list[Option] = Field(default_factory=list, description="contracts that are priced")
    book: FileName | None = Field(
        None,
        description="name of a CSV file with further options, a row each; its first line names the keys of [[option]], "
        "an empty cell leaves its key out",
    )
    output: GbmOutput = Field(default_factory=GbmOutput, description="what is stored, where and when")

    attach: ClassVar = staticmethod(with_book)
    joined_by: ClassVar[tuple[str, ...]] = ("option",)
    sound_parts: ClassVar = staticmethod(sound_parts)

    @property
    def random(self) -> bool:
        """Whether results depend on run.seed."""
        return True

    @property
    def can_join(self) -> bool:
        """Whether its options may be priced in one run with those of scenarios that differ in options alone: whether
        the results of each do not depend on which others are there. A target sets the number of paths, a portfolio
        holds all options, and bumps are shared."""
        held = any(option.holding for option in self.option)
        bumped = any(isinstance(option.greeks, str) for option in self.option)
        one_by_one = self.paths.target_standard_error or self.output.risk or self.output.exposure or held or bumped
        return bool(self.option) and not one_by_one

    @property
    def joined_size(self) -> int:
        """How much it adds to a run of several."""
        return len(self.option)

    @staticmethod
    def join(models: Sequence[GbmScenario]) -> GbmScenario | None:
        """The scenario with the options of all of these; None if they differ in anything else. Options get new
        names."""
        first = models[0]
        if not all(model.can_join and model._without_options() == first._without_options() for model in models):
            return None
        options = [option for model in models for option in model.option]
        named = [option.model_copy(update={"name": f"o{i}"}) for i, option in enumerate(options)]
        return first.model_copy(update={"option": named})

    @staticmethod
    def divide(results: Mapping[str, Any], models: Sequence[GbmScenario]) -> list[dict[str, Any]]:
        """What each of the scenarios has of the results of all of them together. Any: as `run --json` has them."""
        each = iter(results["options"].values())
        return [{**results, "options": {name: next(each) for name in model.option_names}} for model in models]

    def _without_options(self) -> dict[str, object]:
        ignored = {"option", "title", "constants"}  # the constants that options use are numbers in them already
        fields = {name: value for name, value in self if name not in ignored}
        return fields | {"output": self.output.model_copy(update={"directory": None})}

    @property
    def asset_names(self) -> list[str]:
        return [asset.name or _letters(i) for i, asset in enumerate(self.asset)]

    @property
    def option_names(self) -> list[str]:
        return [option.name or f"option{i + 1}" for i, option in enumerate(self.option)]

    def until(self, maturity: float | None) -> GbmScenario:
        """The scenario as it would be if it ended with options of this maturity, in years, with those options alone;
        itself if all of its options end then. None stands for the end."""
        time = self.time.until(maturity)
        together = [option for option in self.option if self.time.until(option.maturity).steps == time.steps]
        if time is self.time and len(together) == len(self.option):
            return self
        # times are those of their steps, so that rounding takes none to another step of fewer
        together = [o if o.maturity is None else o.model_copy(update={"maturity": time.end}) for o in together]
        assets = []
        for asset in self.asset:
            steps = [self.time.nearest_step(dividend.time) for dividend in asset.dividends]
            paid = [
                dividend.model_copy(update={"time": self.time.end * (step / self.time.steps)})
                for step, dividend in zip(steps, asset.dividends)
                if step <= time.steps
            ]
            assets.append(asset.model_copy(update={"dividends": paid}))
        return self.model_copy(update={"time": time, "option": together, "asset": assets})

    def payoff(self, option: Formula) -> Expression:
        """What an option pays, in variables such as ``"mean(A)"``."""
        return option.pays(self.asset_names)

    @model_validator(mode="after")
    def _check(self) -> GbmScenario:
        found = [*_repeated("asset", self.asset_names), *_repeated("option", self.option_names)]
        found += [*self._market_mistakes(), *dividend_mistakes(self.asset, self.time)]
        found += option_mistakes(self.option, self.asset, self.asset_names, self.time)
        found += [*self._paths_mistakes(), *self._output_mistakes(), *self._portfolio_mistakes()]
        if found:
            raise FieldMistake(*found)
        return self

    def _market_mistakes(self) -> list[Mistake]:
        found, rows = [], self.market.correlation
        if rows is not None and len(rows) != len(self.asset):
            message = f"is a {len(rows)} x {len(rows)} matrix for {counted(len(self.asset), 'asset')}"
            found.append(Mistake(("market", "correlation"), message))
        for i, asset in enumerate(self.asset):
            if self.market.drift is not None and any(asset.dividend_yield.values):
                message = "the market's drift is the growth rate of the prices themselves"
                found.append(
                    Mistake(("asset", i, "dividend_yield"), message, "leave the dividend yield out", on_key=True)
                )
        return found

    def _paths_mistakes(self) -> list[Mistake]:
        paths = self.paths
        jumps = any(asset.jumps is not None for asset in self.asset)
        found = dimension_mistakes(paths, len(self.asset), self.time.steps, jumps)
        if paths.multilevel and self.time.scheme == "exact":
            message = "multilevel makes the error of the scheme vanish, but the exact scheme has none"
            help = 'leave multilevel out, or set time.scheme = "milstein"'
            found.append(Mistake(("paths", "multilevel"), message, help, on_key=True))
        if paths.multilevel and paths.target_standard_error == 0:
            message = "multilevel needs `target_standard_error`, from which it takes levels and paths"
            found.append(Mistake(("paths", "multilevel"), message, "add target_standard_error = ..", on_key=True))
        if paths.target_standard_error > 0 and not self.option:
            message = "there is no option whose standard error could reach it"
            found.append(Mistake(("paths", "target_standard_error"), message, "leave it out, or add an [[option]]"))
        if paths.regression is not None and not any(option.exercised_early for option in self.option):
            message, help = "there is no American option to learn the exercise of", "leave regression out"
            found.append(Mistake(("paths", "regression"), message, help, on_key=True))
        return found

    def _output_mistakes(self) -> list[Mistake]:
        found = []
        if self.output.samples is not None:
            found.append(Mistake(("output", "samples"), "paths have frames only", "use frames", on_key=True))
        if self.output.looks is not None:
            message = "there are no events of random paths to look for"
            found.append(Mistake(("output", "looks"), message, "leave it out", on_key=True))
        end, steps = self.time.end, self.time.steps
        found += frame_mistakes(self.output, steps, end / steps, end, "year")
        if self.output.store_paths is not None and self.output.store_paths > self.paths.count:
            message = f"the run has {counted(self.paths.count, 'path')} only"
            found.append(Mistake(("output", "store_paths"), message))
        return found

    def _portfolio_mistakes(self) -> list[Mistake]:
        """Mistakes where results on the portfolio are asked for although it holds nothing."""
        found = []
        assets, options = (any(part.holding for part in parts) for parts in (self.asset, self.option))
        if self.output.risk is not None and not (assets or options):
            help = "add holding = .. to an [[asset]] or an [[option]]"
            found.append(Mistake(("output", "risk"), "the portfolio is empty: there is no risk", help, on_key=True))
        if self.output.exposure and not assets:
            message, help = "the portfolio holds no asset: there is no exposure", "add holding = .. to an [[asset]]"
            found.append(Mistake(("output", "exposure"), message, help, on_key=True))
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

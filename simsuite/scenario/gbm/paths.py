"""`[paths]`: how many, and what they are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.common import FieldMistake, NonNegative, Section
from simsuite.words import counted

GROUP = 1024  # paths whose sum is taken in a fixed order; batches consist of whole groups

# exact sums hold those of 2^31 groups, see `solvers/gbm/statistics/exact_sums.py`: 2.199e12 paths
MOST_PATHS = 2 * 10**12
MOST_DIMENSIONS = (
    21201  # of S. Joe's and F. Y. Kuo's direction numbers for Sobol points (SIAM J. Sci. Comput. 30, 2008)
)

MOST_POINTS = 1 << 32  # the most points of a scramble: further ones would repeat its 32 bits

_REPLICATES = 16
_REGRESSION = (1024, 65536)  # the fewest and the most paths for regression by default


class Paths(Section):
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "sampling": {
            **dict.fromkeys(("random", "mc", "montecarlo", "philox", "pseudorandom"), 'write "pseudo"'),
            **dict.fromkeys(("quasi", "qmc", "quasirandom", "halton", "lowdiscrepancy"), 'write "sobol"'),
            "antithetic": "write antithetic = true",
        }
    }
    expected_keys: ClassVar[Mapping[str, str]] = {
        "moment_matching": 'moment matching was removed: write antithetic = true, or sampling = "sobol"'
    }
    count: Annotated[int, Field(ge=1, le=MOST_PATHS)] = Field(
        description="number of paths; the largest number if there is a target_standard_error"
    )
    antithetic: bool = Field(False, description="pair each path with one of opposite normals; needs an even count")
    sampling: Literal["pseudo", "sobol"] = Field(
        "pseudo",
        description="pseudo: Philox4x32-10 random numbers; sobol: scrambled Sobol points, turned into paths by a "
        "Brownian bridge",
    )
    replicates: Annotated[int, Field(ge=2)] | None = Field(
        None,
        description="independent scrambles among which Sobol points are divided, from whose spread the standard errors "
        f"come; count is a multiple of it (sobol only; default {_REPLICATES})",
    )
    batch: Annotated[int, Field(ge=GROUP, multiple_of=GROUP)] | None = Field(
        None,
        description=f"paths simulated at a time, a multiple of {GROUP}; at least those to be stored; changes no "
        "result, only the memory needed (default: all, as long as they fit in 1 GiB)",
    )
    target_standard_error: NonNegative = Field(
        0.0, description="stop once the price of every option has this standard error, in units of price; 0 = off"
    )
    multilevel: bool = Field(
        False,
        description="multilevel Monte Carlo: most paths with few steps, few with all; needs scheme euler or milstein "
        "and a target_standard_error",
    )
    regression: Annotated[int, Field(ge=100, le=1 << 24)] | None = Field(
        None,
        description="paths of their own from which the exercise of American options is learnt (default: count, but at "
        f"least {_REGRESSION[0]} and at most {_REGRESSION[1]})",
    )

    @property
    def width(self) -> int:
        """The number of paths that make one independent observation."""
        return 2 if self.antithetic else 1

    @property
    def scrambles(self) -> int:
        """The number of independent scrambles of Sobol points."""
        return _REPLICATES if self.replicates is None else self.replicates

    @property
    def regression_paths(self) -> int:
        """The number of paths from which the exercise of American options is learnt."""
        fewest, most = _REGRESSION
        return min(max(self.count, fewest), most) if self.regression is None else self.regression

    @model_validator(mode="before")
    @classmethod
    def _drop_moment_matching(cls, data: object) -> object:
        """Earlier versions wrote `moment_matching = false` into the scenarios of their runs, which can still be
        continued."""
        if isinstance(data, Mapping) and data.get("moment_matching") is False:
            return {key: value for key, value in data.items() if key != "moment_matching"}
        return data

    @model_validator(mode="after")
    def _check(self) -> Paths:
        found = self._sobol_mistakes() if self.sampling == "sobol" else self._pseudo_mistakes()
        if found:
            raise FieldMistake(*found)
        return self

    def _pseudo_mistakes(self) -> list[Mistake]:
        found = []
        if self.antithetic and self.count % 2:
            message = f"antithetic paths come in pairs, but {self.count} is odd"
            found.append(Mistake(("count",), message, f"use {self.count + 1}"))
        if self.replicates is not None:
            message, help = "only Sobol points have replicates", 'leave it out, or set sampling = "sobol"'
            found.append(Mistake(("replicates",), message, help, on_key=True))
        return found

    def _sobol_mistakes(self) -> list[Mistake]:
        found = []
        if self.antithetic:
            message = "Sobol points are balanced already: pairing them spoils their evenness"
            found.append(Mistake(("antithetic",), message, 'leave antithetic out, or write sampling = "pseudo"'))
        if self.count % self.scrambles:
            message = f"is {self.count}, which {self.scrambles} replicates cannot share evenly"
            points = min(1 << (self.count // self.scrambles).bit_length(), MOST_POINTS)
            each = f"{self.scrambles} replicates of {counted(points, 'point')}, a power of 2"
            help = f"use {points * self.scrambles}: {each}"
            found.append(Mistake(("count",), message, help))
        if self.count > MOST_POINTS * self.scrambles:
            message = f"is {self.count}, but a replicate has at most 2^32 Sobol points, and there are {self.scrambles}"
            found.append(
                Mistake(("count",), message, f"use at most {MOST_POINTS * self.scrambles}, or more replicates")
            )
        return found


def dimension_mistakes(paths: Paths, assets: int, steps: int, jumps: bool) -> list[Mistake]:
    """A mistake if a path needs more random numbers than a Sobol point has coordinates."""
    each = assets * (2 if jumps else 1)
    if paths.sampling != "sobol" or each * steps <= MOST_DIMENSIONS:
        return []
    parts = f"{counted(steps, 'step')} x {counted(assets, 'asset')}" + (" x 2 (jumps)" if jumps else "")
    message = f"{parts} = {each * steps} random numbers a path, but Sobol points have at most {MOST_DIMENSIONS}"
    fewer = f"set time.steps to at most {MOST_DIMENSIONS // each}, or " if each <= MOST_DIMENSIONS else ""
    return [Mistake(("paths", "sampling"), message, f'{fewer}write sampling = "pseudo"')]

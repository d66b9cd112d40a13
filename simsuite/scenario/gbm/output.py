"""`[output]`: quantiles, paths to keep, and the risk of what is held."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, field_validator

from simsuite.scenario.common import Output, Section
from simsuite.scenario.types import mistake

Probability: TypeAlias = Annotated[float, Field(gt=0, lt=1)]
Level: TypeAlias = Annotated[float, Field(gt=0.5, lt=1)]


class Risk(Section):
    """Value at risk and expected shortfall, at the end, of the portfolio of all holdings."""

    levels: Annotated[list[Level], Field(min_length=1)] = Field(
        [0.95, 0.99], description="probabilities of no greater loss, above 0.5 and below 1, in increasing order"
    )

    @field_validator("levels")
    @classmethod
    def _increasing(cls, levels: list[float]) -> list[float]:
        return increasing(levels)


class GbmOutput(Output):
    quantiles: Annotated[list[Probability], Field(min_length=1)] = Field(
        [0.05, 0.25, 0.5, 0.75, 0.95], description="of each price at each frame, in increasing order"
    )
    store_paths: Annotated[int, Field(ge=0)] | None = Field(
        None, description="how many paths to keep whole, at the frames (default: 64, or all if there are fewer)"
    )
    risk: Risk | None = Field(
        None,
        description="value at risk and expected shortfall of the portfolio of all holdings: {levels = [0.95, 0.99]}",
    )
    exposure: bool = Field(
        False,
        description="expected positive, expected negative and potential future exposure of the portfolio of assets "
        "held, at each frame; the last at the levels of risk (default 0.95 and 0.99)",
    )

    @field_validator("quantiles")
    @classmethod
    def _increasing(cls, quantiles: list[float]) -> list[float]:
        return increasing(quantiles)


def increasing(values: list[float]) -> list[float]:
    """The values unchanged. Raises `FieldMistake` unless each is larger than the one before."""
    for i in range(1, len(values)):
        if values[i] <= values[i - 1]:
            raise mistake((i,), f"{values[i]:g} does not come after {values[i - 1]:g}: sort them")
    return values

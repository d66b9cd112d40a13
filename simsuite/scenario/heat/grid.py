"""`[grid]`: the plate and its cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from simsuite.scenario.common import Positive, Section
from simsuite.scenario.heat import foreign
from simsuite.scenario.units import LENGTH, Unit

MOST_CELLS = 1 << 18  # the most cells along an axis: what the grid of a CUDA launch can hold


class Grid(Section):
    measured_in: ClassVar[Mapping[str, Unit]] = dict.fromkeys(("lx", "ly", "thickness"), LENGTH)
    expected_keys: ClassVar[Mapping[str, str]] = foreign.GRID
    nx: Annotated[int, Field(ge=1, le=MOST_CELLS)] = Field(description="number of cells along x")
    ny: Annotated[int, Field(ge=1, le=MOST_CELLS)] = Field(description="number of cells along y; 1 for a rod")
    lx: Positive = Field(1.0, description="width of the rectangle, m")
    ly: Positive = Field(1.0, description="height of the rectangle, m")
    thickness: Positive | None = Field(
        None, description="of the plate, m: energies are then in J in place of J per metre of depth"
    )

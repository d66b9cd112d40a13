"""Parts of the plate that a file marks, for `[[region]]` and `[[source]]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from simsuite.scenario.common import Section
from simsuite.scenario.heat.material import array_or_image
from simsuite.scenario.types import FileName


class MaskShape(Section):
    shape: Literal["mask"] = Field(description="all that a file marks")
    file: FileName = Field(
        description="array of shape (ny, nx) in a .npy file, which marks where it is not 0, or picture stretched over "
        "the domain, which marks where it is bright (grey level at least 128); relative to the scenario file"
    )

    @field_validator("file")
    @classmethod
    def _array_or_image(cls, file: str) -> str:
        return array_or_image(file)

    def misses(self, lx: float, ly: float) -> bool:
        """It covers the domain, whatever its size."""
        return False

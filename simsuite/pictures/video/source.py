"""The fields of a run as numbers of colours, frame by frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simsuite.errors import UsageError
from simsuite.pictures.plates.fields import domain_of
from simsuite.pictures.plates.maps import Domain
from simsuite.pictures.recording import Recording
from simsuite.pictures.units import contrast

_LONGEST, _LEAST = 1200, 720  # pixels of the longer side of a field: larger ones are averaged, smaller ones enlarged
_SHORTEST = 60  # pixels of the shorter side


@dataclass(frozen=True)
class Source:
    """The temperatures of a heat run. Raises UsageError for one with fewer than two frames."""

    run: Recording

    def __post_init__(self) -> None:
        if self.run.frames < 2:
            raise UsageError(f"the run in {self.run.directory} has {self.run.frames} frame, of which no video is made")

    @cached_property
    def domain(self) -> Domain:
        return domain_of(self.run.scenario)

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height of the field in pixels, both even: a pixel for each cell where that is a good size."""
        nx, ny, shape = self.domain.nx, self.domain.ny, self.domain.shape
        longest = max(nx, ny) if _LEAST <= max(nx, ny) <= _LONGEST else _enlarged(max(nx, ny))
        width, height = (longest, longest * shape) if shape <= 1 else (longest / shape, longest)
        if abs(width - nx) <= 1 and abs(height - ny) <= 1:
            width, height = nx, ny
        return max(_SHORTEST, round(width)), max(_SHORTEST, round(height))

    def limits(self, told: Callable[[int], None]) -> tuple[float, float]:
        """The least and the largest temperature of all frames. told: called with the number of each frame."""
        low, high = math.inf, -math.inf
        for frame in range(self.run.frames):
            values = self.run.file["temperature"][frame]
            low, high = min(low, float(values.min())), max(high, float(values.max()))
            told(frame)
        if not contrast(low, high, 1e-15):
            low, high = low - 0.5, high + 0.5
        return low, high

    def indices(self, limits: tuple[float, float]) -> Iterator[np.ndarray]:
        """The colours of the pixels of each frame, uint8 [row, column], top row first; the first and the last colour
        stand for all beyond the limits, too."""
        across, up = self.size
        nx, ny = self.domain.nx, self.domain.ny
        averaged = nx > 2 * across or ny > 2 * up
        low, scale = limits[0], 256 / (limits[1] - limits[0])
        for frame in range(self.run.frames):
            if averaged:
                values = self.run.field("temperature", frame, max(across, up)).values
            else:
                values = self.run.file["temperature"][frame]
            colours = ((values - low) * scale).clip(0, 255).astype(np.uint8)
            yield _resized(colours, across, up)


def _enlarged(cells: int) -> int:
    """The longer side in pixels of a field of so many cells: a multiple of them, as far as there are few."""
    return cells * math.ceil(_LEAST / cells) if cells < _LEAST else _LONGEST


def _resized(colours: np.ndarray, across: int, up: int) -> np.ndarray:
    """The field with so many pixels, each of the colour of the cell that its middle is in; top row first."""
    rows, columns = colours.shape
    if columns != across:
        colours = colours[:, ((np.arange(across) + 0.5) * columns / across).astype(np.intp)]
    if rows != up:
        colours = colours[((np.arange(up) + 0.5) * rows / up).astype(np.intp)]
    return colours[::-1]

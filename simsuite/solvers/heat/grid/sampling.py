"""Coefficients and regions of a scenario at the cells of its grid.

Expressions are evaluated at the cell centres. Arrays have a number for each cell, `[y, x]` with y upwards. A picture is
stretched over the domain with its top row at the top edge, and a cell takes the colour of the pixel that its centre
lies in (nearest neighbour).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.errors import Mistake
from simsuite.expressions import Expression
from simsuite.scenario.heat import HeatScenario, ImageRef, Part, is_image
from simsuite.scenario.heat.mask import MaskShape
from simsuite.scenario.heat.shapes import Shape, outline_margin
from simsuite.scenario.types import FileRef
from simsuite.solvers.arrays import read_npy, readable, require_plain
from simsuite.solvers.heat.grid.shapes import inside_shape
from simsuite.words import cell_in_words

# the kinds of pictures that are read; Pillow would start programs for other kinds
PICTURES = ("PNG", "BMP", "GIF", "TIFF", "JPEG")
MOST_PIXELS = 1 << 26  # the most pixels of a picture
_DAMAGED = (OSError, ValueError, SyntaxError, OverflowError, MemoryError, IndexError, struct.error)  # of Pillow
BRIGHT = 128  # the least grey level of a pixel that belongs to a mask
# weights of red, green and blue in a grey level, in thousandths: ITU-R BT.601, the usual conversion
_GREY = (299, 587, 114)

Path_ = tuple[str | int, ...]


def cell_centres(scenario: HeatScenario) -> tuple[np.ndarray, np.ndarray]:
    """x (nx,) and y (ny,) of the cell centres, m."""
    g = scenario.grid
    return (np.arange(g.nx) + 0.5) * (g.lx / g.nx), (np.arange(g.ny) + 0.5) * (g.ly / g.ny)


class Sampler:
    """Evaluates parts of a scenario on its grid; what is wrong with them goes to `mistakes`."""

    def __init__(self, scenario: HeatScenario, base: Path, mistakes: list[Mistake]) -> None:
        self.shape = (scenario.grid.ny, scenario.grid.nx)
        self._base, self._mistakes = base, mistakes
        x, y = cell_centres(scenario)
        self.x, self.y = x, y[:, None]
        self._margin = outline_margin(scenario.grid.lx, scenario.grid.ly)

    def values(self, part: Part, path: Path_, cells: np.ndarray) -> np.ndarray:
        """The values of a coefficient in all cells, (ny, nx). In `cells`, the cells that it is for, it must be
        above 0."""
        if isinstance(part, Expression):
            values = np.broadcast_to(part(x=self.x, y=self.y), self.shape)
        elif isinstance(part, ImageRef):
            values = self._coloured(part, path, cells)
        else:
            values = self.array(part, (*path, "file"))
        self._must_be_positive(values, path, cells)
        return values

    def array(self, ref: FileRef, path: Path_) -> np.ndarray:
        """The numbers in a .npy file of the grid's shape; ones if the file has another shape, which is a mistake."""
        try:
            values = read_npy(ref.path(self._base))
        except ValueError as error:
            self._mistakes.append(Mistake(path, f"{ref.file} {error}"))
            return np.ones(self.shape)
        if values.shape != self.shape:
            message = f"{ref.file} holds an array of shape {values.shape}, the grid needs (ny, nx) = {self.shape}"
            self._mistakes.append(Mistake(path, message))
            return np.ones(self.shape)
        return values.astype(np.float64)

    def _must_be_positive(self, values: np.ndarray, path: Path_, cells: np.ndarray) -> None:
        few = distinct(values)
        wrong = ~(np.isfinite(few) & (few > 0))
        bad = np.argwhere(wrong & distinct(cells))
        if len(bad):
            y, x = bad[0]
            message = f"must be a positive number, but is {values[y, x]:g} in {cell_in_words(x, y)}"
            self._mistakes.append(Mistake(path, message))

    def _pixels(self, file: str, path: Path_) -> np.ndarray:
        """The red, green and blue of the pixel that each cell lies in, (ny, nx, 3)."""
        from PIL import Image  # slow to import and rarely needed

        try:
            require_plain(self._base / file)
            with Image.open(self._base / file, formats=PICTURES) as picture:
                if picture.width * picture.height > MOST_PIXELS:
                    raise ValueError(f"it has {picture.width} x {picture.height} pixels, more than {MOST_PIXELS}")
                if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
                    raise ValueError(f"its pixels are no colours of 8 bits ({picture.mode})")
                pixels = np.asarray(picture.convert("RGB"))
        except (*_DAMAGED, Image.DecompressionBombError) as error:
            self._mistakes.append(Mistake(path, f"{file} cannot be read as a picture: {error}"))
            return np.zeros((*self.shape, 3), np.uint8)
        height, width, _ = pixels.shape
        ny, nx = self.shape
        rows = height - 1 - np.minimum(((np.arange(ny) + 0.5) * (height / ny)).astype(int), height - 1)
        columns = np.minimum(((np.arange(nx) + 0.5) * (width / nx)).astype(int), width - 1)
        return pixels[rows[:, None], columns]

    def _coloured(self, ref: ImageRef, path: Path_, cells: np.ndarray) -> np.ndarray:
        pixels = self._pixels(ref.file, (*path, "file")).astype(np.int64)
        codes = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
        values = np.full(self.shape, np.nan)
        for (red, green, blue), value in ref.colours.items():
            values[codes == ((red << 16) | (green << 8) | blue)] = value
        unknown = np.argwhere(np.isnan(values) & cells)
        if len(unknown) and not any(m.path == (*path, "file") for m in self._mistakes):
            y, x = unknown[0]
            message = f"{ref.file} is of colour #{codes[y, x]:06x} in {cell_in_words(x, y)}, which has no value"
            help = f'add "#{codes[y, x]:06x}" to values'
            self._mistakes.append(Mistake((*path, "values"), message, help))
        return np.where(np.isnan(values), 1.0, values)

    def inside(self, shape: Shape | MaskShape, path: Path_) -> np.ndarray:
        """Which cells have their centre in a shape or on its outline, (ny, nx)."""
        if isinstance(shape, MaskShape):
            return self._masked(shape, path)
        return inside_shape(self.x, self.y, shape, self._margin)

    def _masked(self, mask: MaskShape, path: Path_) -> np.ndarray:
        if is_image(mask.file):
            return self._pixels(mask.file, (*path, "file")) @ np.array(_GREY) >= 1000 * BRIGHT
        file = self._base / mask.file
        try:
            readable(lambda: require_plain(file))
            values = readable(lambda: np.lib.format.open_memmap(file, mode="r"))
        except ValueError as error:
            self._mistakes.append(Mistake((*path, "file"), f"{mask.file} {error}"))
            return np.zeros(self.shape, bool)
        if values.shape != self.shape or values.dtype.kind not in "biuf":
            message = f"{mask.file} holds {values.dtype} of shape {values.shape}, needed are (ny, nx) = {self.shape}"
            self._mistakes.append(Mistake((*path, "file"), message))
            return np.zeros(self.shape, bool)
        return np.asarray(values) != 0


def once_if_alike(values: np.ndarray) -> np.ndarray:
    """The same array. If all its numbers are equal, as where a region covers no cell, the result is a broadcast of one
    number, by which a uniform material is recognised."""
    few = distinct(values)
    alike = few.size > 1 and bool(np.all(few == few.flat[0]))
    return np.broadcast_to(few.flat[0], values.shape) if alike else values


def distinct(values: np.ndarray) -> np.ndarray:
    """A broadcast array without its repetitions: only the first cell along each axis along which the array was
    broadcast."""
    index: Any = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in values.strides)
    return values[index]

"""The page of a video: what is the same in all frames, drawn once, and what is put on it for each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize, to_rgb
from matplotlib.figure import Figure

from simsuite.pictures.look import INK, THEMES, Look, themed
from simsuite.pictures.plates.maps import Domain
from simsuite.pictures.sheet import DPI, LARGE, draw_bar, fit, tidy

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

_DPI = 100
# In pixels, of a field whose longer side has _USUAL, and more for larger ones:
_USUAL = 900
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 118, 62, 74  # around the field
_TITLE_AT, _STAMP_AT, _BAR_AT = 10, 33, 48  # of title and time from the top, of the bar from the field
_BAR = 6  # the height of the bar that shows how far the video is
_STAMP = 17  # the size of the letters of the time stamp
_FINER = 4  # by what text is drawn larger before it is reduced


@dataclass(frozen=True)
class Page:
    """background: uint8 [height, width, 3], without field, time and bar. field: its place, rows and columns of pixels.
    stamp: the left upper corner of the time stamp. colours: [256, 3] of the field. enlarged: by what letters and the
    space around the field are larger than usual."""

    background: np.ndarray
    field: tuple[slice, slice]
    stamp: tuple[int, int]
    ink: tuple[int, int, int]
    colours: np.ndarray
    enlarged: float

    @property
    def palette(self) -> np.ndarray:
        """256 colours, for pictures that may have no more: those of the page, and as many of the field."""
        found, counts = np.unique(self.background.reshape(-1, 3), axis=0, return_counts=True)
        page = found[np.argsort(-counts)][:56]
        few = self.colours[np.linspace(0, 255, 256 - len(page)).round().astype(int)]
        return np.concatenate([few, page])

    def frame(self, indices: np.ndarray, text: str, share: float) -> np.ndarray:
        """A frame, uint8 [height, width, 3]. indices: uint8, of the colours of the field's pixels, top row first. text:
        the time. share: how far the video is, 0 to 1."""
        page = self.background.copy()
        page[self.field] = np.take(self.colours, indices, axis=0)
        rows, columns = self.field
        begin, high = rows.stop + round(_BAR_AT * self.enlarged), round(_BAR * self.enlarged)
        page[begin : begin + high, columns.start : columns.start + round(share * indices.shape[1])] = self.ink
        self._stamp(page, text)
        return page

    def _stamp(self, page: np.ndarray, text: str) -> None:
        mask = _written(text, round(_STAMP * self.enlarged))
        x, y = self.stamp
        width = min(mask.shape[1], page.shape[1] - x)
        place = page[y : y + mask.shape[0], x : x + width]
        share = mask[:, :width, np.newaxis].astype(np.float32) / 255
        place[...] = (place * (1 - share) + np.array(self.ink, np.float32) * share).round().astype(np.uint8)


@functools.lru_cache(maxsize=64)
def _written(text: str, size: int) -> np.ndarray:
    """A line of text as a mask, 0 to 255, by Pillow. size: of its letters, pixels."""
    from PIL import Image, ImageDraw

    font = _font(_FINER * size)
    width = int(font.getlength(text)) // _FINER + 2
    image = Image.new("L", (_FINER * width, _FINER * (size + 8)), 0)
    ImageDraw.Draw(image).text((0, 2 * _FINER), text, fill=255, font=font)
    return np.asarray(image.reduce(_FINER))  # so that no letter is drawn bolder by the grid of pixels


@functools.cache
def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), size)


def make_page(
    title: str,
    domain: Domain,
    size: tuple[int, int],
    limits: tuple[float, float],
    label: str,
    colours: Colormap,
    look: Look,
) -> Page:
    """The page around a field. size: of the field, width and height in pixels. limits: the numbers of the first and the
    last colour. label: of the colour bar."""
    across, up = size
    enlarged = max(1.0, max(size) / _USUAL)
    left, right, top, bottom = (round(n * enlarged) for n in (_LEFT, _RIGHT, _TOP, _BOTTOM))
    width, height = (n + n % 2 for n in (across + left + right, up + top + bottom))
    dpi = _DPI * enlarged
    # a little more than whole pixels, since some versions of Matplotlib cut off what is less by rounding
    figure = Figure(figsize=((width + 1e-3) / dpi, (height + 1e-3) / dpi), dpi=dpi)
    FigureCanvasAgg(figure)
    ax = figure.add_axes((left / width, 1 - (top + up) / height, across / width, up / height))
    ax.set(xlim=(0, domain.lx), ylim=(0, domain.ly))
    image = ScalarMappable(Normalize(*limits), colours)
    tidy(ax, "", f"x ({domain.unit.name})", f"y ({domain.unit.name})", box=True)
    draw_bar(ax, image, label, 16 * enlarged / across)
    head = figure.text(left / width, 1 - _TITLE_AT * enlarged / height, title, size=LARGE, color=INK, weight="bold")
    head.set(parse_math=False, verticalalignment="top")
    fit(head, (width - left - 12) / DPI)
    high = round(_BAR * enlarged)
    under = top + up + round(_BAR_AT * enlarged) + high
    bar = figure.add_axes((left / width, 1 - under / height, across / width, high / height))
    bar.set(xticks=[], yticks=[], facecolor="#e4e4e4")
    for spine in bar.spines.values():
        spine.set_visible(False)
    look.apply(figure)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    background = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
    theme = THEMES[look.theme]
    red, green, blue = (round(255 * part) for part in themed(INK, theme)[:3])
    lut = (255 * np.array([to_rgb(c) for c in colours(np.arange(256))])).round().astype(np.uint8)
    place = slice(top, top + up), slice(left, left + across)
    stamp = left, round(_STAMP_AT * enlarged)
    return Page(background, place, stamp, (red, green, blue), lut, enlarged)

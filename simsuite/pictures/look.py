"""How a picture looks: colours of a theme, size of its sheet and of its type.

Pictures are composed in the colours of the light theme at the usual width. A theme says what each of these colours
becomes, and how large type and lines are; it is applied to a finished figure, before its layout is computed.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from simsuite.errors import UsageError

OVER_IMAGE = "_over image"  # the label of artists whose colours were chosen for the image below: themes keep them
INK, GREY, PALE = "#222222", "#6b6b6b", "#c8c8c8"
WARNING = "#b23a00"
# Okabe and Ito's palette, safe for colour-blind readers, without the yellow that vanishes on white
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#4d4d4d")


@dataclass(frozen=True)
class Theme:
    """What becomes of colours and sizes.

    page: the colour of the page. colours: for colours of the light theme those in their place. mirrored: whether all
    other colours have their lightness mirrored, as on a dark page. type_scale, line_scale: factors of the sizes of
    letters and of the widths of lines.
    """

    page: str = "#ffffff"
    colours: Mapping[str, str] = field(default_factory=dict)
    mirrored: bool = False
    type_scale: float = 1.0
    line_scale: float = 1.0


_DARK = {
    "#ffffff": "#14171c",
    INK: "#e8e8e8",
    GREY: "#a3a8b0",
    PALE: "#4a5058",
    WARNING: "#ff8a4c",
    **dict(zip(COLOURS, ("#4db3f0", "#ff8b3d", "#2fd0a0", "#e8a2cb", "#8fd0f7", "#f5c04a", "#b794d6", "#b8bcc2"))),
}
THEMES = {
    "light": Theme(),
    "dark": Theme(_DARK["#ffffff"], _DARK, mirrored=True),
    "paper": Theme(colours={INK: "#000000", GREY: "#404040"}, type_scale=0.94, line_scale=0.9),
    "slides": Theme(colours={INK: "#111111", GREY: "#444444"}, type_scale=1.3, line_scale=1.5),
}
SIZES = {"column": 89 / 25.4, "page": 183 / 25.4}  # inches: widths of a column and of a page in journals
WIDTH = 8.4  # inches: the width where no size is asked for


@dataclass(frozen=True)
class Look:
    """A theme, and a width of the sheet by name; None: the usual one.

    Raises UsageError for names that there are not.
    """

    theme: str = "light"
    size: str | None = None

    def __post_init__(self) -> None:
        for what, name, known in (("theme", self.theme, THEMES), ("size", self.size, SIZES)):
            if name is not None and name not in known:
                *some, last = known
                raise UsageError(f"there is no {what} {name!r}: take {', '.join(some)} or {last}")

    @property
    def width(self) -> float:
        """Of the sheet, in inches."""
        return WIDTH if self.size is None else SIZES[self.size]

    @property
    def narrow(self) -> bool:
        """Whether the sheet is so narrow that panels do not fit beside each other."""
        return self.width < 5.0

    @property
    def type_scale(self) -> float:
        """The factor of the sizes of letters."""
        return THEMES[self.theme].type_scale

    def apply(self, figure: Figure) -> None:
        """Give a figure made in the light theme the colours and sizes of this one."""
        theme = THEMES[self.theme]
        figure.set_facecolor(theme.page)
        if theme == THEMES["light"]:
            return
        for artist in figure.findobj():
            _scale(artist, theme)
            if artist is not figure.patch and artist.get_label() != OVER_IMAGE:
                _recolour(artist, theme)


def themed(colour: Any, theme: Theme) -> tuple[float, float, float, float]:
    """The colour in place of one of the light theme; opacity stays."""
    red, green, blue, opacity = to_rgba(colour)
    known = theme.colours.get(to_hex((red, green, blue)))
    if known is not None:
        return (*to_rgba(known)[:3], opacity)
    if not theme.mirrored:
        return red, green, blue, opacity
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    darkest = colorsys.rgb_to_hls(*to_rgba(theme.page)[:3])[1]
    return (*colorsys.hls_to_rgb(hue, 1 - (1 - darkest) * lightness, saturation), opacity)


def _scale(artist: Artist, theme: Theme) -> None:
    if isinstance(artist, Text):
        artist.set_fontsize(float(artist.get_fontsize()) * theme.type_scale)
    elif isinstance(artist, Line2D):
        artist.set_linewidth(artist.get_linewidth() * theme.line_scale)
        artist.set_markersize(artist.get_markersize() * theme.line_scale)
    if isinstance(artist, Axes):
        for axis in (artist.xaxis, artist.yaxis):
            for which in ("major", "minor"):
                size = axis.get_tick_params(which=which).get("labelsize")
                if isinstance(size, float):
                    axis.set_tick_params(which=which, labelsize=size * theme.type_scale)


def _recolour(artist: Artist, theme: Theme) -> None:
    if isinstance(artist, Axes):
        for axis in (artist.xaxis, artist.yaxis):
            for which in ("major", "minor"):
                known = axis.get_tick_params(which=which)
                new: dict[str, Any] = {
                    key: themed(known[key], theme) for key in ("color", "labelcolor") if key in known
                }
                axis.set_tick_params(which=which, **new)
    elif isinstance(artist, Text):
        artist.set_color(themed(artist.get_color(), theme))
        box = artist.get_bbox_patch()
        if box is not None:
            _recolour(box, theme)
    elif isinstance(artist, Line2D):
        artist.set_color(themed(artist.get_color(), theme))
        for get, put in (
            (artist.get_markerfacecolor, artist.set_markerfacecolor),
            (artist.get_markeredgecolor, artist.set_markeredgecolor),
        ):
            if not isinstance(get(), str) or get() != "none":
                put(themed(get(), theme))
    elif isinstance(artist, Patch):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        if artist.get_fill():
            artist.set_facecolor(themed(face, theme))
        artist.set_edgecolor(themed(edge, theme))
    elif isinstance(artist, Collection) and not isinstance(artist, ContourSet):
        if artist.get_array() is None:
            artist.set_facecolor([themed(colour, theme) for colour in np.atleast_2d(artist.get_facecolor())])
        artist.set_edgecolor([themed(colour, theme) for colour in np.atleast_2d(artist.get_edgecolor())])

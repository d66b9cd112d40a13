"""Marks and names of points on a map, and numbers at isotherms, none of which covers another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.maps import Scale
from simsuite.pictures.sheet import INK, SMALL, Sheet, free_of
from simsuite.pictures.units import rounded

_AROUND = 24  # directions in which a free place is looked for
_RINGS = (
    8,
    14,
    22,
    32,
    44,
    58,
    74,
    92,
)  # distances of names from their points, in points; the nearest free one is taken


@dataclass(frozen=True)
class Marked:
    """A point of a map with a mark and a name. place: in the units of the map. mark: of Matplotlib."""

    place: tuple[float, float]
    name: str
    colour: str = INK
    mark: str = "o"


def mark_points(ax: Axes, points: Sequence[Marked]) -> None:
    """Mark each point in its colour, which its line has elsewhere."""
    for point in points:
        size = 5.5 if point.mark == "o" else 6.5
        style: dict[str, Any] = {"markersize": size, "markeredgecolor": "white", "clip_on": False, "zorder": 5}
        if point.mark == "x":
            style |= {"markeredgecolor": point.colour, "markeredgewidth": 2.2, "markersize": 9}
        ax.plot(*point.place, point.mark, color=point.colour, **style)


def label_map(sheet: Sheet, ax: Axes, lines: Any, scale: Scale | None, points: Sequence[Marked]) -> None:
    """Write the names of the points, and the temperatures of the isotherms where they cover nothing else."""

    def place() -> None:
        room, dots = ax.get_window_extent(), sheet.figure.dpi / 72
        taken = [_around(ax, point, 4.0 * dots) for point in points]
        for point in points:
            _name(ax, point, taken, room, dots)
        if lines is None or scale is None:
            return
        levels = {rounded(t, 6): t for t in lines.levels}
        for text in ax.clabel(lines, inline=False, fmt=lambda t: rounded(t, 6), fontsize=SMALL - 0.5, zorder=3):
            face = scale.colours(scale.norm(levels[text.get_text()]))
            text.set_bbox({"facecolor": face, "edgecolor": "none", "pad": 0.8, "alpha": 0.9})
            text.set_label(OVER_IMAGE)
            box = text.get_window_extent().padded(3)
            if free_of(box, taken, room):
                taken.append(box)
            else:
                text.remove()

    sheet.later(place)


def _around(ax: Axes, point: Marked, half: float) -> Bbox:
    x, y = ax.transData.transform(point.place)
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


def _places() -> Iterator[tuple[float, float, str, str]]:
    """Where a name can stand: its offset from the point, in points, and which of its sides is there."""
    for ring in _RINGS:
        for k in range(_AROUND):
            turn = 2 * math.pi * k / _AROUND * (1 if k % 2 else -1)
            dx, dy = ring * math.cos(turn), ring * math.sin(turn)
            across = "left" if dx > 0.3 * ring else "right" if dx < -0.3 * ring else "center"
            up = "bottom" if dy > 0.3 * ring else "top" if dy < -0.3 * ring else "center"
            yield dx, dy, across, up


def _name(ax: Axes, point: Marked, taken: list[Bbox], room: Bbox, dots: float) -> None:
    """Write a name at the nearest free place, joined to its point by a line where that is far; where no place is free
    inside the map, none is written."""
    if not point.name:
        return
    text = ax.annotate(
        point.name,
        point.place,
        xytext=(8, 0),
        textcoords="offset points",
        size=SMALL,
        color=point.colour,
        weight="bold",
        parse_math=False,
        zorder=6,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "boxstyle": "round,pad=0.2"},
    )
    for dx, dy, across, up in _places():
        text.set(horizontalalignment=across, verticalalignment=up)
        text.xyann = (dx, dy)
        box = text.get_window_extent().padded(0.15 * SMALL * dots)
        if free_of(box, taken, room):
            taken.append(box)
            if math.hypot(dx, dy) > _RINGS[1]:
                _join(ax, text, point)
            return
    text.remove()


def _join(ax: Axes, text: Annotation, point: Marked) -> None:
    style = {"arrowstyle": "-", "color": point.colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2}
    ax.annotate("", point.place, text.xyann, textcoords="offset points", arrowprops=style, zorder=5)

"""Marks and names of points on a map, and numbers at isotherms, none of which covers another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from simsuite.pictures.look import OVER_IMAGE
from simsuite.pictures.plates.maps import Scale
from simsuite.pictures.sheet import INK, SMALL, Sheet, free_of
from simsuite.pictures.units import rounded

OUTLINE = "outline"  # the identifier of what is drawn around regions and sources, which names keep clear of
POINTER = "^"  # the mark of a point at which a triangle points, from a side from which it covers no other mark
_POINTER_SIZE = 6.5  # of that triangle, in points
_HALF = 4.0  # half the side of the square that a mark takes, in points
_CLEARLY = 1.7  # A name is to be nearer to its own mark than to any other by this factor;
_ASTRAY = 25  # one that is not is as bad as one that covers so many points of outlines.
_APART = 2.0  # how far names keep from outlines and from the edges of the map, in points
_JOINT = 50  # points along the line to a name that are looked at
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
    """A point of a map with a mark and a name. place: in the units of the map. mark: of Matplotlib, a POINTER, or
    "None"."""

    place: tuple[float, float]
    name: str
    colour: str = INK
    mark: str = "o"


def _mark(ax: Axes, point: Marked) -> Line2D:
    """Mark a point in its colour, which its line has elsewhere."""
    size = 5.5 if point.mark == "o" else _POINTER_SIZE
    style: dict[str, Any] = {"markersize": size, "markeredgecolor": "white", "clip_on": False, "zorder": 5}
    if point.mark == "x":
        style |= {"markeredgecolor": point.colour, "markeredgewidth": 2.2, "markersize": 9}
    (mark,) = ax.plot(*point.place, point.mark, color=point.colour, **style)
    return mark


def _aimed(ax: Axes, point: Marked, mark: Line2D, others: Sequence[Marked], dots: float) -> Marked:
    """Make of a mark a triangle whose tip is at its point, or before it where another mark is there: at a side from
    which it covers no other mark and is inside the map. Returns where its middle is, with its name. dots: pixels of a
    point of type."""
    scale = mark.get_markersize() / _POINTER_SIZE  # that of the theme
    size, x, y = _POINTER_SIZE * scale, *ax.transData.transform(point.place)
    taken, room = [_around(ax, other, _HALF * scale * dots) for other in others], ax.get_window_extent().padded(1)
    free = []
    for gap in (0.0, (_HALF + 0.5) * scale):
        for side in ((0, -1), (0, 1), (1, 0), (-1, 0)):
            middle = np.array(side) * (gap + size / 2)
            at, half = np.array((x, y)) + middle * dots, size / 2 * dots
            if free_of(Bbox.from_extents(*(at - half), *(at + half)), taken, room):
                free.append((gap, np.array(side), at))
    gap, along, at = free[0] if free else (0.0, np.array((0, -1)), np.array((x, y - size / 2 * dots)))
    across = along[::-1]
    tip, base = gap * along, (gap + size) * along
    corners = np.array([tip, base + size / 2 * across, base - size / 2 * across, tip])
    mark.set_marker(Path(corners, closed=True))
    mark.set_markersize(2 * float(np.abs(corners).max()))  # Matplotlib takes half of it for the largest coordinate
    return replace(point, place=tuple(ax.transData.inverted().transform(at)))


def label_map(sheet: Sheet, ax: Axes, lines: Any, scale: Scale | None, points: Sequence[Marked]) -> None:
    """Mark the points, and write their names, and the temperatures of the isotherms where they cover nothing else."""
    marks = [None if point.mark == "None" else _mark(ax, point) for point in points]

    def place() -> None:
        dots = sheet.figure.dpi / 72
        still = [point for point in points if point.mark not in (POINTER, "None")]
        moved = [
            point if mark is None or point.mark != POINTER else _aimed(ax, point, mark, still, dots)
            for point, mark in zip(points, marks)
        ]
        names = _Names(ax, moved, dots)
        for point in moved:
            names.write(point)
        if lines is None or scale is None:
            return
        levels = {rounded(t, 6): t for t in lines.levels}
        for text in ax.clabel(lines, inline=False, fmt=lambda t: rounded(t, 6), fontsize=SMALL - 0.5, zorder=3):
            face = scale.colours(scale.norm(levels[text.get_text()]))
            text.set_bbox({"facecolor": face, "edgecolor": "none", "pad": 0.8, "alpha": 0.9})
            text.set_label(OVER_IMAGE)
            box = text.get_window_extent().padded(3)
            if free_of(box, names.taken, names.room):
                names.taken.append(box)
            else:
                text.remove()

    sheet.later(place)


def _outlines(ax: Axes, apart: float) -> np.ndarray:
    """Points on the outlines of a map, not further apart than that: pixels, [point, axis]."""
    lines = [
        line
        for artist, paths in [*((a, [a.get_path()]) for a in ax.patches), *((a, a.get_paths()) for a in ax.collections)]
        if artist.get_gid() == OUTLINE
        for path in paths
        for line in artist.get_transform().transform_path(path).to_polygons(closed_only=False)
    ]
    found = [np.empty((0, 2))]
    for line in map(np.asarray, lines):
        at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        along = np.linspace(0.0, at[-1], math.ceil(at[-1] / apart) + 1)
        found.append(np.column_stack([np.interp(along, at, line[:, axis]) for axis in (0, 1)]))
    return np.concatenate(found)


def _inside(box: Bbox, points: np.ndarray) -> int:
    """How many of the points, [point, axis], are in a box."""
    return int(((points > box.min) & (points < box.max)).all(axis=1).sum())


def _distance(box: Bbox, point: np.ndarray) -> float:
    """How far a point is from a box, in pixels."""
    return float(np.hypot(*np.maximum(np.maximum(box.min - point, point - box.max), 0.0)))


def _around(ax: Axes, point: Marked, half: float) -> Bbox:
    x, y = ax.transData.transform(point.place)
    return Bbox.from_extents(x - half, y - half, x + half, y + half)


_Place: TypeAlias = tuple[float, float, str, str]
"""Where a name can stand: its offset from the point, in points, and which of its sides is there."""


def _places() -> Iterator[_Place]:
    """Where names can stand, the nearest places first."""
    for ring in _RINGS:
        for k in range(_AROUND):
            turn = 2 * math.pi * k / _AROUND * (1 if k % 2 else -1)
            dx, dy = ring * math.cos(turn), ring * math.sin(turn)
            across = "left" if dx > 0.3 * ring else "right" if dx < -0.3 * ring else "center"
            up = "bottom" if dy > 0.3 * ring else "top" if dy < -0.3 * ring else "center"
            yield dx, dy, across, up


class _Names:
    """Names that are written on a map, each at the nearest place where it is free and covers least of the outlines."""

    def __init__(self, ax: Axes, points: Sequence[Marked], dots: float) -> None:
        """dots: pixels of a point of type."""
        self._ax, self._dots = ax, dots
        self.room = ax.get_window_extent().padded(-_APART * dots)
        self.taken = [_around(ax, point, _HALF * dots) for point in points]
        self._marks = [ax.transData.transform(point.place) for point in points if point.mark != "None"]
        self._lines = _outlines(ax, dots)

    def write(self, point: Marked) -> None:
        """Write a name, joined to its point by a line where that is far; none where no place inside the map is free."""
        if not point.name:
            return
        text = self._ax.annotate(
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
        best, least = None, math.inf
        for place in _places():
            box = self._put(text, place)
            cost = self._covered(point, place, box) if free_of(box, self.taken, self.room) else math.inf
            if cost < least:
                best, least = place, cost
            if cost == 0:
                break
        if best is None:
            text.remove()
            return
        self.taken.append(self._put(text, best))
        if _is_far(best):
            _join(self._ax, text, point)
            self._lines = np.concatenate([self._lines, self._joint(point, best)])

    def _put(self, text: Annotation, place: _Place) -> Bbox:
        """Put a name at a place, and return the box that it takes there."""
        dx, dy, across, up = place
        text.set(horizontalalignment=across, verticalalignment=up)
        text.xyann = (dx, dy)
        return text.get_window_extent().padded(0.15 * SMALL * self._dots)

    def _covered(self, point: Marked, place: _Place, box: Bbox) -> int:
        """How much of lines a name at a place covers, and the line to it of other names and points: in points of
        these lines."""
        covered = _inside(box.padded(_APART * self._dots), self._lines)
        if _is_far(place):
            joint, start = self._joint(point, place), self._ax.transData.transform(point.place)
            covered += sum(_inside(other, joint) for other in self.taken if not other.contains(*start))
        return covered + _ASTRAY * self._is_nearer_to_another(point, box)

    def _is_nearer_to_another(self, point: Marked, box: Bbox) -> bool:
        """Whether a name in that box would be taken for that of another mark."""
        own = self._ax.transData.transform(point.place)
        others = [_distance(box, mark) for mark in self._marks if not np.allclose(mark, own)]
        return min(others, default=math.inf) < _CLEARLY * _distance(box, own)

    def _joint(self, point: Marked, place: _Place) -> np.ndarray:
        """Points on the line to a place, [point, axis], in pixels."""
        along = np.linspace(0.0, 1.0, _JOINT)[:, None]
        return np.asarray(self._ax.transData.transform(point.place) + along * np.array(place[:2]) * self._dots)


def _is_far(place: _Place) -> bool:
    """Whether a name there is joined to its point by a line."""
    return math.hypot(*place[:2]) > _RINGS[1]


def _join(ax: Axes, text: Annotation, point: Marked) -> None:
    style = {"arrowstyle": "-", "color": point.colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2}
    ax.annotate("", point.place, text.xyann, textcoords="offset points", arrowprops=style, zorder=5)

"""Panels on a sheet: how many stand beside each other, how high they are, and what they share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.choices.choice import Limits, Panel
from simsuite.pictures.look import Look
from simsuite.pictures.sheet import INK, NORMAL, Sheet, Subject

Row = list[tuple[Panel, str]]  # panels that show the same, each with the name of its run, "" where there is one run
_AROUND, _BESIDE = 0.95, 1.15  # inches above and below, and left and right of the axes of a panel
_HEADER, _KEY = 0.75, 0.4  # inches
_HIGHEST = 4.6  # inches of axes


def composed(subject: Subject, subtitle: str, rows: Sequence[Row], look: Look) -> Sheet:
    """The sheet. Panels of a row stand beside each other, and have the same axes and colours; rows of one panel each
    stand beside each other, too, as far as there is room."""
    columns = _columns(rows, look)
    lines = [row[i : i + columns] for row in _joined(rows) for i in range(0, len(row), columns)]
    heights = [_height(line, look.width / columns, look) for line in lines]
    sheet = Sheet(subject, sum(heights) + (_HEADER + _KEY) * look.type_scale, subtitle, look.width)
    grid = sheet.figure.add_gridspec(len(lines), columns, height_ratios=heights)
    row_of = {id(panel): row for row in rows for panel, _ in row}
    key: dict[str, Artist] = {}
    shared: dict[int, list[Axes]] = {}
    for i, line in enumerate(lines):
        for j, (panel, label) in enumerate(line):
            ax = sheet.figure.add_subplot(grid[i, j])
            row = row_of[id(panel)]
            for artist in panel.draw(sheet, ax, _union([each for each, _ in row])):
                key.setdefault(str(artist.get_label()), artist)
            if label:
                _head(ax, label)
                if panel.alike:
                    shared.setdefault(id(row), []).append(ax)
    for axes in shared.values():
        _share(axes)
    sheet.explain(list(key.values()))
    return sheet


def _height(line: Row, width: float, look: Look) -> float:
    """The height of panels beside each other, each that wide, in inches."""
    axes = max(panel.shape for panel, _ in line) * max(width - _BESIDE, 1.0)
    return min(axes, _HIGHEST) + _AROUND * look.type_scale


def _joined(rows: Sequence[Row]) -> list[Row]:
    """The same as one row where each has a single panel without the name of a run."""
    if any(label for row in rows for _, label in row):
        return list(rows)
    return [[entry for row in rows for entry in row]]


def _columns(rows: Sequence[Row], look: Look) -> int:
    """How many panels stand beside each other."""
    most = max(len(row) for row in rows)
    if look.narrow:
        return 1
    if most == 1:
        wide = max(panel.shape for row in rows for panel, _ in row) < 0.45
        return 1 if len(rows) == 1 or wide else 2
    return most if most <= 3 else min(4, math.ceil(math.sqrt(most)))


def _union(panels: Sequence[Panel]) -> Limits | None:
    """The limits of colours that suit all panels."""
    limits = [panel.limits for panel in panels if panel.limits is not None]
    return (min(low for low, _ in limits), max(high for _, high in limits)) if limits else None


def _share(axes: Sequence[Axes]) -> None:
    """Give all the same limits, and logarithmic axes where one has such."""
    if len({ax.get_xscale() for ax in axes}) > 1:
        for ax in axes:
            ax.set_xscale("log")
    if len({ax.get_yscale() for ax in axes}) > 1:
        for ax in axes:
            ax.set_yscale("log")
    across, up = _limits([ax.get_xlim() for ax in axes]), _limits([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_xlim(*across)
        ax.set_ylim(*up)


def _limits(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Ends of an axis between which all of some ends lie; falling where these all fall."""
    low, high = min(min(pair) for pair in ends), max(max(pair) for pair in ends)
    return (high, low) if all(first > last for first, last in ends) else (low, high)


def _head(ax: Axes, label: str) -> None:
    """Write the name of a run above its panel."""
    lines = ax.get_title(loc="left").count("\n") + 1
    ax.annotate(
        label,
        (0, 1),
        (0, 7 + 12 * lines),
        "axes fraction",
        "offset points",
        size=NORMAL,
        color=INK,
        weight="bold",
        va="bottom",
        parse_math=False,
    )

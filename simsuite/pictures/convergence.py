"""Pictures of errors over the sizes of cells or time steps, on logarithmic axes: points, fitted lines, and triangles
that show the order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from simsuite.errors import UsageError
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, tidy

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PANEL_HEIGHT = 2.9  # inches
COLUMNS = 3
MOST_TICKS = 6


@dataclass(frozen=True)
class Curve:
    """The errors of one thing, with the line error = factor·sizeᵒʳᵈᵉʳ that was fitted to them. Curves of the same name
    look alike in all panels.
    """

    name: str
    sizes: Sequence[float]
    errors: Sequence[float]
    order: float
    factor: float


@dataclass(frozen=True)
class Panel:
    """Curves over one kind of size. order: the slope of the triangle, which the curves should have."""

    title: str
    xlabel: str
    ylabel: str
    order: float
    curves: Sequence[Curve]


@dataclass(frozen=True)
class _Study:
    title: str
    finished: bool = True


def draw_orders(path: Path, title: str, subtitle: str, panels: Sequence[Panel]) -> None:
    """Draw panels, three a row, into `path`: .png, .svg or .pdf. Raises UsageError where it cannot be written."""
    columns = min(COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    sheet = Sheet(_Study(title), 0.9 + PANEL_HEIGHT * rows, subtitle)
    axes = sheet.figure.subplots(rows, columns, squeeze=False).ravel()
    names = list(dict.fromkeys(curve.name for panel in panels for curve in panel.curves))
    for ax, panel in zip(axes, panels):
        _draw(ax, panel, names)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines() if line.get_label() in names}
    sheet.figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=6, fontsize=SMALL, frameon=False
    )
    try:
        sheet.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _draw(ax: Axes, panel: Panel, names: Sequence[str]) -> None:
    ax.set(xscale="log", yscale="log")
    tidy(ax, panel.title, panel.xlabel, panel.ylabel)
    for curve in panel.curves:
        look = names.index(curve.name)
        colour, marker = COLOURS[look % len(COLOURS)], MARKERS[look % len(MARKERS)]
        sizes = np.asarray(curve.sizes)
        ax.plot(sizes, curve.errors, marker, color=colour, markersize=3.6, markeredgewidth=0, label=curve.name)
        if math.isfinite(curve.order):
            ax.plot(sizes, curve.factor * sizes**curve.order, color=colour, linewidth=0.9)
    _triangle(ax, panel)
    _label_sizes(ax, panel)


def _triangle(ax: Axes, panel: Panel) -> None:
    """A triangle of the wanted slope under the lowest curve, in the right half of the panel."""
    drawn = [c for c in panel.curves if all(e > 0 and math.isfinite(e) for e in c.errors)]
    if not drawn or not panel.order > 0:
        return
    largest = max(max(c.sizes) for c in drawn)
    smallest = min(min(c.sizes) for c in drawn)
    right = largest**0.92 * smallest**0.08
    left = largest**0.55 * smallest**0.45
    lowest = min(float(np.interp(np.log(left), np.log(c.sizes[::-1]), np.log(c.errors[::-1]))) for c in drawn)
    bottom = math.exp(lowest) / 5
    top = bottom * (right / left) ** panel.order
    ax.plot([left, right, right, left], [bottom, bottom, top, bottom], color=GREY, linewidth=0.8)
    style: dict[str, Any] = {"size": SMALL, "color": INK, "textcoords": "offset points"}
    ax.annotate("1", (math.sqrt(left * right), bottom), xytext=(0, -2), va="top", ha="center", **style)
    ax.annotate(f"{panel.order:g}", (right, math.sqrt(bottom * top)), xytext=(3, 0), va="center", ha="left", **style)
    ax.set_ylim(bottom=min(ax.get_ylim()[0], bottom / 4))


def _label_sizes(ax: Axes, panel: Panel) -> None:
    """Put ticks at the sizes themselves, which seldom span a decade."""
    sizes = sorted({size for curve in panel.curves for size in curve.sizes})
    ax.set_xticks(sizes[:: max(1, math.ceil(len(sizes) / MOST_TICKS))])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(NullLocator())

"""A result of a sweep over two keys, as a map."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from simsuite.pictures.sheet import PALE, WARNING, draw_bar, tidy
from simsuite.pictures.sweeps.study import Places, Study
from simsuite.pictures.units import shortened

_BAR = 0.05  # the width of the colour bar, in widths of the map


def draw_over_two(ax: Axes, study: Study, name: str, across: int, up: int) -> None:
    """Draw a result over two keys: a field for each pair of their values, a cross where the member failed, and nothing
    where it is not known."""
    x, y = study.places(across), study.places(up)
    columns, rows = x.distinct, y.distinct
    field = np.full((len(rows), len(columns)), np.nan)
    field[np.searchsorted(rows, y.values), np.searchsorted(columns, x.values)] = study.of_all(name)
    if x.logarithmic:
        ax.set_xscale("log")
    if y.logarithmic:
        ax.set_yscale("log")
    colours = matplotlib.colormaps["viridis"].with_extremes(bad=PALE)
    shown = np.ma.masked_invalid(field)
    image = ax.pcolormesh(_edges(columns, x.logarithmic), _edges(rows, y.logarithmic), shown, cmap=colours)
    ax.set_facecolor(PALE)
    tidy(ax, "", study.key_label(across), study.key_label(up), box=True)
    for axis, at in ((ax.xaxis, x), (ax.yaxis, y)):
        name_ticks(axis, at)
    draw_bar(ax, image, study.label(name), _BAR)
    ax.plot(x.values[study.failed], y.values[study.failed], "x", color=WARNING, markersize=5, markeredgewidth=1.2)


def name_ticks(axis: Axis, at: Places) -> None:
    """Write the names of values that are no numbers at an axis."""
    if at.names:
        axis.set_ticks(range(len(at.names)), [shortened(each, 12) for each in at.names], parse_math=False)


def _edges(values: np.ndarray, logarithmic: bool) -> np.ndarray:
    """The ends of the fields around ascending values, half-way from one to the next, on a linear or a logarithmic
    axis."""
    at = np.log(values) if logarithmic else values
    middles = (at[1:] + at[:-1]) / 2
    ends = np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])
    return np.exp(ends) if logarithmic else ends

"""The figure of a sweep: a panel for each result, with lines over one key, a map over two, or points over each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from simsuite.pictures.sheet import COLOURS, GREY, SMALL, WARNING, Sheet, tidy
from simsuite.pictures.sweeps.maps import draw_over_two, name_ticks
from simsuite.pictures.sweeps.study import Places, Study
from simsuite.pictures.units import rounded, shortened
from simsuite.sweeps.plan import value_in_words
from simsuite.words import counted

_PANELS, _KEYS, _FEW = 6, 4, 6  # the most results, keys beside each other, and lines in a panel
_ONE, _EACH = 3.9, 2.7  # the height of a panel alone and of one among others, inches
_ALIKE = 0.7  # of the height of the axis that panels share, the share of it that the values of each take at least
_DOTS = {"marker": "o", "markersize": 3.6, "markeredgewidth": 0}


def sweep_figure(study: Study, what: Sequence[str]) -> Sheet:
    """The figure. what: names of results. Raises UsageError for a name that there is not."""
    chosen = study.chosen(what)
    names = chosen[:_PANELS]
    keys = [i for i in range(len(study.plan.keys)) if len(study.places(i).distinct) > 1] or [0]
    whole = study.plan.is_product or len(keys) == 1
    if not whole or len(keys) > 2:
        names, shown = names[:3], keys[:_KEYS]
        sheet = _sheet(study, len(names), names, len(chosen) - len(names))
        axes = sheet.figure.subplots(len(names), len(shown), squeeze=False, sharey="row")
        for row, name in zip(axes, names):
            for ax, key in zip(row, shown):
                _points(ax, study, name, key, joined=False)
                ax.set_ylabel(study.label(name) if ax is row[0] else "", parse_math=False)
        return sheet
    columns = min(2, len(names))
    rows = math.ceil(len(names) / columns)
    sheet = _sheet(study, rows, names, len(chosen) - len(names))
    panels = sheet.figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in panels[len(names) :]:
        ax.set_axis_off()
    over, series = _axes_of(study, keys)
    for ax, name in zip(panels, names):
        if len(keys) == 1:
            _points(ax, study, name, keys[0], joined=True)
        elif series is None:
            draw_over_two(ax, study, name, keys[0], keys[1])
        else:
            _lines(ax, study, name, over, series)
    if len(keys) == 1 or series is not None:
        _share_where_alike(panels.tolist(), [study.unit(name) for name in names])
    if series is not None:
        handles, labels = panels[0].get_legend_handles_labels()
        sheet.figure.legend(
            *(handles, labels),
            loc="outside lower center",
            ncols=_FEW,
            fontsize=SMALL,
            frameon=False,
            title=study.key_label(series),
            title_fontsize=SMALL,
        )
    return sheet


def _share_where_alike(panels: Sequence[Axes], units: Sequence[str]) -> None:
    """Give panels of one unit the same axis upwards where none loses much of its height by that: then their differences
    are seen. units: of the results in the first panels."""
    for unit in dict.fromkeys(units) if "" not in units else ():
        axes = [ax for ax, other in zip(panels, units) if other == unit]
        ends = np.array([ax.get_ylim() for ax in axes])
        low, high = ends.min(), ends.max()
        if (ends[:, 1] - ends[:, 0]).min() >= _ALIKE * (high - low):
            for ax in axes:
                ax.set_ylim(low, high)


def _axes_of(study: Study, keys: Sequence[int]) -> tuple[int, int | None]:
    """The key along the axis, and the one whose values have a line each, where it has few: the second one, or the
    first."""
    if len(keys) == 1:
        return keys[0], None
    first, second = keys
    for over, series in ((first, second), (second, first)):
        if len(study.places(series).distinct) <= _FEW:
            return over, series
    return first, None


def _sheet(study: Study, rows: int, names: Sequence[str], more: int) -> Sheet:
    """The page, with what is to be said of all panels in its header."""
    parts = [counted(len(study.plan.members), "run" if study.goal is not None else "member")]
    if failed := int(study.failed.sum()):
        parts.append(f"{failed} failed (×)")
    if left := len(study.plan.members) - len(study.ended):
        parts.append(f"{left} not done yet")
    if any(study.errors_of(name) is not None for name in names):
        parts.append("bars: one standard error to both sides")
    if more:
        parts.append(f"{counted(more, 'more result')} by --what NAME")
    return Sheet(study, 0.9 + (_ONE if rows == 1 else _EACH * rows), "; ".join(parts))


def _points(ax: Axes, study: Study, name: str, key: int, joined: bool) -> None:
    """A result over one key: dots, joined where complete members are in the order of its values, as samples are not."""
    at = study.places(key)
    steps = np.diff(at.values[study.complete])
    joined = joined and not at.names and (bool((steps >= 0).all()) or bool((steps <= 0).all()))
    _draw(ax, study, name, at, np.ones(len(at.values), bool), COLOURS[0], "", joined)
    _finish(ax, study, name, key, at)
    if study.goal is not None:
        target = float(study.goal["target"])
        ax.axhline(target, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        text = f"target {rounded(target, 6)}"
        ax.annotate(text, (0.99, target), xycoords=("axes fraction", "data"), ha="right", va="bottom", size=SMALL)
        values = np.abs(study.of_all(name) - target)
        if np.isfinite(values).any():
            best = int(np.nanargmin(values))
            style: dict[str, Any] = {"markersize": 9, "markerfacecolor": "none", "color": COLOURS[1]}
            ax.plot(at.values[best], study.of_all(name)[best], "o", **style)


def _lines(ax: Axes, study: Study, name: str, over: int, series: int) -> None:
    """A result over one key, a line for each value of another."""
    at, other = study.places(over), study.places(series)
    for i, value in enumerate(other.distinct):
        label = other.names[int(value)] if other.names else value_in_words(float(value))
        _draw(ax, study, name, at, other.values == value, COLOURS[i % len(COLOURS)], shortened(label), not at.names)
    _finish(ax, study, name, over, at)


def _draw(
    ax: Axes, study: Study, name: str, at: Places, which: np.ndarray, colour: str, label: str, joined: bool
) -> None:
    values, errors = study.of_all(name), study.errors_of(name)
    shown = np.flatnonzero(which & np.isfinite(values))
    shown = shown[np.argsort(at.values[shown], kind="stable")]
    line = "-" if joined else "none"
    style: dict[str, Any] = {"color": colour, "linewidth": 1.2, "label": label, **_DOTS}
    if errors is None:
        ax.plot(at.values[shown], values[shown], linestyle=line, **style)
    else:
        bars = np.where(np.isfinite(errors), errors, 0.0)[shown]
        ax.errorbar(
            at.values[shown], values[shown], bars, linestyle=line, elinewidth=0.9, capsize=2, capthick=0.9, **style
        )


def _finish(ax: Axes, study: Study, name: str, key: int, at: Places) -> None:
    """Scales, labels and ticks of a panel, and crosses at its foot for the members that failed."""
    if at.logarithmic:
        ax.set_xscale("log")
    tidy(ax, "", study.key_label(key), study.label(name))
    name_ticks(ax.xaxis, at)
    if at.logarithmic and at.distinct[-1] > 100 * at.distinct[0]:
        ax.xaxis.set_minor_formatter(NullFormatter())
    if study.failed.any():
        places = np.unique(at.values[study.failed])
        style: dict[str, Any] = {"color": WARNING, "markersize": 5, "markeredgewidth": 1.2, "in_layout": False}
        ax.plot(places, np.full(len(places), 0.03), "x", transform=ax.get_xaxis_transform(), **style)

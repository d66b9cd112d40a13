"""Panels that pictures of several benchmarks use: curves over logarithmic axes, and bars side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, tidy

Row = dict[str, Any]
Draw = Callable[[Axes], None]


def timed(document: Row, section: str) -> list[Row]:
    """The rows of a section that have a rate."""
    return [row for row in document.get(section, []) if "rate" in row]


def peer_panels(document: Row, title: Callable[[Row], str], unit: str) -> list[Draw]:
    """A panel of peers for each precision."""
    rows = timed(document, "peers")
    precisions = dict.fromkeys(row["precision"] for row in rows)
    return [_peers([row for row in rows if row["precision"] == precision], title, unit) for precision in precisions]


def _peers(rows: Sequence[Row], title: Callable[[Row], str], unit: str) -> Draw:
    def draw(ax: Axes) -> None:
        tidy(ax, title(rows[0]), unit, "")
        rates = [row["rate"] * 1e-9 for row in rows]
        places = np.arange(len(rows))[::-1]
        own = [row["name"].startswith("simsuite") for row in rows]
        ax.barh(places, rates, height=0.62, color=[COLOURS[0] if mine else GREY for mine in own])
        ax.set_yticks(places, [row["name"] for row in rows], parse_math=False)
        ax.tick_params(axis="y", length=0)
        for place, rate in zip(places, rates):
            ax.annotate(
                f"{rate:.3g}",
                (rate, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                size=SMALL,
                color=INK,
            )
        ax.set_xlim(0, max(rates) * 1.15)

    return draw


def curve(ax: Axes, x: Sequence[float], y: Sequence[float], colour: str, marker: str, name: str) -> None:
    ax.plot(x, y, marker=marker, color=colour, linewidth=1.0, markersize=3.6, markeredgewidth=0, label=name)


def legend(ax: Axes) -> None:
    ax.legend(fontsize=SMALL - 0.5, frameon=False, loc="best")


def whole_decades(ax: Axes) -> None:
    """Extend the axes to whole decades, so that there are labels even where all values are close together."""
    low, high = ax.get_ylim()
    ax.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
    ax.yaxis.set_minor_formatter(NullFormatter())

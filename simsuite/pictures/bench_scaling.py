"""Panels of what `simsuite bench scaling` measured: efficiency by processes, beside what a model predicts."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from simsuite.pictures.bench_panels import Draw, Row, legend
from simsuite.pictures.sheet import COLOURS, GREY, tidy

MARKERS = {"weak": "o", "strong": "s"}


def panels(document: Row) -> list[Draw]:
    """A panel for each problem, size and precision, if there was more than one device."""
    rows = document.get("predicted", [])
    cases = dict.fromkeys((row["problem"], row["size"], row["precision"]) for row in rows)
    return [_efficiency(case, [row for row in rows if _case(row) == case]) for case in cases]


def _case(row: Row) -> tuple[object, ...]:
    return row["problem"], row["size"], row["precision"]


def _efficiency(case: tuple[object, ...], rows: Sequence[Row]) -> Draw:
    def draw(ax: Axes) -> None:
        ax.set_xscale("log", base=2)
        tidy(ax, f"{case[0]} {case[1]}, {case[2]}: filled measured, open predicted", "processes", "efficiency")
        for colour, (scaling, marker) in zip(COLOURS, MARKERS.items()):
            own = [row for row in rows if row["scaling"] == scaling]
            processes = [row["processes"] for row in own]
            ax.plot(processes, [row["efficiency"] for row in own], f"{marker}:", color=colour, markerfacecolor="none")
            found = [row for row in own if row["measured"] is not None]
            measured = [1.0, *(row["measured"] for row in found)]
            ax.plot([1, *(row["processes"] for row in found)], measured, f"{marker}-", color=colour, label=scaling)
        ax.axhline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        ax.set_ylim(0.0, None)
        legend(ax)

    return draw

"""Panels of what `simsuite bench routes` measured: a bar for the rate of each road, and the limit."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from simsuite.pictures.bench_panels import Draw, Row
from simsuite.pictures.sheet import COLOURS, GREY, INK, tidy

PROBLEMS = {
    "heat": ("a step of the heat equation", "G cell-steps/s"),
    "gbm": ("Monte Carlo, a European call", "G path-steps/s"),
    "matmul": ("a product of matrices", "G operations/s"),
}
PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # behind the numbers, over the line of the limit
LIBRARIES = ("NumPy", "Numba", "CuPy", "PyCUDA", "CUDA Python", "PyTorch")


def panels(document: Row) -> list[Draw]:
    """A panel for each problem."""
    return [_bars(name, rows) for name in PROBLEMS if (rows := _timed(document.get(name, [])))]


def _timed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.get("rate")]


def _bars(name: str, rows: Sequence[Row]) -> Draw:
    def draw(ax: Axes) -> None:
        title, unit = PROBLEMS[name]
        ax.set_xscale("log")
        tidy(ax, f"{title}, float32", unit, "")
        slowest_first = sorted(rows, key=lambda row: row["rate"])
        for place, row in enumerate(slowest_first):
            known = row["library"] in LIBRARIES
            colour = COLOURS[LIBRARIES.index(row["library"]) % len(COLOURS)] if known else INK
            ax.barh(place, row["rate"] * 1e-9, color=colour, height=0.7)
            number = f"{row['rate'] * 1e-9:,.3g}" if row["rate"] < 1e12 else f"{row['rate'] * 1e-9:,.0f}"
            ax.text(row["rate"] * 1.1e-9, place, number, va="center", fontsize=7, color=INK, bbox=PLATE)
        ax.set_yticks(range(len(slowest_first)), [row["road"] for row in slowest_first], fontsize=7)
        limit = next((row["rate"] / row["of_limit"] for row in rows if row.get("of_limit")), None)
        if limit is not None:
            ax.axvline(limit * 1e-9, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        ax.margins(x=0.15)

    return draw

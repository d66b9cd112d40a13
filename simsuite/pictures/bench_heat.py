"""Panels of what `simsuite bench heat` measured: rates over grid sizes, error over time, and peers side by side."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from simsuite.pictures.bench_panels import Draw, Row, curve, legend, peer_panels, timed, whole_decades
from simsuite.pictures.convergence import MARKERS
from simsuite.pictures.sheet import COLOURS, GREY, INK, PALE, tidy

LEAST = 1e-9  # Errors below this are drawn as this.
STEPPERS = ("explicit", "rkl2", "adi", "exact")
RATE_UNIT = "G cell-steps/s"


def panels(document: Row) -> list[Draw]:
    """The panels of a document."""
    return [*_rate_panels(document), *_solution_panels(document), *peer_panels(document, _peer_title, RATE_UNIT)]


def _peer_title(row: Row) -> str:
    return f"explicit steps, {row['n']} x {row['n']}, {row['precision']}"


def _rate_panels(document: Row) -> list[Draw]:
    """A panel for each material: all kernels and precisions over the sizes, and the limits of one pass."""
    rows = timed(document, "rates")
    materials = dict.fromkeys(row["material"] for row in rows)
    return [_rates([row for row in rows if row["material"] == material]) for material in materials]


def _rates(rows: Sequence[Row]) -> Draw:
    def draw(ax: Axes) -> None:
        ax.set(xscale="log", yscale="log")
        tidy(ax, f"explicit steps, {rows[0]['material']} material", "cells along an edge", RATE_UNIT)
        precisions = list(dict.fromkeys(row["precision"] for row in rows))
        kernels = list(dict.fromkeys(row["kernel"] for row in rows))
        for precision in precisions:
            colour = COLOURS[precisions.index(precision)]
            for kernel in kernels:
                rated = [row for row in rows if (row["precision"], row["kernel"]) == (precision, kernel)]
                if rated:
                    points = [row["n"] for row in rated], [row["rate"] * 1e-9 for row in rated]
                    curve(ax, *points, colour, MARKERS[kernels.index(kernel)], f"{kernel}, {precision}")
            wall = next(row["one_pass_limit"] for row in rows if row["precision"] == precision)
            ax.axhline(wall * 1e-9, color=colour, linewidth=0.8, linestyle=(0, (4, 3)))
        ax.plot([], [], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="one step a pass over memory")
        whole_decades(ax)
        _ticks_at(ax, sorted({row["n"] for row in rows}))
        legend(ax)

    return draw


def _solution_panels(document: Row) -> list[Draw]:
    return [_solution(row) for row in document.get("work_precision", []) if "runs" in row]


def _solution(row: Row) -> Draw:
    def draw(ax: Axes) -> None:
        ax.set(xscale="log", yscale="log")
        n = row["n"]
        title = f"time to solution, {row['material']} material, {n} x {n}"
        clipped = any(run["error"] < LEAST for run in row["runs"])
        note = f"; at the right edge {LEAST:.0e} or less" if clipped else ""
        tidy(ax, title, f"relative error in time, l2{note}", f"seconds, {row['precision']}")
        for target in (auto["tolerance"] for auto in row["auto"]):
            ax.axvline(target, color=PALE, linewidth=0.8)
        for i, stepper in enumerate(STEPPERS):
            runs = [run for run in row["runs"] if run["stepper"] == stepper]
            if runs:
                points = _drawn(runs)
                curve(ax, *points, COLOURS[i], MARKERS[i], stepper)
        ax.plot(*_drawn(row["auto"]), "*", color=INK, markersize=7, markeredgewidth=0, label="auto")
        whole_decades(ax)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.invert_xaxis()
        legend(ax)

    return draw


def _drawn(runs: Sequence[Row]) -> tuple[list[float], list[float]]:
    """(errors, seconds) of the runs; runs that are as good as exact are drawn at the error LEAST."""
    return [max(run["error"], LEAST) for run in runs], [run["seconds"] for run in runs]


def _ticks_at(ax: Axes, sizes: Sequence[int]) -> None:
    ax.set_xticks(sizes)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(NullLocator())

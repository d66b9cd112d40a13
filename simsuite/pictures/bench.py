"""What `simsuite bench` measured: rates over grid sizes, error over time, and peers beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from simsuite.errors import UsageError
from simsuite.pictures.convergence import MARKERS, PANEL_HEIGHT
from simsuite.pictures.sheet import COLOURS, GREY, INK, PALE, SMALL, Sheet, tidy

Row = dict[str, Any]
Draw = Callable[[Axes], None]
COLUMNS = 2
LEAST = 1e-9  # error that is told from none
STEPPERS = ("explicit", "rkl2", "adi", "exact")
RATE_UNIT = "G cell-steps/s"


@dataclass(frozen=True)
class _Measured:
    title: str
    finished: bool = True


def draw_bench(path: Path, document: Row) -> bool:
    """Draw what the document has into `path`; False where there is nothing. Raises UsageError where it cannot be
    written."""
    panels = [*_rate_panels(document), *_solution_panels(document), *_peer_panels(document)]
    if not panels:
        return False
    rows = -(-len(panels) // COLUMNS)
    subtitle = f"{document['device_name']}, {document['device']}, simsuite {document['simsuite']}"
    sheet = Sheet(_Measured("heat, measured"), 0.9 + PANEL_HEIGHT * rows, subtitle)
    axes = sheet.figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax, draw in zip(axes, panels):
        draw(ax)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    try:
        sheet.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    return True


def _timed(document: Row, section: str) -> list[Row]:
    return [row for row in document.get(section, []) if "rate" in row]


def _rate_panels(document: Row) -> list[Draw]:
    """One for each material: all kernels and precisions, over sizes, and the walls of one pass."""
    rows = _timed(document, "rates")
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
                curve = [row for row in rows if (row["precision"], row["kernel"]) == (precision, kernel)]
                if curve:
                    points = [row["n"] for row in curve], [row["rate"] * 1e-9 for row in curve]
                    _curve(ax, *points, colour, MARKERS[kernels.index(kernel)], f"{kernel}, {precision}")
            wall = next(row["one_pass_limit"] for row in rows if row["precision"] == precision)
            ax.axhline(wall * 1e-9, color=colour, linewidth=0.8, linestyle=(0, (4, 3)))
        ax.plot([], [], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="one step a pass over memory")
        _whole_decades(ax)
        _ticks_at(ax, sorted({row["n"] for row in rows}))
        _legend(ax)

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
                _curve(ax, *points, COLOURS[i], MARKERS[i], stepper)
        ax.plot(*_drawn(row["auto"]), "*", color=INK, markersize=7, markeredgewidth=0, label="auto")
        _whole_decades(ax)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.invert_xaxis()
        _legend(ax)

    return draw


def _drawn(runs: Sequence[Row]) -> tuple[list[float], list[float]]:
    """Errors and seconds; all that is as good as exact in one place."""
    return [max(run["error"], LEAST) for run in runs], [run["seconds"] for run in runs]


def _peer_panels(document: Row) -> list[Draw]:
    """One for each precision."""
    rows = _timed(document, "peers")
    precisions = dict.fromkeys(row["precision"] for row in rows)
    return [_peers([row for row in rows if row["precision"] == precision]) for precision in precisions]


def _peers(rows: Sequence[Row]) -> Draw:
    def draw(ax: Axes) -> None:
        tidy(ax, f"explicit steps, {rows[0]['n']} x {rows[0]['n']}, {rows[0]['precision']}", RATE_UNIT, "")
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


def _curve(ax: Axes, x: Sequence[float], y: Sequence[float], colour: str, marker: str, name: str) -> None:
    ax.plot(x, y, marker=marker, color=colour, linewidth=1.0, markersize=3.6, markeredgewidth=0, label=name)


def _legend(ax: Axes) -> None:
    ax.legend(fontsize=SMALL - 0.5, frameon=False, loc="best")


def _whole_decades(ax: Axes) -> None:
    """So that there are labels even where all values are close together."""
    low, high = ax.get_ylim()
    ax.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _ticks_at(ax: Axes, sizes: Sequence[int]) -> None:
    ax.set_xticks(sizes)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(NullLocator())

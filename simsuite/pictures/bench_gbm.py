"""Panels of what `simsuite bench gbm` measured: rates beside their limits, time over standard error, and peers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from simsuite.pictures.bench_panels import Draw, Row, curve, legend, peer_panels, timed, whole_decades
from simsuite.pictures.convergence import MARKERS
from simsuite.pictures.sheet import COLOURS, INK, tidy

RATE_UNIT = "G path-steps/s"
FIXINGS = "arithmetic Asian, 252 fixings"


def panels(document: Row) -> list[Draw]:
    """The panels of a document."""
    return [*_rate_panels(document), *_accuracy_panels(document), *peer_panels(document, _peer_title, RATE_UNIT)]


def _peer_title(row: Row) -> str:
    return f"{FIXINGS}, {row['precision']}"


def _rate_panels(document: Row) -> list[Draw]:
    """A list with the panel of rates, or an empty one if there are no rates."""
    rows = timed(document, "rates")
    return [_rates(rows)] if rows else []


def _rates(rows: Sequence[Row]) -> Draw:
    """A panel with the last row of each case and precision, which has the most paths."""

    def draw(ax: Axes) -> None:
        tidy(ax, "kernels, 252 steps; a line: the limit", RATE_UNIT, "")
        cases = list(dict.fromkeys(row["case"] for row in rows))
        precisions = list(dict.fromkeys(row["precision"] for row in rows))
        latest = {(row["case"], row["precision"]): row for row in rows}
        height = 0.8 / len(precisions)
        for i, precision in enumerate(precisions):
            own = [(k, latest[case, precision]) for k, case in enumerate(cases) if (case, precision) in latest]
            places = np.array([-k - (i - (len(precisions) - 1) / 2) * height for k, _ in own])
            rates = [row["kernel_rate"] * 1e-9 for _, row in own]
            ax.barh(places, rates, height=0.9 * height, color=COLOURS[i], label=precision)
            for place, (_, row) in zip(places, own):
                if "limited_by" in row:
                    limit = row["limits"][row["limited_by"]] * 1e-9
                    ax.plot([limit] * 2, [place - height / 2, place + height / 2], color=INK, linewidth=0.8)
        ax.set_yticks([-k for k in range(len(cases))], cases)
        ax.tick_params(axis="y", length=0)
        legend(ax)

    return draw


def _accuracy_panels(document: Row) -> list[Draw]:
    """A panel for each precision."""
    rows = [row for row in document.get("accuracy", []) if "paths" in row]
    precisions = dict.fromkeys(row["precision"] for row in rows)
    return [_accuracy([row for row in rows if row["precision"] == precision]) for precision in precisions]


def _accuracy(rows: Sequence[Row]) -> Draw:
    def draw(ax: Axes) -> None:
        ax.set(xscale="log", yscale="log")
        tidy(ax, f"time to an error, {FIXINGS}", "standard error", f"seconds, {rows[0]['precision']}; hollow: forecast")
        for i, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
            own = [row for row in rows if row["method"] == method]
            seconds = [float(row["seconds" if "seconds" in row else "forecast_seconds"]) for row in own]
            errors = [float(row["standard_error" if "seconds" in row else "target"]) for row in own]
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            curve(ax, errors, seconds, colour, marker, method)
            for error, second, row in zip(errors, seconds, own):
                if "seconds" not in row:
                    ax.plot(error, second, marker, color=colour, markerfacecolor="white", markersize=4.2)
        whole_decades(ax)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.invert_xaxis()
        legend(ax)

    return draw

"""Pictures of the errors of Monte Carlo estimates over the number of paths.

There is a panel for each estimator, with a dot for each seed and the band of two standard errors that holds 95 % of the
dots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from simsuite.errors import UsageError
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, tidy

PANEL_HEIGHT = 2.9  # inches
COLUMNS = 2
_SPREAD = 0.35  # The dots of a number of paths are spread by this factor to both sides.


@dataclass(frozen=True)
class Estimates:
    """The estimates by one estimator. differences[number of paths][seed]: from the exact value, in units of price;
    order: the fitted one of their size.
    """

    name: str
    paths: Sequence[int]
    differences: Sequence[Sequence[float]]
    standard_errors: Sequence[float]
    order: float


@dataclass(frozen=True)
class _Study:
    title: str
    finished: bool = True


def draw_estimates(path: Path, title: str, subtitle: str, estimates: Sequence[Estimates]) -> None:
    """Draw panels, two a row and with one scale, into `path`: .png, .svg or .pdf. Raises UsageError where it cannot be
    written."""
    rows = math.ceil(len(estimates) / COLUMNS)
    sheet = Sheet(_Study(title), 0.9 + PANEL_HEIGHT * rows, f"{subtitle}; band: 2 standard errors, which hold 95 %")
    axes = sheet.figure.subplots(rows, COLUMNS, squeeze=False, sharex=True, sharey=True).ravel()
    smallest = min(2 * min(e.standard_errors) for e in estimates)
    for i, ax in enumerate(axes):
        if i < len(estimates):
            _draw(ax, estimates[i], COLOURS[i % len(COLOURS)], smallest, below=i + COLUMNS >= len(estimates))
        else:
            ax.set_axis_off()
    try:
        sheet.save(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _draw(ax: Axes, estimates: Estimates, colour: str, smallest: float, below: bool) -> None:
    ax.set_xscale("log", base=2)
    ax.set_yscale("symlog", linthresh=smallest, linscale=1.0)
    title = f"{estimates.name}: n to the power {estimates.order:.2f}"
    tidy(ax, title, "paths" if below else "", "price less exact (currency)")
    paths, band = np.asarray(estimates.paths, np.float64), 2 * np.asarray(estimates.standard_errors)
    ax.fill_between(paths, -band, band, color=colour, alpha=0.18, linewidth=0)
    for sign in (-1, 1):
        ax.plot(paths, sign * band, color=colour, linewidth=0.9)
    ax.axhline(0, color=INK, linewidth=0.7)
    inside = total = 0
    for n, values, limit in zip(paths, estimates.differences, band):
        shifts = np.linspace(-_SPREAD, _SPREAD, len(values)) if len(values) > 1 else np.zeros(1)
        ax.plot(n * 2**shifts, values, "o", color=colour, markersize=2.4, markeredgewidth=0)
        inside, total = inside + sum(abs(v) <= limit for v in values), total + len(values)
    share = f"{inside} of {total} within the band"
    ax.annotate(share, (0.98, 0.03), xycoords="axes fraction", ha="right", size=SMALL, color=GREY)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelbottom=True, labelleft=True)

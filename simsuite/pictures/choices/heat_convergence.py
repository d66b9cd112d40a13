"""The errors of several heat runs over the size of their cells and of their steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from simsuite.errors import UsageError
from simsuite.pictures.choices.choice import Limits, Panel
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, Sheet, label_ends, tidy
from simsuite.pictures.units import length_unit


def few_errors(run: Recording) -> str | None:
    """Why there is no convergence to show of a run."""
    return None if run.has("error_l2") else "convergence: the scenario has no [reference] that it is compared with"


def converged_panels(runs: Sequence[Recording]) -> Sequence[Panel]:
    """A panel with the errors of all runs at the times that are shown, over the larger side of their cells.

    Raises UsageError for a single run, whose errors are no line."""
    if len(runs) < 2:
        raise UsageError("convergence takes several runs, with cells or steps of several sizes: name them all")

    def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        sizes = np.array([max(r.scenario.grid.lx / r.scenario.grid.nx, r.scenario.grid.ly / r.scenario.grid.ny)
                          for r in runs])  # fmt: skip
        unit = length_unit(float(sizes.max()))
        order = np.argsort(sizes)
        ax.set(xscale="log", yscale="log")
        ends, lowest = [], math.inf
        for i, (name, label) in enumerate((("error_linf", "largest"), ("error_l2", "r.m.s."))):
            errors = np.array([float(r.numbers(name, r.shown)) for r in runs])
            ax.plot(sizes[order] * unit.scale, errors[order], "o-", color=COLOURS[i], markersize=4, linewidth=1.2)
            ends.append((float(errors[order][-1]), label, COLOURS[i]))
            lowest = min(lowest, float(errors[order][-1]))
        if len(runs) > 1 and sizes.max() > sizes.min() and lowest > 0:
            x = np.array([sizes.min(), sizes.max()])
            ax.plot(x * unit.scale, lowest * (x / x[-1]) ** 2 / 3, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
            ends.append((lowest / 3, "order 2", GREY))
        tidy(ax, "Error against the reference", f"Size of a cell ({unit.name})", f"Error ({runs[0].unit('error_l2')})")
        if sizes.max() < 10 * sizes.min():
            ax.set_xticks(np.unique(sizes * unit.scale), [f"{s:.3g}" for s in np.unique(sizes * unit.scale)])
            ax.xaxis.set_minor_formatter(NullFormatter())
        label_ends(sheet, ax, ends)
        return []

    return [Panel(draw, 0.6)]

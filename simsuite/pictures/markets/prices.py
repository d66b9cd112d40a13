"""Prices of options with their intervals over the number of paths, of several runs; and what the levels of a multilevel
run contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from simsuite.pictures.gbm_options import exact_price
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, INK, SMALL, Sheet, label_ends, tidy
from simsuite.pictures.units import rounded, shortened

_Z95 = 1.96


def draw_price(runs: Sequence[Recording], ax: Axes, option: str) -> None:
    """The price of an option by each run that has it, with its interval of 95 %, over the number of its paths; and the
    exact price where there is a closed form."""
    exact = None
    for i, run in enumerate(runs):
        names = run.texts("option")
        if option not in names:
            continue
        o = names.index(option)
        price, error = (float(run.numbers(f"option_{what}", o)) for what in ("price", "standard_error"))
        low, high = run.results.get("options", {}).get(option, {}).get("ci95", (None, None))
        if low is None or high is None:
            low, high = price - _Z95 * error, price + _Z95 * error
        reach = np.nan_to_num([[price - low], [high - price]])
        style: dict[str, Any] = {"fmt": "o", "markersize": 4, "elinewidth": 1.3, "capsize": 3.5}
        ax.errorbar(_paths(run), price, yerr=reach, color=COLOURS[i % len(COLOURS)], **style)
        exact = exact_price(run.scenario, run.scenario.option[o]) if exact is None else exact
    ax.set_xscale("log")
    tidy(ax, f"{shortened(option, 30)}: price ± 95 %", "Paths", "Price (currency)")
    paths = sorted({_paths(run) for run in runs})
    ax.set_xlim(paths[0] / 2, paths[-1] * 2)
    if paths[-1] < 100 * paths[0]:
        ax.set_xticks(paths, [f"{n:,}".replace(",", "\u2009") for n in paths])
        ax.xaxis.set_minor_formatter(NullFormatter())
    if exact is not None:
        ax.axhline(exact, color=INK, linewidth=1.0)
        ax.margins(y=0.2)
        low, high = ax.get_ylim()
        side = -1 if exact > (low + high) / 2 else 1
        ax.annotate(
            f"exact {rounded(exact, 6)}",
            (0.01, exact),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2 * side),
            textcoords="offset points",
            size=SMALL,
            color=INK,
            va="bottom" if side > 0 else "top",
        )


def draw_levels(run: Recording, sheet: Sheet, ax: Axes) -> None:
    """The variance of what each level of a multilevel run adds to the price of each option, over its time steps (M. B.
    Giles, Operations Research 56, 2008, figure 1)."""
    steps, variance = run.numbers("multilevel", ...), run.numbers("level_variance", ...)
    ends = []
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", nonpositive="mask")
    for o, name in enumerate(run.texts("option")[: len(COLOURS)]):
        ax.plot(steps, variance[:, o], "o-", color=COLOURS[o], markersize=4, linewidth=1.2)
        if variance[-1, o] > 0:
            ends.append((float(variance[-1, o]), shortened(name, 18), COLOURS[o]))
    tidy(ax, "What a level adds", "Time steps of the level", "Variance (currency²)")
    label_ends(sheet, ax, ends)


def _paths(run: Recording) -> int:
    return int(run.results.get("paths", run.scenario.paths.count))

"""Prices of options with their intervals over the number of paths, of several runs; and what the levels of a multilevel
run contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from simsuite.pictures.gbm_options import exact_price, in_words
from simsuite.pictures.markets.densities import BARS
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, label_ends, tidy
from simsuite.pictures.units import grouped, rounded, shortened

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoff_samples import Settling

_Z95 = 1.96


def draw_price(runs: Sequence[Recording], ax: Axes, option: str, labels: Sequence[str]) -> list[Artist]:
    """The price of an option by each run that has it, with its interval of 95 %, over the number of its paths; the
    exact price where there is a closed form; and of a single run how the mean settled over its first paths. labels: of
    the runs."""
    exact = None
    settling = _settling(runs[0], option) if len(runs) == 1 else None
    key = [] if settling is None else _draw_settling(ax, settling)
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
        colour = COLOURS[i % len(COLOURS)]
        ax.errorbar(_paths(run), price, yerr=reach, color=colour, **style)
        if len(runs) > 1:
            key.append(_dot(colour, labels[i]))
        elif settling is None:
            words = " ".join(in_words(price, (low, high)))
            ax.annotate(
                words, (_paths(run), price), (8, 0), textcoords="offset points", size=SMALL, color=INK, va="center"
            )
        exact = exact_price(run.scenario, run.scenario.option[o]) if exact is None else exact
    ax.set_xscale("log")
    tidy(ax, f"{shortened(option, 30)}: price, 95 % interval", "Paths", "Price (currency)")
    paths = sorted({_paths(run) for run in runs})
    room = max(2.0, (paths[-1] / paths[0]) ** 0.16)  # left of the first, for the words beside the line
    if settling is not None:
        ax.set_xlim(settling.paths[0] / 1.15, 2 * max(paths[-1], settling.paths[-1]))
    else:
        ax.set_xlim(paths[0] / room, paths[-1] * 2)
    if settling is None and paths[-1] < 100 * paths[0]:
        ax.set_xticks(paths, [grouped(n) for n in paths])
        ax.xaxis.set_minor_locator(NullLocator())
    if exact is not None:
        ax.axhline(exact, color=INK, linewidth=1.0)
        ax.margins(y=0.2)
        _name_exact(ax, exact, beside=settling is None)
    return key


def _name_exact(ax: Axes, exact: float, beside: bool) -> None:
    """Write the exact price beside its line; else, where that would cover others, into a corner."""
    text = f"exact {rounded(exact, 6)}"
    if not beside:
        ax.text(0.99, 0.99, f"line: {text}", transform=ax.transAxes, size=SMALL, color=INK, ha="right", va="top")
        return
    low, high = ax.get_ylim()
    side = -1 if exact > (low + high) / 2 else 1
    offset: dict[str, Any] = {"xytext": (0, 2 * side), "textcoords": "offset points"}
    offset["va"] = "bottom" if side > 0 else "top"
    ax.annotate(text, (0.01, exact), xycoords=("axes fraction", "data"), size=SMALL, color=INK, **offset)


def _settling(run: Recording, option: str) -> Settling | None:
    """How the mean of an option's discounted payoffs settles over the first 256, .. paths, without a control variate;
    None where these paths cannot be made again."""
    samples = run.first_payoffs
    return None if samples is None else samples.settling(run.texts("option").index(option))


def _draw_settling(ax: Axes, found: Settling) -> list[Artist]:
    """Draw the mean with its interval of 95 %, where it is of Sobol points with a dot at each number of them."""
    points: dict[str, Any] = {"marker": "o", "markersize": 2.5} if found.replicates else {}
    ax.fill_between(found.paths, found.mean - found.reach, found.mean + found.reach, color=BARS, linewidth=0, alpha=0.6)
    ax.plot(found.paths, found.mean, color=GREY, linewidth=1.0, **points)
    of = f"the first points of all {found.replicates} replicates" if found.replicates else "the first paths"
    return [
        _dot(COLOURS[0], "the run's price, with its 95 % interval"),
        Line2D([], [], color=GREY, linewidth=1.0, label=f"plain mean of {of}", **points),
        Patch(facecolor=BARS, alpha=0.6, label="95 % interval of this mean"),
    ]


def _dot(colour: str, label: str) -> Artist:
    return Line2D([], [], color=colour, marker="o", markersize=4, linewidth=1.3, label=label)


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

"""Densities of prices at the end, of payoffs, and of the loss of a portfolio with its value at risk."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.pictures.markets.histograms import Histogram, loss_histogram, payoff_histogram, price_histogram
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, INK, tidy
from simsuite.pictures.units import rounded, shortened
from simsuite.scenario.gbm import Option
from simsuite.solvers.gbm.reference_prices.laws import reference_law

BARS = "#a9cfe6"  # the colour of histograms
_SHOWN = (0.0005, 0.9995)  # the quantiles between which densities are shown


def draw_density(run: Recording, ax: Axes, asset: int) -> list[Artist]:
    """The density of an asset's price at the end, of all paths and the exact one where it is known."""
    found, end = price_histogram(run, asset), float(run.scenario.time.end)
    assert found is not None
    low, high = (found.quantile(q) for q in _SHOWN)
    _bars(ax, found.within(low, high))
    key: list[Artist] = [Patch(facecolor=BARS, label="all paths")]
    law = reference_law(run.scenario, asset, end)
    if law is not None:
        price = np.linspace(max(low, 1e-9 * high), high, 600)
        ax.plot(price, law.density(np.log(price)) / price, color=INK, linewidth=1.2)
        key.append(Line2D([], [], color=INK, linewidth=1.2, label="exact density"))
    mean = float(run.numbers("price_mean", run.frames - 1, asset))
    ax.axvline(mean, color=COLOURS[1], linewidth=1.2)
    key.append(Line2D([], [], color=COLOURS[1], linewidth=1.2, label="mean"))
    years = f"{rounded(end)} year{'' if end == 1 else 's'}"
    name = shortened(run.scenario.asset_names[asset], 30)
    tidy(ax, f"{name} at t = {years}", "Price (currency)", "Density (1/currency)")
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0)
    return key


def draw_payoff(run: Recording, ax: Axes, option: int) -> list[Artist]:
    """The density of what an option pays, where it pays anything."""
    chosen: Option = run.scenario.option[option]
    found = payoff_histogram(run, chosen)
    assert found is not None
    nothing, paid = found
    _bars(ax, paid)
    name = shortened(run.scenario.option_names[option], 24)
    tidy(ax, f"{name}: nothing on {100 * nothing:.3g} % of paths", "Payoff (currency)", "Density (1/currency)")
    ax.set_xlim(0, paid.edges[-1])
    ax.set_ylim(bottom=0)
    return [Patch(facecolor=BARS, label="all paths")]


def payoffs_shown(run: Recording) -> list[int]:
    """The numbers of the options whose payoff is known to be distributed how."""
    return [i for i, option in enumerate(run.scenario.option) if payoff_histogram(run, option) is not None]


def draw_loss(run: Recording, ax: Axes) -> list[Artist]:
    """The density of the portfolio's loss, with its value at risk and the mean of what is beyond it."""
    found = loss_histogram(run)
    assert found is not None
    values, shortfalls = run.numbers("value_at_risk", ...), run.numbers("expected_shortfall", ...)
    marks = [*values[np.isfinite(values)], *shortfalls[np.isfinite(shortfalls)]]
    low = found.quantile(_SHOWN[0])
    high = max([found.quantile(_SHOWN[1]), *(1.02 * mark for mark in marks)])
    _bars(ax, found.within(low, high))
    key: list[Artist] = [Patch(facecolor=BARS, label="all paths")]
    for i, (level, at, beyond) in enumerate(zip(run.numbers("level", ...), values, shortfalls)):
        colour = COLOURS[1 + i % 2]
        ax.axvline(at, color=colour, linewidth=1.4)
        ax.axvline(beyond, color=colour, linewidth=1.2, linestyle=(0, (3, 2)))
        key.append(Line2D([], [], color=colour, linewidth=1.4, label=f"VaR {100 * level:.4g} %: {rounded(at)}"))
        label = f"mean beyond it: {rounded(beyond)}"
        key.append(Line2D([], [], color=colour, linewidth=1.2, linestyle=(0, (3, 2)), label=label))
    tidy(ax, "Loss of all holdings up to the end", "Loss (currency)", "Density (1/currency)")
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0)
    return key


def _bars(ax: Axes, found: Histogram) -> None:
    ax.stairs(found.density, found.edges, fill=True, color=BARS, linewidth=0)


def beside_fan(ax: Axes, found: Histogram, low: float, high: float, logarithmic: bool) -> None:
    """Bars of a density along the price axis of a fan, of the price or of its logarithm."""
    shown = found.within(low, high)
    edges = np.maximum(shown.edges, np.finfo(np.float64).tiny)
    density = shown.share / np.diff(np.log(edges)) if logarithmic else shown.density
    ax.stairs(density, edges, orientation="horizontal", fill=True, color=BARS, linewidth=0)

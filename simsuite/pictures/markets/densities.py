"""Densities of prices at the end, of payoffs, and of the loss of a portfolio with its value at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.pictures.markets.histograms import Histogram, loss_histogram, payoff_histogram, price_histogram
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, INK, tidy
from simsuite.pictures.units import grouped, rounded, shortened
from simsuite.solvers.gbm.reference_prices.laws import reference_law

if TYPE_CHECKING:
    from simsuite.solvers.gbm.payoff_samples import PayoffSamples

BARS = "#a9cfe6"  # the colour of histograms of all paths
_SOME = "#b9d8bd"  # of some
_SHOWN = (0.0005, 0.9995)  # the quantiles between which densities are shown
_DENSITY = "Density (1/currency)"
_DIGITS = 9  # after the point, to which payoffs that are alike are the same
_OFTEN = 0.004  # a value on this share of paths or more is drawn as a line of its own
_MOST_BARS, _IN_A_BAR, _FEWEST = 60, 40, 2  # bars of some paths; paths in each on an average; paths for bars at all


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
    tidy(ax, f"{name} at t = {years}", "Price (currency)", _DENSITY)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0)
    return key


def draw_payoff(run: Recording, ax: Axes, option: int) -> list[Artist]:
    """The density of what an option pays, discounted, where it pays anything, and its price, the mean of that."""
    name = shortened(run.scenario.option_names[option], 24)
    price = float(run.numbers("option_price", option))
    found = payoff_histogram(run, run.scenario.option[option])
    if found is None:
        assert run.first_payoffs is not None
        paid = run.first_payoffs.values[run.first_payoffs.options.index(option)]
        return draw_samples(run, ax, paid, name, "Discounted payoff (currency)", price)
    nothing, paid = found
    _bars(ax, paid)
    tidy(ax, _title(name, nothing), "Discounted payoff (currency)", _DENSITY)
    ax.set_xlim(0, paid.edges[-1])
    ax.set_ylim(bottom=0)
    return [Patch(facecolor=BARS, label="all paths"), _mean_line(ax, price)]


def draw_book(run: Recording, ax: Axes) -> list[Artist]:
    """The density of what all options held pay together, discounted, and their price."""
    samples = run.first_payoffs
    assert samples is not None
    assert samples.book is not None
    held = np.array([option.holding for option in run.scenario.option])
    price = float(held @ run.numbers("option_price", ...))
    return draw_samples(run, ax, samples.book, "All options held", "Discounted payoff of all (currency)", price)


def draw_samples(run: Recording, ax: Axes, paid: np.ndarray, name: str, label: str, price: float) -> list[Artist]:
    """How the payoffs[path] of a run's first paths are distributed where they are not 0: a density; or the shares of
    single values, as of fixed coupons, and of all others in bars."""
    some = paid[(paid != 0) & np.isfinite(paid)]
    alone, shares = _single_values(some, len(paid))
    others = some[~np.isin(some.round(_DIGITS), alone)]
    ends: list[float] = [*alone, price, *([] if others.size else [0.0])]
    key: list[Artist] = []
    if others.size >= _FEWEST:
        low, high = (
            np.quantile(others, _SHOWN) if others.min() < 0 or alone.size else (0, np.quantile(others, _SHOWN[1]))
        )
        edges = np.linspace(low, high, min(_MOST_BARS, max(10, others.size // _IN_A_BAR)) + 1)
        counts = np.histogram(others, edges)[0] / len(paid)
        heights = 100 * counts if alone.size else counts / np.diff(edges)
        every = run.results.get("paths") == len(paid) and not run.scenario.paths.multilevel
        colour = BARS if every else _SOME
        ax.stairs(heights, edges, fill=True, color=colour, linewidth=0)
        key.append(
            Patch(facecolor=colour, label="all paths" if every else f"first {grouped(len(paid))} paths, made again")
        )
        ends += [low, high]
    if alone.size:
        lines = ax.vlines(alone, 0, 100 * shares, color=COLOURS[0], linewidth=2.2)
        lines.set_label("single values")
        key.append(lines)
    tidy(ax, _title(name, np.mean(paid == 0)), label, "Paths (% in a bar, or at a value)" if alone.size else _DENSITY)
    pad = 0.04 * (max(ends) - min(ends)) or 1.0
    ax.set_xlim(min(ends) - (pad if min(ends) != 0 else 0), max(ends) + pad)
    ax.set_ylim(bottom=0)
    return [*key, _mean_line(ax, price)]


def _single_values(some: np.ndarray, paths: int) -> tuple[np.ndarray, np.ndarray]:
    """The values, to _DIGITS, that come up on so many paths that bars would not tell them, and their shares."""
    values, counts = np.unique(some.round(_DIGITS), return_counts=True)
    often = counts >= _OFTEN * paths
    return values[often], counts[often] / paths


def _title(name: str, nothing: float) -> str:
    return f"{name}: nothing on {100 * nothing:.3g} % of paths" if nothing > 0 else name


def _mean_line(ax: Axes, price: float) -> Line2D:
    """Draw where the price is."""
    ax.axvline(price, color=COLOURS[1], linewidth=1.2)
    return Line2D([], [], color=COLOURS[1], linewidth=1.2, label="mean")


def payoffs_shown(run: Recording) -> list[int]:
    """The numbers of the options whose payoff is known to be distributed how."""
    if not run.has("option_price"):
        return []
    known = [payoff_histogram(run, option) is not None for option in run.scenario.option]
    samples = None if all(known) else run.first_payoffs
    again = samples.options if samples is not None else ()
    return [i for i in range(len(known)) if known[i] or (i in again and _pays(samples, i))]


def _pays(samples: PayoffSamples | None, option: int) -> bool:
    assert samples is not None
    return bool((samples.values[samples.options.index(option)] != 0).any())


def has_book(run: Recording) -> bool:
    """Whether several options are held, whose payoffs together are known to be distributed how."""
    held = sum(option.holding != 0 for option in run.scenario.option)
    return held > 1 and run.first_payoffs is not None


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
    tidy(ax, "Loss of all holdings up to the end", "Loss (currency)", _DENSITY)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0)
    return key


def _bars(ax: Axes, found: Histogram) -> None:
    ax.stairs(found.density, found.edges, fill=True, color=BARS, linewidth=0)


def beside_fan(ax: Axes, found: Histogram, low: float, high: float, logarithmic: bool) -> None:
    """Bars of a density along the price axis of a fan, of the price or of its logarithm."""
    shown = found.within(low, high)
    edges = np.maximum(shown.edges, np.finfo(np.float64).tiny) if logarithmic else shown.edges
    density = shown.density_of(logarithmic)
    ax.stairs(density, edges, orientation="horizontal", fill=True, color=BARS, linewidth=0)

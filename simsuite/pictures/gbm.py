"""Pictures of Monte Carlo runs: a fan of prices and their terminal distribution for each asset, and option prices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.exposure import draw_exposure
from simsuite.pictures.gbm_options import draw_options, option_rows
from simsuite.pictures.markets.densities import beside_fan
from simsuite.pictures.markets.histograms import Histogram, price_histogram
from simsuite.pictures.recording import Recording, strided
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import grouped, rounded, shortened
from simsuite.solvers.gbm.reference_prices.laws import LogPriceLaw, reference_law
from simsuite.words import counted

ASSETS = 4  # At most so many assets are drawn.
_PATHS = 12  # At most so many paths of each asset are drawn.
_TIMES = 2000  # At most so many times are drawn.
_BAND = COLOURS[0]
_CROWDED = 30  # From this ratio of the outer quantiles on, the price axis is logarithmic.
_ROW = 2.15  # the height of a row in inches
_MARGIN = 1.1  # between paths and the ends of a logarithmic axis
_REACH, _POINTS, _RARE = 6.0, 4001, 1e-4  # of a law: standard deviations, points; the share of a part that is left out
_FAINT = 0.02  # of its maximum: how high a density may be where the axis ends


@dataclass(frozen=True)
class Fan:
    """The data of one asset that are drawn.

    quantiles[quantile, time]; paths[path, time]. at: the number of the time whose distribution is shown. law: the exact
    law of the price then, where it is known. uncertain: whether prices differ from path to path. counted: how the
    prices of all paths are distributed at the end, where that is stored.
    """

    name: str
    at: int
    time: np.ndarray
    mean: np.ndarray
    levels: np.ndarray
    quantiles: np.ndarray
    paths: np.ndarray
    terminal: np.ndarray
    law: LogPriceLaw | None
    uncertain: bool
    counted: Histogram | None = None


def gbm_figure(run: Recording) -> Sheet:
    """The figure: a row for each asset, and a table of the options below."""
    model = run.scenario
    assets = min(len(model.asset), ASSETS)
    table = option_rows(run)
    row = max(_ROW, 3.2 / assets)
    profile = run.has("exposure_expected")
    height = 0.75 + row * assets + (0.33 + 0.2 * len(table) if table else 0.0) + (_ROW + 0.4) * profile
    sheet = Sheet(run, height, _subtitle(run, assets))
    ratios = [row] * assets + [_ROW] * profile + ([0.2 * len(table) + 0.1] if table else [])
    grid = sheet.figure.add_gridspec(len(ratios), 2, width_ratios=(2.4, 1), height_ratios=ratios)
    fans = [read_fan(run, a) for a in range(assets)]
    explained = next((a for a, fan in enumerate(fans) if fan.law is not None), None)
    if explained is None:
        explained = next((a for a, fan in enumerate(fans) if fan.uncertain), None)
    for a, fan in enumerate(fans):
        left = sheet.figure.add_subplot(grid[a, 0])
        right = sheet.figure.add_subplot(grid[a, 1], sharey=left)
        limits = limits_beside(fan)
        draw_fan(sheet, left, fan, a == assets - 1, limits)
        _draw_terminal(right, fan, limits)
        if len(fan.paths) and (a == explained or _beyond(fan, limits)):
            left.set_title(f"grey: {path_words(fan, limits)}", loc="right", size=SMALL, color=GREY, pad=5)
        if a == explained:
            _explain(right, fan)
    if profile:
        draw_exposure(sheet, sheet.figure.add_subplot(grid[assets, :]), run, _drawn(run))
    if table:
        draw_options(sheet.figure.add_subplot(grid[-1, :]), table)
    return sheet


def _subtitle(run: Recording, assets: int) -> str:
    model = run.scenario
    n = len(model.asset)
    shown = f"first {assets} of {n} assets" if n > assets else f"{n} asset{'s' if n > 1 else ''}"
    paths = f"{_paths(run)} paths" + (", antithetic" if model.paths.antithetic else "")
    return f"Geometric Brownian motion, {shown}   |   {paths}   |   {run.attribute('device_name')}"


def _paths(run: Recording) -> str:
    """How many paths the run has made, as text; while that is not known, how many it may make."""
    paths = run.scenario.paths
    if run.finished and "paths" in run.results:
        return grouped(run.results["paths"])
    return ("up to " if paths.target_standard_error > 0 else "") + grouped(paths.count)


def read_fan(run: Recording, a: int) -> Fan:
    model = run.scenario
    asset, end = model.asset[a], float(run.time[run.shown])
    frames = _drawn(run)
    paths = terminal = np.empty((0, len(frames)))
    if run.has("path"):
        terminal = run.numbers("path", slice(None), run.shown, a)
        paths = run.numbers("path", slice(_PATHS), slice(run.frames), a)[:, frames]
    return Fan(
        name=model.asset_names[a],
        at=int(np.searchsorted(frames, run.shown)),
        time=run.time[frames],
        mean=run.numbers("price_mean", slice(run.frames), a)[frames],
        levels=run.numbers("quantile", slice(None)),
        quantiles=run.numbers("price_quantile", slice(None), slice(run.frames), a)[:, frames],
        paths=paths,
        terminal=terminal.ravel(),
        law=reference_law(model, a, end) if end > 0 else None,
        uncertain=any(asset.volatility.values) or asset.jumps is not None,
        counted=price_histogram(run, a) if run.shown == run.frames - 1 else None,
    )


def _drawn(run: Recording) -> np.ndarray:
    """The numbers of the frames that are drawn."""
    return np.unique([*range(run.frames)[strided(run.frames, _TIMES)], run.shown, run.frames - 1])


def _pairs(levels: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of quantiles that bound a band, the outermost first: each low one with the high one that mirrors it."""
    return [(i, len(levels) - 1 - i) for i in range(len(levels) // 2)]


def _shade(i: int, n: int) -> tuple[float, ...]:
    """Colour of the i-th of n bands, the outermost (0) the palest."""
    share = 0.18 + 0.34 * (i / max(n - 1, 1))
    return tuple(1 - share * (1 - c) for c in to_rgb(_BAND))


def draw_fan(sheet: Sheet, ax: Axes, fan: Fan, last: bool = True, limits: tuple[float, float] | None = None) -> None:
    """last: whether no other panel with the same times stands below. limits: of prices; default: `price_limits`."""
    pairs, t = _pairs(fan.levels), fan.time
    for i, (low, high) in enumerate(pairs):
        ax.fill_between(t, fan.quantiles[low], fan.quantiles[high], color=_shade(i, len(pairs)), linewidth=0, zorder=1)
    for path in fan.paths:
        ax.plot(t, path, color=GREY, linewidth=0.5, alpha=0.75, zorder=2)
    if len(fan.levels) % 2:
        draw_line(ax, t, fan.quantiles[len(fan.levels) // 2], _BAND, linewidth=1.4, zorder=3)
    draw_line(ax, t, fan.mean, COLOURS[1], linewidth=1.4, zorder=4)
    if is_logarithmic(fan):
        ax.set_yscale("log")
    tidy(ax, shortened(fan.name, 40), "Time (years)" if last else "", "Price (currency)")
    ax.margins(x=0)
    ax.set_ylim(*(limits or price_limits(fan)))
    if not last:
        ax.tick_params(labelbottom=False)
    if len(t) > 1:
        colours = {"mean": COLOURS[1]}
        label_ends(sheet, ax, [(y[-1], name, colours.get(name, _BAND)) for name, y in named_curves(fan).items()])


def named_curves(fan: Fan) -> dict[str, np.ndarray]:
    """The curves over time at whose ends a name stands."""
    quantiles = {f"{100 * level:.4g} %": y for level, y in zip(fan.levels, fan.quantiles)} if fan.uncertain else {}
    return {**quantiles, "mean": fan.mean}


def path_words(fan: Fan, limits: tuple[float, float] | None = None) -> str:
    """How many paths are drawn, and how many of them leave the axis of prices. limits: as of `draw_fan`."""
    n, beyond = len(fan.paths), _beyond(fan, limits or price_limits(fan))
    return (f"{n} of the paths" if n > 1 else "a path") + (f", {beyond} beyond the axis" if beyond else "")


def _beyond(fan: Fan, limits: tuple[float, float]) -> int:
    """How many of the paths that are drawn leave the axis of prices."""
    return int(((fan.paths < limits[0]) | (fan.paths > limits[1])).any(axis=1).sum())


def path_key(fan: Fan, limits: tuple[float, float] | None = None) -> list[Artist]:
    """What a key says of the lines of paths."""
    return [Line2D([], [], color=GREY, linewidth=0.5, label=path_words(fan, limits))] if len(fan.paths) else []


def is_logarithmic(fan: Fan) -> bool:
    """Whether prices spread so far in the end that most of them would be crowded at the bottom of a linear axis."""
    return float(fan.quantiles[:, -1].min()) * _CROWDED < float(fan.quantiles[:, -1].max())


def price_limits(fan: Fan) -> tuple[float, float]:
    """The limits of the price axis: they include all bands, and of the paths as much as leaves the bands a third of it;
    those that go further are counted by `path_words`."""
    low, high = float(fan.quantiles.min()), float(max(fan.quantiles.max(), fan.mean.max()))
    least, most = (float(fan.paths.min()), float(fan.paths.max())) if fan.paths.size else (low, high)
    if is_logarithmic(fan):
        ratio = high / low
        return min(low / 2, max(least / _MARGIN, low / ratio)), max(high * 2, min(most * _MARGIN, high * ratio))
    reach = high - low
    low, high = min(low, max(least, low - reach)), max(high, min(most, high + reach))
    pad = 0.05 * (high - low) or 0.05 * high
    return low - pad, high + pad


def limits_beside(fan: Fan) -> tuple[float, float]:
    """The limits of the price axis where the density stands beside: it is low where the axis ends."""
    low, high = price_limits(fan)
    if fan.law is not None:
        prices, density = _law_density(fan.law, is_logarithmic(fan))
    elif fan.counted is not None:
        bars = fan.counted.within(low, high)
        prices, density = bars.edges, np.append(bars.density_of(is_logarithmic(fan)), 0.0)
    else:
        return low, high
    seen = prices[density >= _FAINT * density.max()]
    return min(low, float(seen[0])), max(high, float(seen[-1]))


def _law_density(law: LogPriceLaw, logarithmic: bool) -> tuple[np.ndarray, np.ndarray]:
    """Prices, ascending, and their density, or that of their logarithm, as far as it is not close to 0."""
    likely = law.weights > _RARE * law.weights.max()
    means, reach = law.means[likely], _REACH * law.deviations[likely]
    logarithm = np.linspace((means - reach).min(), (means + reach).max(), _POINTS)
    price = np.exp(logarithm)
    return price, law.density(logarithm) / (1.0 if logarithmic else price)


def _draw_terminal(ax: Axes, fan: Fan, limits: tuple[float, float]) -> None:
    """Bars as wide as the density of all paths there, between neighbouring quantiles where no finer counts are stored,
    and the exact density where it is known.

    Of the price, or of its natural logarithm where the price axis is logarithmic.
    """
    pairs, edges, log = _pairs(fan.levels), fan.quantiles[:, fan.at], is_logarithmic(fan)
    low, high = limits
    spread = fan.uncertain and fan.time[fan.at] > 0
    if fan.counted is not None and spread:
        beside_fan(ax, fan.counted, low, high, log)
    for i in range(len(edges) - 1 if fan.counted is None else 0):
        if edges[i + 1] > edges[i]:
            width = math.log(edges[i + 1] / edges[i]) if log else edges[i + 1] - edges[i]
            density = (fan.levels[i + 1] - fan.levels[i]) / width
            colour = _shade(min(i, len(edges) - 2 - i), len(pairs))
            ax.barh(edges[i], density, edges[i + 1] - edges[i], align="edge", color=colour, edgecolor="white", lw=0.6)
    ax.plot(np.zeros(len(fan.terminal)), fan.terminal, "_", color=GREY, markersize=7, markeredgewidth=0.5)
    if fan.law is not None:
        price = np.geomspace(low, high, 500) if log else np.linspace(max(low, 1e-9 * high), high, 500)
        ax.plot(fan.law.density(np.log(price)) / (1.0 if log else price), price, color=INK, linewidth=1.2)
    years = f"{rounded(fan.time[fan.at])} year{'' if fan.time[fan.at] == 1 else 's'}"
    unit = "of log price (1)" if log else "(1/currency)"
    tidy(ax, f"At t = {years}" + ("" if spread else ": no spread"), f"Density {unit}", "")
    ax.tick_params(labelleft=False)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    if not spread:
        ax.set_xticks([])


def _explain(right: Axes, fan: Fan) -> None:
    """Explain what the colours beside a fan mean."""
    if not (fan.uncertain and fan.time[fan.at] > 0):
        return
    lines = [("exact density", INK)] if fan.law is not None else []
    if fan.counted is not None:
        lines.append(("all paths", _BAND))
    elif len(fan.levels) > 1:
        lines += [("all paths, between", _BAND), ("their quantiles", _BAND)]
    if len(fan.terminal):
        lines.append((f"ticks: {counted(len(fan.terminal), 'path')}", GREY))
    for i, (text, colour) in enumerate(lines):
        y = -(4 + 10 * i)
        right.annotate(
            text, (1, 1), (0, y), "axes fraction", "offset points", ha="right", va="top", size=SMALL, color=colour
        )

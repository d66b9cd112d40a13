"""Pictures of Monte Carlo runs: a fan of prices and their terminal distribution for each asset, and option prices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator

from simsuite.pictures.exposure import draw_exposure
from simsuite.pictures.recording import Recording, strided
from simsuite.pictures.sheet import COLOURS, GREY, INK, SMALL, Sheet, draw_line, label_ends, tidy
from simsuite.pictures.units import grouped, rounded, shortened
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms import european

_ASSETS = 4  # that are drawn
_OPTIONS = 8  # that are listed
_PATHS = 12  # that are drawn for each asset
_TIMES = 2000  # that are drawn
_BAND = COLOURS[0]
_CROWDED = 30  # ratio of the outer quantiles from which on the price axis is logarithmic
_ROW = 1.9  # inches


@dataclass(frozen=True)
class Fan:
    """What is drawn of one asset. quantiles[quantile, time]; paths[path, time]; growth and volatility of the law
    at the last time."""

    name: str
    time: np.ndarray
    mean: np.ndarray
    levels: np.ndarray
    quantiles: np.ndarray
    paths: np.ndarray
    terminal: np.ndarray
    spot: float
    growth: float
    volatility: float


def gbm_figure(run: Recording) -> Sheet:
    """One row an asset, and a table of the options below."""
    model = run.scenario
    assets = min(len(model.asset), _ASSETS)
    table = _option_rows(run)
    row = max(_ROW, 3.2 / assets)
    profile = run.has("exposure_expected")
    height = 0.75 + row * assets + (0.33 + 0.2 * len(table) if table else 0.0) + (_ROW + 0.4) * profile
    sheet = Sheet(run, height, _subtitle(run, assets))
    ratios = [row] * assets + [_ROW] * profile + ([0.2 * len(table) + 0.1] if table else [])
    grid = sheet.figure.add_gridspec(len(ratios), 2, width_ratios=(2.4, 1), height_ratios=ratios)
    explained = False
    for a in range(assets):
        left = sheet.figure.add_subplot(grid[a, 0])
        right = sheet.figure.add_subplot(grid[a, 1], sharey=left)
        fan = _fan(run, a)
        _draw_fan(sheet, left, fan, last=a == assets - 1)
        _draw_terminal(right, fan, last=a == assets - 1)
        if not explained and fan.volatility > 0:
            explained = True
            _explain(left, right, fan)
    if profile:
        draw_exposure(sheet, sheet.figure.add_subplot(grid[assets, :]), run, _drawn(run))
    if table:
        _draw_table(sheet.figure.add_subplot(grid[-1, :]), table)
    return sheet


def _subtitle(run: Recording, assets: int) -> str:
    model = run.scenario
    n = len(model.asset)
    shown = f"first {assets} of {n} assets" if n > assets else f"{n} asset{'s' if n > 1 else ''}"
    paths = f"{grouped(model.paths.count)} paths" + (", antithetic" if model.paths.antithetic else "")
    return f"Geometric Brownian motion, {shown}   |   {paths}   |   {run.attribute('device_name')}"


def _fan(run: Recording, a: int) -> Fan:
    model = run.scenario
    growth, volatility = _law(model, a, float(run.time[run.frames - 1]))
    frames = _drawn(run)
    paths = terminal = np.empty((0, len(frames)))
    if run.has("path"):
        terminal = run.numbers("path", slice(None), run.frames - 1, a)
        paths = run.numbers("path", slice(_PATHS), slice(run.frames), a)[:, frames]
    return Fan(
        name=model.asset_names[a],
        time=run.time[frames],
        mean=run.numbers("price_mean", slice(run.frames), a)[frames],
        levels=run.numbers("quantile", slice(None)),
        quantiles=run.numbers("price_quantile", slice(None), slice(run.frames), a)[:, frames],
        paths=paths,
        terminal=terminal.ravel(),
        spot=model.asset[a].spot,
        growth=growth,
        volatility=volatility,
    )


def _drawn(run: Recording) -> np.ndarray:
    """The frames that are."""
    return np.unique([*range(run.frames)[strided(run.frames, _TIMES)], run.frames - 1])


def _law(model: GbmScenario, a: int, t: float) -> tuple[float, float]:
    """Growth rate of the expected price and volatility that, if they were constant, would give the same law at t."""
    asset, market = model.asset[a], model.market
    growth = market.rate.mean(t) - asset.dividend_yield.mean(t) if market.drift is None else market.drift.mean(t)
    paid = [d for d in asset.dividends if model.time.nearest_step(d.time) <= model.time.nearest_step(t)]
    left = math.fsum(math.log1p(-d.proportion) for d in paid if d.proportion is not None)
    return growth + (left / t if left else 0.0), asset.volatility.root_mean_square(t)


def _pairs(levels: np.ndarray) -> list[tuple[int, int]]:
    """Outermost first, the quantiles that bound a band: each low one with the high one that mirrors it."""
    return [(i, len(levels) - 1 - i) for i in range(len(levels) // 2)]


def _shade(i: int, n: int) -> tuple[float, ...]:
    """Colour of the i-th of n bands, the outermost (0) the palest."""
    share = 0.18 + 0.34 * (i / max(n - 1, 1))
    return tuple(1 - share * (1 - c) for c in to_rgb(_BAND))


def _draw_fan(sheet: Sheet, ax: Axes, fan: Fan, last: bool) -> None:
    pairs, t = _pairs(fan.levels), fan.time
    ends = []
    for i, (low, high) in enumerate(pairs):
        ax.fill_between(t, fan.quantiles[low], fan.quantiles[high], color=_shade(i, len(pairs)), linewidth=0, zorder=1)
        ends += [(fan.quantiles[k, -1], f"{100 * fan.levels[k]:.4g} %", _BAND) for k in (low, high)]
    for path in fan.paths:
        ax.plot(t, path, color=GREY, linewidth=0.5, alpha=0.75, zorder=2)
    if len(fan.levels) % 2:
        middle = fan.quantiles[len(fan.levels) // 2]
        draw_line(ax, t, middle, _BAND, linewidth=1.4, zorder=3)
        ends.append((middle[-1], f"{100 * fan.levels[len(fan.levels) // 2]:.4g} %", _BAND))
    draw_line(ax, t, fan.mean, COLOURS[1], linewidth=1.4, zorder=4)
    ends.append((fan.mean[-1], "mean", COLOURS[1]))
    if _logarithmic(fan):
        ax.set_yscale("log")
    tidy(ax, shortened(fan.name, 40), "Time (years)" if last else "", "Price (currency)")
    ax.margins(x=0)
    ax.set_ylim(*_price_limits(fan))
    if not last:
        ax.tick_params(labelbottom=False)
    if len(t) > 1:
        label_ends(sheet, ax, ends if fan.volatility > 0 else ends[-1:])


def _logarithmic(fan: Fan) -> bool:
    """Whether prices spread so far in the end that most of them would be crowded at the bottom of a linear axis."""
    return float(fan.quantiles[:, -1].min()) * _CROWDED < float(fan.quantiles[:, -1].max())


def _price_limits(fan: Fan) -> tuple[float, float]:
    """All of the bands, and of the paths what does not flatten them."""
    low, high = float(fan.quantiles.min()), float(max(fan.quantiles.max(), fan.mean.max()))
    if _logarithmic(fan):
        return low / 2, high * 2
    reach = high - low
    if fan.paths.size:
        low = min(low, max(float(fan.paths.min()), low - 0.4 * reach))
        high = max(high, min(float(fan.paths.max()), high + 0.4 * reach))
    pad = 0.05 * (high - low) or 0.05 * high
    return low - pad, high + pad


def _draw_terminal(ax: Axes, fan: Fan, last: bool) -> None:
    """Bars between neighbouring quantiles, each as wide as the density of all paths there, and the exact density.

    Of the price, or of its natural logarithm where the price axis is logarithmic.
    """
    pairs, edges, log = _pairs(fan.levels), fan.quantiles[:, -1], _logarithmic(fan)
    low, high = _price_limits(fan)
    deviation = fan.volatility * math.sqrt(float(fan.time[-1]))
    for i in range(len(edges) - 1):
        if edges[i + 1] > edges[i]:
            width = math.log(edges[i + 1] / edges[i]) if log else edges[i + 1] - edges[i]
            density = (fan.levels[i + 1] - fan.levels[i]) / width
            colour = _shade(min(i, len(edges) - 2 - i), len(pairs))
            ax.barh(edges[i], density, edges[i + 1] - edges[i], align="edge", color=colour, edgecolor="white", lw=0.6)
    ax.plot(np.zeros(len(fan.terminal)), fan.terminal, "_", color=GREY, markersize=7, markeredgewidth=0.5)
    if deviation > 0:
        price = np.geomspace(low, high, 500) if log else np.linspace(max(low, 1e-9 * high), high, 500)
        center = math.log(fan.spot) + (fan.growth - fan.volatility**2 / 2) * float(fan.time[-1])
        z = (np.log(price) - center) / deviation
        density = np.exp(-(z**2) / 2) / (deviation * math.sqrt(2 * math.pi)) / (1.0 if log else price)
        ax.plot(density, price, color=INK, linewidth=1.2)
    years = f"{rounded(fan.time[-1])} year{'' if fan.time[-1] == 1 else 's'}"
    unit = "of log price (1)" if log else "(1/currency)"
    tidy(ax, f"At t = {years}" + ("" if deviation > 0 else ": no spread"), f"Density {unit}" if last or log else "", "")
    ax.tick_params(labelleft=False)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    if deviation == 0:
        ax.set_xticks([])


def _explain(left: Axes, right: Axes, fan: Fan) -> None:
    """What the colours mean."""
    if len(fan.paths):
        n = len(fan.paths)
        text = f"grey: {n} of the paths" if n > 1 else "grey: a path"
        left.set_title(text, loc="right", size=SMALL, color=GREY, pad=5)
    if fan.volatility > 0 and fan.time[-1] > 0:
        lines = [("exact density", INK), ("all paths, between", _BAND), ("their quantiles", _BAND)]
        for i, (text, colour) in enumerate(lines[: 3 if len(fan.levels) > 1 else 1]):
            y = -(4 + 10 * i)
            right.annotate(
                text, (1, 1), (0, y), "axes fraction", "offset points", ha="right", va="top", size=SMALL, color=colour
            )


def _option_rows(run: Recording) -> list[tuple[str, ...]]:
    """Name, contract, price, interval and exact value of each option, below a header; empty before the run's end."""
    model = run.scenario
    if not run.has("option_price") or not np.isfinite(run.numbers("option_price")).any():
        return []
    prices, errors = run.numbers("option_price"), run.numbers("option_standard_error")
    kind = "Price" if model.market.drift is None else "Discounted mean"
    rows: list[tuple[str, ...]] = [("Option", "Contract", kind, "95 % interval", "Exact")]
    for name, option, price, error in zip(model.option_names, model.option, prices, errors):
        half = 1.96 * float(error)
        digits = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 2
        plus = f"± {half:.{digits}f}" if math.isfinite(half) else "–"
        exact = _exact(run, option)
        known = "" if exact is None else f"{exact:.{digits}f}"
        rows.append((shortened(name, 22), shortened(_contract(run, option), 50), f"{price:.{digits}f}", plus, known))
    if len(rows) > _OPTIONS + 1:
        rows = [*rows[: _OPTIONS + 1], (f"and {len(rows) - 1 - _OPTIONS} more", "", "", "", "")]
    return rows


def _contract(run: Recording, option: object) -> str:
    words = [str(getattr(option, word)) for word in ("average", "style", "payoff") if hasattr(option, word)]
    strike = getattr(option, "strike", None)
    terms = "" if strike is None else f", strike {rounded(strike, 6)}"
    words = [word.capitalize() if word in ("european", "asian", "american") else word for word in words]
    return f"{' '.join(words)} on {_underlying(run, option)}{terms}"


def _underlying(run: Recording, option: object) -> str:
    if hasattr(option, "value"):
        return str(option.value)
    if hasattr(option, "assets"):
        return " against ".join(shortened(name, 16) for name in option.assets)
    if not hasattr(option, "asset"):
        return "all assets"
    return shortened(option.asset or run.scenario.asset_names[0], 16)


def _exact(run: Recording, option: object) -> float | None:
    """The Black-Scholes price of a European option, None for others."""
    model = run.scenario
    if getattr(option, "style", "") != "european":
        return None
    a = model.asset_names.index(option.asset) if option.asset else 0  # type: ignore[attr-defined]
    fan = _fan(run, a)
    strike, payoff, end = option.strike, option.payoff, model.time.end  # type: ignore[attr-defined]
    return european(fan.spot, strike, model.market.rate.mean(end), fan.growth, fan.volatility, end, payoff)


def _draw_table(ax: Axes, rows: list[tuple[str, ...]]) -> None:
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(len(rows), 0))
    columns = ((0.0, "left"), (0.24, "left"), (0.72, "right"), (0.86, "right"), (0.98, "right"))
    for i, row in enumerate(rows):
        for text, (x, side) in zip(row, columns):
            ax.text(
                x, i + 0.5, text, ha=side, va="center", size=SMALL + 0.5, color=INK if i else GREY, parse_math=False
            )
    ax.plot([0, 0.98], [1, 1], color=GREY, linewidth=0.6, clip_on=False)

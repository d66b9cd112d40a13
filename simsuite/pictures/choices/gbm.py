"""What can be asked for of a Monte Carlo run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.choices.choice import Choice, Limits, Panel, ever
from simsuite.pictures.choices.labels import labels_of
from simsuite.pictures.exposure import draw_exposure
from simsuite.pictures.gbm import draw_fan, path_key, read_fan
from simsuite.pictures.markets.densities import draw_book, draw_density, draw_loss, draw_payoff, has_book, payoffs_shown
from simsuite.pictures.markets.histograms import loss_histogram, price_histogram
from simsuite.pictures.markets.prices import draw_levels, draw_price
from simsuite.pictures.markets.sensitivities import draw_greek, greek_shape, greeks_of
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import Sheet


def _panel(
    draw: Callable[[Sheet, Axes], Sequence[Artist] | None], kind: str = "", alike: bool = True, shape: float = 0.55
) -> Panel:
    def drawn(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
        return draw(sheet, ax) or []

    return Panel(drawn, shape, alike=alike, kind=kind)


def _fans(run: Recording) -> Sequence[Panel]:
    def panel(a: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes) -> Sequence[Artist]:
            fan = read_fan(run, a)
            draw_fan(sheet, ax, fan)
            return path_key(fan)

        return _panel(draw)

    return [panel(a) for a in range(len(run.scenario.asset))]


def _assets_spread(run: Recording) -> list[int]:
    return [a for a in range(len(run.scenario.asset)) if price_histogram(run, a) is not None]


def _densities(run: Recording) -> Sequence[Panel]:
    def price(a: int) -> Panel:
        return _panel(lambda sheet, ax: draw_density(run, ax, a), "price")

    def payoff(o: int) -> Panel:
        return _panel(lambda sheet, ax: draw_payoff(run, ax, o), "payoff")

    found = [price(a) for a in _assets_spread(run)] + [payoff(o) for o in payoffs_shown(run)]
    if has_book(run):
        found.append(_panel(lambda sheet, ax: draw_book(run, ax), "book"))
    return [*found, _panel(lambda sheet, ax: draw_loss(run, ax), "loss")] if loss_histogram(run) is not None else found


def _no_density(run: Recording) -> str | None:
    if _assets_spread(run) or loss_histogram(run) is not None:
        return None
    return "density: it is not over, or no price is random"


def _greeks(run: Recording) -> Sequence[Panel]:
    def panel(name: str) -> Panel:
        return _panel(lambda sheet, ax: draw_greek(run, ax, name), name, shape=greek_shape(run, name))

    return [panel(name) for name in greeks_of(run)]


def _no_greeks(run: Recording) -> str | None:
    if not run.has("option_price"):
        return "greeks: it prices no options"
    return None if greeks_of(run) else "greeks: it is not over, or none are known (paths.greeks = true asks for them)"


def _exposure(run: Recording) -> Sequence[Panel]:
    return [_panel(lambda sheet, ax: draw_exposure(sheet, ax, run, np.arange(run.frames)))]


def _no_exposure(run: Recording) -> str | None:
    return None if run.has("exposure_expected") else "exposure: output.exposure = true with holdings asks for it"


def _prices(runs: Sequence[Recording]) -> Sequence[Panel]:
    labels = labels_of(runs)

    def panel(option: str) -> Panel:
        return _panel(lambda sheet, ax: draw_price(runs, ax, option, labels), alike=False)

    def levels(run: Recording) -> Panel:
        return _panel(lambda sheet, ax: draw_levels(run, sheet, ax), alike=False)

    options = dict.fromkeys(name for run in runs for name in run.texts("option"))
    return [panel(name) for name in options] + [levels(run) for run in runs if run.has("level_variance")]


def _no_prices(run: Recording) -> str | None:
    if not run.has("option_price"):
        return "convergence: it prices no options"
    return None if np.isfinite(run.numbers("option_price", ...)).any() else "convergence: it is not over"


GBM = (
    Choice("trajectory", ever, _fans),
    Choice("density", _no_density, _densities),
    Choice("convergence", _no_prices, lambda run: _prices([run]), _prices),
    Choice("greeks", _no_greeks, _greeks),
    Choice("exposure", _no_exposure, _exposure),
)

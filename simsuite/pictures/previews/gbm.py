"""Prices before any path is made: by their exact law, where it is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from simsuite.pictures.choices.choice import Limits, Panel
from simsuite.pictures.gbm import Fan, draw_fan
from simsuite.pictures.gbm_options import contract_words
from simsuite.pictures.sheet import Sheet
from simsuite.pictures.units import grouped
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.reference_prices.laws import LogPriceLaw, reference_law

_TIMES = 61
_REACH, _POINTS = 9.0, 4001  # standard deviations that quantiles are looked for in, and how many points they take


def gbm_preview(model: GbmScenario) -> tuple[str, list[Panel]]:
    """Subtitle and panels: a fan of each asset's price by its exact law, and the options in words."""

    def panel(a: int) -> Panel:
        def draw(sheet: Sheet, ax: Axes, limits: Limits | None) -> Sequence[Artist]:
            fan = exact_fan(model, a)
            if fan is None:
                ax.set_axis_off()
                ax.text(0, 0.9, f"{model.asset_names[a]}: no exact law is known", parse_math=False, va="top")
            else:
                draw_fan(sheet, ax, fan)
            return []

        return Panel(draw)

    options = "; ".join(contract_words(model, option) for option in model.option) or "no options"
    paths = f"{grouped(model.paths.count)} paths"
    return f"Before the run, exact laws   |   {paths}   |   {options}", [panel(a) for a in range(len(model.asset))]


def exact_fan(model: GbmScenario, asset: int) -> Fan | None:
    """Mean and quantiles of a price over time; None where no exact law is known."""
    time = np.linspace(0.0, model.time.end, _TIMES)
    laws = [reference_law(model, asset, float(t)) for t in time[1:]]
    levels = np.array(model.output.quantiles)
    if any(law is None for law in laws):
        return None
    known = [law for law in laws if law is not None]
    spot = float(model.asset[asset].spot)
    quantiles = np.array([np.full(len(levels), spot), *(_quantiles(law, levels) for law in known)]).T
    mean = np.array([spot, *(float(law.weights @ np.exp(law.means + law.deviations**2 / 2)) for law in known)])
    return Fan(
        name=model.asset_names[asset],
        at=_TIMES - 1,
        time=time,
        mean=mean,
        levels=levels,
        quantiles=quantiles,
        paths=np.empty((0, _TIMES)),
        terminal=np.empty(0),
        law=known[-1],
        uncertain=True,
    )


def _quantiles(law: LogPriceLaw, levels: np.ndarray) -> np.ndarray:
    """Quantiles of the price, by adding up its density."""
    low = float(np.min(law.means - _REACH * law.deviations))
    high = float(np.max(law.means + _REACH * law.deviations))
    logarithm = np.linspace(low, high, _POINTS)
    below = np.cumsum(law.density(logarithm))
    return np.exp(np.interp(levels, below / below[-1], logarithm))

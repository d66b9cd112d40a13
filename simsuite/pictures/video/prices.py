"""A video of a Monte Carlo run: fans that open in time, and beside each how prices are distributed at that time."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simsuite.pictures.gbm import (
    ASSETS,
    draw_fan,
    is_logarithmic,
    limits_beside,
    named_curves,
    path_key,
    read_fan,
)
from simsuite.pictures.markets.densities import BARS
from simsuite.pictures.recording import Recording
from simsuite.pictures.sheet import COLOURS, INK, Sheet, tidy
from simsuite.pictures.units import rounded
from simsuite.pictures.video.scene import Curtain, Names, Scene, evenly
from simsuite.solvers.gbm.reference_prices.laws import reference_law

_ROW = 2.3  # the height of a row in inches
_POINTS = 300  # of a density, over the axis of prices and where most prices are


class _Asset:
    """A row: the fan of an asset, and the density of its price."""

    def __init__(self, run: Recording, sheet: Sheet, left: Axes, right: Axes, a: int, last: bool) -> None:
        self._run, self._number, self.fan = run, a, read_fan(run, a)
        fan, (low, high) = self.fan, limits_beside(self.fan)
        draw_fan(sheet, left, fan, last, (low, high))
        self._curtain = Curtain([*left.collections, *left.lines])
        self._names = Names(sheet, left, {name: (fan.time, y) for name, y in named_curves(fan).items()})
        self._now = left.axvline(fan.time[0], color=INK, linewidth=0.8, zorder=5)
        self._bars = right.barh(np.zeros(len(fan.levels) - 1), 0.0, 1.0, align="edge", color=BARS, edgecolor="white")
        (self._law,) = right.plot([], [], color=INK, linewidth=1.2)
        self._log, self.limits = is_logarithmic(fan), (low, high)
        tidy(right, "", f"Density{' of log price' if self._log else ''} (1 = max.)", "")
        right.tick_params(labelleft=False)
        right.set_xlim(0, 1.05)
        right.set_xticks([0.0, 0.5, 1.0])

    @property
    def moving(self) -> list[Artist]:
        return [*self._curtain.artists, self._now, *self._names.artists, *self._bars.patches, self._law]

    def move(self, k: int) -> None:
        fan = self.fan
        self._curtain.open_to(float(fan.time[k]))
        self._names.move_to(float(fan.time[k]))
        self._now.set_xdata([fan.time[k]] * 2)
        edges, widths, (prices, exact) = fan.quantiles[:, k], self._widths(k), self._exact(k)
        tallest = max(widths.max(initial=0.0), exact.max(initial=0.0)) or 1.0
        for patch, low, high, width in zip(self._bars.patches, edges[:-1], edges[1:], widths / tallest):
            patch.set(y=low, height=high - low, width=width)
        self._law.set_data(exact / tallest, prices)

    def _widths(self, k: int) -> np.ndarray:
        """The densities between the quantiles at a time, 0 where these are alike."""
        levels, edges = self.fan.levels, self.fan.quantiles[:, k]
        scale = np.log(edges) if self._log else edges
        reach = np.diff(scale)
        return np.divide(np.diff(levels), reach, out=np.zeros(len(reach)), where=reach > 0)

    def _exact(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Prices and their exact density at a time; empty where it is not known."""
        t = float(self.fan.time[k])
        law = reference_law(self._run.scenario, self._number, t) if t > 0 and self.fan.law is not None else None
        if law is None:
            return np.empty(0), np.empty(0)
        low, high = self.limits
        edges = self.fan.quantiles[:, k]
        many = np.clip(np.linspace(edges[0], edges[-1], _POINTS), max(low, 1e-9 * high), high)
        axis = np.geomspace(low, high, _POINTS) if self._log else np.linspace(max(low, 1e-9 * high), high, _POINTS)
        prices = np.union1d(axis, many)
        return prices, law.density(np.log(prices)) / (1.0 if self._log else prices)


def price_scene(run: Recording, subtitle: str) -> Scene:
    assets = min(len(run.scenario.asset), ASSETS)
    sheet = Sheet(run, 1.15 + _ROW * max(assets, 1.6), subtitle)
    grid = sheet.figure.add_gridspec(assets, 2, width_ratios=(2.4, 1))
    rows = []
    for a in range(assets):
        left = sheet.figure.add_subplot(grid[a, 0])
        right = sheet.figure.add_subplot(grid[a, 1], sharey=left)
        rows.append(_Asset(run, sheet, left, right, a, last=a == assets - 1))
    fan = rows[0].fan
    some = {str(artist.get_label()): artist for row in rows for artist in path_key(row.fan, row.limits)}
    exact = any(row.fan.law is not None for row in rows)
    law = [Line2D([], [], color=INK, linewidth=1.2, label="exact density")] if exact else []
    mean = Line2D([], [], color=COLOURS[1], linewidth=1.4, label="mean")
    sheet.explain([Patch(facecolor=BARS, label="all paths, between their quantiles"), mean, *some.values(), *law])

    def move(k: int) -> None:
        for row in rows:
            row.move(k)

    moving = [artist for row in rows for artist in row.moving]
    return Scene(sheet, moving, move, lambda k: f"t = {_years(float(fan.time[k]))}", evenly(len(fan.time)))


def _years(t: float) -> str:
    text = rounded(t, 3) if t == 0 or abs(t) >= 1e-3 else f"{t:.3g}"
    return f"{text} year{'' if math.isclose(t, 1) else 's'}"

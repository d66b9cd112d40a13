"""Densities from the histograms that results keep."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.pictures.recording import Recording
from simsuite.scenario.gbm import European, Option

_BARS = 70  # At least so many bars are drawn over the width of a panel, where there are so many bins.


@dataclass(frozen=True)
class Histogram:
    """edges[bar + 1], ascending; share[bar]: of all paths."""

    edges: np.ndarray
    share: np.ndarray

    @property
    def density(self) -> np.ndarray:
        return self.density_of(logarithmic=False)

    def density_of(self, logarithmic: bool) -> np.ndarray:
        """The density of the numbers, or of their natural logarithm, in each bar."""
        edges = np.log(np.maximum(self.edges, np.finfo(np.float64).tiny)) if logarithmic else self.edges
        return self.share / np.diff(edges)

    def quantile(self, q: float) -> float:
        """The q-quantile, with paths spread evenly over each bar."""
        return float(np.interp(q, np.concatenate([[0.0], np.cumsum(self.share)]), self.edges))

    def within(self, low: float, high: float) -> Histogram:
        """The same with bars merged until some _BARS of them lie between two numbers."""
        inside = int(np.count_nonzero((self.edges > low) & (self.edges < high)))
        step = max(1, inside // _BARS)
        starts = np.arange(0, len(self.share), step)
        edges = np.append(self.edges[starts], self.edges[-1])
        return Histogram(edges, np.add.reduceat(self.share, starts))


def price_histogram(run: Recording, asset: int) -> Histogram | None:
    """Of an asset's price at the end; None where it is not stored, as before the end, or where all paths are alike."""
    if not run.has("price_histogram"):
        return None
    counts = run.numbers("price_histogram", slice(None), asset)
    low, high = (run.numbers(f"price_bin_{which}", slice(None), asset) for which in ("begin", "end"))
    return _histogram(np.append(low, high[-1]), counts)


def loss_histogram(run: Recording) -> Histogram | None:
    """Of the portfolio's loss up to the end; None where it is not stored."""
    if not run.has("loss_histogram"):
        return None
    low, high = (run.numbers(f"loss_bin_{which}", ...) for which in ("begin", "end"))
    return _histogram(np.append(low, high[-1]), run.numbers("loss_histogram", ...))


def _histogram(edges: np.ndarray, counts: np.ndarray) -> Histogram | None:
    total = float(counts.sum())
    if not (total > 0 and np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
        return None
    used = np.flatnonzero(counts)
    first, last = int(used[0]), int(used[-1])
    return Histogram(edges[first : last + 2], counts[first : last + 1] / total)


def payoff_histogram(run: Recording, option: Option, bars: int = _BARS) -> tuple[float, Histogram] | None:
    """The share of paths on which an option pays nothing, and how its payoff, discounted, is distributed otherwise.
    None where that does not follow from the histogram of one price at the end, or nothing else is ever paid."""
    model = run.scenario
    if not isinstance(option, European) or option.maturity not in (None, model.time.end):
        return None
    asset = model.asset_names.index(option.asset) if option.asset else 0
    prices = price_histogram(run, asset)
    if prices is None:
        return None
    strike, sign = float(option.strike), 1.0 if option.payoff == "call" else -1.0
    begin, end = prices.edges[:-1], prices.edges[1:]
    beyond = np.clip((end - strike) / (end - begin), 0.0, 1.0)  # the share of a bin above the strike
    paid = float(prices.share @ (beyond if sign > 0 else 1 - beyond))
    if paid == 0:
        return None
    low, high = (
        np.maximum(sign * ((begin if sign > 0 else end) - strike), 0.0),
        sign * ((end if sign > 0 else begin) - strike),
    )
    kept = high > 0
    top = float(np.max(high[kept]))
    reach = Histogram(*_sorted(low[kept], high[kept], (prices.share * (beyond if sign > 0 else 1 - beyond))[kept]))
    edges = np.linspace(0.0, min(top, reach.quantile(0.999 * reach.share.sum())), bars + 1)
    below = np.interp(edges, reach.edges, np.concatenate([[0.0], np.cumsum(reach.share)]))
    worth = math.exp(-model.market.rate.integral(0.0, float(model.time.end)))
    return 1 - paid, Histogram(worth * edges, np.diff(below))


def _sorted(low: np.ndarray, high: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges and shares of neighbouring bins in ascending order."""
    order = np.argsort(low)
    return np.append(low[order], high[order][-1]), share[order]

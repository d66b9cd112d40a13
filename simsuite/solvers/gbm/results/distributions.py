"""How prices at the end, and the losses of the portfolio, are distributed over all paths: counts in bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simsuite.core import Snapshot, Variable
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.portfolio.portfolio import portfolio_of
from simsuite.solvers.gbm.statement import Statement
from simsuite.solvers.gbm.statistics.quantile_sketch import QuantileSketch, of_signed
from simsuite.solvers.gbm.statistics.statistics import BINS_PER_UNIT, Z_MAX, Estimate

_TOGETHER = 16  # bins of the histogram of noise that make one bin of prices
PRICE_BINS = round(2 * Z_MAX * BINS_PER_UNIT) // _TOGETHER
LOSS_BINS = 200
_TAIL = 1e-4  # the share of losses that each of the two outermost bins may take together with those beyond it

SIZES = {"price_bin": PRICE_BINS, "loss_bin": LOSS_BINS}


def variables(statement: Statement) -> list[Variable]:
    """The variables, known at the end only."""

    def variable(name: str, dims: tuple[str, ...], what: str, unit: str = "") -> Variable:
        return Variable(name, dims, attrs={"units": "1", "long_name": what + unit})

    price = " (in units of price)"
    found = [
        variable("price_bin_begin", ("price_bin", "asset"), "where a bin of price_histogram begins", price),
        variable("price_bin_end", ("price_bin", "asset"), "where a bin of price_histogram ends", price),
        variable("price_histogram", ("price_bin", "asset"), "paths whose price at the end is in a bin, or beyond it"),
    ]
    if portfolio_of(statement).risk:
        found += [
            variable("loss_bin_begin", ("loss_bin",), "where a bin of loss_histogram begins", price),
            variable("loss_bin_end", ("loss_bin",), "where a bin of loss_histogram ends", price),
            variable("loss_histogram", ("loss_bin",), "paths whose loss is in a bin, or beyond it"),
        ]
    return found


def sizes(found: Sequence[Variable]) -> dict[str, int]:
    """The sizes of the dimensions of the variables."""
    return {dim: SIZES[dim] for variable in found for dim in variable.dims if dim in SIZES}


def totals(statement: Statement, observed: Snapshot, prices: Sequence[Estimate]) -> Mapping[str, np.ndarray]:
    """Edges and counts. prices: of all options, by which the losses are known."""
    edges = price_edges(statement, statement.dynamics)
    found = {
        "price_bin_begin": edges[:-1],
        "price_bin_end": edges[1:],
        "price_histogram": price_counts(observed.arrays["histogram"]).astype(np.float64),
    }
    portfolio = portfolio_of(statement)
    if portfolio.risk:
        paid = float(sum(held * price.value for held, price in zip(portfolio.holdings, prices)))
        edges, counts = loss_histogram(of_signed(observed.arrays["risk"], portfolio.risk_unit), paid)
        found |= {"loss_bin_begin": edges[:-1], "loss_bin_end": edges[1:], "loss_histogram": counts}
    return found


@np.errstate(over="ignore")
def price_edges(statement: Statement, dynamics: Dynamics) -> np.ndarray:
    """[edge, asset]: the prices at the end between which bins lie, alike in their logarithms."""
    at = np.array([statement.scenario.time.steps])
    spot = np.array([asset.spot for asset in statement.scenario.asset])
    z = np.linspace(-Z_MAX, Z_MAX, PRICE_BINS + 1)[:, np.newaxis]
    return spot * np.exp2(dynamics.centre(at)[:, 0] + dynamics.spread(at)[:, 0] * z)


def price_counts(histogram: np.ndarray) -> np.ndarray:
    """[bin, asset]: counts, from those of the noise [asset, bin], of which the first and the last bin hold all that is
    beyond the others."""
    counts = histogram[:, 1:-1].reshape(len(histogram), PRICE_BINS, _TOGETHER).sum(axis=2)
    counts[:, 0] += histogram[:, 0]
    counts[:, -1] += histogram[:, -1]
    return counts.T


def loss_histogram(gains: QuantileSketch, paid: float) -> tuple[np.ndarray, np.ndarray]:
    """Edges and counts of the losses paid - gain, in bins alike in width. The observations of a bin of the sketch count
    as spread evenly over it, so counts have fractions."""
    if not np.isfinite(gains.mean).all() or gains.n == 0:
        return np.full(LOSS_BINS + 1, np.nan), np.full(LOSS_BINS, np.nan)
    low, high = paid - gains.quantile(1 - _TAIL), paid - gains.quantile(_TAIL)
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, LOSS_BINS + 1)
    begin, end = paid - gains.mean - gains.reach, paid - gains.mean + gains.reach
    width = np.where(end > begin, end - begin, 1.0)
    wide = end > begin
    below = [
        float(gains.counts @ np.where(wide, np.clip((edge - begin) / width, 0.0, 1.0), edge >= begin))
        for edge in edges[1:-1]
    ]
    return edges, np.diff([0.0, *below, float(gains.n)])

"""The portfolio of all holdings: of what its risk and its exposure are measured, and in which units.

Risk looks at the change of its value from the start to the end,

    L = V_0 - V_T,  V_0 = sum of h_a S_a(0) + sum of h_o price_o,  V_T = sum of h_a S_a(T) + sum of h_o payoff_o,

with the run's own estimates of prices. As those are not known before the end, the quantity sketched along the way is
the gain

    G = sum of h_a (S_a(T) - S_a(0)) + sum of h_o payoff_o,  L = sum of h_o price_o - G.

Nothing is discounted: V_T is in money of the horizon, as usual for a value at risk over days or weeks. What an option
pays before the horizon earns the rate until then. Exposure looks at the assets held alone, V_t = sum of h_a S_a(t)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.core import Backend
from simsuite.expressions.evaluate import evaluate
from simsuite.expressions.tree import Apply, Name, Node, Number
from simsuite.solvers.gbm.payoffs.functionals import Kind
from simsuite.solvers.gbm.payoffs.payoffs import expected_path
from simsuite.solvers.gbm.payoffs.variables import kept, last
from simsuite.solvers.gbm.statement import Statement, once
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS
from simsuite.solvers.gbm.statistics.quantile_sketch import FURTHEST
from simsuite.solvers.gbm.statistics.statistics import GROUP

PAYOFFS_CHUNK = 16 * GROUP  # paths whose payoffs are computed at a time, so that arrays stay in cache
# The same for the readable kernels on a GPU, where each operation on arrays is a launch; and the bytes of the values of
# so many paths, unless few paths take more.
_GPU_CHUNK, _GPU_BYTES = 512 * GROUP, 1 << 30
EXPOSURE_SUMS = 4  # sums of max(V, 0), of its square, of max(-V, 0) and of its square
_SWINGS = (0.25, 1.0, 4.0)  # factors of all prices, to see how large payoffs get
_DEFAULT_LEVELS = (0.95, 0.99)


def most_together(statement: Statement) -> int:
    """The most paths whose payoffs are computed at a time on any device."""
    if statement.scenario.run.kernel != "numba":
        return min(PAYOFFS_CHUNK, statement.batch)
    fitting = _GPU_BYTES // (8 * max(len(statement.payoffs.values), 1)) // GROUP * GROUP
    return min(max(min(_GPU_CHUNK, fitting), PAYOFFS_CHUNK), statement.batch)


def computed_together(statement: Statement, backend: Backend) -> int:
    """Paths whose payoffs are computed at a time there."""
    return most_together(statement) if backend.compiles else min(PAYOFFS_CHUNK, statement.batch)


@dataclass(frozen=True)
class Portfolio:
    statement: Statement

    @property
    def risk(self) -> bool:
        return self.statement.scenario.output.risk is not None

    @property
    def exposure(self) -> bool:
        return self.statement.scenario.output.exposure

    @property
    def levels(self) -> Sequence[float]:
        risk = self.statement.scenario.output.risk
        return _DEFAULT_LEVELS if risk is None else risk.levels

    @cached_property
    def worth(self) -> np.ndarray:
        """[asset]: the value at the start of what is held of each."""
        return np.array([asset.holding * asset.spot for asset in self.statement.scenario.asset])

    @cached_property
    def holdings(self) -> np.ndarray:
        """[option]: the number held of each."""
        return np.array([option.holding for option in self.statement.scenario.option])

    @cached_property
    def _accrued(self) -> np.ndarray:
        """[option]: what 1, paid when it ends, is at the horizon."""
        scenario = self.statement.scenario
        time, rate = scenario.time, scenario.market.rate
        with np.errstate(over="ignore"):
            return np.exp([rate.integral(time.until(o.maturity).end, time.end) for o in scenario.option])

    @cached_property
    def exposure_unit(self) -> float:
        """The unit, a power of two, in which values are sketched and added up."""
        return _power_of_two(float(np.abs(self.worth).sum()))

    @cached_property
    def risk_unit(self) -> float:
        return _power_of_two(
            float(np.abs(self.worth).sum() + np.abs(self.holdings * self._accrued) @ self._payoff_sizes())
        )

    @cached_property
    def weights(self) -> np.ndarray:
        """[asset]: the weights of prices over spots whose sum is the value, in units."""
        return self.worth / self.exposure_unit

    @cached_property
    def gain(self) -> Node:
        """The gain G, in units of `risk_unit`."""
        parts = [
            Apply("*", (Number(worth / self.risk_unit), Apply("-", (Name(last(a)), Number(1.0)))))
            for a, worth in enumerate(self.worth)
            if worth
        ]
        parts += [
            Apply("*", (Number(held / self.risk_unit), tree))
            for held, tree in zip(self.holdings * self._accrued, self.statement.payoffs.trees)
            if held
        ]
        return _sum(parts)

    def shapes(self, slots: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the arrays that are kept on the device; they have length 0 where they are not asked for.
        slots: the number of frames whose counts are kept at a time."""
        statement, bins = self.statement, FURTHEST + 1
        return {
            "risk": ((3 * self.risk, 2 * FURTHEST + 1), np.int64),
            "exposure": ((len(statement.frame_steps) * self.exposure, EXPOSURE_SUMS, LIMBS), np.int64),
            "exposure_counts": ((slots * self.exposure, bins), np.int64),
        }

    @property
    def bytes_per_frame(self) -> int:
        return 8 * (EXPOSURE_SUMS * LIMBS + FURTHEST + 1) * self.exposure

    def device_bytes(self) -> int:
        """Bytes on the device besides the arrays of `shapes`."""
        gains = 8 * most_together(self.statement) * self.risk
        return gains + 8 * (FURTHEST + 1 + len(self.worth)) * self.exposure

    def _payoff_sizes(self) -> np.ndarray:
        """[option]: a rough bound of what it pays."""
        payoffs = self.statement.payoffs
        path = expected_path(payoffs.functionals, self.statement.dynamics)
        found = []
        for swing in _SWINGS:
            moved = {name: swing * value for name, value in path.items()}
            for i, functional in enumerate(payoffs.functionals):
                if functional.kind in (Kind.LOGARITHMS, Kind.LATEST):
                    moved[kept(i)] = path[kept(i)] + functional.dates.count * math.log2(swing)
            with np.errstate(all="ignore"):
                found.append([abs(float(evaluate(tree, moved))) for tree in payoffs.trees])
        return np.nan_to_num(np.max(found, axis=0), nan=0.0, posinf=0.0)


@once
def portfolio_of(statement: Statement) -> Portfolio:
    return Portfolio(statement)


def _power_of_two(size: float) -> float:
    return math.ldexp(1.0, math.frexp(size)[1]) if 0 < size < math.inf else 1.0


def _sum(parts: Sequence[Node]) -> Node:
    """The sum of expressions, added up by halves so that it is not nested deeply."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Apply("+", (_sum(parts[:middle]), _sum(parts[middle:])))

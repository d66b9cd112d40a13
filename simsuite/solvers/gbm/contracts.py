"""Options as tables of numbers for the kernels, and the averages that they need along the way."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simsuite.scenario.gbm import Asian, European, GbmScenario


@dataclass(frozen=True)
class Average:
    """A running sum along each path: of S/S0 (arithmetic) or of log(S/S0), of one asset, at the fixing dates."""

    asset: int
    arithmetic: bool
    fixings: int

    def steps(self, n_steps: int) -> np.ndarray:
        """The n_steps time steps after which it is due: nearest to i n_steps / fixings, i = 1 .. fixings."""
        n = self.fixings
        return (2 * n_steps * np.arange(1, n + 1, dtype=np.int64) + n) // (2 * n)


@dataclass(frozen=True)
class Contracts:
    """All options of a scenario.

    averages: those needed, each once. kinds[option]: asset, row (of the average, or the asset for a price at
    maturity), whether it is an average, whether that is arithmetic. terms[option]: spot, 1 / number of fixings,
    strike, sign (1 for a call, -1 for a put), shift (what it pays on the path without noise). discount: e^{-rT}.
    """

    averages: tuple[Average, ...]
    kinds: np.ndarray
    terms: np.ndarray
    discount: float

    def due_shape(self, n_steps: int) -> tuple[int, int]:
        """Of `due`; without averages nobody reads it, and a single entry stands in for it."""
        return (n_steps, len(self.averages)) if self.averages else (1, 1)

    def due(self, n_steps: int) -> np.ndarray:
        """[step, average], of bytes: 1 where the average is to be taken at the end of the step."""
        due = np.zeros(self.due_shape(n_steps), np.uint8)
        for f, average in enumerate(self.averages):
            due[average.steps(n_steps) - 1, f] = 1
        return due


@np.errstate(over="ignore")  # an infinite price is reported when a path reaches it
def read_contracts(scenario: GbmScenario, growth: np.ndarray) -> Contracts:
    """The options of `scenario`. growth[asset]: expected growth rate of its price, 1/year."""
    names, end, n_steps = scenario.asset_names, scenario.time.end, scenario.time.steps
    averages: list[Average] = []
    kinds, terms = [], []
    for option in scenario.option:
        assert isinstance(option, (European, Asian))
        asset = 0 if option.asset is None else names.index(option.asset)
        g, half_variance = float(growth[asset]), scenario.asset[asset].volatility.value ** 2 / 2
        if isinstance(option, Asian):
            assert not isinstance(option.fixings, list)
            average = Average(asset, option.average == "arithmetic", option.fixings or n_steps)
            if average not in averages:
                averages.append(average)
            t = average.steps(n_steps) * (end / n_steps)
            mean = np.exp(g * t).mean() if average.arithmetic else np.exp(((g - half_variance) * t).mean())
            kinds.append((asset, averages.index(average), 1, int(average.arithmetic)))
            weight = 1.0 / average.fixings
        else:
            mean = np.exp(g * end)
            kinds.append((asset, asset, 0, 0))
            weight = 1.0
        spot, sign = scenario.asset[asset].spot, 1.0 if option.payoff == "call" else -1.0
        shift = max(sign * (spot * float(mean) - option.strike), 0.0)
        terms.append((spot, weight, option.strike, sign, shift if math.isfinite(shift) else 0.0))
    return Contracts(
        tuple(averages),
        np.array(kinds, np.int64).reshape(-1, 4),
        np.array(terms, np.float64).reshape(-1, 5),
        float(np.exp(-scenario.market.rate.value * end)),
    )

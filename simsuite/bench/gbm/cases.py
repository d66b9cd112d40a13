"""The scenarios that are timed, of 252 steps, and their prices in closed form.

All have S = K = 100, r = 5 %, sigma = 20 %, and a year.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms.arithmetic import arithmetic_asian
from simsuite.solvers.gbm.closed_forms.baskets import equicorrelated_basket
from simsuite.solvers.gbm.closed_forms.discrete_barriers import discrete_barrier
from simsuite.solvers.gbm.closed_forms.vanilla import lognormal_option
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.solver import GbmSolver

SPOT = STRIKE = 100.0
RATE, VOLATILITY, END = 0.05, 0.2, 1.0
STEPS = 252
GROWN, DISCOUNT = SPOT * math.exp(RATE * END), math.exp(-RATE * END)
LEVEL = 90.0  # level of the barrier, down and out
CORRELATION = 0.5  # correlation of each two assets
GROUP = 1024  # batches are multiples of this


class AllAtOnce(GbmProblem):
    """A problem that looks at all frames in one launch, with room for each of them, whatever memory that takes."""

    @property
    def most_watched(self) -> int:
        return len(self.frame_steps) - 1


@dataclass(frozen=True)
class Case:
    """A scenario that is timed. functional: what is kept of a path besides its end, at every step: "sum" of prices,
    "least" of them, or nothing. stored: whether all prices at all steps stay in the device's memory."""

    name: str
    option: Mapping[str, Any]
    assets: int = 1
    functional: str = ""
    stored: bool = False
    market: Mapping[str, Any] = field(default_factory=dict)

    def problem(
        self,
        precision: str,
        paths: int,
        kernel: str = "auto",
        whole: bool = True,
        control: bool = False,
        **sampling: Any,
    ) -> GbmProblem:
        """The problem of this case. whole: whether all paths are in a single batch. control: whether to use a control
        variate, if there is one. sampling: keys of [paths].

        Raises ScenarioError for what cannot be done.
        """
        batch = {"batch": -(-paths // GROUP) * GROUP} if whole else {}
        model = GbmScenario.model_validate(
            {
                "solver": "gbm",
                "run": {"precision": precision, "kernel": kernel, "seed": 1},
                "market": {"rate": RATE, **self.market},
                "asset": [{"spot": SPOT, "volatility": VOLATILITY}] * self.assets,
                "time": {"end": END, "steps": STEPS},
                "paths": {"count": paths, **batch, **sampling},
                "option": [{"strike": STRIKE, "greeks": False, "control_variate": control, **self.option}],
                "output": {"frames": STEPS + 1 if self.stored else 2, "store_paths": 0},
            }
        )
        return (AllAtOnce if self.stored else GbmSolver).from_scenario(model, Path())

    @property
    def exact(self) -> float:
        return exact_price(self.name)


TERMINAL = Case("terminal", {"style": "european", "payoff": "call"})
ASIAN = Case("asian", {"style": "asian", "payoff": "call"}, functional="sum")
BARRIER = Case(
    "barrier",
    {"style": "barrier", "payoff": "call", "direction": "down", "knock": "out", "level": LEVEL},
    functional="least",
)
_FIVE = np.full((5, 5), CORRELATION) + np.diag(np.full(5, 1 - CORRELATION))
BASKET = Case("basket", {"style": "basket", "payoff": "call"}, assets=5, market={"correlation": _FIVE.tolist()})
STORED = Case("stored", TERMINAL.option, stored=True)
CASES = (TERMINAL, ASIAN, BARRIER, BASKET, STORED)


@functools.cache
def exact_price(name: str) -> float:
    """The exact price of the case with this name."""
    deviation = VOLATILITY * math.sqrt(END)
    if name == ASIAN.name:
        dates = [END * k / STEPS for k in range(1, STEPS + 1)]
        return arithmetic_asian(SPOT, STRIKE, RATE, RATE, VOLATILITY, END, dates, "call")
    if name == BARRIER.name:
        return discrete_barrier(SPOT, STRIKE, RATE, RATE, VOLATILITY, END, "call", "down", "out", LEVEL, STEPS)
    if name == BASKET.name:
        return equicorrelated_basket([GROWN] * 5, deviation, CORRELATION, [0.2] * 5, STRIKE, DISCOUNT, "call")
    return DISCOUNT * lognormal_option(GROWN, deviation, STRIKE, "call")

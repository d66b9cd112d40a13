"""Where rates and volatilities change amid a step: which prices of what is watched at all times that makes biased."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from gbm_problems import ASSET, CALL, problem, run

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.gbm.closed_forms import barrier

pytestmark = pytest.mark.usefixtures("one_thread")

DOWN = {"style": "barrier", "direction": "down", "level": 90.0, "knock": "out", "payoff": "call", "strike": 95.0}
WATCHED = DOWN | {"monitoring": "continuous", "name": "down"}
LOOKBACK = {"style": "lookback", "strike_type": "floating", "payoff": "put", "monitoring": "continuous"}
CHANGING = [[0.0, 0.1], [0.45, 0.3]]
SQUARES = [[0.0, 0.02], [0.45, 0.18]]  # in proportion to the squares of these volatilities
DEVIATION = math.sqrt(0.45 * 0.01 + 0.55 * 0.09)


def priced(steps: int, **sections: Any) -> tuple[float, float, list[str]]:
    """Price, standard error, and warnings."""
    p = problem(time={"steps": steps}, paths={"count": 1 << 16, "sampling": "sobol"}, option=[WATCHED], **sections)
    (option,) = run(p, CpuBackend())[0]["options"].values()
    return option["price"], option["standard_error"], p.warnings


@pytest.mark.parametrize("growth", [0.0, SQUARES])
def test_in_proportion_to_squared_volatility_growth_makes_no_bias_and_no_warning(growth: Any) -> None:
    """The logarithm is a Brownian motion with drift in the time that its variance tells, whatever the steps are: a
    closed form has its price."""
    mean = 0.45 * 0.02 + 0.55 * 0.18 if growth else 0.0
    market = {"rate": 0.05, "drift": growth}
    right = barrier(100.0, 95.0, 0.05, mean, DEVIATION, 1.0, "call", "down", "out", 90.0)
    for steps in (1, 2):
        price, error, warnings = priced(steps, market=market, asset=[ASSET | {"volatility": CHANGING}])
        assert abs(price - right) < 4 * error
        assert warnings == []


@pytest.mark.parametrize(
    ("rate", "volatility"), [(0.05, CHANGING), ([[0.0, 0.2], [0.45, -0.2]], 0.2), ([[0.0, 0.0], [0.45, 0.2]], 0.2)]
)
def test_other_changes_amid_a_step_make_a_bias_and_a_warning(rate: Any, volatility: Any) -> None:
    """20 steps end where there is a change; then prices do not depend on their number."""
    sections: dict[str, Any] = {"market": {"rate": rate}, "asset": [ASSET | {"volatility": volatility}]}
    right, error, warnings = priced(20, **sections)
    assert warnings == []
    price, other, warnings = priced(2, **sections)
    assert abs(price - right) > 6 * math.hypot(error, other)
    (warning,) = warnings
    for words in ("'down' watches 'A'", "t = 0.45 (within time step 1)", "time.steps = 20"):
        assert words in warning


def test_what_is_not_watched_or_of_another_asset_is_not_warned_of() -> None:
    changing = ASSET | {"volatility": [[0.0, 0.1], [0.2, 0.3], [0.4, 0.2], [0.6, 0.25], [0.7, 0.1]]}
    two = [ASSET, changing | {"name": "moved"}]
    assert problem(asset=[changing], option=[CALL, DOWN]).warnings == []
    assert problem(asset=two, option=[WATCHED]).warnings == []
    (warning,) = problem(asset=two, option=[WATCHED | {"asset": "moved"}, LOOKBACK | {"asset": "moved"}]).warnings
    assert re.match(r"'down', '.+' watch 'moved' at all times", warning)
    assert "t = 0.6 (within time step 1) and later: their prices are biased" in warning


@pytest.mark.parametrize(
    ("market", "asset", "changing"),
    [
        ({"rate": [[0.0, 0.02], [0.35, 0.05]]}, {}, "market.rate changes at t = 0.35"),
        ({"rate": 0.02, "drift": [[0.0, 0.02], [0.35, 0.05]]}, {}, "market.drift changes at t = 0.35"),
        ({}, {"dividend_yield": [[0.0, 0.02], [0.35, 0.05]]}, "the dividend_yield of 'A' changes at t = 0.35"),
        (
            {"rate": [[0.0, 0.02], [0.35, 0.05]]},
            {"volatility": [[0.0, 0.2], [0.1, 0.2], [0.35, 0.3]]},
            "market.rate and the volatility of 'A' change at t = 0.35",
        ),
    ],
)
def test_the_key_that_changes_is_named(market: dict[str, Any], asset: dict[str, Any], changing: str) -> None:
    """It said "what its price grows by or its volatility"."""
    (warning,) = problem(market=market, asset=[ASSET | asset], option=[WATCHED]).warnings
    assert f"'down' watches 'A' at all times, but {changing} (within time step 1): its price is biased" in warning

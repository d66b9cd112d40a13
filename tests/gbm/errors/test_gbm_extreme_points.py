"""Standard errors by Sobol points of options that depend on several prices, where the mean comes from prices so high
that hardly any point has them (solvers/gbm/error_allowances/extreme_points.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASIAN, CALL, problem, run
from scipy.special import ndtri
from scipy.stats import qmc

from simsuite.backends import open_backend
from simsuite.expressions.evaluate import evaluate
from simsuite.solvers.gbm.error_allowances import allowances
from simsuite.solvers.gbm.error_allowances.extreme_points import _along, _slopes, extreme_points_of
from simsuite.solvers.gbm.error_allowances.payoff_jumps import payoff_jumps_of, scatter_far_out
from simsuite.solvers.gbm.error_allowances.unknown_reasons import FAR_OUT

RATE, STEPS, SPOT = 0.03, 4, 100.0
SEEDS = 24
GEOMETRIC = ASIAN | {"average": "geometric"}
LOOKBACK = {"style": "lookback", "payoff": "call", "strike_type": "fixed", "strike": 100.0}
LOOKBACK_PUT = {"style": "lookback", "payoff": "put", "strike_type": "floating"}
ABOVE_MEAN = {"style": "expression", "value": "max(last(A) - mean(A), 0)"}
OPTIONS = [ASIAN, ASIAN | {"control_variate": False}, GEOMETRIC, LOOKBACK, LOOKBACK_PUT, ABOVE_MEAN]


@pytest.fixture(scope="module")
def cpu() -> Any:
    return open_backend("cpu")


def wild(s: float, seed: int = 1, **changes: Any) -> Any:
    paths = {"count": 1 << 16, "sampling": "sobol", "replicates": 16}
    return problem(
        **{
            "run": {"seed": seed},
            "market": {"rate": RATE},
            "asset": [{"spot": SPOT, "volatility": s}],
            "time": {"steps": STEPS},
            "paths": paths,
            "option": OPTIONS,
        }
        | changes
    )


def payoffs(prices: np.ndarray) -> list[np.ndarray]:
    """Of OPTIONS, undiscounted. prices[path, date]."""
    mean, geometric = prices.mean(axis=1), np.exp(np.log(prices).mean(axis=1))
    highest = np.maximum(prices.max(axis=1), SPOT)
    asian = np.maximum(mean - 100.0, 0.0)
    return [
        asian,
        asian,
        np.maximum(geometric - 100.0, 0.0),
        highest - 100.0,
        highest - prices[:, -1],
        np.maximum(prices[:, -1] - mean, 0.0),
    ]


def right_prices(s: float) -> np.ndarray:
    """By importance sampling: equally many paths from each of the laws under which the price on a date, or none, is
    worth its expectation, weighted by the mean of all (E. Veach and L. Guibas 1995, the balance heuristic)."""
    drawn = ndtri(np.clip(qmc.Sobol(STEPS, seed=1).random_base2(17), 1e-16, 1 - 1e-16))
    up, found = s / math.sqrt(STEPS), np.zeros(len(OPTIONS))
    for shifted in range(STEPS + 1):
        z = drawn + up * (np.arange(STEPS) < shifted)
        likelier = np.exp(np.cumsum(np.pad(up * z - up**2 / 2, ((0, 0), (1, 0))), axis=1)).mean(axis=1)
        prices = SPOT * np.exp(np.cumsum((RATE - s * s / 2) / STEPS + up * z, axis=1))
        found += [float((paid / likelier).mean()) for paid in payoffs(prices)]
    return math.exp(-RATE) * found / (STEPS + 1)


@pytest.mark.parametrize("s", [1.0, 2.0, 3.0])
def test_errors_count_in_what_no_point_has_reached(cpu: Any, s: float) -> None:
    """By replicates alone their root mean squares were up to 1.9, and up to 4 of 24 beyond three errors."""
    right, found = right_prices(s), []
    for seed in range(1, SEEDS + 1):
        options = run(wild(s, seed), cpu)[0]["options"].values()
        found.append([(o["price"] - p) / o["standard_error"] for o, p in zip(options, right)])
    z = np.array(found)
    assert np.all(np.sqrt((z**2).mean(axis=0)) < 1.3)
    assert np.all((np.abs(z) > 3).sum(axis=0) <= 1)
    assert (np.abs(z) > 3).sum() <= 2


def test_errors_of_usual_volatilities_stay(cpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the highest point brings is less than what replicates show, of prices and Greeks alike."""
    p = wild(0.2, time={"steps": 12}, option=[option | {"greeks": True} for option in OPTIONS])
    found = run(p, cpu)[0]
    monkeypatch.setattr(allowances, "_with_extremes", lambda problem, observed, mean, of, estimate: estimate)
    assert found == run(p, cpu)[0]


def test_a_line_through_the_end_is_the_law_of_the_last_price() -> None:
    p = wild(2.0, option=[CALL])
    (mean,) = p.payoffs.prices
    known = scatter_far_out(payoff_jumps_of(p)[mean.value], p, 4096)
    assert extreme_points_of(p).scatter(mean, 4096).variance(0.0) == pytest.approx(known, rel=1e-9)


def test_what_is_kept_of_a_path_along_a_line() -> None:
    """Two assets, a volatility that changes."""
    rho, z = 0.6, np.array([1.5])
    assets = [{"spot": SPOT, "volatility": [[0.0, 0.2], [0.5, 0.4]]}, {"spot": 50.0, "volatility": 0.3}]
    p = wild(
        0.0,
        market={"rate": RATE, "correlation": [[1.0, rho], [rho, 1.0]]},
        asset=assets,
        option=[
            ASIAN | {"asset": "B"},
            {"style": "expression", "value": "mean(A) + geomean(B) + max(A) + min(B) + last(A)"},
        ],
    )
    own, other = np.array([0.2, 0.2, 0.4, 0.4]) / 2, np.full(4, 0.3) / 2
    spread = math.sqrt(own @ own)
    noise = z * np.array([np.cumsum(own * own), rho * np.cumsum(own * other)]) / spread  # up with A at the end
    steps = np.arange(1, 5) / 4
    falls = np.array([np.cumsum(own**2), np.cumsum(other**2)]) / 2
    prices = np.array([[SPOT], [50.0]]) * np.exp(RATE * steps - falls + noise)
    a, b = prices
    expected = [
        max(b.mean() - 100.0, 0.0),
        a.mean() + np.exp(np.log(b).mean()) + max(a.max(), SPOT) + min(b.min(), 50.0) + a[-1],
    ]
    slopes = _slopes(p)
    ends = [line for line in slopes if np.allclose(line[0, -1] * math.log(2), spread)]
    assert len(ends) == 1
    variables = _along(p, np.array(ends), z)
    found = [float(evaluate(tree, variables).item()) for tree in p.payoffs.trees]
    assert found == pytest.approx(expected, rel=1e-12)


def test_an_error_beyond_all_numbers_is_unknown(cpu: Any) -> None:
    """At a volatility of 2000 % a call that is worth 103 came out at 5e-14, with an error of 2e-14."""
    call, *others = run(wild(20.0, option=[CALL, ASIAN, LOOKBACK]), cpu)[0]["options"].values()
    assert call["reasons"]["standard_error"] == FAR_OUT
    for result in (call, *others):
        assert result["standard_error"] is None

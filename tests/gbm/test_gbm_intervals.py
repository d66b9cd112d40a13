"""Standard errors and intervals of means, deviations and quantiles of prices: how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gbm_problems import ASSET, problem, run
from scipy.stats import binom

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.gbm.closed_forms import price_excess_kurtosis, price_mean, price_quantile, price_std
from simsuite.solvers.gbm.statistics.intervals import Z95, ranks

SEEDS = 120
LEVELS = [0.05, 0.5, 0.9]
ASSETS = [ASSET, {"spot": 7.0, "volatility": 0.4, "dividend_yield": 0.03}]


def price_problem(seed=1, antithetic=False, **changes):
    return problem(
        run={"seed": seed},
        asset=ASSETS,
        time={"end": 2.0, "steps": 2},
        option=[],
        output={"quantiles": LEVELS, "store_paths": 0},
        **{"paths": {"count": 2048, "antithetic": antithetic}, **changes},
    )


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "antithetic"])
def outcomes(request):
    cpu = CpuBackend()
    return request.param, [run(price_problem(s, request.param), cpu)[0]["assets"] for s in range(1, SEEDS + 1)]


@pytest.mark.parametrize(("name", "spot", "growth", "volatility"), [("A", 100.0, 0.05, 0.2), ("B", 7.0, 0.02, 0.4)])
def test_intervals_hold_the_truth_as_often_as_they_say(outcomes, name, spot, growth, volatility):
    antithetic, found = outcomes
    found = [assets[name] for assets in found]
    for key, truth in (
        ("mean", price_mean(spot, growth, 2.0)),
        ("std", price_std(spot, growth, volatility, 2.0)),
    ):
        z = np.array([(a[key] - truth) / a[f"{key}_standard_error"] for a in found])
        assert 0.88 < np.mean(np.abs(z) < Z95) < 0.99, key
        assert 0.6 < np.abs(z).mean() < 1.0, key
    for q in LEVELS:
        truth = price_quantile(spot, growth, volatility, 2.0, q)
        hits = np.mean([low < truth < high for low, high in (a["quantile_ci95"][f"{q:g}"] for a in found)])
        assert 0.88 < hits <= (1 if antithetic else 0.99), q  # of pairs, more often than they say
        assert all(low < a["quantiles"][f"{q:g}"] < high for a in found for low, high in [a["quantile_ci95"][f"{q:g}"]])
    assert {a["confidence"] for a in found} == {0.95}


def test_errors_of_a_large_sample_are_those_of_the_law():
    n = 1 << 20
    for antithetic in (False, True):
        found = run(price_problem(antithetic=antithetic, paths={"count": n, "antithetic": antithetic}), CpuBackend())[0]
        s = 0.4 * math.sqrt(2.0)
        mean = price_mean(7.0, 0.02, 2.0)
        # of e^{s z - s^2 / 2}: plain, and the mean of two with opposite z, of which the product is e^{-s^2}
        variance = math.expm1(s * s) / n if not antithetic else (math.expm1(s * s) + math.expm1(-s * s)) / n
        assert found["assets"]["B"]["mean_standard_error"] == pytest.approx(mean * math.sqrt(variance), rel=5e-3)
        if not antithetic:
            error = price_std(7.0, 0.02, 0.4, 2.0) * math.sqrt((price_excess_kurtosis(0.4, 2.0) + 2) / (4 * n))
            assert found["assets"]["B"]["std_standard_error"] == pytest.approx(error, rel=0.05)


def test_errors_of_the_very_sample():
    p = price_problem(antithetic=True, paths={"count": 1000, "antithetic": True})
    results, state = run(p, CpuBackend())
    price = 100 * np.exp2(state["x"][0] + p.dynamics.centre()[0, -1])
    pairs = price.reshape(-1, 2)
    found = results["assets"]["A"]
    assert found["mean_standard_error"] == pytest.approx(pairs.mean(1).std(ddof=1) / math.sqrt(500), rel=1e-11)
    squares = ((pairs - price.mean()) ** 2).mean(1)
    expected = squares.std() / math.sqrt(500) / (2 * price.std())
    assert found["std_standard_error"] == pytest.approx(expected, rel=2e-3)
    ordered = np.sort(price)
    for q in LEVELS:
        low, high = ranks(1000, q, False)
        assert low < 1000 * q < high
        width = 0.2 * math.sqrt(2) / 512
        np.testing.assert_allclose(np.log(found["quantile_ci95"][f"{q:g}"] / ordered[[low, high]]), 0, atol=width)


def test_ranks_hold_the_quantile_with_the_odds_that_they_say():
    """By the binomial law of how many of n are below it."""
    for n, q in ((100, 0.5), (2000, 0.05), (10**6, 0.99), (10**9, 0.3)):
        low, high = ranks(n, q, False)
        assert 0.95 < binom.cdf(high, n, q) - binom.cdf(low, n, q) < (0.97 if n < 10**4 else 0.956)
    low, high = ranks(10**6, 0.3, True)  # of pairs of equals
    assert 0.95 < binom.cdf(high / 2, 500_000, 0.3) - binom.cdf(low / 2, 500_000, 0.3) < 0.951
    assert ranks(100, 0.5, False) == (39, 60)
    assert ranks(10, 0.05, False) == (None, 2)
    assert ranks(10, 0.95, False) == (7, None)
    assert ranks(1, 0.5, False) == (None, None)


def test_a_few_paths_bound_no_outer_quantile():
    found = run(price_problem(paths={"count": 20}), CpuBackend())[0]["assets"]["A"]["quantile_ci95"]
    assert found["0.05"][0] is None
    assert found["0.05"][1] > 0
    assert found["0.9"][1] is None

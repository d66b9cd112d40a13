"""Greeks by bumping where the law of the prices is narrow, but for jumps or for what several assets have in common, or
where there is no law at all: against closed forms, over many seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, problem, run
from many_seeds import results_of_seeds
from scipy.special import ndtr

from simsuite.backends import open_backend
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.results.bumped_greeks import BENDS

SPREAD = {"style": "expression", "value": "max(last(A) - last(B), 0)", "greeks": "bumped"}
TWO_DATES = {"style": "expression", "value": "max(at(A, 0.5) - 102.5, 0) + max(last(A) - 100, 0)", "greeks": "bumped"}
LATE_NOISE = ASSET | {"volatility": [[0.0, 0.001], [0.5, 0.4]]}


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


def require_errors_as_told(found, name, truth, asset=0):
    z = np.array([(each[name][asset] - truth) / each[f"{name}_standard_error"][asset] for each in found])
    assert np.abs(z).max() < 4.5, name
    assert abs(z.mean()) < 4 / math.sqrt(len(z)), name
    assert 0.7 < z.std(ddof=1) < 1.35, name


def second_derivative(price, h):
    far, near, middle = (price(100 + k * h) + price(100 - k * h) for k in (2, 1, 0))
    return (16 * near - far - 15 * middle) / (12 * h * h)


@pytest.mark.parametrize(
    ("strike", "volatility", "jumps"),
    [
        (105.0, 0.01, (0.3, -0.1, 0.3)),
        (105.0, 0.002, (0.05, -0.1, 0.5)),
        (105.0, 0.003, (0.5, -0.1, 0.2)),
        (100.0, 0.2, (1.0, -0.1, 0.15)),
    ],
)
def test_little_volatility_with_jumps(cpu, strike, volatility, jumps):
    """Merton's series. What counts is how narrow the law is without a jump."""
    asset = {
        "spot": 100.0, "volatility": volatility, "jumps": dict(zip(("intensity", "mean", "deviation"), jumps)),
    }  # fmt: skip
    made = problem(asset=[asset], paths={"count": 16384}, option=[CALL | {"strike": strike, "greeks": "bumped"}])

    def price(spot):
        return exact.merton(spot, strike, 0.05, 0.05, volatility, 1.0, *jumps, "call")

    h = volatility
    found = [each["options"]["option1"] for each in results_of_seeds(made, 40, cpu)]
    require_errors_as_told(found, "gamma", second_derivative(price, h))
    require_errors_as_told(found, "delta", (price(100 + h / 10) - price(100 - h / 10)) / (h / 5))


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.999])
def test_a_spread_of_two_assets_that_move_alike(cpu, correlation):
    """W. Margrabe's formula: only the deviation of the ratio counts."""
    made = problem(
        market={"rate": 0.05, "correlation": [[1.0, correlation], [correlation, 1.0]]}, asset=[ASSET, ASSET],
        paths={"count": 8192}, option=[SPREAD],
    )  # fmt: skip
    deviation = 0.2 * math.sqrt(2 * (1 - correlation))
    density = math.exp(-(deviation**2) / 8) / math.sqrt(2 * math.pi)
    found = [each["options"]["option1"] for each in results_of_seeds(made, 40, cpu)]
    for asset, sign in enumerate((1, -1)):
        require_errors_as_told(found, "delta", sign * float(ndtr(sign * deviation / 2)), asset)
        require_errors_as_told(found, "gamma", density / deviation / 100, asset)
        require_errors_as_told(found, "vega", 100 * density * 0.2 * (1 - correlation) / deviation, asset)


@pytest.mark.parametrize(
    ("volatility", "strike", "jumps"),
    [(0.0, 100.0, None), (0.0, 108.0, {"intensity": 0.5, "mean": -0.1, "deviation": 0.2})],
)
def test_without_volatility_there_is_no_gamma(cpu, volatility, strike, jumps):
    """The price has a kink where the spot without noise ends at the strike; with some probability there is no jump."""
    asset = {"spot": 100.0, "volatility": volatility} | ({"jumps": jumps} if jumps else {})
    for style in ("european", "digital"):
        option = CALL | {"style": style, "strike": strike, "greeks": "auto"}
        found = run(problem(asset=[asset], time={"steps": 4}, option=[option]), cpu)[0]["options"]["option1"]
        assert found["gamma"] == found["gamma_standard_error"] == [None]
        assert "no volatility" in found["reasons"]["gamma"]
    other = {"style": "expression", "value": "max(last(B) - 97, 0)", "greeks": "auto"}
    assets = [ASSET, asset | {"spot": 98.0}]
    found = run(problem(asset=assets, time={"steps": 4}, option=[other]), cpu)[0]["options"]["option1"]
    assert found["gamma"] == [None, None]
    assert "'B' has no volatility" in found["reasons"]["gamma"]


def test_a_price_that_bends_within_the_bump_has_no_gamma(cpu):
    """At its first date the law is far narrower than at the end, by which the bump goes: 0.0007 and 0.28."""
    made = problem(asset=[LATE_NOISE], time={"steps": 2}, paths={"count": 16384}, option=[TWO_DATES | {"holding": 2.0}])
    results = run(made, cpu)[0]
    found, book = results["options"]["option1"], results["book"]
    for each in (found, book):
        assert each["gamma"] == each["gamma_standard_error"] == [None]
        assert each["reasons"]["gamma"] == BENDS
        assert "gamma_standard_error" not in each["reasons"]
        assert each["delta"][0] > 0
    assert found["bumps"]["gamma"]["bias_removed"][0] != 0


@pytest.mark.parametrize("holding", [1e-300, -1e-300])
def test_the_error_of_a_book_does_not_underflow(cpu, holding):
    option = CALL | {"greeks": "bumped"}
    alone = run(problem(option=[option | {"holding": 1.0}]), cpu)[0]["book"]
    book = run(problem(option=[option | {"holding": holding}]), cpu)[0]["book"]
    assert book["value"] == pytest.approx(holding * alone["value"], rel=1e-12, abs=0)
    assert book["value_standard_error"] == pytest.approx(abs(holding) * alone["value_standard_error"], rel=1e-9, abs=0)
    assert book["gamma_standard_error"][0] == pytest.approx(
        abs(holding) * alone["gamma_standard_error"][0], rel=1e-6, abs=0
    )

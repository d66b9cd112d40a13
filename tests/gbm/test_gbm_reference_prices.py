"""Prices that scenarios have in closed form: read from the scenario as they should be, and none where there is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, tables
from scipy import integrate, stats

from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks, reference_price
from simsuite.verify.gbm.cases import CASES

LOOKBACK = {"style": "lookback", "payoff": "put", "strike_type": "fixed", "strike": 95.0}
CONTINUOUS = LOOKBACK | {"monitoring": "continuous"}
TWO = {
    "market": {"rate": 0.05, "correlation": [[1.0, 0.4], [0.4, 1.0]]},
    "asset": [ASSET, {"spot": 90.0, "volatility": 0.3}],
}
SPREAD = {"style": "spread", "payoff": "put", "strike": 12.0, "assets": ["B", "A"]}


def scenario(**changes: Any) -> GbmScenario:
    return GbmScenario.model_validate(tables(**changes))


def price(option: dict[str, Any], **changes: Any) -> float | None:
    model = scenario(option=[option], **changes)
    return reference_price(model, model.option[0])


@pytest.mark.parametrize("case", [case for case in CASES if case.published], ids=lambda case: case.name)
def test_published_prices(case) -> None:
    """To the digits in print."""
    model = GbmScenario.model_validate({**case.scenario, "paths": {"count": 1024}})
    for name, published in case.published.items():
        option = model.option[model.option_names.index(name)]
        assert reference_price(model, option) == pytest.approx(published, abs=1e-8)


def test_what_changes_in_time_counts_as_its_integral() -> None:
    """Rates of 2 % and 8 % for half of the time each, a yield that begins later, volatilities of 0.1 and 0.3, and a
    share of 3 % that is paid."""
    market = {"market": {"rate": [[0.0, 0.02], [1.0, 0.08]]}, "time": {"end": 2.0, "steps": 8}}
    asset = ASSET | {
        "volatility": [[0.0, 0.1], [1.0, 0.3]],
        "dividend_yield": [[0.0, 0.0], [1.5, 0.04]],
        "dividends": [{"time": 1.5, "proportion": 0.03}],
    }
    growth, sigma = 0.05 - 0.01 + math.log(0.97) / 2, math.sqrt(0.05)
    expected = exact.european(100.0, 100.0, 0.05, growth, sigma, 2.0, "call")
    assert price(CALL, asset=[asset], **market) == pytest.approx(expected, rel=1e-13)
    digital = {"style": "digital", "payoff": "put", "strike": 95.0, "cash": 7.0}
    expected = exact.digital(100.0, 95.0, 0.05, growth, sigma, 2.0, "put", 7.0)
    assert price(digital, asset=[asset], **market) == pytest.approx(expected, rel=1e-13)
    drifting = {"market": {"rate": 0.05, "drift": 0.11}}
    expected = exact.european(100.0, 100.0, 0.05, 0.11, 0.2, 1.0, "call")
    assert price(CALL, **drifting) == pytest.approx(expected, rel=1e-13)


def test_dates_are_the_steps_nearest_to_them() -> None:
    time = {"time": {"end": 1.0, "steps": 10}}
    fixings = [0.3, 0.7, 1.0]  # nearest to 1/3, 2/3 and 1
    expected = exact.arithmetic_asian(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, fixings, "call")
    assert price(ASIAN | {"fixings": 3}, **time) == pytest.approx(expected, rel=1e-12)
    assert price(ASIAN | {"fixings": [0.32, 0.68, 1.0]}, **time) == pytest.approx(expected, rel=1e-12)
    expected = exact.geometric_asian(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, fixings, "call", (96.0,))
    found = price(ASIAN | {"fixings": 3, "average": "geometric", "past_fixings": [96.0]}, **time)
    assert found == pytest.approx(expected, rel=1e-12)
    expected = exact.fixed_lookback(100.0, 95.0, 0.05, 0.05, 0.2, 1.0, "put", dates=5)
    assert price(LOOKBACK | {"dates": 5}, **time) == pytest.approx(expected, rel=1e-12)
    for payoff in ("call", "put"):
        floating = {"style": "lookback", "payoff": payoff, "strike_type": "floating"}
        expected = exact.floating_lookback(100.0, 0.05, 0.05, 0.2, 1.0, payoff, dates=10)
        assert price(floating, **time) == pytest.approx(expected, rel=1e-12)
    assert price(CONTINUOUS) == pytest.approx(exact.fixed_lookback(100.0, 95.0, 0.05, 0.05, 0.2, 1.0, "put"), rel=1e-12)


def test_the_correlation_of_volatilities_that_change() -> None:
    """Integrals of products over four quarters, by hand."""
    assets = [ASSET | {"volatility": [[0.0, 0.1], [0.5, 0.4]]}, {"spot": 90.0, "volatility": [[0.0, 0.3], [0.25, 0.1]]}]
    found = price(SPREAD, market=TWO["market"], asset=assets)
    a, b = np.array([0.1, 0.1, 0.4, 0.4]) / 2, np.array([0.3, 0.1, 0.1, 0.1]) / 2
    covariance = np.array([[a @ a, 0.4 * (a @ b)], [0.4 * (a @ b), b @ b]])
    rho = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    deviations, growth = np.sqrt(np.diag(covariance)), math.exp(0.05)
    weights = (1.0, -1.0)
    forwards = (90.0 * growth, 100.0 * growth)
    pairs = (forwards, (deviations[1], deviations[0]))
    expected = exact.two_asset_basket(*pairs, rho, weights, 12.0, math.exp(-0.05), "put")
    assert found == pytest.approx(expected, rel=1e-11)


def test_cash_is_taken_off_the_price_on_its_date() -> None:
    """Against quadrature over the price at that date by SciPy; what is forward of it is Black and Scholes."""
    paying = ASSET | {"dividends": [{"time": 0.25, "cash": 6.0}]}

    def after(z: float) -> float:
        before = 100.0 * math.exp((0.05 - 0.02) * 0.25 + 0.1 * z)
        later = exact.european(before - 6.0, 100.0, 0.05, 0.05, 0.2, 0.75, "call")
        return math.exp(-0.05 * 0.25) * later * stats.norm.pdf(z)

    expected, _ = integrate.quad(after, -8, 8, epsabs=1e-11)
    assert price(CALL, asset=[paying], time={"steps": 4}) == pytest.approx(expected, rel=1e-9)


def test_greeks_are_derivatives() -> None:
    model = scenario(option=[CALL, {"style": "digital", "payoff": "put", "strike": 95.0}])
    terms = exact.Terms.constant(100.0, 0.05, 0.05, 0.2, 1.0)
    for number, expected in enumerate(
        (exact.european_greeks(terms, 100.0, "call"), exact.digital_greeks(terms, 95.0, "put"))
    ):
        found = reference_greeks(model, number)
        for name in ("delta", "gamma", "vega"):
            assert found[name] == pytest.approx([getattr(expected, name)], rel=1e-7)
        assert found["rho"] == pytest.approx(expected.rho, rel=1e-7)
        assert found["theta"] == pytest.approx(expected.theta, rel=1e-6)
    model = scenario(option=[{"style": "exchange", "assets": ["A", "B"]}], **TWO)
    found = reference_greeks(model, 0)
    price = reference_price(model, model.option[0])
    assert 100.0 * found["delta"][0] + 90.0 * found["delta"][1] == pytest.approx(price, rel=1e-9)  # of degree 1
    assert 100.0**2 * found["gamma"][0] == pytest.approx(90.0**2 * found["gamma"][1], rel=1e-6)
    assert found["rho"] == pytest.approx(0.0, abs=1e-8)
    assert "theta" not in found


def test_vega_is_by_a_relative_change() -> None:
    """Per root mean square, 0.2: as if it were constant; but theta knows what it is now."""
    volatility = [[0.0, 0.12], [0.5, math.sqrt(0.0656)]]
    found = reference_greeks(scenario(asset=[ASSET | {"volatility": volatility}]), 0)
    expected = exact.european_greeks(exact.Terms.constant(100.0, 0.05, 0.05, 0.2, 1.0), 100.0, "call")
    assert found["vega"] == pytest.approx([expected.vega], rel=1e-7)
    theta = 0.05 * (expected.price - 100.0 * expected.delta) - (0.12 * 100.0) ** 2 / 2 * expected.gamma
    assert found["theta"] == pytest.approx(theta, rel=1e-6)


def test_of_digitals_on_prices_that_jump() -> None:
    """Rates, yields and volatilities that change count as their means; a share that is paid lowers the price. The slope
    of calls by the strike is the same thing, whatever they are."""
    jumps = {"intensity": 2.0, "mean": -0.1, "deviation": 0.2}
    asset = ASSET | {
        "jumps": jumps,
        "volatility": [[0.0, 0.1], [0.5, 0.3]],
        "dividends": [{"time": 0.5, "proportion": 0.05}],
    }
    digital = {"style": "digital", "payoff": "call", "strike": 95.0, "cash": 3.0}
    up, down = (price(CALL | {"strike": 95.0 + h}, asset=[asset]) for h in (1e-3, -1e-3))
    assert up is not None
    assert down is not None
    assert price(digital, asset=[asset]) == pytest.approx(3 * (down - up) / 2e-3, rel=1e-7)
    both = [price(digital | {"payoff": payoff}, asset=[asset]) for payoff in ("call", "put")]
    assert math.fsum(value or math.nan for value in both) == pytest.approx(3 * math.exp(-0.05), rel=1e-12)
    cash = asset | {"dividends": [{"time": 0.5, "cash": 5.0}]}
    assert price(digital, asset=[cash]) is None
    assert price(digital, asset=[ASSET | {"dividends": [{"time": 0.5, "cash": 5.0}]}]) is None


THREE = [ASSET, ASSET, {"spot": 100.0, "volatility": 0.3}]


@pytest.mark.parametrize(
    ("option", "changes"),
    [
        ({"style": "expression", "value": "max(last(A) - 100, 0)"}, {}),
        (CALL, {"time": {"scheme": "euler"}}),
        (ASIAN, {"asset": [ASSET | {"jumps": {"intensity": 1.0, "mean": 0.0, "deviation": 0.1}}]}),
        (LOOKBACK, {"asset": [ASSET | {"dividends": [{"time": 1.0, "cash": 5.0}]}]}),
        (CALL, {"asset": [ASSET | {"dividends": [{"time": 1.0, "cash": 90.0}]}]}),  # which may not be there
        (CONTINUOUS, {"asset": [ASSET | {"volatility": [[0.0, 0.2], [0.5, 0.3]]}]}),
        ({"style": "basket", "payoff": "call", "strike": 100.0}, {"asset": THREE}),
        ({"style": "basket", "payoff": "call", "strike": 100.0, "combine": "max"}, {"asset": THREE}),
        (ASIAN, {"asset": [ASSET | {"volatility": 0.0}]}),
    ],
)
def test_what_is_not_known_is_not_made_up(option: dict[str, Any], changes: dict[str, Any]) -> None:
    assert price(option, **changes) is None
    assert reference_greeks(scenario(option=[option], **changes), 0) is None


@pytest.mark.parametrize("combine", ["max", "sum"])
def test_a_price_without_noise_has_no_correlation(combine: str) -> None:
    """Where volatilities change, correlations of prices at the end follow from them: of cash, from 0 by 0."""
    share = ASSET | {"name": "A", "volatility": [[0.0, 0.15], [0.5, 0.35]]}
    cash = {"name": "cash", "spot": 100.0, "volatility": 0.0}
    option = {"style": "basket", "combine": combine, "payoff": "call", "strike": 90.0}
    assert price(option, asset=[share, cash]) is None

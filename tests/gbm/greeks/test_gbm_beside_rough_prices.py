"""Options on lognormal prices in a market where other prices jump or pay cash: all Greeks and control variates."""

from __future__ import annotations

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, outcome, problem, run
from test_gbm_greeks import GREEKS, asked, z_scores

from simsuite.backends import open_backend
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks, reference_price

JUMPING = {"spot": 40.0, "volatility": 0.3, "jumps": {"intensity": 1.0, "mean": -0.1, "deviation": 0.15}}
PAYING = {"spot": 40.0, "volatility": 0.3, "dividends": [{"time": 0.5, "cash": 2.0}]}
TWO = {"market": {"rate": 0.05, "correlation": [[1.0, 0.4], [0.4, 1.0]]}, "time": {"steps": 4}}
DIGITAL = {"style": "digital", "payoff": "put", "strike": 105.0}
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0, "direction": "down", "knock": "out", "level": 90.0}
LOOKBACK = {"style": "lookback", "payoff": "put", "strike_type": "floating"}
BASKET = {"style": "basket", "payoff": "call", "strike": 100.0}


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


@pytest.mark.parametrize("other", [JUMPING, PAYING])
def test_other_prices_take_no_greek_away(cpu, one_thread, other):
    """Against Black and Scholes, and what scenarios have in closed form."""
    options = asked(CALL, DIGITAL, ASIAN, BARRIER, LOOKBACK)
    p = problem(asset=[ASSET, other], paths={"count": 1 << 16}, option=options, **TWO)
    found = list(run(p, cpu)[0]["options"].values())
    assert not any("reasons" in option for option in found)
    terms = exact.Terms.constant(100.0, 0.05, 0.05, 0.2, 1.0)
    for option, greeks in zip(
        found, (exact.european_greeks(terms, 100.0, "call"), exact.digital_greeks(terms, 105.0, "put"))
    ):
        z = z_scores(option, greeks)
        assert z.keys() == set(GREEKS)
        assert max(map(abs, z.values())) < 4
    for number in (2, 3, 4):
        alone = problem(option=options, time={"steps": 4}).scenario
        price, greeks = reference_price(alone, alone.option[number]), reference_greeks(alone, number)
        assert price is not None
        assert greeks is not None
        assert abs(found[number]["price"] - price) < 4 * found[number]["standard_error"]
        for name in ("delta", "vega"):
            error = found[number][f"{name}_standard_error"][0]
            assert abs(found[number][name][0] - greeks[name][0]) < 4 * error, (number, name)


def test_other_prices_take_no_control_variate_away(cpu, one_thread):
    """A mean over dates, and over those assets that count, has its geometric one beside it."""
    options = [ASIAN, ASIAN | {"asset": "B", "strike": 40.0}, BASKET | {"weights": [1.0, 0.0]}, BASKET]
    p = problem(asset=[ASSET, JUMPING], option=options, paths={"count": 1 << 14}, **TWO)
    assert [control is not None for control in p.payoffs.controls] == [True, False, True, False]
    plain = problem(option=[ASIAN | {"control_variate": False}], paths={"count": 1 << 14}, time={"steps": 4})
    asian, _, basket, _ = run(p, cpu)[0]["options"].values()
    assert asian["standard_error"] < run(plain, cpu)[0]["options"]["option1"]["standard_error"] / 10
    price = exact.european(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, "call")
    assert basket["price"] == pytest.approx(price, rel=1e-12)  # which is its own control


def test_the_price_that_jumps_is_named():
    options = asked(CALL, CALL | {"asset": "B"}, {"style": "exchange", "assets": ["A", "B"]})
    plain, jumping, both = problem(asset=[ASSET, JUMPING], option=options, **TWO).payoffs.greeks
    assert not plain.reasons
    assert jumping.reasons == both.reasons
    assert jumping.reasons["gamma"] == "the law of the prices is not lognormal ('B' jumps)"


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("other", [JUMPING, PAYING])
def test_on_a_gpu_they_are_the_same(backend, cpu, other):
    options = asked(CALL, ASIAN, BARRIER, LOOKBACK)
    p = problem(asset=[ASSET, other], paths={"count": 8}, option=options, output={"store_paths": 2}, **TWO)
    found, expected = outcome(p, backend), outcome(p, cpu)
    for name in ("price", "standard_error", *GREEKS):
        np.testing.assert_allclose(found[f"option_{name}"], expected[f"option_{name}"], rtol=1e-9, atol=1e-10)

"""Options that end before the run: the same numbers as of a run of each alone that ends with it, on the same paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, copied, outcome, problem, run, tables

from simsuite.backends.cpu import CpuBackend
from simsuite.errors import ScenarioError
from simsuite.expressions.evaluate import evaluate
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.checks.moved_dates import moved_date_warnings
from simsuite.solvers.gbm.parts import parts_of
from simsuite.solvers.gbm.portfolio.portfolio import portfolio_of
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks, reference_price

pytestmark = pytest.mark.usefixtures("one_thread")

STEPS = 20
OPTIONS = [
    CALL | {"maturity": 1.0},
    CALL | {"maturity": 0.5, "strike": 105.0},
    {"style": "european", "payoff": "put", "strike": 50.0, "asset": "B", "maturity": 0.25},
    {"style": "digital", "payoff": "call", "strike": 100.0, "maturity": 0.25},
    {"style": "asian", "payoff": "call", "strike": 100.0, "maturity": 0.5},
    {"style": "asian", "payoff": "put", "strike": 99.0, "fixings": [0.1, 0.25, 0.5], "maturity": 0.7},
    {"style": "asian", "payoff": "put", "strike": 99.0, "average": "geometric", "fixings": 5, "maturity": 0.5},
    {"style": "barrier", "payoff": "call", "strike": 95.0, "direction": "up", "knock": "out", "level": 130.0,
     "dates": 10, "maturity": 0.5},
    {"style": "lookback", "payoff": "put", "strike_type": "floating", "dates": 5, "maturity": 0.25},
    {"style": "basket", "payoff": "call", "strike": 75.0, "maturity": 0.5},
    {"style": "exchange", "assets": ["A", "B"], "maturity": 0.5},
    {"style": "american", "payoff": "put", "strike": 105.0, "exercise": 5, "maturity": 0.5},
    {"style": "expression", "value": "max(mean(A) - min(B), 0)", "maturity": 0.25},
]  # fmt: skip
MARKETS: dict[str, dict] = {
    "plain": {},
    "float32": {"run": {"precision": "float32"}},
    "antithetic": {"paths": {"antithetic": True}},
    "milstein": {"time": {"scheme": "milstein"}},
    "moving": {
        "market": {"rate": [[0.0, 0.04], [0.3, 0.01], [0.55, 0.06]], "correlation": [[1.0, 0.5], [0.5, 1.0]]},
        "asset": [
            ASSET
            | {
                "volatility": [[0.0, 0.2], [0.35, 0.4]],
                "jumps": {"intensity": 0.5, "mean": -0.1, "deviation": 0.15},
                "dividends": [{"time": 0.2, "cash": 2.0}, {"time": 0.6, "proportion": 0.03}],
            },
            {"spot": 50.0, "volatility": 0.3},
        ],
    },
}
BASE = {
    "market": {"rate": 0.04, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
    "asset": [ASSET, {"spot": 50.0, "volatility": 0.3, "dividend_yield": 0.01}],
    "time": {"end": 1.0, "steps": STEPS},
}


def stated(options, count, **changes) -> GbmProblem:
    scenario = tables(**BASE, option=[{"greeks": True} | option for option in options], paths={"count": count})
    for key, value in changes.items():
        scenario[key] = {**scenario[key], **value} if isinstance(value, dict) else value
    return GbmProblem.from_scenario(GbmScenario.model_validate(scenario), Path())


def alone(option, count, **changes) -> GbmProblem:
    """A run of one option that ends with it, in steps of the same length."""
    option = dict(option)
    end = option.pop("maturity")
    steps = round(end * STEPS)
    changes["time"] = {**changes.get("time", {}), "end": steps / STEPS, "steps": steps}
    if "asset" in changes:
        changes["asset"] = [_until(asset, end) for asset in changes["asset"]]
    return stated([option], count, **changes)


def _until(asset, end):
    paid = [dividend for dividend in asset.get("dividends", []) if dividend["time"] <= end]
    return {key: value for key, value in asset.items() if key != "dividends"} | ({"dividends": paid} if paid else {})


@pytest.mark.parametrize("market", MARKETS)
def test_each_option_is_priced_as_if_alone(backend, market):
    same_as_alone(backend, market, OPTIONS[::4] if backend.simulated else OPTIONS)


def test_some_options_are_priced_as_if_alone(backend):
    same_as_alone(backend, "plain", OPTIONS[1:8:3] if backend.simulated else [OPTIONS[i] for i in (1, 5, 11)])


def same_as_alone(backend, market, options) -> None:
    """Prices, Greeks, all standard errors, reasons and exercise: those of the run that ends with the option."""
    count = 96 if backend.simulated else 4096
    together, _ = run(stated(options, count, **MARKETS[market]), backend)
    for i, option in enumerate(options):
        single, _ = run(alone(option, count, **MARKETS[market]), backend)
        expected, found = single["options"]["option1"], together["options"][f"option{i + 1}"]
        assert found.pop("maturity") == pytest.approx(option["maturity"])
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            if isinstance(value, (dict, str)):
                assert found[key] == value
            else:
                numbers, wanted = (np.array(v, float) for v in (found[key], value))
                tolerance = 1e-12 if market != "float32" else 1e-9
                np.testing.assert_allclose(numbers, wanted, rtol=tolerance, atol=1e-14, err_msg=f"{option} {key}")


def test_cuts_and_batches_change_no_bit(backend):
    """Neither does it matter where a run was stopped and continued."""
    count = 48 if backend.simulated else 5000
    options = OPTIONS[:5] if backend.simulated else OPTIONS
    whole = outcome(stated(options, count), backend)
    batches = {} if backend.simulated else {"paths": {"batch": 4096}}
    for changes, parts in (({}, [3, 4, 6]), (batches, [1, 30])):
        cut = stated(options, count, **changes)
        left = outcome(cut, backend, parts=parts)
        for name in ("option_price", "option_standard_error", "option_delta", "state options"):
            np.testing.assert_array_equal(left[name], whole[name], err_msg=name)


def test_restored_amid_the_life_of_options(backend):
    count = 48 if backend.simulated else 3000
    p = stated(OPTIONS[:5], count)
    stepper = p.stepper(backend, p.initial())
    stepper.advance(7)
    start = copied(stepper.snapshot())
    np.testing.assert_array_equal(outcome(p, backend, start=start)["option_price"], outcome(p, backend)["option_price"])


def test_references_are_those_of_the_maturity():
    p = stated(OPTIONS, 64)
    for option, row in zip(p.scenario.option, OPTIONS):
        own = alone(row, 64).scenario
        assert reference_price(p.scenario, option) == reference_price(own, own.option[0])
    greeks, expected = reference_greeks(p.scenario, 1), reference_greeks(alone(OPTIONS[1], 64).scenario, 0)
    assert greeks is not None
    assert expected is not None
    assert greeks.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(greeks[name], value, rtol=1e-12, err_msg=name)


def test_the_file_says_when_each_option_ends():
    p = stated(OPTIONS, 64)
    (found,) = [v for v in p.layout.variables if v.name == "option_maturity"]
    assert found.values is not None
    np.testing.assert_allclose(found.values, [option["maturity"] for option in OPTIONS])
    assert not [v for v in problem().layout.variables if v.name == "option_maturity"]


def test_options_that_end_with_the_run_make_one_part():
    plain = problem(option=[CALL, CALL | {"maturity": 1.0, "strike": 90.0}])
    assert [part.options for part in parts_of(plain)] == [(0, 1)]
    parts = parts_of(stated(OPTIONS, 64))
    assert [part.statement.n_steps for part in parts] == [5, 10, 14, 20]
    assert sorted(o for part in parts for o in part.options) == list(range(len(OPTIONS)))


def test_what_is_paid_early_earns_the_rate_until_the_horizon():
    """A holding of options without volatility: the gain is known."""
    market = {"rate": [[0.0, 0.02], [0.5, 0.10]]}
    options = [
        CALL | {"strike": 50.0, "maturity": 0.5, "holding": 3.0},
        CALL | {"strike": 50.0, "holding": 2.0},
    ]
    changes = {"asset": [{"spot": 100.0, "volatility": 1e-9}], "time": {"end": 1.0, "steps": 4}, "market": market}
    p = problem(**changes, option=options, output={"frames": 2, "risk": {}}, paths={"count": 64})
    portfolio = portfolio_of(p)
    early, late = 100 * np.exp(0.01) - 50, 100 * np.exp(0.06) - 50
    path = {"last0": np.exp(0.06)} | {f"kept{i}": 0.0 for i in range(len(p.payoffs.functionals))}
    gain = float(evaluate(portfolio.gain, {name: np.array(value) for name, value in path.items()}))
    assert gain * portfolio.risk_unit == pytest.approx(3 * early * np.exp(0.05) + 2 * late, rel=1e-12)
    results, _ = run(p, CpuBackend())
    value = 3 * early * np.exp(-0.01) + 2 * late * np.exp(-0.06)
    assert results["risk"]["value"] == pytest.approx(value, rel=1e-6)
    loss = value - gain * portfolio.risk_unit
    assert results["risk"]["levels"]["0.99"]["value_at_risk"] == pytest.approx(loss, rel=1e-2)


def test_a_maturity_between_steps_is_told():
    p = problem(time={"end": 1.0, "steps": 10}, option=[CALL | {"maturity": 0.33}, CALL | {"maturity": 0.5}])
    (found,) = moved_date_warnings(p.scenario)
    assert "maturity of 'option1' by up to 0.03 years (11 days)" in found
    assert "time.steps = 100 all are on steps" in found
    assert not list(moved_date_warnings(stated(OPTIONS, 64).scenario))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"option": [CALL | {"maturity": 0.5}], "paths": {"sampling": "sobol"}}, "a maturity before time.end by Sobol"),
        (
            {
                "option": [CALL | {"maturity": 0.5}],
                "paths": {"multilevel": True, "target_standard_error": 0.1},
                "time": {"end": 1.0, "steps": 8, "scheme": "euler"},
            },
            "a maturity before time.end by multilevel",
        ),
        (
            {
                "option": [
                    CALL
                    | {"style": "barrier", "direction": "up", "knock": "out", "level": 120.0, "maturity": 0.5}
                    | {"monitoring": "continuous"}
                ]
            },
            "continuous monitoring that ends before time.end",
        ),
    ],
)
def test_what_cannot_be_done_is_said(changes, words):
    with pytest.raises(ScenarioError) as caught:
        problem(**({"time": {"end": 1.0, "steps": 8}} | changes))
    assert words in str(caught.value)


def test_times_halfway_between_steps_fall_on_the_same_step_in_every_part():
    """0.35 of 10 steps rounds up in a year, and by an ulp down in 0.4 years of 4 steps."""
    asset = [ASSET | {"dividends": [{"time": 0.35, "proportion": 0.2}]}]
    asian = {"style": "asian", "payoff": "call", "average": "geometric", "strike": 45.0, "fixings": 4, "maturity": 0.4}
    p = problem(asset=asset, time={"end": 1.0, "steps": 10}, option=[asian, CALL])
    later = problem(
        asset=[ASSET | {"dividends": [{"time": 0.36, "proportion": 0.2}]}],
        time={"end": 1.0, "steps": 10},
        option=[asian, CALL],
    )
    prices = [reference_price(each.scenario, each.scenario.option[0]) for each in (p, later)]
    assert prices[0] == pytest.approx(prices[1], rel=1e-12)
    found, _ = run(p, CpuBackend())
    assert abs(found["options"]["option1"]["price"] - prices[0]) < 4 * found["options"]["option1"]["standard_error"]


@pytest.mark.parametrize("maturity", [0.15, 0.35, 0.75, 0.3])
def test_a_part_of_a_part_is_the_part(maturity):
    p = problem(time={"end": 1.0, "steps": 10}, option=[CALL | {"maturity": maturity}, CALL])
    part = p.scenario.until(maturity)
    assert part.until(part.option[0].maturity).time.steps == part.time.steps
    assert reference_price(part, part.option[0]) == reference_price(p.scenario, p.scenario.option[0])

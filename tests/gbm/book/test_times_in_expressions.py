"""`at(A, t)`, `mean(A, from, to)` and so on in what an option pays, against closed forms and simulations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from gbm_problems import problem, run
from scipy.special import ndtr

from simsuite.backends.cpu import CpuBackend
from simsuite.errors import ScenarioError
from simsuite.expressions import ExpressionError
from simsuite.scenario.gbm import GbmScenario
from simsuite.scenario.gbm.functionals import parse_payoff, timed
from simsuite.scenario.load import load_table

pytestmark = pytest.mark.usefixtures("one_thread")

RATE, YIELD, VOLATILITY, SPOT = 0.04, 0.01, 0.25, 100.0
QUARTERS = ("100", "at(A, 0.25)", "at(A, 0.5)", "at(A, 0.75)", "last(A)")
RETURNS = [f"min(0.06, max(-0.04, {end}/{begin} - 1))" for begin, end in itertools.pairwise(QUARTERS)]
CLIQUET = f"100*max(0.02, {' + '.join(RETURNS)})"
VALUES = {
    "paid later": "max(at(A, 0.25) - 100, 0)",
    "starts forward": "100*max(last(A)/at(A, 0.5) - 1, 0)",
    "mean": "mean(A, 0.25, 0.5)",
    "geomean": "log(geomean(A, 0.5, 1))",
    "product": "at(A, 0.25)*at(A, .75)/100",
    "cliquet": CLIQUET,
    "range": "max(A, 0.5, 1) - min(A, 0, 0.5)",
    "window": "min(A, 0.1, 0.3) + max(A, 0, 0.2)",
}


def stated(values=VALUES, count=100_000, **changes):
    return problem(
        market={"rate": RATE},
        asset=[{"name": "A", "spot": SPOT, "volatility": VOLATILITY, "dividend_yield": YIELD}],
        time={"end": 1.0, "steps": 20},
        paths={"count": count},
        option=[{"name": name, "style": "expression", "value": value} for name, value in values.items()],
        **changes,
    )


def call(forward, deviation, strike) -> float:
    d = math.log(forward / strike) / deviation + deviation / 2
    return forward * ndtr(d) - strike * ndtr(d - deviation)


def own_paths(count: int, seed: int) -> np.ndarray:
    """[step, path]: prices, the spot included."""
    z = np.random.default_rng(seed).standard_normal((20, count))
    steps = (RATE - YIELD - VOLATILITY**2 / 2) / 20 + VOLATILITY * math.sqrt(1 / 20) * z
    return SPOT * np.exp(np.vstack([np.zeros(count), steps.cumsum(0)]))


def expected() -> dict[str, float]:
    growth, discount = RATE - YIELD, math.exp(-RATE)
    at = [0.25 + 0.05 * k for k in range(6)]
    later = np.arange(10, 21) / 20
    return {
        "paid later": discount * call(SPOT * math.exp(growth / 4), VOLATILITY / 2, 100.0),
        "starts forward": 100 * discount * call(math.exp(growth / 2), VOLATILITY * math.sqrt(0.5), 1.0),
        "mean": discount * float(np.mean([SPOT * math.exp(growth * t) for t in at])),
        "geomean": discount * float(math.log(SPOT) + (growth - VOLATILITY**2 / 2) * later.mean()),
        "product": discount * SPOT * math.exp(growth + VOLATILITY**2 / 4),
    }


def simulated() -> dict[str, np.ndarray]:
    s = own_paths(200_000, 9)
    quarters = s[[0, 5, 10, 15, 20]]
    returns = np.clip(quarters[1:] / quarters[:-1] - 1, -0.04, 0.06)
    return {
        "cliquet": 100 * np.maximum(returns.sum(0), 0.02),
        "range": s[10:].max(0) - s[:11].min(0),
        "window": s[2:7].min(0) + s[:5].max(0),
    }


def test_prices():
    results, _ = run(stated(), CpuBackend())
    found = {name: (o["price"], o["standard_error"]) for name, o in results["options"].items()}
    for name, exact in expected().items():
        assert abs(found[name][0] - exact) < 4 * found[name][1], name
    for name, values in simulated().items():
        own = math.exp(-RATE) * values
        error = math.hypot(found[name][1], own.std() / math.sqrt(len(own)))
        assert abs(found[name][0] - own.mean()) < 4 * error, name


def test_greeks_of_what_is_paid_later():
    """Of a call on the price at t1: those of the call then, discounted for longer; and a forward start has no delta."""
    results, _ = run(
        problem(
            market={"rate": RATE},
            asset=[{"name": "A", "spot": SPOT, "volatility": VOLATILITY, "dividend_yield": YIELD}],
            time={"end": 1.0, "steps": 20},
            paths={"count": 100_000},
            option=[
                {"style": "expression", "value": VALUES[name], "greeks": True}
                for name in ("paid later", "starts forward")
            ],
        ),
        CpuBackend(),
    )
    later, forward = results["options"].values()
    ahead, deviation = SPOT * math.exp((RATE - YIELD) / 4), VOLATILITY / 2
    d = math.log(ahead / 100) / deviation + deviation / 2
    delta = math.exp(-RATE) * math.exp((RATE - YIELD) / 4) * ndtr(d)
    vega = math.exp(-RATE) * ahead * math.exp(-(d**2) / 2) / math.sqrt(2 * math.pi) * 0.5
    rho = 0.25 * SPOT * delta - results["options"]["option1"]["price"]
    assert abs(later["delta"][0] - delta) < 4 * later["delta_standard_error"][0]
    assert abs(later["vega"][0] - vega) < 4 * later["vega_standard_error"][0]
    assert abs(later["rho"] - rho) < 4 * later["rho_standard_error"]
    assert abs(forward["delta"][0]) < 1e-12


def test_times_may_be_named_numbers():
    scenario = GbmScenario.model_validate(
        {
            "solver": "gbm",
            "market": {"rate": 0.0},
            "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
            "time": {"end": 1.0, "steps": 4},
            "paths": {"count": 64},
            "option": [{"style": "expression", "value": "at(A, 0.5) + max(2, 0.5, 1)"}],
        }
    )
    assert scenario.payoff(scenario.option[0]).names == {"at(A, 0.5)"}
    constants = {"T1": 0.5, "K": 100.0}
    found = parse_payoff("max(at(A, T1) - K, mean(A, 0, T1), max(K, 1, 2))", ["A"], constants)
    assert found.names == {"at(A, 0.5)", "mean(A, 0.0, 0.5)"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("at(A, 0.5)", [("at", (0.5,))]),
        ("min(A, .25 , 1e-1)", [("min", (0.25, 0.1))]),
        ("min(x, 1)", []),
        ("max(K, 0.5, 1)", []),
        ("at(A)", []),
        ("mean(A, 0.5)", []),
        ("last(A, 0.5)", []),
    ],
)
def test_what_is_a_functional_of_a_part_of_the_time(text, found):
    parts = timed(text, {"K": 3.0})
    assert [(part.functional, part.times) for part in parts] == found
    for part in parts:
        for time, column in zip(part.times, part.columns):
            assert float(text[column:].split(",")[0].split(")")[0]) == time


@pytest.mark.parametrize("text", ["at(A)", "at(A, t)", "mean(A, 0.5)", "last(A, 0.5)", "at(A, 0.1, 0.2)", "at(0.5, A)"])
def test_what_is_none(text):
    with pytest.raises(ExpressionError):
        parse_payoff(text, ["A"], {})


def test_the_resolved_scenario_has_the_times_and_not_their_names(tmp_path):
    """A run is compared by it: with names, a run to another time would pass for the same."""
    table = {
        "solver": "gbm",
        "constants": {"T1": 0.5, "K": 50.0},
        "market": {"rate": 0.0},
        "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
        "time": {"end": 1.0, "steps": 4},
        "paths": {"count": 64},
        "option": [{"style": "expression", "value": "max(at(A, T1) - K, mean(A, 0.25, T1))"}],
    }
    first = load_table(table, tmp_path / "x.toml")
    assert first.model.option[0].value == "max(at(A, 0.5) - 50.0, mean(A, 0.25, 0.5))"
    other = load_table(table, tmp_path / "x.toml", ["constants.T1=0.75"])
    assert "option.0.value" in other.differences(first.resolved_toml())


def test_places_of_mistakes_are_those_of_the_text_as_it_was_written(tmp_path):
    table = {
        "solver": "gbm",
        "constants": {"K": 100.0},
        "market": {"rate": 0.0},
        "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
        "time": {"end": 1.0, "steps": 4},
        "paths": {"count": 64},
        "option": [{"style": "expression", "value": "K*K*at(A, 9)"}],
    }
    with pytest.raises(ScenarioError) as caught:
        load_table(table, tmp_path / "x.toml")
    (mistake,) = caught.value.mistakes
    assert mistake.column == "K*K*at(A, 9)".index("9")


@pytest.mark.parametrize("text", ["mean(A, a=0.5)", "mean(A, start=0.25, end=0.5)", f"at(A, 1{'0' * 320})"])
def test_odd_arguments_are_mistakes(text):
    with pytest.raises(ExpressionError):
        parse_payoff(text, ["A"], {})

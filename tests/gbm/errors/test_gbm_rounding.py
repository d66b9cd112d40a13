"""What rounding does to prices: the part of standard errors for it, against the same paths in float64."""

from __future__ import annotations

import math

import pytest
from gbm_problems import ASIAN, CALL, copied, problem, run

from simsuite.backends import open_backend
from simsuite.solvers.gbm.error_allowances.allowances import rounding, seen
from simsuite.solvers.gbm.reference_prices.prices import reference_price

pytestmark = pytest.mark.usefixtures("one_thread")

LOOKBACK = {"style": "lookback", "strike_type": "floating", "payoff": "put"}
BARRIER = {"style": "barrier", "direction": "down", "knock": "out", "payoff": "call", "strike": 100.0, "level": 60.0}
OPTIONS = [
    CALL | {"strike": 110.0},
    CALL | {"payoff": "put", "strike": 95.0},
    CALL | {"strike": 1.0},
    ASIAN,
    ASIAN | {"control_variate": False},
    LOOKBACK,
    BARRIER | {"monitoring": "continuous"},
]


def priced(steps: int, s: float, precision: str) -> tuple[list[dict], list[float]]:
    """Results of each option, and the part of its standard error that is for rounding."""
    p = problem(
        run={"precision": precision, "seed": 7},
        asset=[{"spot": 100.0, "volatility": s}],
        time={"steps": steps},
        paths={"count": 4 << (14 if steps < 64 else 12), "sampling": "sobol", "replicates": 4},
        option=OPTIONS,
    )
    stepper = p.stepper(open_backend("cpu"), p.initial())
    stepper.advance(p.clock.end)
    observed = copied(stepper.observe("time"))
    parts = [p.discount * rounding(p) * seen(p, observed, mean).deviation for mean in p.payoffs.prices]
    return list(p.results(observed)["options"].values()), parts


@pytest.mark.parametrize("s", [0.03, 0.3, 1.2])
@pytest.mark.parametrize("steps", [1, 3, 64, 500])
def test_prices_differ_by_no_more_than_the_part_for_rounding(steps, s):
    """Points are the same in all precisions, so what differs is rounding. The part is a deviation: twice it is far."""
    exact, _ = priced(steps, s, "float64")
    for precision in ("mixed", "float32"):
        for mine, part, right in zip(*priced(steps, s, precision), exact):
            assert abs(mine["price"] - right["price"]) < 2 * part <= 2 * mine["standard_error"]


@pytest.mark.parametrize("precision", ["mixed", "float32"])
def test_errors_of_what_a_control_makes_certain(precision):
    """An Asian option on one date is its own control: its spread over paths vanishes, and rounding is left. It was off
    by 10^2 of what stood beside it."""
    p = problem(run={"precision": precision}, paths={"count": 1 << 12}, option=[ASIAN, ASIAN | {"payoff": "put"}])
    for option, found in zip(p.scenario.option, run(p, open_backend("cpu"))[0]["options"].values()):
        exact = reference_price(p.scenario, option)
        assert exact is not None
        assert abs(found["price"] - exact) < 2 * found["standard_error"] < 1e-5
        low, high = found["ci95"]
        assert low < exact < high


def test_float64_is_left_as_it_is():
    p = problem()
    assert rounding(p) < 1e-16
    assert math.isclose(rounding(problem(run={"precision": "mixed"})), 0.525 * 2**-24)


@pytest.mark.parametrize("sampling", ["pseudo", "sobol"])
@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
def test_errors_of_what_cancels_to_0_on_every_path(precision, sampling):
    """Exchange options do not depend on the rate, in or out of the money: their rho was 150 standard errors off 0. They
    are written so that this is not seen from their terms."""
    assets = [{"name": "A", "spot": 24.83, "volatility": 0.221}, {"name": "B", "spot": 31.7, "volatility": 0.304}]
    option = {"style": "expression", "greeks": True}
    for seed in range(4):
        p = problem(
            run={"precision": precision, "seed": seed},
            market={"rate": 0.0213, "correlation": [[1.0, 0.37], [0.37, 1.0]]},
            asset=assets,
            time={"end": 0.9, "steps": 2},
            paths={"count": 1 << 13, "sampling": sampling},
            option=[option | {"value": f"max(exp(log(last({b}))) - last({a}), 0)"} for a, b in ("AB", "BA")],
        )
        for found in run(p, open_backend("cpu"))[0]["options"].values():
            assert found["greeks_method"]["rho"] == "pathwise"
            assert abs(found["rho"]) < 2 * found["rho_standard_error"] < 1e-13
            assert found["rho"] == 0 or found["rho_standard_error"] > 0

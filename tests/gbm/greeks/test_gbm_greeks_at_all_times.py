"""Greeks of options watched at all times: against closed forms, and differences of prices on the same paths."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from gbm_problems import ASSET, problem, run
from test_gbm_greeks import GREEKS, asked, z_scores

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.reference_prices.prices import reference_greeks

WATCHED = {"monitoring": "continuous"}
BARRIER = {"style": "barrier", "strike": 100.0} | WATCHED
FLOATING = {"style": "lookback", "strike_type": "floating"} | WATCHED
FIXED = {"style": "lookback", "strike_type": "fixed"} | WATCHED
DOWN_OUT = BARRIER | {"payoff": "call", "direction": "down", "knock": "out", "level": 90.0, "rebate": 3.0}
UP_OUT = BARRIER | {"payoff": "call", "direction": "up", "knock": "out", "level": 120.0}
UP_IN = BARRIER | {"payoff": "put", "direction": "up", "knock": "in", "level": 110.0}
OPTIONS = [
    DOWN_OUT,
    DOWN_OUT | {"payoff": "put", "knock": "in"},
    UP_OUT,
    UP_IN,
    FLOATING | {"payoff": "call"},
    FLOATING | {"payoff": "put"},
    FIXED | {"payoff": "call", "strike": 105.0},
    FIXED | {"payoff": "put", "strike": 103.0},
]
WITHOUT_GAMMA = (4, 5, 7)  # which is 0
RATE, GROWTH, VOLATILITY = 0.05, 0.02, 0.2
PAYING = ASSET | {"dividend_yield": RATE - GROWTH}
CHANGING = [[0.0, 0.1], [0.3, 0.35]]


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return open_backend("cpu")


def closed_form(option: dict[str, Any]) -> Callable[..., float]:
    """Of (spot, rate, growth, volatility, end)."""
    payoff = option["payoff"]

    def price(spot: float, *market: float) -> float:
        if option["style"] == "barrier":
            side = (option["direction"], option["knock"], option["level"], option.get("rebate", 0.0))
            return exact.barrier(spot, option["strike"], *market, payoff, *side)
        if "strike" in option:
            return exact.fixed_lookback(spot, option["strike"], *market, payoff)
        return exact.floating_lookback(spot, *market, payoff)

    return price


@pytest.fixture(scope="module")
def expected() -> list[exact.Greeks]:
    """theta as the derivative by the end, negative, and not by the equation that estimates take."""
    found = []
    for price in map(closed_form, OPTIONS):
        greeks = exact.greeks_by_differences(lambda *m, f=price: f(*m, 1.0), 100.0, RATE, GROWTH, VOLATILITY, 0.02)
        by_end, _ = exact.derivatives(lambda t, f=price: f(100.0, RATE, GROWTH, VOLATILITY, t), 1.0, 0.05)
        found.append(dataclasses.replace(greeks, theta=-by_end))
    return found


def test_errors_are_as_large_as_standard_errors_say(cpu, expected):
    """Over many seeds, every other one with antithetic paths; one step or several."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # waiting for others would take most of the time of such short runs
    options, ways = asked(*OPTIONS), ((1, False), (1, True), (5, False), (5, True))
    problems = [
        problem(asset=[PAYING], time={"steps": steps}, paths={"count": 1 << 13, "antithetic": twins}, option=options)
        for steps, twins in ways
    ]
    found = []
    for seed in range(301, 341):
        p = problems[seed % 4]
        drawn = p.scenario.run.model_copy(update={"seed": seed})
        results = run(dataclasses.replace(p, scenario=p.scenario.model_copy(update={"run": drawn})), cpu)[0]["options"]
        found.append([z_scores(option, of) for option, of in zip(results.values(), expected)])
    numba.set_num_threads(threads)
    for i in range(len(OPTIONS)):
        assert set(GREEKS) - set(found[0][i]) == ({"gamma"} if i in WITHOUT_GAMMA else set())
        for greek in found[0][i]:
            scores = np.array([of[i][greek] for of in found])
            assert 0.5 < np.abs(scores).mean() < 1.1, (i, greek)
            assert np.abs(scores).max() < 4, (i, greek)
            assert abs(scores.mean()) < 0.7, (i, greek)


@pytest.mark.parametrize("precision", ["float32", "mixed"])
def test_other_precisions(cpu, expected, precision):
    p = problem(
        run={"precision": precision},
        asset=[PAYING],
        time={"steps": 9},
        paths={"count": 1 << 16},
        option=asked(*OPTIONS),
    )
    for option, greeks in zip(run(p, cpu)[0]["options"].values(), expected):
        assert max(map(abs, z_scores(option, greeks).values())) < 4


def test_how_each_was_found(cpu):
    p = problem(time={"steps": 2}, option=asked(DOWN_OUT, *OPTIONS[4:]))
    for option in run(p, cpu)[0]["options"].values():
        methods = option["greeks_method"]
        assert methods["delta"] == methods["vega"] == methods["rho"] == "pathwise"
        assert methods["theta"] == "equation"
        assert methods["gamma"] == ("homogeneity" if option["gamma_standard_error"] == [0.0] else "equation")
    changing = problem(asset=[ASSET | {"volatility": CHANGING}], time={"steps": 2}, option=asked(DOWN_OUT))
    assert run(changing, cpu)[0]["options"]["option1"]["greeks_method"]["gamma"] == "none"
    for steps, method in ((1, "mixed"), (2, "pathwise")):  # the dividend takes it beyond the barrier at the end
        dividends = [{"time": 0.5, "proportion": 0.1}]
        paid = problem(asset=[ASSET | {"dividends": dividends}], time={"steps": steps}, option=asked(DOWN_OUT))
        methods = run(paid, cpu)[0]["options"]["option1"]["greeks_method"]
        assert [methods[name] for name in GREEKS] == [method, "none", "none", method, "none"]
    still = problem(asset=[ASSET | {"volatility": 0.0}], option=asked(DOWN_OUT))
    option = run(still, cpu)[0]["options"]["option1"]
    assert option["delta"] == [pytest.approx(1.0)]
    assert option["vega"] == option["gamma"] == [None]


@pytest.mark.parametrize("dividends", [[], [{"time": 0.4, "proportion": 0.04}]])
def test_they_are_differences_of_prices_on_the_same_paths(cpu, dividends):
    """Also where volatility and rate change amid the steps."""
    rate, h = [[0.0, 0.08], [0.6, 0.01]], 1e-4

    def prices(spot=100.0, shift=0.0, scale=1.0, greeks=False):
        volatility = [[t, v * scale] for t, v in CHANGING]
        p = problem(
            market={"rate": [[t, r + shift] for t, r in rate]},
            asset=[{"spot": spot, "volatility": volatility, "dividends": dividends}],
            time={"steps": 7},
            paths={"count": 1 << 14},
            option=[option | {"greeks": greeks} for option in OPTIONS],
        )
        return list(run(p, cpu)[0]["options"].values())

    def slopes(**moved: float):
        ((name, at),) = moved.items()
        sides = [prices(**{name: at + sign * h * max(at, 0.1)}) for sign in (1, -1)]
        return [(up["price"] - down["price"]) / (2 * h * max(at, 0.1)) for up, down in zip(*sides)]

    found, level = prices(greeks=True), math.sqrt(0.3 * 0.1**2 + 0.7 * 0.35**2)
    by_spot, by_rate = slopes(spot=100.0), slopes(shift=0.0)
    by_volatility = slopes(scale=1.0)
    for i, option in enumerate(found):
        assert option["delta"][0] == pytest.approx(by_spot[i], rel=2e-3, abs=2e-4)
        assert option["rho"] == pytest.approx(by_rate[i], rel=2e-3, abs=2e-2)
        if dividends:
            assert option["vega"] == [None]
        else:
            assert option["vega"][0] * level == pytest.approx(by_volatility[i], rel=2e-3, abs=5e-3)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_dividend_at_the_end_makes_barriers_below_jump(cpu, steps):
    """Delta and rho against derivatives of the closed form: pathwise derivatives alone miss the jump at the level."""
    paid = PAYING | {"dividends": [{"time": 1.0, "proportion": 0.08}]}
    below = BARRIER | {"payoff": "put", "direction": "down", "knock": "out", "level": 85.0}
    options = asked(below, below | {"payoff": "call", "strike": 80.0}, UP_OUT)
    p = problem(asset=[paid], time={"steps": steps}, paths={"count": 1 << 17}, option=options)
    for number, found in enumerate(run(p, cpu)[0]["options"].values()):
        assert found["greeks_method"]["delta"] == ("pathwise" if number == 2 else "mixed")
        expected = reference_greeks(p.scenario, number)
        assert expected is not None
        assert abs(found["delta"][0] - expected["delta"][0]) < 4 * found["delta_standard_error"][0]
        assert abs(found["rho"] - expected["rho"]) < 4 * found["rho_standard_error"]


def test_the_closed_form_with_a_dividend_at_the_end():
    """Without one it is the usual form; with one, the law of the price before it, where no barrier is near."""
    market = (100.0, 95.0, 0.05, 0.02, 0.2, 1.0)
    for kind in (("call", "down", "out", 90.0), ("put", "up", "in", 110.0)):
        payoff, direction, knock, level = kind
        usual = exact.barrier(*market, payoff, direction, knock, level)
        assert exact.barrier_before_dividend(*market, 0.0, payoff, direction, knock, level) == pytest.approx(usual)
    far = exact.barrier_before_dividend(*market, 0.1, "call", "down", "out", 1.0)
    assert far == pytest.approx(exact.european(90.0, *market[1:], "call"))

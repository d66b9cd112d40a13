"""Options of every style against published or independently computed prices, all on the same paths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, problem, run

from simsuite.backends import open_backend
from simsuite.solvers.gbm.closed_forms import Steps, geometric_mean_law, lognormal_option
from simsuite.solvers.gbm.statistics.exact_sums import exact

RHO = [[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]]
ASSETS = [ASSET, ASSET | {"volatility": 0.3}, ASSET | {"volatility": 0.3}]
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0}
FLOATING = {"style": "lookback", "strike_type": "floating"}
MARKET = [  # spot and strike 100, rate 5 %, a year of 12 steps
    (CALL, 10.450583572186),
    ({"style": "digital", "payoff": "call", "strike": 100.0}, 0.532324815454),
    ({"style": "digital", "payoff": "put", "strike": 100.0, "cash": 3.0}, 3 * (math.exp(-0.05) - 0.532324815454)),
    ({"style": "asian", "payoff": "call", "strike": 100.0}, 6.1560407664),
    ({"style": "asian", "payoff": "put", "strike": 100.0}, 3.5344803682),
    ({"style": "asian", "payoff": "call", "strike": 100.0, "average": "geometric"}, 5.9402002216),
    (BARRIER | {"direction": "down", "knock": "out", "level": 90.0}, 9.57337242),
    (BARRIER | {"direction": "up", "knock": "out", "level": 120.0}, 1.84935356),
    (BARRIER | {"direction": "down", "knock": "in", "level": 90.0}, 10.450583572186 - 9.57337242),
    (FLOATING | {"payoff": "put"}, 10.877111176),
    (FLOATING | {"payoff": "call"}, 14.681842718),
    ({"style": "expression", "value": "last(A) - min(A)"}, 14.681842718),
    ({"style": "exchange", "assets": ["A", "B"]}, 10.5243157811),
    ({"style": "basket", "payoff": "call", "strike": 100.0, "weights": [0.5, 0.5, 0.0]}, 11.1137942585),
    (
        {"style": "basket", "payoff": "call", "strike": 100.0, "weights": [0.0, 1.0, 1.0], "combine": "max"},
        21.61919246,
    ),
    ({"style": "expression", "value": "max(min(last(B), last(C)) - 100, 0)"}, 6.84331711),
]


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


@pytest.fixture(scope="module", params=["float64", "float32", "mixed"])
def market(cpu, request):
    p = problem(
        run={"precision": request.param},
        market={"correlation": RHO},
        asset=ASSETS,
        time={"steps": 12},
        paths={"count": 1 << 18, "antithetic": True},
        option=[option for option, _ in MARKET],
    )
    return list(run(p, cpu)[0]["options"].values())


@pytest.mark.parametrize("i", range(len(MARKET)))
def test_every_style_has_its_price(market, i):
    assert 0 < market[i]["standard_error"] < 0.05
    assert abs(market[i]["price"] - MARKET[i][1]) < 4 * market[i]["standard_error"]


def test_out_and_in_make_a_vanilla_option_on_every_path(cpu):
    out = BARRIER | {"direction": "up", "level": 115.0, "knock": "out", "dates": 3}
    options = [CALL, out, out | {"knock": "in"}]
    call, *parts = run(problem(time={"steps": 12}, option=options), cpu)[0]["options"].values()
    assert sum(part["price"] for part in parts) == pytest.approx(call["price"], rel=1e-13)


def test_rebates_are_paid_at_the_end_where_the_option_is_void(cpu):
    far = BARRIER | {"direction": "up", "level": 1e9, "rebate": 7.0}
    found = run(problem(option=[far | {"knock": "in"}, far | {"knock": "out"}, CALL]), cpu)[0]["options"]
    assert found["option1"]["price"] == pytest.approx(7 * math.exp(-0.05), rel=1e-14)
    assert found["option2"]["price"] == found["option3"]["price"]


def test_spread_option(cpu):
    """T. Hurd and Z. Zhou, SIAM J. Financial Math. 1 (2010), table 1."""
    p = problem(
        market={"rate": 0.1, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
        asset=[ASSET | {"dividend_yield": 0.05}, {"spot": 96.0, "volatility": 0.1, "dividend_yield": 0.05}],
        paths={"count": 1 << 18, "antithetic": True},
        option=[{"style": "spread", "payoff": "call", "assets": ["A", "B"], "strike": k} for k in (2.0, 4.0)],
    )
    for option, expected in zip(run(p, cpu)[0]["options"].values(), (7.54232389585, 6.653065107469)):
        assert abs(option["price"] - expected) < 4 * option["standard_error"]


@pytest.mark.parametrize(("strike", "expected"), [(90.0, 15.3613582887), (100.0, 9.8244713157), (110.0, 5.9416055123)])
def test_rates_yields_and_volatilities_that_change(cpu, strike, expected):
    quarters = [0.0, 0.25, 0.5, 0.75]

    def pieces(*values):
        return [[t, v] for t, v in zip(quarters, values)]

    asset = {"volatility": pieces(0.15, 0.2, 0.25, 0.3), "dividend_yield": pieces(0.0, 0.01, 0.01, 0.02)}
    p = problem(
        market={"rate": pieces(0.01, 0.02, 0.03, 0.04)},
        asset=[ASSET | asset],
        time={"steps": 8},
        paths={"count": 1 << 18, "antithetic": True},
        option=[CALL | {"strike": strike}],
    )
    option = run(p, cpu)[0]["options"]["option1"]
    assert abs(option["price"] - expected) < 4 * option["standard_error"]


def test_geometric_means_with_past_fixings_in_a_market_that_changes(cpu):
    volatility, rate, times = [[0.0, 0.1], [0.5, 0.4]], [[0.0, 0.08], [0.25, 0.01]], [0.25, 0.5, 1.0]
    option = {"style": "asian", "payoff": "call", "strike": 95.0, "average": "geometric"}
    p = problem(
        market={"rate": rate},
        asset=[ASSET | {"volatility": volatility}],
        time={"steps": 4},
        paths={"count": 1 << 18},
        option=[option | {"fixings": times, "past_fixings": [90.0, 110.0]}],
    )
    found = run(p, cpu)[0]["options"]["option1"]
    curves = [([t for t, _ in curve], [v for _, v in curve]) for curve in (rate, [[0.0, 0.0]], volatility)]
    forward, deviation = geometric_mean_law(100.0, Steps.piecewise(*curves, times), [90.0, 110.0])
    expected = math.exp(-0.25 * 0.08 - 0.75 * 0.01) * lognormal_option(forward, deviation, 95.0, "call")
    assert abs(found["price"] - expected) < 4 * found["standard_error"]


def test_dividends_in_proportion_take_their_share_of_the_price(cpu):
    plain = problem(asset=[ASSET | {"spot": 90.0}], time={"steps": 4}, output={"frames": 5})
    paying = problem(
        asset=[ASSET | {"dividends": [{"time": 0.5, "proportion": 0.1}]}], time={"steps": 4}, output={"frames": 5}
    )
    expected, found = run(plain, cpu)[0], run(paying, cpu)[0]
    assert found["options"]["option1"]["price"] == pytest.approx(expected["options"]["option1"]["price"], rel=1e-13)
    assert found["assets"]["A"]["mean"] == pytest.approx(expected["assets"]["A"]["mean"], rel=1e-13)
    paths = np.array([paying.dynamics.centre(np.array([k]))[0, 0] for k in (1, 2)]) * math.log(2)
    assert paths[1] - paths[0] == pytest.approx(0.25 * (0.05 - 0.02) + math.log(0.9), rel=1e-12)


def test_extremes_at_dates_are_those_of_stored_paths(cpu):
    value = "max(A) - min(A) + mean(A) - geomean(A)"
    p = problem(
        time={"steps": 6},
        paths={"count": 500},
        option=[{"style": "expression", "value": value}],
        output={"frames": 7, "store_paths": 500},
    )
    results, state = run(p, cpu)
    centre = np.concatenate([[0.0], p.dynamics.centre()[0]])
    prices = 100 * np.exp2(state["paths"][:, 0] + centre[:, None])
    along = prices[1:]
    expected = prices.max(0) - prices.min(0) + along.mean(0) - np.exp(np.log(along).mean(0))
    assert results["options"]["option1"]["price"] == pytest.approx(math.exp(-0.05) * expected.mean(), rel=1e-13)


CONTROLLED = [  # with the deviation of prices at 2^17 paths that geometric means leave, roughly
    ({"style": "asian", "payoff": "call", "strike": 100.0}, 6.1560407664, 0.02),
    ({"style": "asian", "payoff": "put", "strike": 100.0, "fixings": 12}, 3.5344803682, 0.02),
    (
        {"style": "basket", "payoff": "call", "strike": 100.0, "weights": [0.5, 0.5, 0.0]},
        11.1137942585,
        0.04,
    ),
]


@pytest.mark.parametrize(("option", "expected", "least"), CONTROLLED)
@pytest.mark.parametrize("antithetic", [False, True])
def test_control_variates_lower_the_error_and_keep_the_price(cpu, option, expected, least, antithetic):
    """Over many seeds, errors are as large as the standard errors say, which are far smaller than without."""
    z = []
    for seed in range(1, 31):
        p = problem(
            run={"seed": seed},
            market={"correlation": RHO},
            asset=ASSETS,
            time={"steps": 12},
            paths={"count": 16384, "antithetic": antithetic},
            option=[option, option | {"control_variate": False}],
        )
        found, plain = run(p, cpu)[0]["options"].values()
        assert found["standard_error"] < 10 * least * plain["standard_error"]
        z.append((found["price"] - expected) / found["standard_error"])
    assert max(map(abs, z)) < 4
    assert 0.5 < np.abs(z).mean() < 1.1


def test_what_the_control_pays_has_the_mean_that_it_says(cpu):
    """In a market that changes, with prices fixed before the start; and of a geometric basket."""
    p = problem(
        market={"rate": [[0.0, 0.08], [0.25, 0.01]], "correlation": [[1.0, 0.3], [0.3, 1.0]]},
        asset=[
            ASSET | {"volatility": [[0.0, 0.1], [0.5, 0.4]]},
            {"spot": 40.0, "volatility": [[0.0, 0.5], [0.25, 0.2]]},
        ],
        time={"steps": 4},
        paths={"count": 1 << 18},
        option=[
            {"style": "asian", "payoff": "call", "strike": 95.0, "fixings": [0.25, 0.5, 1.0], "past_fixings": [90.0]},
            {"style": "basket", "payoff": "put", "strike": 65.0, "weights": [0.4, 0.6]},
        ],
    )
    n, (_, state) = 1 << 18, run(p, cpu)
    for option, control in enumerate(p.payoffs.controls):
        rows = p.payoffs.rows(option)
        total, squares = (exact(sums) for sums in state["options"][0, rows][2:4])
        mean, variance = float(total / n), float(squares / n - (total / n) ** 2)
        shift = p.shifts[len(p.payoffs.trees) + option]
        assert abs(mean + shift - control.mean) < 4 * math.sqrt(variance / n)


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("antithetic", [False, True])
def test_every_style_has_the_same_price_on_a_gpu(backend, cpu, antithetic):
    p = problem(
        market={"correlation": RHO},
        asset=ASSETS,
        time={"steps": 12},
        paths={"count": 40 if backend.name == "cudasim" else 30_000, "antithetic": antithetic},
        option=[option for option, _ in MARKET],
    )
    found, expected = (run(p, on)[0]["options"] for on in (backend, cpu))
    for name, option in expected.items():
        for key in ("price", "standard_error"):
            assert found[name][key] == pytest.approx(option[key], rel=1e-11, abs=1e-13), name

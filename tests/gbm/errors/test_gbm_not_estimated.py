"""Greeks and standard errors that are not known: which, why, and that nothing is told where a price has a kink."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, problem, run
from running import call
from test_resume import write

from simsuite.backends import open_backend
from simsuite.solvers.gbm.payoffs.option_greeks import GREEKS
from simsuite.solvers.gbm.results.text_lines import NOT_ASKED, option_lines

BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0, "direction": "down", "knock": "out", "level": 90.0}
DIGITAL = {"style": "digital", "payoff": "call", "strike": 100.0}
AMERICAN = {"style": "american", "payoff": "put", "strike": 100.0}
EXCHANGE = {"style": "exchange", "assets": ["A", "B"]}
AT_ALL_TIMES = {"monitoring": "continuous"}
CHANGING = ASSET | {"volatility": [[0.0, 0.2], [0.5, 0.3]]}
STILL = ASSET | {"volatility": 0.0}


def formula(value: str) -> dict:
    return {"style": "expression", "value": value}


def reasons(option: dict, **changes) -> dict[str, str]:
    changes = {"time": {"steps": 4}} | changes
    (greeks,) = problem(option=[option | {"greeks": True}], **changes).payoffs.greeks
    assert set(greeks.reasons) == {name for name, method in greeks.methods.items() if method == "none"}
    return dict(greeks.reasons)


KINK = "the price has a kink just at the spot of 'A': its slopes to both sides differ"
SPOT_JUMPS = "the payoff jumps, and an extreme price may be the spot itself"
JUMPS = ASSET | {"jumps": {"intensity": 1.0, "mean": 0.0, "deviation": 0.1}}
LATE = ASSET | {"volatility": [[0.0, 0.0], [0.3, 0.2]]}
PAID = ASSET | {"dividends": [{"time": 0.5, "proportion": 0.02}]}
CASH = ASSET | {"dividends": [{"time": 0.5, "cash": 1.0}]}
LEVELS = {
    "paths": {"count": 1 << 16, "multilevel": True, "target_standard_error": 1.0},
    "time": {"steps": 16, "scheme": "milstein"},
}
FACTORS = "*".join(f"(last(A) - {k})" for k in range(100))
REASONS = [
    (AMERICAN, {"market": {"rate": [[0.0, 0.05], [0.5, 0.06]]}}, "gamma", "an American option's are estimated only"),
    (CALL, {"asset": [CASH]}, "delta", "a dividend is paid in cash"),
    (CALL, {"asset": [JUMPS]}, "gamma", "the law of the prices is not lognormal ('A' jumps)"),
    (DIGITAL, {"asset": [JUMPS]}, "delta", "the payoff jumps, and the law of the prices is not lognormal ('A' jumps)"),
    (
        CALL,
        {"time": {"steps": 4, "scheme": "euler"}},
        "rho",
        'the law of the prices is not lognormal (scheme = "euler")',
    ),
    (CALL, {"asset": [STILL]}, "vega", "'A' has no volatility"),
    (DIGITAL, {"asset": [STILL]}, "delta", "'A' has no volatility"),
    (EXCHANGE, {"asset": [ASSET, STILL]}, "gamma", "'B' has no volatility"),
    (BARRIER, {"asset": [LATE]}, "delta", "there is no volatility up to the first date"),
    (
        BARRIER,
        {"asset": [CHANGING]},
        "rho",
        "the payoff jumps, and looks at prices on several dates while a volatility",
    ),
    (BARRIER | AT_ALL_TIMES, {"asset": [CHANGING]}, "gamma", "a rate, a yield or the volatility changes while the"),
    (BARRIER | AT_ALL_TIMES, {"asset": [CHANGING]}, "theta", "a rate, a yield or the volatility changes while the"),
    (BARRIER | AT_ALL_TIMES, {"asset": [PAID]}, "vega", "a dividend is paid while the price is watched at all times"),
    (
        formula("where(mean(A) > mean(B), 1, 0)"),
        {"asset": [ASSET] * 2},
        "vega",
        "the payoff jumps, and looks at several",
    ),
    (formula("where(max(A) > 120, 1, 0)"), {}, "delta", SPOT_JUMPS),
    (formula("where(max(A) > 120, 1, 0)"), {}, "gamma", SPOT_JUMPS),
    (formula("max(max(A) - 110, 0)"), {}, "gamma", "an extreme price may be the spot itself"),
    (formula("max(max(A) - 100, 0)"), {}, "delta", KINK),
    (CALL, {"asset": [STILL], "market": {"rate": 0.0}}, "rho", "the price has a kink just at the spot of 'A', as 'A'"),
    (formula(FACTORS), {}, "gamma", "the payoff is too long an expression"),
    (CALL, LEVELS, "delta", "multilevel Monte Carlo estimates prices only"),
]


@pytest.mark.parametrize(("option", "changes", "greek", "reason"), REASONS)
def test_every_greek_that_is_not_estimated_has_a_reason(option, changes, greek, reason):
    assert reasons(option, **changes)[greek].startswith(reason)


def test_greeks_that_nobody_asked_for_are_not_missed(one_thread):
    results = run(problem(option=[CALL]), open_backend("cpu"))[0]
    found = results["options"]["option1"]
    assert found["reasons"] == dict.fromkeys(GREEKS, NOT_ASKED)
    assert len(option_lines(found, ["A"])) == 1


# ---- kinks


@pytest.mark.parametrize(
    ("value", "kinked"),
    [
        ("max(max(A) - 100, 0)", True),
        ("max(100 - min(A), 0)", True),
        ("abs(max(A) - 100)", True),
        ("max(max(A) - 100, 0) + max(mean(A) - 100, 0)", True),
        ("min(max(A), 100)", True),
        ("max(max(A) - 100.01, 0)", False),
        ("max(max(A) - 100, last(A) - 90)", False),
        ("max(max(A)/min(A) - 1, 0)", False),  # the same for any spot
        ("max(A) - last(A)", False),
        ("max(last(A) - 100, 0)", False),
    ],
)
def test_no_slope_where_the_price_of_an_expression_has_a_kink(value, kinked):
    """The spot is the largest price, or the least, with some probability."""
    found = reasons(formula(value))
    assert (found.get("delta") == KINK) is kinked
    assert not {"vega", "rho"} & found.keys()


def test_slopes_to_both_sides_differ_just_where_that_is_said(one_thread):
    """By the mean payoff itself a little below and above, on the same paths: to the left and to the right."""
    backend, values = open_backend("cpu"), []
    for spot in (99.9, 100.0, 100.1):
        p = problem(
            asset=[ASSET | {"spot": spot}],
            time={"steps": 3},
            paths={"count": 1 << 14},
            option=[formula("max(max(A) - 100, 0)"), formula("max(max(A) - 105, 0)")],
        )
        values.append([o["price"] for o in run(p, backend)[0]["options"].values()])
    left, right = np.diff(values, axis=0) / 0.1
    assert right[0] - left[0] > 0.1  # discounted, the probability that no price is above the spot
    assert abs(right[1] - left[1]) < 0.02
    assert "delta" in reasons(formula("max(max(A) - 100, 0)"), time={"steps": 3})
    assert "delta" not in reasons(formula("max(max(A) - 105, 0)"), time={"steps": 3})


@pytest.mark.parametrize(
    ("volatility", "precision", "said"),
    [
        (0.0, "float64", "'A' has no volatility"),
        (1e-20, "float64", "the volatility of 'A' is lost in rounding"),
        (1e-8, "float32", "the volatility of 'A' is lost in rounding"),
        (1e-8, "float64", None),
    ],
)
def test_a_kink_that_no_noise_smoothes_leaves_no_slope(volatility, precision, said):
    """A call at the money without interest: half of it is above the strike, as long as anything moves."""
    market, asset = {"rate": 0.0}, [ASSET | {"volatility": volatility}]
    found = reasons(CALL, market=market, asset=asset, run={"precision": precision})
    if said is None:
        assert not found
        return
    for name in ("delta", "gamma", "rho", "theta"):
        assert (
            found[name] == f"the price has a kink just at the spot of 'A', as {said}: its slopes to both sides differ"
        )
    assert found["vega"] == said
    beside = reasons(CALL | {"strike": 99.0}, market=market, asset=asset, run={"precision": precision})
    assert beside == dict.fromkeys(("gamma", "vega", "theta"), said)
    assert {"delta", "rho"} < reasons(ASIAN, market=market, asset=asset, run={"precision": precision}).keys()


def test_the_least_noise_that_is_resolved_gives_the_right_slope(one_thread):
    """By Black and Scholes: delta 1/2, gamma 1 / (S sigma sqrt(2 pi)), far from what rounding makes of them."""
    p = problem(
        market={"rate": 0.0},
        asset=[ASSET | {"volatility": 1e-12}],
        paths={"count": 1 << 14},
        option=[CALL | {"greeks": True}],
    )
    found = run(p, open_backend("cpu"))[0]["options"]["option1"]
    exact = {"delta": 0.5, "gamma": 1 / (100 * 1e-12 * math.sqrt(2 * math.pi)), "vega": 100 / math.sqrt(2 * math.pi)}
    for name, value in exact.items():
        assert abs(found[name][0] - value) < 4 * found[f"{name}_standard_error"][0]


# ---- errors that are not known


def test_errors_that_are_not_known_have_a_reason(one_thread):
    backend = open_backend("cpu")
    asian = ASIAN | {"strike": 1000.0, "control_variate": False, "greeks": True}
    unseen = run(problem(time={"steps": 2}, option=[asian]), backend)[0]["options"]["option1"]
    alike = "all paths gave the same, and what others would give is not known"
    assert unseen["reasons"]["standard_error"] == unseen["reasons"]["delta_standard_error"] == alike
    assert option_lines(unseen, ["A"])[-1].startswith("error unknown          price, delta, gamma, vega, rho, theta: ")
    single = run(problem(paths={"count": 2, "antithetic": True}, output={"store_paths": 2}), backend)[0]
    assert single["options"]["option1"]["reasons"]["standard_error"] == "1 antithetic pair cannot tell it"
    assert set(single["assets"]["A"]["reasons"]) == {"mean_standard_error", "std_standard_error", "quantile_ci95"}
    one = run(problem(paths={"count": 1}, output={"store_paths": 1}), backend)[0]["assets"]["A"]
    assert one["std"] is None
    assert one["reasons"]["std"] == "1 path cannot tell it"
    points = run(problem(paths={"sampling": "sobol"}), backend)[0]["assets"]["A"]
    assert set(points["reasons"].values()) == {"Sobol points are not independent of each other"}
    assert "reasons" not in run(problem(), backend)[0]["assets"]["A"]


def test_errors_that_are_not_known_by_some_assets_alone_name_these(one_thread):
    """No path has the third price as the lowest, nor the second one if that is high, too."""
    alike = "all paths gave the same, and what others would give is not known"
    far = ASSET | {"spot": 100_000.0}
    basket = {"style": "basket", "payoff": "put", "strike": 100.0, "combine": "min", "greeks": True}
    for assets, names in (([ASSET, ASSET, far], "'C'"), ([ASSET, far, far], "'B' and 'C'")):
        found = run(problem(asset=assets, option=[basket]), open_backend("cpu"))[0]["options"]["option1"]
        known = [error is not None for error in found["delta_standard_error"]]
        assert known == [len(assets) - names.count("'") // 2 > i for i in range(3)]
        assert found["reasons"]["delta_standard_error"] == f"by {names}, {alike}"
        unknown = [line for line in option_lines(found, "ABC") if line.startswith("error unknown")]
        assert unknown == [f"error unknown          delta, gamma, vega: by {names}, {alike}"]


def test_reasons_are_printed(tmp_path, capsys, one_thread):
    """In the lines of a run, and where many options make a table, by `info -v`."""
    for count in (1, 15):
        scenario = {
            "solver": "gbm",
            "market": {"rate": 0.05},
            "asset": [ASSET],
            "time": {"end": 1.0, "steps": 2},
            "paths": {"count": 1024, "sampling": "sobol"},
            "option": [formula("max(max(A) - 100, 0)")] * count,
        }
        path = write(tmp_path / "s.toml", scenario, {"run.device": "cpu"})
        told = call(capsys, "run", path, "-o", tmp_path / str(count)).stdout
        every = call(capsys, "info", "-v", tmp_path / str(count)).stdout
        line = f"not estimated          delta, gamma: {KINK}"
        assert line in every
        assert (line in told) is (count == 1)
        assert ("none, unknown: info -v says why" in told) is (count == 15)
        assert "unknown: mean standard error, std standard error, quantile interval: Sobol points are not" in told
        summary = json.loads((tmp_path / str(count) / "summary.json").read_text(encoding="utf-8"))
        assert summary["results"]["options"]["option1"]["reasons"] == {"delta": KINK, "gamma": KINK}

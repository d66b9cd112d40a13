"""Greeks against closed forms and their derivatives: every method, one asset and several, constant market or not."""

from __future__ import annotations

import dataclasses
import io
import itertools
import math
import re

import numba
import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.backends.program import compile_program
from simsuite.expressions import Expression
from simsuite.expressions.derivative import directional, is_lipschitz
from simsuite.expressions.tree import Name, Number
from simsuite.solvers.gbm import closed_forms as exact
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together
from simsuite.solvers.gbm.payoffs.functionals import CONTINUOUS, Kind
from simsuite.solvers.gbm.payoffs.payoffs import Payoffs
from simsuite.solvers.gbm.statistics.exact_sums import exact as exact_sum

GREEKS = ("delta", "gamma", "vega", "rho", "theta")
DATES = [i / 12 for i in range(1, 13)]
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0, "direction": "down", "knock": "out", "level": 90.0}
FLOATING = {"style": "lookback", "strike_type": "floating", "payoff": "put"}
FIXED = {"style": "lookback", "strike_type": "fixed", "payoff": "call", "strike": 110.0}
DIGITAL = {"style": "digital", "payoff": "put", "strike": 105.0, "cash": 2.0}
JUMPS = {"style": "expression", "value": "where(mean(A) > 100, last(A) - 90, 0)"}


@pytest.fixture(scope="module")
def cpu():
    return open_backend("cpu")


def asked(*options):
    return [option | {"greeks": True} for option in options]


def z_scores(option, expected, asset=0):
    """Of each Greek in units of its standard error, if there is an error."""
    found = {}
    for name in GREEKS:
        value, error = option[name], option[f"{name}_standard_error"]
        if isinstance(value, list):
            value, error = value[asset], error[asset]
        if error:
            found[name] = (value - getattr(expected, name)) / error
    return found


def on_dates(price):
    """Greeks of price(spot, steps, discount) for a year of twelve dates, rate 5 %, spot 100 and volatility 20 %."""
    return exact.greeks_by_differences(
        lambda s, r, g, v: price(s, exact.Steps.constant(g, v, DATES), math.exp(-r)), 100.0, 0.05, 0.05, 0.2, 0.05
    )


def arithmetic():
    found = on_dates(lambda s, steps, discount: discount * exact.arithmetic_mean_option(s, 100.0, steps, "call"))
    published = (0.5938539265, 0.0305779816, 23.0341505194)
    assert (found.delta, found.gamma, found.vega) == pytest.approx(published, rel=2e-7)
    return found


def highest():
    """A floating put is proportional to S(0), which is among its prices. Its theta is that of a fixed highest price so
    far, which the closed form takes from below."""
    steps, discount = exact.Steps.constant(0.05, 0.2, DATES), math.exp(-0.05)
    found = on_dates(lambda s, x, d: d * (s + exact.maximum_excess_on_dates(s, x, s)) - s)

    def still(s):
        return discount * (100.0 + exact.maximum_excess_on_dates(s, steps, 100.0)) - s

    fit = np.polynomial.Chebyshev.interpolate(np.vectorize(still), 24, domain=[88.0, 100.0])
    slope, bend = (float(fit.deriv(order)(100.0)) for order in (1, 2))
    theta = 0.05 * found.price - 0.05 * 100.0 * slope - (0.2 * 100.0) ** 2 / 2 * bend
    return exact.Greeks(found.price, found.price / 100.0, 0.0, found.vega, found.rho, theta)


USUAL = exact.Terms.constant(100, 0.05, 0.05, 0.2, 1.0)
CASES = {  # option: method of delta, and all Greeks
    "european": (CALL, "pathwise", lambda: exact.european_greeks(USUAL, 100, "call")),
    "digital": (
        DIGITAL,
        "likelihood ratio",
        lambda: exact.digital_greeks(USUAL, 105, "put", 2.0),
    ),
    "asian": (ASIAN, "pathwise", arithmetic),
    "plain asian": (ASIAN | {"control_variate": False}, "pathwise", arithmetic),
    "geometric": (
        ASIAN | {"average": "geometric"},
        "pathwise",
        lambda: exact.geometric_asian_greeks(100, 100, 0.05, 0.05, 0.2, 1.0, DATES, "call"),
    ),
    "barrier": (
        BARRIER,
        "likelihood ratio",
        lambda: on_dates(lambda s, x, d: d * exact.barrier_on_dates(s, 100.0, x, "call", "down", "out", 90.0)),
    ),
    "floating": (FLOATING, "pathwise", highest),
    "fixed": (FIXED, "pathwise", lambda: on_dates(lambda s, x, d: d * exact.maximum_excess_on_dates(s, x, 110.0))),
}
OPTIONS = asked(*(option for option, _, _ in CASES.values()))


@pytest.fixture(scope="module")
def expected():
    return {name: greeks() for name, (_, _, greeks) in CASES.items()}


@pytest.fixture(scope="module")
def seeds(cpu):
    """Results of 40 runs, every other one with antithetic paths."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # waiting for others would take most of the time of such short runs
    ways = [problem(time={"steps": 12}, paths={"count": 8192, "antithetic": a}, option=OPTIONS) for a in (False, True)]
    found = []
    for seed in range(1001, 1041):
        p = ways[seed % 2]
        drawn = p.scenario.run.model_copy(update={"seed": seed})
        p = dataclasses.replace(p, scenario=p.scenario.model_copy(update={"run": drawn}))
        found.append(run(p, cpu)[0]["options"])
    numba.set_num_threads(threads)
    return found


@pytest.mark.parametrize("i", range(len(CASES)), ids=CASES)
def test_errors_are_as_large_as_standard_errors_say(seeds, expected, i):
    name, (_, method, _) = list(CASES.items())[i]
    z = [z_scores(found[f"option{i + 1}"], expected[name]) for found in seeds]
    assert seeds[0][f"option{i + 1}"]["greeks_method"]["delta"] == method
    for greek in z[0]:
        scores = np.abs([scores[greek] for scores in z])
        assert 0.55 < scores.mean() < 1.05, greek
        assert scores.max() < 4, greek
    assert set(GREEKS) - set(z[0]) == ({"gamma"} if name == "floating" else set())


def test_controls_lower_the_errors_of_greeks_of_means(seeds):
    controlled, plain = (seeds[1][f"option{i}"] for i in (3, 4))
    for name in ("delta", "gamma", "vega"):
        assert controlled[f"{name}_standard_error"][0] < 0.5 * plain[f"{name}_standard_error"][0]


@pytest.mark.parametrize("precision", ["float32", "mixed"])
def test_other_precisions(cpu, expected, precision):
    p = problem(run={"precision": precision}, time={"steps": 12}, paths={"count": 1 << 16}, option=OPTIONS)
    found = run(p, cpu)[0]["options"]
    for option, greeks in zip(found.values(), expected.values()):
        assert max(map(abs, z_scores(option, greeks).values())) < 4


def test_in_a_market_that_changes(cpu):
    """vega is by a common relative change of all volatilities, over their root mean square; theta is today's."""
    rate, dividend, volatility = [[0.0, 0.08], [0.25, 0.01]], [[0.0, 0.0], [0.75, 0.04]], [[0.0, 0.1], [0.5, 0.4]]
    curves = [tuple(zip(*curve)) for curve in (rate, dividend, volatility)]
    level = math.sqrt(0.5 * 0.1**2 + 0.5 * 0.4**2)
    options = [CALL, DIGITAL, ASIAN | {"average": "geometric", "strike": 95.0}]
    p = problem(
        market={"rate": rate},
        asset=[ASSET | {"volatility": volatility, "dividend_yield": dividend}],
        time={"steps": 4},
        paths={"count": 1 << 17},
        option=asked(*options, BARRIER),
    )

    def terms(spot=100.0, shift=0.0, scale=1.0):
        (rates, dividends, sigmas) = curves
        moved = (rates[0], [r + shift for r in rates[1]]), dividends, (sigmas[0], [scale * v for v in sigmas[1]])
        return exact.Terms.piecewise(spot, *moved, 1.0), exact.Steps.piecewise(*moved, [0.25, 0.5, 0.75, 1.0])

    def geometric(t, steps):
        return t.discount * exact.lognormal_option(*exact.geometric_mean_law(t.spot, steps), 95.0, "call")

    def digital(t, steps):
        return exact.digital_greeks(t, 105, "put", 2.0).price

    prices = [lambda t, _: exact.european_price(t, 100.0, "call"), digital, geometric]
    found = run(p, cpu)[0]["options"]

    def greeks(price):
        value, (delta, gamma) = price(*terms()), exact.derivatives(lambda s: price(*terms(spot=s)), 100.0, 5.0)
        vega = exact.derivatives(lambda scale: price(*terms(scale=scale)), 1.0, 0.05)[0] / level
        rho = exact.derivatives(lambda shift: price(*terms(shift=shift)), 0.0, 0.01)[0]
        theta = 0.08 * value - 0.08 * 100.0 * delta - (0.1 * 100.0) ** 2 / 2 * gamma
        return exact.Greeks(value, delta, gamma, vega, rho, theta)

    for option, price in zip(found.values(), prices):
        z = z_scores(option, greeks(price))
        assert z.keys() == set(GREEKS)
        assert max(map(abs, z.values())) < 4
    assert found["option4"]["rho"] is found["option4"]["rho_standard_error"] is None
    assert found["option4"]["greeks_method"]["rho"] == "none"


def test_of_two_assets(cpu):
    """Exchange options in closed form; the same by scores, as an expression with a jump; an asset that has no part."""
    pair = [ASSET | {"dividend_yield": 0.01}, {"spot": 95.0, "volatility": 0.3, "dividend_yield": 0.03}]
    value = "where(last(A) > last(B), last(A) - last(B), 0)"
    p = problem(
        market={"correlation": [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]},
        asset=[*pair, ASSET],
        time={"steps": 1},
        paths={"count": 1 << 17},
        option=asked({"style": "exchange", "assets": ["A", "B"]}, {"style": "expression", "value": value}),
    )
    names = [*[(g, a) for g in ("spot", "volatility") for a in (0, 1)], ("end", 0)]

    def price(changed=("", 0), to=0.0):
        spots, volatilities, end = [100.0, 95.0], [0.2, 0.3], 1.0
        if changed[0] == "end":
            end = to
        elif changed[0]:
            {"spot": spots, "volatility": volatilities}[changed[0]][changed[1]] = to
        forwards = [s * math.exp((0.05 - q) * end) for s, q in zip(spots, (0.01, 0.03))]
        deviations = [v * math.sqrt(end) for v in volatilities]
        return exact.exchange(tuple(forwards), tuple(deviations), 0.5, math.exp(-0.05 * end))

    at = dict(zip(names, (100.0, 95.0, 0.2, 0.3, 1.0)))
    slopes = {key: exact.derivatives(lambda x, key=key: price(key, x), at[key], 0.05 * at[key]) for key in names}
    for option, method in zip(run(p, cpu)[0]["options"].values(), ("pathwise", "likelihood ratio")):
        assert option["greeks_method"]["delta"] == method
        for a in (0, 1):
            moved = slopes["spot", a], slopes["volatility", a][0]
            greeks = exact.Greeks(price(), *moved[0], moved[1], 0.0, -slopes["end", 0][0])
            z = z_scores(option, greeks, a)
            if method == "pathwise":  # what is homogeneous of degree 1 does not see the rate: 0 on every path
                assert option["rho"] == pytest.approx(0.0, abs=1e-9)
                z.pop("rho", None)
            assert max(map(abs, z.values())) < 4
        for name in ("delta", "gamma", "vega"):
            assert option[name][2] == option[f"{name}_standard_error"][2] == 0.0


HOMOGENEOUS = [
    ({"style": "exchange", "assets": ["A", "B"]}, 1),
    ({"style": "spread", "assets": ["B", "A"], "payoff": "put", "strike": 0.0}, 1),
    ({"style": "basket", "payoff": "call", "strike": 0.0, "weights": [1.0, -2.0]}, 1),
    (CALL | {"strike": 0.0}, 1),
    ({"style": "expression", "value": "where(last(A) > 2 * last(B), last(A), 0)"}, 1),
    ({"style": "expression", "value": "sqrt(last(A) * last(B)) + hypot(last(A), last(B))"}, 1),
    ({"style": "expression", "value": "10 * max(last(A) / last(B) - 2, 0)"}, 0),
    ({"style": "expression", "value": "where(last(A) > 2 * last(B), 10, 0)"}, 0),
    ({"style": "expression", "value": "max(last(A)**2 - 3 * last(A) * last(B), 0)"}, 2),
    ({"style": "expression", "value": "1000 / last(A)"}, -1),
]


@pytest.mark.parametrize("jumps", [False, True])
def test_the_rho_of_homogeneous_payoffs_follows_from_the_price(cpu, jumps):
    """Prices on the same paths with the rate moved to both sides tell the same, as prices at the end all grow alike."""
    falls = {"jumps": {"intensity": 0.5, "mean": -0.1, "deviation": 0.2}} if jumps else {}
    second = {"name": "B", "spot": 50.0, "volatility": [[0.0, 0.3], [0.5, 0.2]], "dividend_yield": 0.02}
    market = {"correlation": [[1.0, 0.4], [0.4, 1.0]]}
    cases = [case for case in HOMOGENEOUS if not jumps or "value" not in case[0]]  # payoffs that jump would have none
    contracts = asked(*(option for option, _ in cases))
    given = {"asset": [ASSET | falls, second], "time": {"end": 2.0, "steps": 4}, "option": contracts}

    def options(rate):
        return run(problem(market=market | {"rate": [[0.0, rate], [1.0, rate + 0.01]]}, **given), cpu)[0]["options"]

    lower, found, higher = (list(options(rate).values()) for rate in (0.03 - 1e-4, 0.03, 0.03 + 1e-4))
    for (option, degree), below, here, above in zip(cases, lower, found, higher):
        quotient = (above["price"] - below["price"]) / 2e-4
        assert here["rho"] == pytest.approx(quotient, rel=1e-6, abs=1e-9 * here["price"]), option
        assert here["rho_standard_error"] == pytest.approx(abs(degree - 1) * 2.0 * here["standard_error"], rel=1e-9)
        assert here["greeks_method"]["rho"] == "homogeneity"


@pytest.mark.parametrize("price", ["last(A) - 1", "mean(A)", "max(A)"])
def test_other_payoffs_have_a_rho_of_their_own(cpu, price):
    """With a strike, or with prices at other dates, which grow by less."""
    second = {"name": "B", "spot": 90.0, "volatility": 0.3}
    market = {"rate": 0.05, "correlation": [[1.0, 0.4], [0.4, 1.0]]}
    contracts = asked({"style": "expression", "value": f"max({price} - last(B), 0)"})
    p = problem(asset=[ASSET, second], market=market, time={"steps": 4}, option=contracts)
    (option,) = run(p, cpu)[0]["options"].values()
    assert option["greeks_method"]["rho"] == "pathwise"
    assert abs(option["rho"]) > 5 * option["rho_standard_error"] > 0


def test_what_controls_of_greeks_average_to(cpu):
    """In a market that changes, with prices fixed before the start; and of a geometric basket; and of scores."""
    basket = {"style": "basket", "payoff": "put", "strike": 65.0, "weights": [0.4, 0.6]}
    asian = {"style": "asian", "payoff": "call", "strike": 95.0, "fixings": [0.25, 0.5, 1.0], "past_fixings": [90.0]}
    p = problem(
        market={"rate": [[0.0, 0.08], [0.25, 0.01]], "correlation": [[1.0, 0.3], [0.3, 1.0]]},
        asset=[
            ASSET | {"volatility": [[0.0, 0.1], [0.5, 0.4]]},
            {"spot": 40.0, "volatility": [[0.0, 0.5], [0.25, 0.2]]},
        ],
        time={"steps": 4},
        paths={"count": 1 << 17},
        option=asked(asian, basket, BARRIER),
    )
    n, (_, state) = p.scenario.paths.count, run(p, cpu)
    means = [mean for of in p.payoffs.greek_means for mean in of.values()]
    controlled = [mean for mean in means if mean.control is not None]
    assert len(controlled) == 5 + 8 + 4
    for mean in controlled:
        total, squares = map(exact_sum, state["options"][0, mean.rows][2:4])
        variance = float(squares / n - (total / n) ** 2)
        shift = float(p.shifts[mean.control])
        assert abs(float(total / n) + shift - mean.control_mean) < 4 * math.sqrt(variance / n)


def test_a_drift_that_is_given_leaves_the_discount_to_rho(cpu):
    p = problem(market={"drift": 0.1}, paths={"count": 1024}, option=asked(CALL))
    found = run(p, cpu)[0]["options"]["option1"]
    assert found["rho"] == pytest.approx(-found["price"], rel=1e-12)


def test_with_jumps_there_are_delta_and_rho(cpu):
    """Of payoffs without jumps; by Merton's formula."""
    jumps = {"intensity": 1.0, "mean": -0.1, "deviation": 0.15}
    p = problem(
        asset=[ASSET | {"jumps": jumps, "dividend_yield": 0.02}],
        time={"steps": 3},
        paths={"count": 1 << 17},
        option=asked(CALL, DIGITAL),
    )
    call, digital = run(p, cpu)[0]["options"].values()

    def price(spot, rate, growth, volatility):
        return exact.merton(spot, 100.0, rate, growth, volatility, 1.0, 1.0, -0.1, 0.15, "call")

    z = z_scores(call, exact.greeks_by_differences(price, 100.0, 0.05, 0.03, 0.2, 0.05))
    assert z.keys() == {"delta", "rho"}
    assert max(map(abs, z.values())) < 4
    assert call["greeks_method"] == {"delta": "pathwise", "rho": "pathwise"} | dict.fromkeys(GREEKS[1:3], "none") | {
        "theta": "none"
    }
    assert set(digital["greeks_method"].values()) == {"none"}


def test_prices_are_those_without_greeks(cpu):
    for precision in ("float64", "float32"):
        plain, more = (
            run(problem(run={"precision": precision}, time={"steps": 12}, option=options), cpu)[0]["options"]
            for options in ([o | {"greeks": False} for o in OPTIONS], OPTIONS)
        )
        for name, option in plain.items():
            assert (option["price"], option["standard_error"]) == (more[name]["price"], more[name]["standard_error"])
            assert option["delta"] == [None]
            assert set(option["greeks_method"].values()) == {"none"}


def test_what_has_no_volatility_has_no_vega(cpu):
    p = problem(asset=[ASSET | {"volatility": 0.0}], time={"steps": 4}, option=asked(CALL, ASIAN, BARRIER))
    call, asian, barrier = run(p, cpu)[0]["options"].values()
    assert call["delta"] == [pytest.approx(1.0)]
    assert asian["rho"] is not None
    for option in (call, asian, barrier):
        assert option["vega"] == option["gamma"] == [None]
    assert barrier["delta"] == [None]


def simple(antithetic=True, precision="float64", count=30_000, kernel="auto"):
    """Every kind of functional."""
    return problem(
        run={"precision": precision, "kernel": kernel},
        asset=[ASSET, ASSET | {"volatility": [[0.0, 0.2], [0.5, 0.3]]}],
        time={"steps": 6},
        paths={"count": count, "antithetic": antithetic},
        option=asked(
            ASIAN, BARRIER | {"asset": "B", "dates": 3}, FLOATING | {"payoff": "call"}, FIXED | {"asset": "B"}, JUMPS
        ),
    )


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 5e-6)])
def test_what_is_kept_of_paths_is_the_same_on_a_gpu(backend, cpu, precision, tolerance):
    p = simple(precision=precision, count=8)
    assert {f.kind for f in p.payoffs.functionals} == set(Kind) - CONTINUOUS - {Kind.EXERCISED, Kind.AT_EXERCISED}
    kept = []
    for on in (backend, cpu):
        paths = dataclasses.replace(p, payoffs=Payoffs((), (), p.payoffs.functionals, (), ()))
        stepper = paths.stepper(on, paths.initial())
        stepper.advance(paths.clock.end - 1)  # within the last block, which is done as a whole
        kept.append(copied(stepper.snapshot()).arrays["kept"])
    np.testing.assert_allclose(*kept, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
def test_on_a_gpu_they_are_the_same(backend, cpu):
    found, expected = (outcome(simple(kernel="numba"), backend), outcome(simple(), cpu))
    for name, a in expected.items():
        if a.dtype.kind == "f":
            np.testing.assert_allclose(found[name], a, rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 2e-3), ("mixed", 1e-4)])
@pytest.mark.parametrize("antithetic", [False, True])
def test_readable_and_fast_kernels_agree(backend, precision, tolerance, antithetic):
    ways = (simple(antithetic, precision, 70_000, kernel) for kernel in ("numba", "nvrtc"))
    readable, fast = (run(p, backend)[0]["options"] for p in ways)
    for name in readable:
        for greek in GREEKS:
            for part in ("", "_standard_error"):
                values = [np.array(of[name][greek + part], float) for of in (fast, readable)]
                np.testing.assert_allclose(*values, rtol=tolerance, atol=tolerance, err_msg=f"{name} {greek}{part}")


COMPILED = [*itertools.product(("float64", "float32", "mixed"), (1, 5))]


@pytest.mark.parametrize("case", others_long(COMPILED, {("float64", 1), ("float32", 1), ("float64", 5)}), ids=str)
def test_programs_compile_without_spills(case):
    precision, assets = case
    options = [ASIAN, BARRIER, FIXED] if assets == 1 else [{"style": "basket", "payoff": "call", "strike": 100.0}]
    correlation = 0.3 * np.ones((assets, assets)) + 0.7 * np.eye(assets)
    p = problem(
        run={"precision": precision},
        market={"correlation": correlation.tolist()},
        asset=[ASSET] * assets,
        time={"steps": 10},
        paths={"antithetic": True},
        option=asked(*options),
    )
    programs = [(PATHS, paths_macros(p, *SHAPES[0]))] if assets == 1 else []
    rows = max(rows_together(p), key=len)
    for source, macros in [*programs, (PAYOFFS, payoffs_program(p, rows)[0])]:
        log = io.StringIO()
        compile_program(source, macros, "sm_90", log)
        assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}


# ---- derivatives of expressions


@pytest.mark.parametrize(
    "text",
    ["max(x*y - 3, y/x) + exp(-x)*y**3", "min(x, y, 2)*abs(x - y)", "log(x)*sin(y) - cos(x*y)/y**2", "sqrt(x*y)"],
)
def test_directional_derivatives_are_those_of_sympy(text):
    expression = Expression.parse(text, ("x", "y"))
    rng = np.random.default_rng(1)
    values = {name: rng.uniform(0.5, 3.0, 50) for name in "xy"}
    found = directional(expression.tree, {"x": Number(2.0), "y": Name("x")})
    along = 2.0 * expression.derivative("x")(**values) + values["x"] * expression.derivative("y")(**values)
    np.testing.assert_allclose(Expression.from_tree(found, ("x", "y"))(**values), along, rtol=1e-12, atol=1e-12)


def test_what_stands_still_has_slope_0_whatever_is_done_to_it():
    tree = Expression.parse("floor(x) + atan2(x, 2)*sign(x) + y", ("x", "y")).tree
    assert directional(tree, {}) == Number(0.0)
    assert directional(tree, {"y": Number(1.0)}) == Number(1.0)
    with pytest.raises(ValueError, match="floor"):
        directional(tree, {"x": Number(1.0)})


def test_payoffs_of_any_function_have_greeks(cpu):
    """exp(-rT) E sqrt(S_T) = sqrt(S_0) exp(-(r + volatility^2 / 4) T / 2); floor has jumps."""
    options = asked(*({"style": "expression", "value": f"{name}(last(A))"} for name in ("sqrt", "floor")))
    found, _ = run(problem(paths={"count": 1 << 16}, option=options), cpu)
    root, whole = found["options"].values()
    price = 10 * np.exp(-(0.05 + 0.01) / 2)
    expected = {"delta": [price / 200], "gamma": [-price / 4e4], "vega": [-price / 20], "rho": -price / 2}
    assert root["greeks_method"]["delta"] == "pathwise"
    assert whole["greeks_method"]["delta"] == "likelihood ratio"
    for name, value in expected.items():
        assert np.all(np.abs(np.subtract(root[name], value)) < 4 * np.array(root[f"{name}_standard_error"])), name
    assert abs(whole["delta"][0] - 1) < 4 * whole["delta_standard_error"][0]


@pytest.mark.parametrize(
    ("text", "smooth"),
    [
        ("max(x - 1, 0)/(x + y)", True),
        ("exp(-abs(x - y))", True),
        ("where(x > 1, x, 0)", False),
        ("sign(x - y)", False),
        ("(x - 1)/abs(x - 1)", False),
        ("sqrt(x)", True),
        ("sqrt(x - y)", False),
        ("max(x/(-2.0)**2 - 5, 0)", True),
        ("max(x/abs(-4) - 5, 0)", True),
        ("x/(-3) + (3 > 2)*x", True),
        ("x/(2 - 2)", False),
        ("x/(y - 2)", False),
    ],
)
def test_what_has_jumps_or_infinite_slopes(text, smooth):
    tree = Expression.parse(text, ("x", "y")).tree
    assert is_lipschitz(tree, frozenset("xy")) == smooth


@pytest.mark.parametrize("payoff", ["call", "put"])
def test_no_slope_where_the_price_of_a_lookback_has_a_kink(payoff):
    """On dates, with the strike at the spot, which is the extreme with some probability: slopes to the left and to the
    right differ. At all times, or with another strike, they do not."""
    lookback = {"style": "lookback", "payoff": payoff, "strike_type": "fixed", "strike": 100.0, "greeks": True}
    kinked, beside, smooth = problem(
        option=[lookback, lookback | {"strike": 100.01}, lookback | {"monitoring": "continuous"}], time={"steps": 3}
    ).payoffs.greeks
    assert {name for name, method in kinked.methods.items() if method == "none"} == {"delta", "gamma"}
    assert "none" not in {*beside.methods.values(), *smooth.methods.values()}

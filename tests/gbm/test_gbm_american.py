"""American options: rules of exercise against least squares by LAPACK, prices against exact ones, and bit for bit."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda  # noqa: F401
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run
from sm90 import others_long, ptx_of

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.core import Backend
from simsuite.solvers.gbm.add_paths import with_added_paths
from simsuite.solvers.gbm.american.exercise_policy import untrained_policy
from simsuite.solvers.gbm.american.regression import judgement, learn
from simsuite.solvers.gbm.american.regression_launches import REGRESSION, learn_by_program, regression_macros
from simsuite.solvers.gbm.closed_forms import bermudan, european
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together
from simsuite.solvers.gbm.payoffs.exercise_rights import TERMS, learning_steps
from simsuite.solvers.gbm.payoffs.functionals import Right
from simsuite.solvers.gbm.problem import GbmProblem

PUT = {"style": "american", "payoff": "put", "strike": 100.0}
CALL_ON_B = {"style": "american", "payoff": "call", "strike": 100.0, "asset": "B"}
GPU = pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)


def mixture(precision="float64", count=40, regression=300, batch=None, antithetic=False, kernel="auto") -> GbmProblem:
    """American options on two assets, with dates that differ, beside others."""
    return problem(
        run={"precision": precision, "kernel": kernel},
        market={"rate": [[0.0, 0.08], [0.5, 0.03]], "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET, ASSET | {"volatility": 0.4, "dividend_yield": 0.1}],
        time={"end": 1.5, "steps": 10},
        paths={"count": count, "regression": regression, "antithetic": antithetic}
        | ({"batch": batch} if batch else {}),
        option=[CALL, PUT, ASIAN | {"fixings": 5}, CALL_ON_B | {"exercise": 4, "degree": 2}],
        output={"frames": 4, "store_paths": 7},
    )


def noise_to_learn_from(p: GbmProblem, n: int) -> np.ndarray:
    """[date, asset, path]: of random numbers that are not simsuite's."""
    steps = learning_steps(p.holders)
    variance = np.diff(p.dynamics.variance(steps), prepend=0.0).T[:, :, None]
    rng = np.random.default_rng(3)
    return np.cumsum(np.sqrt(variance) * rng.standard_normal((len(steps), p.n_assets, n)), axis=0).astype(p.dtype)


# ---- rules


@pytest.mark.parametrize(("payoff", "degree"), [("put", 1), ("put", 3), ("call", 3), ("call", 8)])
def test_rules_are_those_of_least_squares_on_the_same_paths(payoff, degree):
    """As they stand in the paper: with discounted cash flows and powers of the price, by `numpy.linalg.lstsq`."""
    asset = {"spot": 100.0, "volatility": 0.3, "dividend_yield": 0.06}
    option = PUT | {"payoff": payoff, "degree": degree, "exercise": 6}
    p = problem(market={"rate": 0.06}, asset=[asset], time={"end": 2.0, "steps": 12}, option=[option])
    noise, steps = noise_to_learn_from(p, 4000), learning_steps(p.holders)
    policy = learn(CpuBackend(), p.holders, steps, noise, untrained_policy(p))
    times = steps / 6
    prices = 100 * np.exp(np.log(2) * noise[:, 0] - 0.3**2 / 2 * times[:, None])
    exercise = (prices - 100) * (1 if payoff == "call" else -1)
    cash, discount = np.maximum(exercise[-1], 0), math.exp(-0.06 / 3)
    for i in reversed(range(5)):
        cash *= discount
        inside = exercise[i] > 0
        s = prices[i, inside]
        x = 100 / s if payoff == "call" else s / 100
        weight = x if payoff == "call" else np.ones_like(x)
        powers = (x - 0.8)[:, None] ** np.arange(degree + 1)
        gain = cash[inside] - exercise[i, inside]
        fit = powers @ np.linalg.lstsq(powers * weight[:, None], gain * weight, rcond=None)[0]
        centre = float(np.exp2(p.dynamics.centre(steps)[0, i]))
        found = judgement(policy[i], s / 100 / centre if payoff == "put" else 100 / s * centre, degree)
        found *= 100 * math.exp(-0.06 * (2 - times[i]))
        np.testing.assert_allclose(found, fit, rtol=0, atol=1e-8 * np.abs(fit).max())
        cash[inside] = np.where(fit <= 0, exercise[i, inside], cash[inside])
    assert policy[:5, TERMS].all()


def test_the_program_learns_the_same_as_arithmetic_on_arrays(host_cuda: HostCuda):  # noqa: F811
    p = mixture()
    noise, steps, holders = noise_to_learn_from(p, 2500), learning_steps(p.holders), p.holders[1:]
    expected = learn(host_cuda, holders, steps, noise, untrained_policy(p))
    found = untrained_policy(p)
    learn_by_program(host_cuda, holders, steps, noise, found)
    assert np.abs(expected[holders[0].rows.start : -1, TERMS + 2]).min() > 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("degree", [3, 8])
def test_without_volatility_exercise_is_at_once(degree):
    """All prices are one, which gives no slope: the rule is the constant that is left."""
    p = problem(
        asset=[{"spot": 100.0, "volatility": 0.0}],
        time={"steps": 4},
        option=[PUT | {"strike": 120.0, "degree": degree}],
    )
    results, state = run(p, CpuBackend())
    option = results["options"]["option1"]
    assert option["price"] == pytest.approx(math.exp(-0.05 / 4) * 120 - 100, rel=1e-13)
    assert option["exercise_probability"] == 1
    assert np.count_nonzero(state["policy"][:, TERMS:]) == 3  # on the dates before the last


def test_what_is_never_in_the_money_is_held():
    results, state = run(problem(time={"steps": 4}, option=[PUT | {"strike": 1.0}]), CpuBackend())
    assert results["options"]["option1"]["price"] == results["options"]["option1"]["exercise_probability"] == 0
    np.testing.assert_array_equal(state["policy"][:, TERMS], [1, 1, 1, 0])


# ---- prices


@pytest.mark.parametrize("precision", others_long(["float32", "mixed"], {"float32"}))
def test_prices_of_longstaff_and_schwartz(precision):
    """Of their table 1, which has 50 dates a year. A polynomial of degree 3 loses a bit."""
    cases = [(36.0, 0.2), (44.0, 0.2), (36.0, 0.4), (44.0, 0.4)]
    names = "ABCD"
    p = problem(
        run={"precision": precision},
        market={"rate": 0.06},
        asset=[{"spot": s, "volatility": v} for s, v in cases],
        time={"steps": 50},
        paths={"count": 1 << 16, "antithetic": True},
        option=[PUT | {"strike": 40.0, "asset": name} for name in names],
    )
    found = run(p, CpuBackend())[0]["options"].values()
    for (spot, volatility), option in zip(cases, found):
        exact = bermudan(spot, 40, 0.06, 0.06, volatility, 1.0, 50, "put")
        assert -0.002 * exact - 3 * option["standard_error"] < option["price"] - exact < 3 * option["standard_error"]
        assert option["standard_error"] < 0.02
        assert option["exercise_dates"] == 50
        assert option["regression_paths"] == 1 << 16
    assert bermudan(36, 40, 0.06, 0.06, 0.2, 1.0, 50, "put") == pytest.approx(4.47781111, abs=1e-8)


def test_prices_are_biased_low_and_little():
    """Over many seeds: a put, and a call on an asset with a dividend yield."""
    z, bias = [], []
    exact = [bermudan(100, 100, 0.05, 0.05, 0.2, 1.0, 10, "put"), bermudan(100, 100, 0.05, -0.05, 0.4, 1.0, 5, "call")]
    for seed in range(1, 31):
        p = problem(
            run={"seed": seed},
            asset=[ASSET, ASSET | {"volatility": 0.4, "dividend_yield": 0.1}],
            time={"steps": 10},
            paths={"count": 8192},
            option=[PUT, CALL_ON_B | {"exercise": 5}],
        )
        options = run(p, CpuBackend())[0]["options"].values()
        z.append([(o["price"] - e) / o["standard_error"] for o, e in zip(options, exact)])
        bias.append([o["price"] / e - 1 for o, e in zip(options, exact)])
    mean = np.mean(z, axis=0) * math.sqrt(30)
    assert np.all(mean < 3)
    assert np.all(np.mean(bias, axis=0) > -0.01)
    assert np.all(np.abs(z) < 4)


def test_a_single_date_makes_a_european_option():
    """In a market that changes, with a dividend; exercise is as probable as a digital option pays."""
    option = {"payoff": "put", "strike": 105.0}
    p = problem(
        market={"rate": [[0.0, 0.08], [0.5, 0.03]]},
        asset=[ASSET | {"dividends": [{"time": 0.5, "proportion": 0.1}]}],
        time={"steps": 12},
        option=[PUT | option | {"exercise": 1}, CALL | option, {"style": "digital"} | option],
    )
    american, plain, digital = run(p, CpuBackend())[0]["options"].values()
    assert american["price"] == pytest.approx(plain["price"], rel=1e-13)
    assert american["standard_error"] == pytest.approx(plain["standard_error"], rel=1e-11)
    assert american["exercise_probability"] * p.discount == pytest.approx(digital["price"], rel=1e-13)
    error = american["exercise_probability_standard_error"] * p.discount
    assert error == pytest.approx(digital["standard_error"], rel=1e-11)
    assert "exercise_probability" not in plain


def test_two_dates_in_a_market_that_changes():
    """Rate, volatility and a dividend change between the dates: against an integral over the first one's prices."""
    p = problem(
        market={"rate": [[0.0, 0.12], [0.5, 0.02]]},
        asset=[
            {"spot": 100.0, "volatility": [[0.0, 0.2], [0.5, 0.3]], "dividends": [{"time": 0.75, "proportion": 0.1}]}
        ],
        time={"steps": 4},
        paths={"count": 1 << 17, "antithetic": True},
        option=[PUT | {"strike": 110.0, "exercise": 2}, PUT | {"payoff": "call", "exercise": 2, "degree": 5}],
    )
    found = list(run(p, CpuBackend())[0]["options"].values())
    y = np.linspace(-9, 9, 4001)
    first = 100 * np.exp(0.06 - 0.01 + 0.2 * math.sqrt(0.5) * y)
    for option, strike, sign, payoff in zip(found, (110, 100), (-1, 1), ("put", "call")):
        later = [european(0.9 * s, strike, 0.02, 0.02, 0.3, 0.5, payoff) for s in first]
        best = np.maximum(sign * (first - strike), later)
        exact = math.exp(-0.06) * np.trapezoid(best * np.exp(-y * y / 2), y) / math.sqrt(2 * math.pi)
        assert abs(option["price"] - exact) < 4 * option["standard_error"] < 0.15


# ---- bit for bit


def test_batches_and_cuts_change_nothing(backend: Backend):
    if backend.name == "cudasim":
        pytest.skip("batches have 1024 paths at least")
    expected = outcome(mixture(count=3000), backend)
    p = mixture(count=3000, batch=1024)
    for parts in ([], [1, 2, 9, 11]):
        found = outcome(p, backend, parts)
        for name in ("option_price", "option_exercise_probability", "state policy"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_restarting_changes_nothing(backend: Backend):
    p = mixture("float32", antithetic=True)
    expected = outcome(p, backend)
    stepper = p.stepper(backend, p.initial())
    for step in range(p.clock.end):
        start = copied(stepper.snapshot())
        stepper.advance(1)
        if backend.name != "cudasim" or step == 5:
            left = outcome(p, backend, start=start)
            for name in left:
                np.testing.assert_array_equal(left[name], expected[name], err_msg=name)


def test_an_extended_run_goes_by_the_same_rules():
    """Its first paths begin amid a group, whose end is made again and taken off."""
    few, many, cpu = mixture(count=2500), mixture(count=4000, batch=2048), CpuBackend()
    stepper = few.stepper(cpu, few.initial())
    stepper.advance(few.clock.end)
    start = with_added_paths(many, few, copied(stepper.snapshot()), cpu)
    assert start.arrays["done"][0] == 2048
    left, expected = outcome(many, cpu, start=start), outcome(many, cpu)
    for name in ("option_price", "option_exercise_probability", "state policy"):
        np.testing.assert_array_equal(left[name], expected[name])


def test_a_run_goes_by_the_rules_that_it_began_with():
    """They are taken from the state, not learnt again."""
    p = mixture()
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(1)
    start = copied(stepper.snapshot())
    start.arrays["policy"][:, TERMS] = 1e9
    left = outcome(p, CpuBackend(), start=start)
    assert left["option_exercise_probability"][1] < outcome(p, CpuBackend())["option_exercise_probability"][1]


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "antithetic", "tolerance"), [("float64", False, 1e-9), ("float32", True, 2e-4)])
def test_readable_kernels_agree_with_those_for_the_cpu(backend: Backend, precision, antithetic, tolerance):
    p = mixture(precision, antithetic=antithetic, kernel="numba" if backend.name != "cudasim" else "auto")
    found, expected = outcome(p, backend), outcome(p, CpuBackend())
    assert found.keys() == expected.keys()
    for name in ("state policy", "option_price", "option_exercise_probability"):
        np.testing.assert_allclose(found[name], expected[name], rtol=tolerance, atol=tolerance, err_msg=name)


@GPU
@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-9), ("mixed", 2e-3), ("float32", 2e-3)])
def test_fast_kernels_agree_with_those_for_the_cpu(backend: Backend, precision, tolerance, antithetic):
    """With float32 prices, paths near the boundary are decided otherwise now and then."""
    found, expected = {}, {}
    for on, left in ((backend, found), (CpuBackend(), expected)):
        p = mixture(precision, 70_000, 30_000, antithetic=antithetic, kernel="nvrtc" if on is backend else "auto")
        left |= outcome(p, on)
    np.testing.assert_allclose(found["state policy"], expected["state policy"], rtol=0, atol=tolerance)
    rtol = 1e-10 if precision == "float64" else 3e-3
    for name in ("option_price", "option_standard_error", "option_exercise_probability"):
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, err_msg=name)


@GPU
def test_launches_and_batches_change_nothing_on_a_gpu(backend: Backend, monkeypatch):
    found = []
    for batch, shape in ((None, (256, 4)), (20_480, (64, 1)), (1024, (512, 2))):
        monkeypatch.setattr("simsuite.solvers.gbm.paths.launches_nvrtc.SHAPES", (shape,))
        left = outcome(mixture("float32", 50_000, 20_000, batch), backend)
        found.append({name: left[name] for name in ("option_price", "option_standard_error", "state policy")})
    for other in found[1:]:
        for name, a in found[0].items():
            np.testing.assert_array_equal(other[name], a, err_msg=name)


# ---- memory, and what the compiler makes of the programs


def test_device_bytes_bound_what_is_allocated():
    allocated = []

    class Counting(CpuBackend):
        def array(self, host):
            allocated.append(super().array(host))
            return allocated[-1]

        def zeros(self, shape, dtype):
            allocated.append(super().zeros(shape, dtype))
            return allocated[-1]

    p = mixture(count=3000)
    p.stepper(Counting(), p.initial())
    once = sum(a.nbytes for a in allocated)
    assert once <= p.device_bytes() < 1.3 * once
    steps = {"end": 1.0, "steps": 10**8}
    assert problem(time=steps, option=[PUT]).device_bytes() > 10**8 * 1024 * 8


@pytest.mark.parametrize(
    ("degree", "precision", "antithetic"), [(3, "float32", False), (8, "mixed", False), (8, "float64", True)]
)
def test_programs_compile_without_spills(degree, precision, antithetic):
    p = problem(
        run={"precision": precision},
        asset=[ASSET, ASSET],
        time={"steps": 10},
        paths={"antithetic": antithetic},
        option=[PUT | {"degree": degree}, CALL_ON_B | {"exercise": 5, "degree": degree}],
    )
    sources = [(PATHS, paths_macros(p, *SHAPES[1])), (PAYOFFS, payoffs_program(p, rows_together(p)[0])[0])]
    if precision != "mixed":
        sources.append((REGRESSION, regression_macros(Right(precision == "float64", 1.0, degree), p.dtype)))
    for source, macros in sources:
        log = io.StringIO()
        compile_program(source, macros, "sm_90", log)
        assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
        assert set(re.findall(r"(\d+) bytes stack", log.getvalue())) == {"0"}
    if precision == "float32":
        code = ptx_of(program_text(*sources[0]))
        assert ".f64" not in re.sub(r"^\.const.*$", "", code, flags=re.MULTILINE)

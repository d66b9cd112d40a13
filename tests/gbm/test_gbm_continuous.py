"""Barriers and lookbacks watched at all times: with any number of steps the price, the law and the bits are right."""

from __future__ import annotations

import io
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from gbm_problems import ASSET, CALL, copied, outcome, problem, run
from scipy.integrate import quad
from scipy.stats import kstest
from sm90 import compile_sm90, few, others_long, ptx_of
from test_gbm_exactness import assert_same_bits, results_by_time_step, signatures, simulated

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.solvers.gbm.closed_forms import european
from simsuite.solvers.gbm.closed_forms.continuous_barriers import barrier
from simsuite.solvers.gbm.closed_forms.extremes import maximum_tail, minimum_tail
from simsuite.solvers.gbm.closed_forms.lookbacks import fixed_lookback, floating_lookback
from simsuite.solvers.gbm.closed_forms.vanilla import truncated_option
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS

WATCHED = {"monitoring": "continuous"}
BARRIER = {"style": "barrier", "payoff": "call", "strike": 100.0} | WATCHED
DOWN, UP = {"direction": "down", "level": 90.0}, {"direction": "up", "level": 115.0}
FLOATING = {"style": "lookback", "strike_type": "floating"} | WATCHED
FIXED = {"style": "lookback", "strike_type": "fixed", "strike": 103.0} | WATCHED
BARRIERS = [
    BARRIER | side | {"payoff": payoff, "knock": knock, "rebate": 3.0}
    for payoff, side, knock in itertools.product(("call", "put"), (DOWN, UP), ("out", "in"))
]
LOOKBACKS = [kind | {"payoff": payoff} for kind, payoff in itertools.product((FLOATING, FIXED), ("call", "put"))]
PAYING = [{"time": 0.5, "proportion": 0.05}, {"time": 1.0, "proportion": 0.03}]
CHANGING = [[0.0, 0.1], [0.5, 0.3]]


def closed_form(option: dict[str, Any], rate: float = 0.05, volatility: float = 0.2) -> float:
    """Spot 100, a year."""
    market, payoff = (rate, rate, volatility, 1.0), option["payoff"]
    if option["style"] == "barrier":
        side = (option["direction"], option["knock"], option["level"])
        return barrier(100.0, option["strike"], *market, payoff, *side, option["rebate"])
    if "strike" in option:
        return fixed_lookback(100.0, option["strike"], *market, payoff)
    return floating_lookback(100.0, *market, payoff)


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return open_backend("cpu")


def errors(p: GbmProblem, expected: list[float], backend: Any) -> np.ndarray:
    """In standard errors."""
    options = run(p, backend)[0]["options"].values()
    assert all(option["standard_error"] > 0 for option in options)
    return np.array([(option["price"] - value) / option["standard_error"] for option, value in zip(options, expected)])


@pytest.mark.parametrize(
    ("precision", "steps", "antithetic"),
    [("float64", 1, False), ("float64", 12, True), ("float32", 3, True), ("mixed", 3, False)],
)
def test_prices_have_no_bias_for_any_number_of_steps(cpu, precision, steps, antithetic):
    """Over many seeds, errors are as large as the standard errors say, of all eight barriers and all four lookbacks."""
    options = [*BARRIERS, *LOOKBACKS]
    expected, z = [closed_form(option) for option in options], []
    for seed in range(1, 31):
        run_, paths = {"precision": precision, "seed": seed}, {"count": 1 << 14, "antithetic": antithetic}
        z.append(errors(problem(run=run_, time={"steps": steps}, paths=paths, option=options), expected, cpu))
    assert np.abs(z).max() < 4
    assert 0.55 < np.abs(z).mean() < 1.05


@pytest.mark.parametrize(
    ("precision", "steps", "twins"),
    others_long(
        [("float64", 1, False), ("float64", 5, True), ("float32", 5, True), ("mixed", 2, False)],
        {("float64", 1, False), ("float32", 5, True), ("mixed", 2, False)},
        several=True,
    ),
)
def test_extremes_have_the_law_of_those_of_a_brownian_motion(cpu, precision, steps, twins):
    """twins: of the second paths of pairs only, which are as independent of each other as the first."""
    n = 1 << 13
    p = problem(
        run={"precision": precision},
        time={"steps": steps},
        paths={"count": n, "antithetic": twins},
        option=[FLOATING | {"payoff": "call"}, FLOATING | {"payoff": "put"}],
    )
    lowest, highest = 100 * np.exp2(run(p, cpu)[1]["kept"].astype(np.float64))[:, twins :: 1 + twins]
    below = np.vectorize(lambda level: minimum_tail(100.0, 0.05, 0.2, 1.0, level))
    beyond = np.vectorize(lambda level: maximum_tail(100.0, 0.05, 0.2, 1.0, level))
    assert kstest(lowest, below).pvalue > 0.01
    assert kstest(highest, lambda level: 1 - beyond(level)).pvalue > 0.01


@pytest.mark.parametrize("steps", [2, 3])
def test_volatility_that_changes(cpu, steps):
    """With rates in proportion to its square, the clock alone runs faster: also amid a step."""
    options = [*BARRIERS, *LOOKBACKS]
    p = problem(
        market={"rate": [[t, v * v] for t, v in CHANGING]},
        asset=[ASSET | {"volatility": CHANGING}],
        time={"steps": steps},
        paths={"count": 1 << 17},
        option=options,
    )
    assert np.abs(errors(p, [closed_form(o, 0.05, math.sqrt(0.05)) for o in options], cpu)).max() < 4


@pytest.mark.parametrize("steps", [2, 6])
def test_a_dividend_can_take_a_price_beyond_a_barrier(cpu, steps):
    """Half way and at the end, when the price falls to the level from above it."""
    r, sigma, level, strike, share = 0.05, 0.2, 90.0, 80.0, 0.1
    option = BARRIER | DOWN | {"knock": "out", "strike": strike}

    def half(z: float) -> float:
        x = (r - sigma**2 / 2) / 2 + sigma * math.sqrt(0.5) * z
        away = math.log(100 / level)
        survival = -math.expm1(-2 * away * (away + x) / (sigma**2 / 2))
        later = barrier((1 - share) * 100 * math.exp(x), strike, r, r, sigma, 0.5, "call", "down", "out", level)
        return math.exp(-z * z / 2) * survival * later

    fallen = level / (1 - share)  # before it was paid
    at_least = (math.log(fallen / 100) - (r - sigma**2 / 2) / 2) / (sigma * math.sqrt(0.5))
    half_way = math.exp(-r / 2) / math.sqrt(2 * math.pi) * quad(half, at_least, 9, epsabs=1e-10)[0]

    starts = np.array([100.0, level**2 / 100]) * math.exp(r)  # the same by reflection, of what pays above `fallen` only
    direct, mirrored = truncated_option(starts, sigma, strike / (1 - share), "call", fallen, math.inf)
    mirrored *= (level / 100) ** (2 * r / sigma**2 - 1)
    in_the_end = math.exp(-r) * (1 - share) * float(direct - mirrored)
    for time, expected in ((0.5, half_way), (1.0, in_the_end)):
        asset = ASSET | {"dividends": [{"time": time, "proportion": share}]}
        p = problem(asset=[asset], time={"steps": steps}, paths={"count": 1 << 17}, option=[option])
        assert abs(errors(p, [expected], cpu)[0]) < 4


def test_extremes_before_and_after_a_dividend(cpu):
    """One that takes most of the price at the end: the highest was before it, the lowest is what it leaves."""
    asset = ASSET | {"dividends": [{"time": 1.0, "proportion": 0.9}]}
    options = [FIXED | {"payoff": "call"}, FIXED | {"payoff": "put"}, FLOATING | {"payoff": "put"}]
    p = problem(asset=[asset], time={"steps": 3}, paths={"count": 1 << 17}, option=options)
    highest = fixed_lookback(100.0, 0.0, 0.05, 0.05, 0.2, 1.0, "call")
    expected = [closed_form(options[0]), 103 * math.exp(-0.05) - 10.0, highest - 10.0]
    assert np.abs(errors(p, expected, cpu)).max() < 4


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_price_without_noise(backend, precision):
    """Grows to 105.13: whether a barrier is reached is certain, and so are the extremes."""
    out = BARRIER | {"knock": "out", "rebate": 2.0}
    options = [out | DOWN, out | UP, out | UP | {"level": 105.0}, *LOOKBACKS]
    still = ASSET | {"volatility": 0.0}
    p = problem(run={"precision": precision}, asset=[still], time={"steps": 5}, paths={"count": 30}, option=options)
    found = [option["price"] * math.exp(0.05) for option in run(p, backend)[0]["options"].values()]
    end = 100 * math.exp(0.05)
    expected = [end - 100, end - 100, 2.0, end - 100, 0.0, end - 103, 3.0]
    np.testing.assert_allclose(found, expected, rtol=1e-12 if precision == "float64" else 1e-4, atol=1e-4)


def test_out_and_in_make_a_vanilla_option_on_every_path(cpu):
    option = BARRIER | UP
    options = [CALL, option | {"knock": "out"}, option | {"knock": "in"}]
    call, *parts = run(problem(time={"steps": 3}, option=options), cpu)[0]["options"].values()
    assert sum(part["price"] for part in parts) == pytest.approx(call["price"], rel=1e-13)
    far = run(problem(option=[option | {"knock": "in", "level": 1e9, "rebate": 7.0}]), cpu)[0]["options"]["option1"]
    assert far["price"] == pytest.approx(7 * math.exp(-0.05), rel=1e-14)


def test_expectations_over_bridges_are_surer_than_dates(cpu):
    """At as many steps, an option that is void by a probability has a smaller error than one that is void or not."""
    option, paths = BARRIER | UP | {"knock": "out"}, {"count": 1 << 15}
    watched = run(problem(time={"steps": 50}, paths=paths, option=[option]), cpu)[0]["options"]["option1"]
    dates = option | {"monitoring": "discrete"}
    discrete = run(problem(time={"steps": 50}, paths=paths, option=[dates]), cpu)[0]["options"]["option1"]
    assert watched["standard_error"] < discrete["standard_error"]
    vanilla = european(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, "call")
    assert watched["price"] < discrete["price"] < vanilla


# ---- bit for bit, and on GPUs


def several(
    precision="float64",
    count=40,
    batch=None,
    steps=6,
    antithetic=False,
    kernel="auto",
    volatility: Any = CHANGING,
    greeks=True,
) -> GbmProblem:
    """All kinds on two assets, one of which pays dividends, with Greeks, beside options that look at dates."""
    on_both = [o | {"greeks": greeks} for o in (BARRIER | DOWN | {"knock": "out"}, *LOOKBACKS[:2])]
    other = {"style": "lookback", "strike_type": "floating", "payoff": "put", "dates": 3, "asset": "B"}
    return problem(
        run={"precision": precision, "kernel": kernel},
        market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET | {"dividends": PAYING}, ASSET | {"volatility": volatility}],
        time={"steps": steps},
        paths={"count": count, "antithetic": antithetic} | ({"batch": batch} if batch else {}),
        option=[*on_both, *(o | {"asset": "B"} for o in on_both), BARRIER | UP | {"knock": "in", "rebate": 1.0}, other],
        output={"frames": 3, "store_paths": 5},
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_batches_cuts_and_restarts_change_nothing(backend, precision):
    if simulated(backend):
        if precision == "float64":
            pytest.skip("one precision is enough for the simulator")
        p = several(precision, 6)
        expected, left = outcome(p, backend), outcome(p, backend, [1, 2, 3])
        assert_same_bits(left, expected)
        return
    expected = results_by_time_step(several(precision, 2500), backend)
    p = several(precision, 2500, 1024)
    found = results_by_time_step(p, backend, [3, 9, 1])
    assert_same_bits({name: a for name, a in found.items() if name in expected}, expected)
    assert "option_price" in expected
    stepper = p.stepper(backend, p.initial())
    whole = outcome(p, backend)
    for step in range(1, p.clock.end, 2):
        stepper.advance(step - stepper.step)
        left = outcome(p, backend, start=copied(stepper.snapshot()))
        for name, a in left.items():
            np.testing.assert_array_equal(a, whole[name], err_msg=name)


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "antithetic", "tolerance"), [("float64", True, 1e-12), ("mixed", False, 5e-6)])
def test_cuda_kernels_agree_with_those_for_the_cpu(backend, cpu, precision, antithetic, tolerance):
    p = several(precision, 20 if backend.name != "cudasim" else 8, antithetic=antithetic)
    (results, found), (expected_results, expected) = run(p, backend), run(p, cpu)
    for name in ("x", "kept"):
        np.testing.assert_allclose(found[name], expected[name], rtol=20 * tolerance, atol=tolerance, err_msg=name)
    for option, other in zip(results["options"].values(), expected_results["options"].values()):
        assert option["price"] == pytest.approx(other["price"], rel=20 * tolerance, abs=tolerance)
        error = other["standard_error"]  # not known of the option that knocks in: so few paths come near its barrier
        assert option["standard_error"] == (error and pytest.approx(error, rel=20 * tolerance, abs=tolerance))


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda"], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 2e-5), ("mixed", 1e-5)])
@pytest.mark.parametrize("antithetic", [False, True])
def test_readable_and_fast_kernels_and_the_cpu_agree(backend, cpu, precision, tolerance, antithetic):
    """At sizes that are a multiple of nothing."""
    for count, steps, volatility in (
        (7 + antithetic, 3, 0.2),
        (70_001 + antithetic, 38, CHANGING),
        (1_000_003 - antithetic, 3, 0.2),
    ):
        results = [
            results_by_time_step(several(precision, count, None, steps, antithetic, kernel, volatility), on)
            for kernel, on in (("numba", backend), ("nvrtc", backend), ("auto", cpu))
        ]
        for found in results[1:]:
            for name, a in results[0].items():
                np.testing.assert_allclose(found[name], a, rtol=50 * tolerance, atol=tolerance, err_msg=name)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda"], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
def test_launches_and_batches_change_nothing(backend, monkeypatch, precision):
    found = []
    for batch, shape in ((None, (256, 4)), (14_336, (64, 1)), (1024, (512, 2))):
        monkeypatch.setattr("simsuite.solvers.gbm.paths.launches_nvrtc.SHAPES", (shape,))
        found.append(results_by_time_step(several(precision, 100_000, batch), backend))
    for other in found[1:]:
        assert_same_bits({name: a for name, a in other.items() if name in found[0]}, found[0])


# ---- what the compiler makes of the CUDA kernels


ALL = (5, 0, -1, 0, 0), (6, 1, -1, 0, 0), (7, 0, -1, 0, 0), (4, 1, 0, 0, 0)
SLOPES = (7, 0, -1, 0, 0), (17, 0, -1, 0, 0), (17, 0, -1, 1, 0)
AT_EXTREMES = (6, 1, -1, 0, 0), (16, 1, -1, 0, 0)


STEPPED = [
    *(("float32", functionals) for functionals in (ALL, SLOPES, AT_EXTREMES)),
    ("mixed", SLOPES),
    ("float64", AT_EXTREMES),
]


@pytest.mark.parametrize("case", others_long(STEPPED, {("float32", ALL), ("mixed", SLOPES)}), ids=str)
def test_step_kernel_lives_in_registers(case):
    from numba import types

    from simsuite.solvers.gbm.paths.kernels.paths_cuda import make_advance

    precision, functionals = case
    state, normal = PRECISIONS[precision]
    signature = signatures(getattr(types, state.name), getattr(types, normal.name))["advance"]
    ptx, info = compile_sm90(make_advance(2, functionals, state, normal, StepTerms.none(2)), signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= 168
    if precision == "float32":
        assert ".f64" not in ptx


def programs() -> dict[str, tuple[Any, dict[str, str | int]]]:
    found = {}
    for precision, antithetic in zip(PRECISIONS, (True, False, True)):
        for option in (BARRIERS[0], LOOKBACKS[0], BARRIERS[0] | {"greeks": True}, LOOKBACKS[1] | {"greeks": True}):
            paths, greeks = {"antithetic": True}, " with Greeks" if "greeks" in option else ""
            p = problem(run={"precision": precision}, paths=paths, time={"steps": 10}, option=[option])
            found[f"{option['style']}{greeks} {precision}"] = PATHS, paths_macros(p, *SHAPES[0])
        p = several(precision, antithetic=antithetic, greeks=False)
        found[f"several {precision}"] = PATHS, paths_macros(p, *SHAPES[0])
    for rows in rows_together(p):
        found[f"payoffs {rows}"] = PAYOFFS, payoffs_program(p, rows)[0]
    return found


PROGRAMS = programs()


@pytest.mark.parametrize("name", others_long(PROGRAMS, few(PROGRAMS, 1)))
def test_programs_compile_without_spills(name):
    source, macros = PROGRAMS[name]
    log = io.StringIO()
    compile_program(source, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
    if "float32" in name:
        assert "%fd" not in ptx_of(program_text(source, macros))

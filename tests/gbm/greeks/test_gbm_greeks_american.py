"""Greeks of American options: against derivatives of exact prices, and the same on every device."""

from __future__ import annotations

import io
import re

import numba
import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, outcome, problem, run
from test_gbm_greeks import GREEKS, asked, z_scores

from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program
from simsuite.solvers.gbm.closed_forms import bermudan, greeks_by_differences
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.payoffs.functionals import Kind
from simsuite.solvers.gbm.problem import GbmProblem

PUT = {"style": "american", "payoff": "put", "strike": 100.0}
GPU = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return open_backend("cpu")


@pytest.mark.parametrize(
    ("option", "rate", "growth", "volatility"),
    [(PUT | {"exercise": 10}, 0.05, 0.05, 0.2), (PUT | {"payoff": "call", "exercise": 5}, 0.05, -0.05, 0.4)],
)
def test_they_are_derivatives_of_exact_prices(cpu, option, rate, growth, volatility):
    """But for a bias of about 1 %, what the rule misses."""

    def price(spot, r, g, sigma):
        return bermudan(spot, 100.0, r, g, sigma, 1.0, option["exercise"], option["payoff"])

    expected, found = greeks_by_differences(price, 100.0, rate, growth, volatility, 0.03), []
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # waiting for others would take most of the time of such short runs
    for seed in range(1, 13):
        p = problem(
            run={"seed": seed},
            market={"rate": rate},
            asset=[{"spot": 100.0, "volatility": volatility, "dividend_yield": rate - growth}],
            time={"steps": 10},
            paths={"count": 1 << 14, "regression": 1 << 14, "antithetic": seed % 2 == 0},
            option=asked(option),
        )
        found.append(run(p, cpu)[0]["options"]["option1"])
    numba.set_num_threads(threads)
    assert found[0]["greeks_method"] == dict(zip(GREEKS, ("pathwise", "mixed", "pathwise", "pathwise", "mixed")))
    for name in GREEKS:
        values = np.array([np.ravel(each[name])[0] for each in found])
        exact, error = getattr(expected, name), values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - exact) < 0.01 * abs(exact) + 3 * error, name
        assert error < (0.01 if name in ("delta", "vega", "rho") else 0.06) * abs(exact), name
        z = [z_scores(each, expected)[name] for each in found]
        assert 0.4 < np.std(z) < 2.5, name  # rules differ, too, of which standard errors do not tell


def test_on_one_date_they_are_european(cpu):
    """Nothing is to be decided then: the same paths give the same Greeks, also where volatilities change."""
    asset = ASSET | {"volatility": [[0.0, 0.1], [0.5, 0.3]], "dividends": [{"time": 0.25, "proportion": 0.05}]}
    european = {"style": "european", "payoff": "put", "strike": 100.0}
    for drift in ({}, {"drift": 0.02}):
        p = problem(
            market={"rate": 0.05} | drift,
            asset=[asset],
            time={"steps": 4},
            paths={"count": 4096},
            option=asked(PUT | {"exercise": 1}, european),
        )
        american, plain = run(p, cpu)[0]["options"].values()
        for name in GREEKS:
            for part in ("", "_standard_error"):
                within = 5e-3 if part else 1e-9  # errors say what is known of jumps
                assert american[name + part] == pytest.approx(plain[name + part], rel=within)


def test_where_the_rate_changes_there_are_none(cpu):
    p = problem(market={"rate": [[0.0, 0.05], [0.5, 0.02]]}, time={"steps": 4}, option=asked(PUT))
    assert set(run(p, cpu)[0]["options"]["option1"]["greeks_method"].values()) == {"none"}


def mixture(precision: str = "float64", count: int = 40, antithetic: bool = False, kernel: str = "auto") -> GbmProblem:
    """Two that go by dates of their own, beside what goes by others."""
    return problem(
        run={"precision": precision, "kernel": kernel},
        time={"steps": 6},
        paths={"count": count, "regression": 100 if count < 100 else 4096, "antithetic": antithetic},
        option=asked(PUT | {"strike": 110.0}, ASIAN, PUT | {"payoff": "call", "exercise": 3}),
    )


@pytest.mark.parametrize("backend", ["cudasim", GPU], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 5e-6)])
def test_what_is_kept_of_paths_is_the_same_on_a_gpu(backend, cpu, precision, tolerance):
    if backend.name == "cudasim" and precision == "float64":
        pytest.skip("one precision is enough for the simulator")
    p = mixture(precision, 12, antithetic=True)
    found, expected = (run(p, on)[1]["kept"] for on in (backend, cpu))
    noted = [f.kind == Kind.AT_EXERCISED for f in p.payoffs.functionals]
    assert sum(noted) == 4
    assert np.count_nonzero(expected[noted]) > 10
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("backend", [GPU], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-9), ("float32", 5e-3), ("mixed", 5e-3)])
@pytest.mark.parametrize("antithetic", [False, True])
def test_readable_and_fast_kernels_agree(backend, cpu, precision, tolerance, antithetic):
    ways = [("numba", backend), ("nvrtc", backend), ("auto", cpu)]
    first, *others = (outcome(mixture(precision, 70_000, antithetic, kernel), on) for kernel, on in ways)
    for found in others:
        for name, a in first.items():
            if name.startswith("option_"):
                np.testing.assert_allclose(found[name], a, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
def test_programs_compile_without_spills(precision):
    p = problem(run={"precision": precision}, time={"steps": 8}, paths={"antithetic": True}, option=asked(PUT))
    log = io.StringIO()
    compile_program(PATHS, paths_macros(p, *SHAPES[0]), "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}

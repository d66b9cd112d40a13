"""Jumps, dividends in cash and schemes bit for bit, and on GPUs; and what compilers make of their kernels."""

from __future__ import annotations

import io
import itertools
import re

import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run
from sm90 import compile_sm90, others_long, ptx_of
from test_gbm_exactness import signatures

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.solvers.gbm.market.schemes import Scheme
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS

pytestmark = pytest.mark.usefixtures("one_thread")

JUMPS = {"intensity": 1.5, "mean": -0.1, "deviation": 0.15}
MANY = {"intensity": 300.0, "mean": 0.001, "deviation": 0.01}  # tables that do not begin with 0
CASH = [{"time": 0.6, "cash": 5.0}, {"time": 0.9, "proportion": 0.1}, {"time": 0.9, "cash": 25.0}]
BARRIER = {"style": "barrier", "payoff": "put", "strike": 90.0, "direction": "down", "knock": "in", "level": 80.0}
BOTH = pytest.mark.parametrize("scheme", ["exact", "milstein"])


def moving(scheme, precision="float64", count=40, batch=None, antithetic=False, kernel="auto") -> GbmProblem:
    """Everything at once, with a price that often falls to 0, and functionals at every step and at some."""
    return problem(
        run={"precision": precision, "kernel": kernel},
        market={"rate": [[0.0, 0.05], [0.7, 0.02]], "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[
            ASSET | {"jumps": JUMPS},
            {"spot": 40.0, "volatility": [[0.0, 0.4], [1.5 * 4 / 11, 0.6]], "jumps": MANY, "dividends": CASH},
        ],
        time={"end": 1.5, "steps": 11, "scheme": scheme},
        paths={"count": count, "antithetic": antithetic} | ({"batch": batch} if batch else {}),
        option=[
            CALL,
            CALL | {"payoff": "put", "asset": "B", "strike": 30.0},
            ASIAN | {"asset": "B", "strike": 25.0},
            ASIAN | {"average": "geometric", "fixings": 3, "asset": "B", "strike": 20.0, "payoff": "put"},
            BARRIER | {"asset": "A", "dates": 4},
        ],
        output={"frames": 4, "store_paths": min(7, count)},
    )


def of_rows(problem: GbmProblem, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rows and totals, with the time steps of rows in place of those of the run."""
    kept = {}
    for name, a in found.items():
        if not name.startswith("state"):
            name, _, step = name.partition("@")
            kept[f"{name}@{problem.position(int(step))[0]}" if step else name] = a
    return kept


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, a in expected.items():
        np.testing.assert_array_equal(found[name], a, err_msg=name)


@BOTH
def test_batches_change_nothing(backend, scheme):
    if backend.name == "cudasim":
        pytest.skip("1026 paths take too long")
    for precision, antithetic in (("float64", True), ("float32", False)):
        one, several = (moving(scheme, precision, 2500, batch, antithetic) for batch in (None, 1024))
        expected = of_rows(one, outcome(one, backend))
        found = of_rows(several, outcome(several, backend, [3, 9, 1]))
        assert_same_bits({name: a for name, a in found.items() if name in expected}, expected)


@BOTH
def test_cuts_and_restarts_change_nothing(backend, scheme):
    if backend.name == "cudasim" and scheme == "exact":
        pytest.skip("one scheme is enough where paths are slow")
    p = moving(scheme, count=4 if backend.name == "cudasim" else 1500, antithetic=True)
    expected = outcome(p, backend)
    assert_same_bits(outcome(p, backend, [1, 2, 1, 4, 1]), expected)
    for step in (5,) if backend.name == "cudasim" else (1, 5, 7, 10):
        stepper = p.stepper(backend, p.initial())
        stepper.advance(step)
        left = outcome(p, backend, start=copied(stepper.snapshot()))
        later = {name: a for name, a in expected.items() if int(name.partition("@")[2] or p.clock.end) > step}
        assert_same_bits(left, later)


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(
    ("scheme", "precision", "antithetic", "tolerance"),
    [("exact", "float64", False, 1e-12), ("euler", "float64", True, 1e-12), ("milstein", "float32", False, 2e-5)],
)
def test_cuda_kernels_agree_with_those_for_the_cpu(backend, scheme, precision, antithetic, tolerance):
    """`chosen` on a GPU is the fast kernel."""
    count = 12 if backend.name == "cudasim" else 2000
    p = moving(scheme, precision, count, antithetic=antithetic)
    found, expected = outcome(p, backend), outcome(p, CpuBackend())
    x, expected_x = run(p, backend)[1]["x"], run(p, CpuBackend())[1]["x"]
    assert np.any(expected_x < -1e29)
    for name, a in expected.items():
        if a.dtype.kind == "f" and not name.startswith("state"):
            np.testing.assert_allclose(found[name], a, rtol=50 * tolerance, atol=tolerance, err_msg=name)
    alive = expected_x > -1e29
    np.testing.assert_array_equal(x > -1e29, alive)
    prices, expected_prices = np.exp2(x[alive]), np.exp2(expected_x[alive])  # of which cash leaves next to nothing
    np.testing.assert_allclose(prices, expected_prices, rtol=tolerance, atol=tolerance)
    assert found["state histogram"].sum() == expected["state histogram"].sum() >= 2 * 2 * count  # frames, assets


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("scheme", ["exact", "euler", "milstein"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 1e-4), ("mixed", 1e-5)])
@pytest.mark.parametrize("antithetic", [False, True])
def test_readable_and_fast_kernels_on_a_gpu_agree(backend, scheme, precision, tolerance, antithetic):
    found = {}
    for kernel in ("numba", "nvrtc"):
        p = moving(scheme, precision, 70_000, antithetic=antithetic, kernel=kernel)
        stepper = p.stepper(backend, p.initial())
        assert stepper.chosen == {"kernel": kernel}
        found[kernel] = of_rows(p, outcome(p, backend))
    for name, a in found["numba"].items():
        loose = 50 * tolerance if precision == "float64" else 1e-3
        np.testing.assert_allclose(found["nvrtc"][name], a, rtol=loose, atol=100 * tolerance, err_msg=name)


READABLE = [*((scheme, "float32") for scheme in Scheme), (Scheme.EULER, "mixed"), (Scheme.MILSTEIN, "float64")]
SOME_READABLE = {(Scheme.EULER, "float32")}


@pytest.mark.parametrize("case", others_long(READABLE, SOME_READABLE), ids=str)
def test_readable_kernel_lives_in_registers(case):
    from numba import types

    from simsuite.solvers.gbm.paths.kernels.paths_cuda import make_advance

    scheme, precision = case
    state, normal = PRECISIONS[precision]
    signature = signatures(getattr(types, state.name), getattr(types, normal.name))["advance"]
    step_terms = StepTerms(scheme, (True, False), (False, True))
    ptx, info = compile_sm90(make_advance(2, ((1, 0, -1, 0, 0), (3, 1, 0, 0, 0)), state, normal, step_terms), signature)
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] <= 32  # normals of a block, whose steps are too long to be unrolled
    if precision == "float32":
        assert ".f64" not in ptx


KINDS = {
    "jumps": ("exact", {"jumps": JUMPS}),
    "cash": ("exact", {"dividends": CASH}),
    "both": ("milstein", {"jumps": JUMPS, "dividends": CASH}),
}
COMPILED = [*itertools.product(PRECISIONS, KINDS)]
SOME_COMPILED = {("float64", "both"), ("float32", "jumps"), ("float32", "both"), ("mixed", "cash")}


@pytest.mark.parametrize("case", others_long(COMPILED, SOME_COMPILED), ids=str)
def test_programs_compile_without_spills(case):
    precision, (scheme, besides) = case[0], KINDS[case[1]]
    for antithetic, assets in ((False, 1), (True, 2)):
        p = problem(
            run={"precision": precision},
            asset=[ASSET | besides] * assets,
            time={"end": 1.5, "steps": 10, "scheme": scheme},
            paths={"antithetic": antithetic},
            option=[ASIAN, BARRIER],
        )
        macros, log = paths_macros(p, *SHAPES[0]), io.StringIO()
        compile_program(PATHS, macros, "sm_90", log)
        assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
        if precision == "float32" and assets == 1:
            assert not re.findall(r"^\s*\w[\w.]*\.f64.*;", ptx_of(program_text(PATHS, macros)), re.MULTILINE)

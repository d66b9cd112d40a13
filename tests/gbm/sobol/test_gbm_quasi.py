"""Runs on Sobol points: who has which, errors that fall faster and are as large as they say."""

from __future__ import annotations

import io
import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run, two_assets
from scipy.stats import norm
from scipy.stats import t as student
from sm90 import others_long

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program
from simsuite.scenario.gbm import GROUP
from simsuite.solvers.gbm.closed_forms import european, geometric_asian
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SOBOL_SHAPES, paths_macros
from simsuite.solvers.gbm.random_numbers import numbering
from simsuite.solvers.gbm.random_numbers.numbering import most_threads, shared_out
from simsuite.solvers.gbm.random_numbers.numbering_kernels import point_of, runs

__all__ = ["host_cuda"]  # a fixture

GEOMETRIC = ASIAN | {"average": "geometric"}


pytestmark = pytest.mark.usefixtures("one_thread")


# ---- who has which

SHARED = [(3 * 40, 3), (2 * (GROUP * 2 + 700), 2), (3 * (GROUP + 341), 3), (70 * 9, 70), (4 * GROUP, 4), (5000, 1)]


@pytest.mark.parametrize(("count", "replicates"), SHARED)
def test_every_replicate_has_its_first_points(count: int, replicates: int) -> None:
    shared = np.array(shared_out(count, replicates))
    places = np.array([point_of(p, *shared) for p in range(count)])
    for r in range(replicates):
        assert sorted(places[places[:, 0] == r, 1]) == list(range(count // replicates))
    whole = shared[1]
    of_group = places[:whole, 0].reshape(-1, GROUP)
    assert (of_group == of_group[:, :1]).all()
    longer = np.array(shared_out(count + 3 * GROUP * replicates, replicates))
    assert all(point_of(p, *longer)[:2] == tuple(places[p, :2]) for p in range(whole))


@pytest.mark.parametrize(("count", "replicates"), SHARED)
def test_runs_do_not_depend_on_batches(count: int, replicates: int) -> None:
    shared = np.array(shared_out(count, replicates))
    expected = runs(0, count, GROUP, shared)
    assert (expected[1:, 0] == expected[:-1, 1]).all()
    for begin, end, replicate, point in expected:
        assert end - begin <= GROUP
        assert all(point_of(begin + j, *shared)[:2] == (replicate, point + j) for j in range(end - begin))
    batch = 2 * GROUP
    cut = []
    for first in range(0, count, batch):
        own = runs(first, min(batch, count - first), GROUP, shared)
        own[:, :2] += first
        cut.append(own)
    np.testing.assert_array_equal(np.concatenate(cut), expected)


@pytest.mark.parametrize(("count", "replicates"), SHARED)
def test_programs_share_likewise(host_cuda: HostCuda, tmp_path: Path, count: int, replicates: int) -> None:
    """The source itself: see `cuda_host`."""
    header = Path(numbering.__file__).with_name("numbering.cuh").read_text(encoding="utf-8")
    source = tmp_path / "program.cu"
    source.write_text(header + (Path(__file__).with_name("numbering_points.cu")).read_text(encoding="utf-8"))
    program, shared = host_cuda.program(source, {"GROUP": GROUP}), shared_out(count, replicates)
    passed = np.uint32(shared[0]), np.uint64(shared[1]), np.uint32(shared[2])
    for first in range(0, count, 2 * GROUP):
        n = min(2 * GROUP, count - first)
        found = np.full((n, 2), -1)
        threads = most_threads(n, shared)
        program.launcher("places", -(-threads // 64), 64)(found, np.uint32(n), np.uint64(first), *passed)
        expected = [point_of(first + i, *shared)[:2] for i in range(n)]
        np.testing.assert_array_equal(found, expected)
        found = np.full((n, 2), -1)
        program.launcher("pieces", replicates, 1)(found, np.uint32(n), np.uint64(first), *passed)
        own = runs(first, n, GROUP, np.array(shared))
        np.testing.assert_array_equal(found[found[:, 0] >= 0], own[:, 1:3])
        np.testing.assert_array_equal(np.flatnonzero(found[:, 0] >= 0), own[:, 0])


# ---- prices


def test_errors_fall_faster_than_those_of_random_numbers() -> None:
    """European and Asian prices at 16 dates, against closed forms."""
    exact = [european(100, 100, 0.05, 0.05, 0.2, 1.0, "call")]
    exact.append(geometric_asian(100, 100, 0.05, 0.05, 0.2, 1.0, [(k + 1) / 16 for k in range(16)], "call"))
    counts, errors = [16 << m for m in (6, 8, 10, 12)], []
    for count in counts:
        p = problem(time={"steps": 16}, paths={"count": count, "sampling": "sobol"}, option=[CALL, GEOMETRIC])
        results, _ = run(p, CpuBackend())
        assert results["replicates"] == 16
        found = list(results["options"].values())
        for option, expected in zip(found, exact):
            error = option["standard_error"]
            assert abs(option["price"] - expected) < 4.5 * error
            low, high = option["ci95"]  # parts of the error are known, so Student's law counts for less than all of it
            assert option["price"] - low == pytest.approx(high - option["price"], rel=1e-9)
            assert (
                norm.ppf(0.975) * error
                <= (high - low) / 2 * (1 + 1e-12)
                <= student(15).ppf(0.975) * error * (1 + 2e-12)
            )
        errors.append([option["standard_error"] for option in found])
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert (order > 0.85).all(), "0.5 is that of random numbers"
    assert errors[-1][0] < 14.7 / math.sqrt(counts[-1]) / 10, "of random numbers, a tenth"


def test_standard_errors_are_as_large_as_errors() -> None:
    """Of a price, of one with a control variate, and of one of two assets whose volatilities change."""
    volatility = [[0.0, 0.2], [0.5, 0.4]]
    rms = math.sqrt((0.2**2 + 0.4**2) / 2)
    covariance = 0.6 * 0.2 * (0.2 + 0.4) / 2
    spread = math.sqrt(0.2**2 + rms**2 - 2 * covariance)
    exact = [
        european(100, 100, 0.05, 0.05, 0.2, 1.0, "call"),
        6.1560407664,
        european(90, 90, 0.05, 0.05, rms, 1.0, "put"),
        european(100, 90, 0.0, 0.0, spread, 1.0, "call"),  # W. Margrabe: with the other asset as unit of price
    ]
    z = []
    for seed in range(1, 31):
        p = problem(
            run={"seed": seed},
            market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
            asset=[ASSET, {"spot": 90.0, "volatility": volatility}],
            time={"steps": 12},
            paths={"count": 16 * 96, "sampling": "sobol"},
            option=[
                CALL,
                ASIAN,
                CALL | {"asset": "B", "payoff": "put", "strike": 90.0},
                {"style": "exchange", "assets": ["A", "B"]},
            ],
        )
        found = run(p, CpuBackend())[0]["options"].values()
        z.append([(o["price"] - e) / o["standard_error"] for o, e in zip(found, exact)])
    size = np.abs(z)
    assert size.max() < 4.5, "of Student's t with 15 degrees of freedom"
    assert ((size.mean(axis=0) > 0.55) & (size.mean(axis=0) < 1.05)).all()
    assert (np.abs(np.mean(z, axis=0)) < 4 / math.sqrt(30)).all(), "no bias"


# ---- to the bit


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, a in expected.items():
        np.testing.assert_array_equal(found[name], a, err_msg=name)


def small(backend: Any, **others: Any) -> Any:
    """With what is left after whole groups shared out, in several batches where that takes no ages."""
    count = 3 * 12 if backend.name == "cudasim" else 3 * (GROUP + 341)
    return two_assets(count=count, replicates=3, frames=3, **others)


def test_batches_cuts_and_restarts_change_nothing(backend: Any) -> None:
    p = small(backend)
    expected = outcome(p, backend)
    assert_same(outcome(p, backend, [1, 2, 3, 1]), expected)
    stepper = p.stepper(backend, p.initial())
    stepper.advance(5)
    assert_same(outcome(p, backend, start=copied(stepper.snapshot())), {"option_price": expected["option_price"]})
    if backend.name != "cudasim":
        cut = outcome(small(backend, batch=GROUP), backend, [3, 14, 9])
        for name in ("option_price", "option_standard_error", "state options"):
            np.testing.assert_array_equal(cut[name], expected[name])


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
def test_devices_agree(backend: Any, precision: str, tolerance: float, kernel: str) -> None:
    if kernel == "nvrtc" and backend.name == "cudasim":
        pytest.skip("needs a GPU")
    volatility = [[0.0, 0.2], [0.75, 0.4]]
    p, here = (small(backend, precision=precision, volatility=volatility, kernel=k) for k in (kernel, "auto"))
    found, expected = outcome(p, backend), outcome(here, CpuBackend())
    for name, a in expected.items():
        if a.dtype.kind == "f":
            np.testing.assert_allclose(found[name], a, rtol=10 * tolerance, atol=tolerance, err_msg=name)


def test_a_longer_run_begins_with_the_same_paths() -> None:
    short, long = (two_assets(count=2 * GROUP * k, replicates=2) for k in (1, 2))
    few, many = run(short, CpuBackend())[1], run(long, CpuBackend())[1]
    for name in ("x", "kept"):
        np.testing.assert_array_equal(few[name], many[name][:, : 2 * GROUP])


# ---- as compiled


COMPILED = [*itertools.product(("float64", "float32", "mixed"), (1, 2, 5))]


@pytest.mark.parametrize("case", others_long(COMPILED, {("float64", 5), ("float32", 1), ("mixed", 2)}), ids=str)
def test_the_program_compiles_without_spills(case: tuple[str, int]) -> None:
    precision, assets = case
    p = problem(
        run={"precision": precision},
        asset=[ASSET] * assets,
        time={"steps": 252},
        paths={"sampling": "sobol"},
        option=[ASIAN],
    )
    log = io.StringIO()
    macros = paths_macros(p, *SOBOL_SHAPES[0])
    compile_program(PATHS, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
    stack = int(re.findall(r"(\d+) bytes stack", log.getvalue())[0])
    assert stack <= p.normal.itemsize * int(macros["STACK"]) * assets + 8, "nothing but the stack is in local memory"

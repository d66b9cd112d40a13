"""Monte Carlo bit for bit: batches, splits, restarts, devices. And the CUDA kernels, compiled for an H100/H200."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pytest
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run, two_assets
from sm90 import compile_sm90, few, others_long, passed

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program
from simsuite.errors import DeviceError
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.paths.kernels.arguments import (
    Between,
    Dated,
    Increments,
    Paths,
    Policy,
    Random,
    Stretch,
    Terms,
)
from simsuite.solvers.gbm.paths.launches_nvrtc import (
    MOMENTS,
    PATHS,
    SHAPES,
    is_dense,
    moments_macros,
    paths_macros,
    shapes_of,
)
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS as PRECISIONS_OF
from simsuite.solvers.gbm.sobol.arguments import Points

pytestmark = pytest.mark.usefixtures("one_thread")

PRECISIONS = pytest.mark.parametrize("precision", ["float64", "float32"])


def simulated(backend) -> bool:
    """Whether a path takes a thread of Python, so that runs have to be small."""
    return backend.name == "cudasim"


def assert_same_bits(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, a in expected.items():
        assert found[name].dtype == a.dtype, name
        np.testing.assert_array_equal(found[name], a, err_msg=name)


def results_by_time_step(problem: GbmProblem, backend, parts=None) -> dict[str, np.ndarray]:
    """Rows and totals, with the time steps of rows in place of those of the run."""
    found = {}
    for name, a in outcome(problem, backend, parts).items():
        if not name.startswith("state"):
            name, _, step = name.partition("@")
            found[f"{name}@{problem.position(int(step))[0]}" if step else name] = a
    return found


@PRECISIONS
@pytest.mark.parametrize("antithetic", [False, True])
def test_batches_change_nothing(backend, antithetic, precision):
    if simulated(backend) and precision == "float64":
        pytest.skip("one precision is enough where 1026 paths take seconds")
    for count in [1026] if simulated(backend) else [1024, 1026, 5000]:
        expected = results_by_time_step(two_assets(precision, count, antithetic=antithetic, frames=3), backend)
        assert {"price_mean@5", "price_quantile@10", "path@10", "option_price"} < expected.keys()
        for batch in [1024] if simulated(backend) else [1024, 3072, 5120]:
            p = two_assets(precision, count, batch, antithetic=antithetic, frames=3)
            found = results_by_time_step(p, backend, [3, 9, 1])
            assert_same_bits({name: a for name, a in found.items() if name in expected}, expected)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
def test_launches_and_batches_change_nothing(backend, monkeypatch, precision):
    """A million paths in one batch, in 7 and in 977; blocks of 64 threads and of 512."""
    found = []
    for batch, shape in ((None, (256, 4)), (143_360, (64, 1)), (1024, (512, 2))):
        monkeypatch.setattr("simsuite.solvers.gbm.paths.launches_nvrtc.SHAPES", (shape,))
        found.append(results_by_time_step(two_assets(precision, 10**6, batch, frames=3), backend))
    assert {"price_mean@5", "price_quantile@10", "path@10", "option_price"} < found[0].keys()
    for other in found[1:]:
        assert_same_bits({name: a for name, a in other.items() if name in found[0]}, found[0])


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("replicates", [None, 4])
def test_readable_kernels_on_a_gpu_give_the_same_bits_whole_and_cut(backend, precision, replicates):
    """The last block of a launch is compiled a second time, apart from the blocks before it."""
    p = two_assets(precision, 4096, None, 43, kernel="numba", frames=2, replicates=replicates)
    expected = outcome(p, backend)
    for parts in ([1] * p.clock.end, [3, 1, 7] * p.clock.end, [5] * p.clock.end):
        assert_same_bits(outcome(p, backend, parts), expected)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 2e-5), ("mixed", 2e-6)])
@pytest.mark.parametrize("antithetic", [False, True])
def test_readable_and_fast_kernels_on_a_gpu_agree(backend, precision, tolerance, antithetic):
    results = {}
    for kernel in ("numba", "nvrtc"):
        p = two_assets(precision, 70_000, antithetic=antithetic, kernel=kernel)
        stepper = p.stepper(backend, p.initial())
        assert stepper.chosen == {"kernel": kernel}
        results[kernel] = results_by_time_step(p, backend)
    assert {"option_price", "price_quantile@10"} < results["numba"].keys() == results["nvrtc"].keys()
    for name, a in results["numba"].items():
        np.testing.assert_allclose(results["nvrtc"][name], a, rtol=50 * tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("batch", [None, 20_480])
def test_paths_stored_at_every_step_are_those_seen_at_some(backend, precision, antithetic, batch):
    """Their launches are programs of their own. 11 steps end amid a block."""
    found = []
    for frames in (12, 2):
        p = two_assets(precision, 70_000, batch, 11, antithetic, frames, kernel="nvrtc")
        assert paths_macros(p, *SHAPES[0])["DENSE"] == (frames == 12)
        found.append(results_by_time_step(p, backend))
    every, ends = found
    shared = {name for name in ends if not name.startswith("state")}
    assert {"price_mean@11", "price_std@11", "path@11", "option_price"} <= shared <= every.keys()
    assert_same_bits({name: every[name] for name in shared}, {name: ends[name] for name in shared})
    np.testing.assert_allclose(every["price_mean@5"][0], 100 * np.exp(0.05 * 1.5 * 5 / 11), rtol=5e-3)


def test_programs_are_not_replaced_in_silence():
    p = two_assets(kernel="nvrtc")
    with pytest.raises(DeviceError, match='kernel = "nvrtc" needs a CUDA GPU, and this run is on cpu'):
        p.stepper(CpuBackend(), p.initial())


def test_threads_change_nothing():
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("this machine has one core")
    p = two_assets(count=5000)
    expected = outcome(p, CpuBackend())
    numba.set_num_threads(2)
    assert_same_bits(outcome(p, CpuBackend()), expected)


def test_a_path_does_not_know_how_many_there_are(backend):
    many = run(two_assets(count=34 if simulated(backend) else 2500, stored=1), backend)[1]
    for count in [1, 33] if simulated(backend) else [1, 31, 33, 1000, 2047]:
        few = run(two_assets(count=count, stored=1), backend)[1]
        for name in ("x", "kept"):
            np.testing.assert_array_equal(few[name], many[name][:, :count])


@PRECISIONS
@pytest.mark.parametrize("batch", [None, 1024])
def test_splitting_changes_nothing(backend, precision, batch):
    if simulated(backend):
        if batch:
            pytest.skip("so few paths are one batch")
        p, ways = two_assets(precision, 33, batch, steps=11, frames=2), [[1, 2, 1, 4, 1]]
    else:
        p, rng = two_assets(precision, 2500, batch, steps=11), np.random.default_rng(4)
        ways = [[1] * p.clock.end, rng.integers(1, 5, 40).tolist(), rng.integers(1, 9, 40).tolist()]
    expected = outcome(p, backend)
    for parts in ways:
        assert_same_bits(outcome(p, backend, parts), expected)


@PRECISIONS
@pytest.mark.parametrize("batch", [None, 1024])
def test_restarting_changes_nothing(backend, precision, batch):
    """From every step: amid a block of normals, between a fixing and a frame, at a frame, between two batches."""
    if simulated(backend) and batch:
        pytest.skip("so few paths are one batch")
    count = 20 if simulated(backend) else 1500
    p = two_assets(precision, count, batch, antithetic=True)
    expected = outcome(p, backend)
    stepper = p.stepper(backend, p.initial())
    for step in range(1, p.clock.end):
        stepper.advance(1)
        if simulated(backend) and step not in (5, 9):
            continue
        left = outcome(p, backend, start=copied(stepper.snapshot()))
        later = {name: a for name, a in expected.items() if int(name.partition("@")[2] or p.clock.end) > step}
        assert_same_bits(left, later if step < p.clock.end else expected)


def test_snapshots_can_be_observed_at_once(backend):
    """A run that stopped at a frame shows that frame's statistics again when it goes on."""
    p = two_assets(count=30)
    stepper = p.stepper(backend, p.initial())
    stepper.advance(p.frame_steps[2])
    again = p.stepper(backend, copied(stepper.snapshot()))
    for one, other in zip(*(p.rows("time", copied(s.observe("time"))).values() for s in (stepper, again))):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("precision", "antithetic", "tolerance"), [("float64", False, 1e-12), ("float32", True, 5e-6)])
def test_cuda_kernels_agree_with_those_for_the_cpu(backend, precision, antithetic, tolerance):
    p = two_assets(precision, 38, steps=7, antithetic=antithetic, frames=3)
    found, expected = outcome(p, backend), outcome(p, CpuBackend())
    assert found.keys() == expected.keys()
    for name, a in expected.items():
        assert found[name].dtype == a.dtype, name
        if a.dtype.kind == "f":
            np.testing.assert_allclose(found[name], a, rtol=tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_array_equal(found["state fault"], expected["state fault"])
    assert found["state histogram"].sum() == expected["state histogram"].sum() == 2 * 2 * 38  # frames, assets


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # the simulator's
def test_overflow_is_a_fault_with_a_name(backend):
    """e^120 is beyond float32, in which the average of an Asian option adds up prices."""
    asset = {"spot": 100.0, "volatility": 0.2}
    p = problem(
        run={"precision": "float32"},
        market={"drift": 30.0},
        asset=[asset, asset],
        time={"end": 4.0, "steps": 4},
        paths={"count": 16},
        option=[{"style": "asian", "payoff": "call", "strike": 100.0, "asset": "B"}],
    )
    stepper = p.stepper(backend, p.initial())
    stepper.advance(p.clock.end)
    blamed = "path 0 of asset 'B', in its price or in what an option on it pays,"
    assert p.fault(copied(stepper.observe("time"))) == blamed
    assert p.fault(copied(stepper.snapshot())) == blamed


# ---- what the compiler makes of the CUDA kernels


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@PRECISIONS
@pytest.mark.parametrize(
    ("assets", "count", "antithetic"),
    [
        (1, 1, False),
        (1, 33, False),
        (1, 2051, False),
        (1, 2052, False),
        (1, 2054, True),
        (2, 5000, False),
    ],
)
def test_frames_at_every_step_are_those_of_any_run(backend, precision, assets, count, antithetic):
    """Threads have several paths there, if rows of paths are whole ones."""
    found = {}
    for frames, kernel in ((14, "nvrtc"), (14, "numba"), (2, "nvrtc")):
        p = problem(
            run={"precision": precision, "kernel": kernel},
            asset=[ASSET] * assets,
            time={"steps": 13},
            paths={"count": count, "antithetic": antithetic},
            option=[CALL, ASIAN | {"asset": "AB"[assets - 1]}],
            output={"frames": frames, "store_paths": min(count, 2000)},
        )
        assert is_dense(p) == (frames == 14)
        found[frames, kernel] = outcome(p, backend)
    every, readable, two = found[14, "nvrtc"], found[14, "numba"], found[2, "nvrtc"]
    for name in ("state options", "price_mean@13", "path@13", "option_price"):
        np.testing.assert_array_equal(every[name], two[name], err_msg=name)
    for step in range(1, 14):
        tolerance = 1e-12 if precision == "float64" else 1e-4
        np.testing.assert_allclose(every[f"path@{step}"], readable[f"path@{step}"], rtol=tolerance)


def signatures(real, normal=None):
    normal = normal or real
    from numba import types

    def array(of, ndim):
        return types.Array(of, ndim, "C")

    state, i8, f8 = array(real, 2), types.int64, types.float64
    sums, fault = array(i8, 3), array(i8, 1)
    scramble = {"directions": array(types.uint32, 4), "shift": array(types.uint32, 3), "offset": array(f8, 3)}
    return {
        "advance": (
            passed(Paths, x=state, kept=state, seen=array(real, 3)),
            *(i8, i8),
            passed(Stretch, begin=i8, end=i8, valid=i8, watched=i8, first_seen=i8),
            passed(Random, seed=types.uint64, antithetic=types.boolean),
            passed(Increments, mix=array(normal, 2), scale=state),
            passed(Dated, due=array(types.uint32, 1), centre=state, growth=state),
            passed(Between, bridges=array(real, 3), dividend_drops=state, levels=array(real, 1)),
            passed(Terms, drift=state, jumps=state, thresholds=array(types.uint64, 2), cash=state),
            passed(Policy, row=array(types.int32, 2), rules=state),
            passed(Points, numbering=array(i8, 1), opened=array(types.int32, 1), weights=array(normal, 2), **scramble),
        ),
        "clear": (array(i8, 4), sums, i8, i8),
        "record": (state, array(real, 3), i8, i8),
        "moments": (state, i8, i8, array(f8, 3), i8, i8, array(i8, 4), sums, fault),
        "payoffs": (array(f8, 2), i8, i8, i8, fault, array(f8, 1), fault, array(i8, 2), i8, sums, fault),
    }


ONE = (1, 0, -1, 0, 0)
FOUR = (1, 0, 0, 0, 0), (2, 2, -1, 0, 0), (3, 1, -1, 0, 0), (4, 3, 1, 0, 0)


STEPPED = [("float32", 1, ()), ("float64", 1, (ONE,)), *((precision, 4, FOUR) for precision in PRECISIONS_OF)]


@pytest.mark.parametrize("case", others_long(STEPPED, {("float32", 4, FOUR), ("float64", 4, FOUR)}), ids=str)
def test_step_kernel_lives_in_registers(case):
    from numba import types

    from simsuite.solvers.gbm.paths.kernels.paths_cuda import make_advance

    precision, n_assets, functionals = case
    state, normal = PRECISIONS_OF[precision]
    signature = signatures(getattr(types, state.name), getattr(types, normal.name))["advance"]
    ptx, info = compile_sm90(make_advance(n_assets, functionals, state, normal, StepTerms.none(n_assets)), signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= 128
    assert not any(word in ptx for word in ("div.", "rem."))
    if precision == "float32":
        assert ".f64" not in ptx


def programs() -> Iterator[tuple[Path, dict]]:
    """Whatever a scenario needs: every kind of functional, one asset or several, pairs, volatility that changes."""
    every = ASIAN | {"strike": 90.0}
    options = [
        CALL,
        every,
        ASIAN | {"average": "geometric", "fixings": 3},
        {"style": "barrier", "payoff": "put", "strike": 90.0, "direction": "down", "knock": "in", "level": 80.0},
        {"style": "lookback", "payoff": "put", "strike_type": "floating", "dates": 5},
    ]
    for precision, antithetic in itertools.product(PRECISIONS_OF, (False, True)):
        for assets, asked, volatility in (
            (1, [], 0.2),
            (1, [every], 0.2),
            (1, options, [[0.0, 0.2], [0.5, 0.3]]),
            (3, options, 0.2),
        ):
            scenario = {
                "run": {"precision": precision},
                "asset": [ASSET | {"volatility": volatility}] * assets,
                "time": {"steps": 10},
                "paths": {"antithetic": antithetic},
                "option": asked,
            }
            p = problem(**scenario)
            yield PATHS, paths_macros(p, *SHAPES[0])
            if len(asked) != 1:
                p = problem(**scenario, output={"frames": 11})
                assert is_dense(p)
                yield PATHS, paths_macros(p, *shapes_of(p)[0])
            if asked:
                yield from ((PAYOFFS, payoffs_program(p, rows)[0]) for rows in rows_together(p))
        yield MOMENTS, moments_macros(p)


DISTINCT = {(source, *macros.items()): (source, macros) for source, macros in programs()}


@pytest.mark.parametrize(
    "name",
    others_long(few(DISTINCT), few(DISTINCT, 1)),
    ids=lambda name: f"{name[0].stem} {list(DISTINCT).index(name)}",
)
def test_programs_compile_without_spills(name):
    """With every value of each macro, and `make long` with every two that meet."""
    source, macros = DISTINCT[name]
    log = io.StringIO()
    compile_program(source, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("name", ["clear", "record", "moments", "payoffs"])
def test_statistics_kernels_compile_without_spills(name, precision):
    from numba import types

    from simsuite.solvers.gbm.statistics import statistics_cuda

    ptx, info = compile_sm90(getattr(statistics_cuda, name), signatures(getattr(types, precision))[name])
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    if name in ("moments", "payoffs"):
        assert info["shared_bytes"] == 3 * 8 * statistics_cuda.THREADS
        assert ".cas." not in ptx  # 64-bit integer atomics, not loops that imitate them

"""Moment matching: normals with the moments they should have, errors that are honest and smaller, the same bits."""

from __future__ import annotations

import functools
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from gbm_problems import ASIAN, ASSET, CALL, copied, outcome, problem, run, tables
from pydantic import ValidationError
from running import assert_same_bits as assert_same_files
from scipy.special import ndtri, stdtr
from scipy.stats import t as student
from sm90 import compile_sm90
from test_gbm_exactness import assert_same_bits, results_by_time_step, signatures, simulated
from test_gbm_paths import run as run_command
from test_resume import write

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program
from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.rng import fill_normals32, fill_normals64
from simsuite.scenario.gbm import GROUP, GbmScenario
from simsuite.solvers.gbm.market.step_terms import StepTerms
from simsuite.solvers.gbm.moment_matching import moment_matching
from simsuite.solvers.gbm.paths.launches_nvrtc import MOMENTS, PATHS, SHAPES, moments_macros, paths_macros
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, ProgramPayoffs, payoffs_macros, rows_together
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS
from simsuite.solvers.gbm.reference_prices.prices import reference_price
from simsuite.solvers.gbm.statistics.exact_sums import LIMBS, exact
from simsuite.solvers.gbm.statistics.matched_groups import FEWEST_GROUPS, grouped_estimate
from simsuite.solvers.gbm.statistics.totals_cpu import add_exactly

__all__ = ["host_cuda"]  # a fixture
pytestmark = pytest.mark.usefixtures("one_thread")

GEOMETRIC = ASIAN | {"average": "geometric"}
PUT = {"style": "american", "payoff": "put", "strike": 100.0, "exercise": 3}
SIGNS = pytest.mark.parametrize("antithetic", [False, True])


def matched(
    precision="float64", count=5 * GROUP, batch=None, steps=7, antithetic=False, frames=4, kernel="auto", **changes
) -> GbmProblem:  # fmt: skip
    """Two correlated assets of which one jumps, and options of several kinds."""
    few = {"intensity": 2.0, "mean": -0.1, "deviation": 0.1}
    plain: dict[str, Any] = {
        "run": {"precision": precision, "kernel": kernel, "seed": 1},
        "market": {"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        "asset": [ASSET, {"spot": 40.0, "volatility": [[0.0, 0.4], [1.5 * 2 / steps, 0.2]], "jumps": few}],
        "time": {"end": 1.5, "steps": steps},
        "paths": {"count": count, "antithetic": antithetic, "moment_matching": True}
        | ({"batch": batch} if batch else {}),
        "option": [CALL, ASIAN | {"fixings": 5}, PUT | {"asset": "A"}],
        "output": {"frames": frames, "store_paths": 3},
    }
    return problem(**plain | changes)


# ---- normals


@functools.cache
def drawn(precision: str, block: int, asset: int, first: int, n: int) -> np.ndarray:
    """[step, number]: normals as they are drawn, of a block of steps."""
    single = PRECISIONS[precision][1] == np.float32
    z = np.empty((n, 4 if single else 2), PRECISIONS[precision][1])
    for i in range(n):
        (fill_normals32 if single else fill_normals64)(z, i, block, asset, first + i, np.uint64(1))
    return z.T.astype(np.float64)


@SIGNS
@pytest.mark.parametrize("precision", PRECISIONS)
def test_normals_of_a_group_have_mean_0_and_variance_1(precision: str, antithetic: bool) -> None:
    """Found again in paths; and they are those that are drawn, shifted and stretched."""
    n = 3 * GROUP
    p = matched(precision, n, GROUP, antithetic=antithetic, frames=8, asset=[ASSET, ASSET], option=[],
                output={"frames": 8, "store_paths": n}, paths={"count": n, "antithetic": antithetic,
                "moment_matching": True})  # fmt: skip
    noise = run(p, CpuBackend())[1]["paths"].astype(np.float64)
    z = np.linalg.solve(p.dynamics.mix, np.diff(noise, axis=0)).reshape(7, 2, 3, GROUP)
    rounding = 1e-13 if precision == "float64" else 3e-6
    np.testing.assert_allclose(z.mean(axis=-1), 0, atol=rounding)
    np.testing.assert_allclose((z**2).mean(axis=-1), 1, atol=rounding)
    draws = GROUP // (1 + antithetic)
    own = z[:, :, 2, :: 1 + antithetic]
    for asset in range(2):
        before = np.concatenate([drawn(precision, k, asset, 2 * draws, draws) for k in range(4)])[:7]
        mean = np.zeros((7, 1)) if antithetic else before.mean(axis=1, keepdims=True)
        expected = (before - mean) / np.sqrt(((before - mean) ** 2).mean(axis=1, keepdims=True))
        np.testing.assert_allclose(own[:, asset], expected, atol=20 * rounding)


# ---- prices


def test_errors_are_as_large_as_they_say_and_smaller_than_without() -> None:
    """Of 16 groups, over seeds, against closed forms: a European, a geometric and an arithmetic Asian with its control,
    a digital and a basket."""
    digital = {"style": "digital", "payoff": "call", "strike": 100.0, "cash": 10.0}
    basket = {"style": "basket", "payoff": "call", "strike": 95.0, "control_variate": False}
    sections: dict[str, Any] = {
        "market": {"rate": 0.05, "correlation": [[1.0, 0.5], [0.5, 1.0]]},
        "asset": [ASSET, {"spot": 90.0, "volatility": 0.3}],
        "time": {"steps": 2},
        "option": [CALL, GEOMETRIC, ASIAN, digital, basket],
        "output": {"frames": 2, "store_paths": 0},
    }
    model = GbmScenario.model_validate(tables(**sections))
    prices = [reference_price(model, option) for option in model.option]
    for antithetic, least in ((False, [3.5, 3.5, 1.0, 1.5, 3.5]), (True, [1.0, 1.0, 1.0, 0.9, 1.0])):
        scores, ratios = [], []
        for seed in range(1000, 1024):
            found = [
                run(
                    problem(run={"seed": seed}, paths={"count": 16 * GROUP, "antithetic": antithetic,
                            "moment_matching": with_it}, **sections), CpuBackend()
                )[0]["options"].values()
                for with_it in (True, False)
            ]  # fmt: skip
            own = zip(found[0], prices, strict=True)
            scores.append([_score(option, price, (15, 15, 14, 1e9, 15)[i]) for i, (option, price) in enumerate(own)])
            ratios.append([(b["standard_error"] / a["standard_error"]) ** 2 for a, b in zip(*found)])
        n, z = len(scores), np.array(scores)
        print(antithetic, z.mean(axis=0), z.std(axis=0), np.abs(z).mean(axis=0), np.median(ratios, axis=0))
        assert (np.abs(z.mean(axis=0)) < 4 / math.sqrt(n)).all(), "no bias"
        assert (np.abs(z.std(axis=0) - 1) < 4 / math.sqrt(2 * n)).all(), "errors are honest"
        assert (np.abs(np.abs(z).mean(axis=0) - math.sqrt(2 / math.pi)) < 4 * 0.603 / math.sqrt(n)).all()
        assert (np.median(ratios, axis=0) > least).all(), "and small"


def _score(option: dict[str, Any], exact_price: float, freedom: float) -> float:
    """The standard normal number with the odds of Student's t; what jumps is normal as it is, see unseen.py."""
    off = (option["price"] - exact_price) / option["standard_error"]
    np.testing.assert_allclose(
        option["ci95"][1] - option["price"], student(freedom).ppf(0.975) * option["standard_error"]
    )
    return float(ndtri(stdtr(freedom, off)))


def test_estimates_from_groups_are_those_of_a_regression() -> None:
    """With and without a control: against least squares by NumPy."""
    rng = np.random.default_rng(3)
    v, c = rng.normal(size=(2, 9))
    v += 2 * c
    products = [v, v * v, c, c * c, v * c]
    sums = np.array([_exactly(row) for row in products])
    found = grouped_estimate(sums, 9, 0.9, 5.0)
    assert found.value == pytest.approx(0.9 * (5 + v.mean()), rel=1e-13)
    assert found.standard_error == pytest.approx(0.9 * v.std(ddof=1) / 3, rel=1e-12)
    assert found.ci95[1] - found.value == pytest.approx(student(8).ppf(0.975) * found.standard_error, rel=1e-9)
    found = grouped_estimate(sums, 9, 0.9, 5.0, 0.1)
    columns = np.stack([np.ones(9), c - 0.1], axis=1)
    best, (rest,), *_ = np.linalg.lstsq(columns, v, rcond=None)
    error = math.sqrt(rest / 7 * np.linalg.inv(columns.T @ columns)[0, 0])
    assert found.value == pytest.approx(0.9 * (5 + best[0]), rel=1e-12)
    assert found.standard_error == pytest.approx(0.9 * error, rel=1e-10)
    assert found.ci95[0] == pytest.approx(found.value - student(7).ppf(0.975) * found.standard_error, rel=1e-9)


def _exactly(values: np.ndarray) -> np.ndarray:
    """Their sum, in limbs."""
    limbs = np.zeros((1, 1, LIMBS), np.int64)
    add_exactly.py_func(values.reshape(-1, 1), np.zeros(values.size, np.int64), limbs)
    assert float(exact(limbs[0, 0])) == pytest.approx(math.fsum(values), rel=1e-14)
    return limbs[0, 0]


@SIGNS
def test_errors_at_frames_are_those_of_groups(antithetic: bool) -> None:
    p = matched(count=6 * GROUP, antithetic=antithetic, output={"frames": 3, "store_paths": 6 * GROUP})
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(p.clock.end)
    row = p.rows("time", copied(stepper.observe("time")))
    means = row["path"].reshape(6, GROUP, 2).mean(axis=1)
    np.testing.assert_allclose(row["price_mean"], means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(row["price_mean_standard_error"], means.std(axis=0, ddof=1) / math.sqrt(6), rtol=1e-9)
    assert (row["price_quantile_low"] < row["price_quantile"]).all()


def test_one_group_has_no_error() -> None:
    found = run(matched(count=GROUP), CpuBackend())[0]
    assert all(option["standard_error"] is None for option in found["options"].values())
    assert found["assets"]["A"]["mean_standard_error"] is None


# ---- to the bit


@SIGNS
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_batches_cuts_and_restarts_change_nothing(monkeypatch, precision: str, antithetic: bool) -> None:
    """Nor how many blocks of steps the table has room for: 1 and 2 are tried besides all."""
    backend = CpuBackend()
    expected = results_by_time_step(matched(precision, antithetic=antithetic), backend)
    assert {"price_mean@2", "path@7", "option_price"} < expected.keys()
    of_block = 2 * 2 * (4 if precision == "float32" else 2) * (4 if precision == "float32" else 8)
    for batch, blocks in ((GROUP, None), (3 * GROUP, 1), (None, 2)):
        if blocks is not None:
            groups = 5 if batch is None else batch // GROUP
            monkeypatch.setattr(moment_matching, "_TABLE_BYTES", blocks * groups * of_block)
        p = matched(precision, batch=batch, antithetic=antithetic)
        assert moment_matching.table_shape(p)[1] == (blocks or -(-7 // p.block))
        found = results_by_time_step(p, backend, [1, 3, 2, 1, 5])
        assert_same_bits({name: a for name, a in found.items() if name in expected}, expected)
        monkeypatch.undo()
    p = matched(precision, antithetic=antithetic, batch=3 * GROUP)
    expected = outcome(p, backend)
    stepper = p.stepper(backend, p.initial())
    for step in (1, 2, 6, 9):
        stepper.advance(step - stepper.step)
        left = outcome(p, backend, start=copied(stepper.snapshot()))
        assert_same_bits(left, {name: a for name, a in expected.items() if int(name.partition("@")[2] or 99) > step})


def test_an_extended_run_has_the_bits_of_one_that_was_as_long_from_the_start(tmp_path: Path, capsys: Any) -> None:
    scenario = tables(time={"steps": 3}, option=[CALL, ASIAN], output={"frames": 3}, run={"device": "cpu"},
                      paths={"count": 3 * GROUP, "moment_matching": True, "batch": 2 * GROUP})  # fmt: skip
    path = write(tmp_path / "s.toml", scenario, {})
    run_command(capsys, "run", path, "-o", tmp_path / "run")
    extended = run_command(capsys, "resume", tmp_path / "run", "--paths", 7 * GROUP)
    whole = run_command(capsys, "run", path, "--set", f"paths.count={7 * GROUP}", "-o", tmp_path / "whole")
    assert extended["results"] == whole["results"]
    assert extended["results"]["paths"] == 7 * GROUP
    assert_same_files(tmp_path / "run" / "results.h5", tmp_path / "whole" / "results.h5")


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(
    ("precision", "antithetic", "tolerance"), [("float64", False, 1e-12), ("float32", True, 2e-5)]
)  # fmt: skip
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
def test_devices_agree(backend: Backend, precision: str, antithetic: bool, tolerance: float, kernel: str) -> None:
    if simulated(backend) and (kernel, precision) != ("numba", "float64"):
        pytest.skip("one of them is enough where 1024 paths take seconds")
    few: dict[str, Any] = {"count": 70 * GROUP}
    if simulated(backend):
        few = {"count": GROUP, "steps": 3, "frames": 2, "option": [CALL], "asset": [ASSET], "market": {"rate": 0.05}}
    p, here = (matched(precision, antithetic=antithetic, kernel=k, **few) for k in (kernel, "auto"))
    found, expected = outcome(p, backend), outcome(here, CpuBackend())
    assert found.keys() == expected.keys()
    for name, a in expected.items():
        if a.dtype.kind == "f" and "policy" not in name:
            np.testing.assert_allclose(found[name], a, rtol=50 * tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_array_equal(found["state fault"], expected["state fault"])


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@SIGNS
@pytest.mark.parametrize("precision", PRECISIONS)
def test_launches_and_batches_change_nothing_on_a_gpu(backend, monkeypatch, precision: str, antithetic: bool) -> None:
    """A million paths in one batch, in 7 and in 977; tables for all steps and for a few; frames at some and at all."""
    for frames in (4, 61):
        found = []
        for batch, shape, room in ((None, (256, 4), 1 << 26), (140 * GROUP, (64, 1), 1 << 14), (GROUP, (512, 2), 64)):
            monkeypatch.setattr("simsuite.solvers.gbm.paths.launches_nvrtc.SHAPES", (shape,))
            monkeypatch.setattr("simsuite.solvers.gbm.paths.launches_nvrtc.CROWDED_SHAPES", ())
            monkeypatch.setattr(moment_matching, "_TABLE_BYTES", room)
            found.append(
                results_by_time_step(
                    matched(precision, 977 * GROUP, batch, 60, antithetic, frames), backend, [7, 20, 44]
                )
            )
        for other in found[1:]:
            assert_same_bits({name: a for name, a in other.items() if name in found[0]}, found[0])


@SIGNS
def test_programs_add_up_what_the_kernels_do(host_cuda: HostCuda, antithetic: bool) -> None:
    """The source for payoffs itself, run on the host."""
    n = 3 * GROUP
    p = matched(count=n, antithetic=antithetic)
    state = run(p, CpuBackend())[1]
    sums = np.zeros_like(state["options"])
    fault = np.array([2**62])
    ProgramPayoffs(p, host_cuda).add(state["x"], state["kept"], n, 0, sums[0], fault)
    found, expected = ([float(exact(row)) for row in of[0]] for of in (sums, state["options"]))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


# ---- what the compiler makes of it


@pytest.mark.parametrize(("precision", "antithetic"), [("float64", True), ("float32", False), ("mixed", True)])
def test_programs_compile_without_spills(precision: str, antithetic: bool) -> None:
    for sections in ({"asset": [ASSET], "market": {"rate": 0.05}}, {}):
        p = matched(precision, antithetic=antithetic, **sections)
        programs = [(PATHS, paths_macros(p, *SHAPES[0])), (MOMENTS, moments_macros(p))]
        programs.append((PAYOFFS, payoffs_macros(p, rows_together(p)[0])))
        programs.append((moment_matching.MATCHING, moment_matching.program_macros(p)))
        for source, macros in programs:
            log = io.StringIO()
            compile_program(source, macros, "sm_90", log)
            assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}, (source, macros)


def test_readable_kernels_live_in_registers() -> None:
    from numba import types

    from simsuite.solvers.gbm.moment_matching.moment_matching_cuda import make_measure
    from simsuite.solvers.gbm.paths.kernels.paths_cuda import make_advance

    single, i8 = np.dtype(np.float32), types.int64
    advance = make_advance(2, ((1, 0, -1, 0, 0),), single, single, StepTerms.none(2), matched=True)
    for kernel, signature in (
        (make_measure(single), (types.Array(types.float32, 5, "C"), *[i8] * 5, types.uint64)),
        (advance, signatures(types.float32)["advance"]),
    ):
        ptx, info = compile_sm90(kernel, signature)
        assert info["spill_bytes"] == info["stack_bytes"] == 0
        assert ".f64" not in ptx


# ---- what does not go together


@pytest.mark.parametrize(
    ("sections", "path", "words"),
    [
        ({"paths": {"sampling": "sobol"}}, ("paths", "moment_matching"), "Sobol"),
        (
            {"paths": {"multilevel": True, "target_standard_error": 0.1}, "time": {"steps": 8, "scheme": "euler"}},
            ("paths", "moment_matching"),
            "multilevel",
        ),
        ({"output": {"risk": {}}}, ("output", "risk"), "moment_matching"),
        ({"output": {"exposure": True}}, ("output", "exposure"), "moment_matching"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_it_is_refused(sections: dict, path: tuple, words: str) -> None:
    sections = {"asset": [ASSET | {"holding": 1.0}]} | sections
    sections["paths"] = {"count": 4096, **sections.get("paths", {}), "moment_matching": True}
    with pytest.raises(ScenarioError) as caught:
        problem(**sections)
    assert [(m.path, words in m.message) for m in caught.value.mistakes] == [(path, True)]


@pytest.mark.parametrize(("count", "nearest"), [(1, 1024), (1535, 1024), (1537, 2048), (1_000_000, 1_000_448)])
def test_counts_are_whole_groups(count: int, nearest: int) -> None:
    with pytest.raises(ValidationError) as caught:
        matched(count=count)
    (found,) = caught.value.errors()[0]["ctx"]["error"].mistakes
    assert (found.path, found.help) == (("count",), f"use {nearest}")


def test_targets_are_reached_by_groups() -> None:
    """Not before there are enough of them to tell, and then with an error that is that of groups."""
    p = matched(count=100 * GROUP, batch=GROUP, option=[CALL], paths={"count": 100 * GROUP, "batch": GROUP,
                "moment_matching": True, "target_standard_error": 5.0})  # fmt: skip
    stepper = p.stepper(CpuBackend(), p.initial())
    while stepper.step < p.batches_end:
        stepper.advance(p.next_look(stepper.step + 1) - stepper.step)
        p.settle(stepper)
    stepper.advance(p.clock.end - stepper.step)
    found = p.results(copied(stepper.observe("time")))
    assert found["paths"] == FEWEST_GROUPS * GROUP
    assert found["target"]["reached"]

"""Multilevel Monte Carlo: that levels add up, against laws of the schemes, and that their paths go together."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from gbm_problems import ASIAN, ASSET, CALL, copied, problem, tables
from running import assert_same_bits, call, contents
from sm90 import ptx_of
from test_gbm_paths import run
from test_resume import OFTEN, kill_somewhere, write

from simsuite.backends.cpu import CpuBackend
from simsuite.backends.program import compile_program, program_text
from simsuite.core import Backend, Snapshot
from simsuite.errors import ScenarioError
from simsuite.rng import fill_normals32, fill_normals64
from simsuite.scenario.gbm import GbmScenario
from simsuite.solvers.gbm.closed_forms.schemes import scheme_mean, scheme_second_moment
from simsuite.solvers.gbm.multilevel.allocation import bias_estimate, next_goals, standard_errors, wanted
from simsuite.solvers.gbm.multilevel.differences import ArrayDifferences, ProgramDifferences
from simsuite.solvers.gbm.multilevel.levels import STRIDE, CoarsePlan
from simsuite.solvers.gbm.multilevel.multilevel_results import moments
from simsuite.solvers.gbm.multilevel.multilevel_stepper import MultilevelStepper
from simsuite.solvers.gbm.multilevel.problem import MultilevelProblem
from simsuite.solvers.gbm.paths.launches_nvrtc import PATHS, SHAPES, paths_macros
from simsuite.solvers.gbm.paths.payoff_launches import PAYOFFS, payoffs_program, rows_together
from simsuite.solvers.gbm.paths.stepper import PathStepper
from simsuite.solvers.gbm.payoffs.functionals import Kind
from simsuite.solvers.gbm.problem import GbmProblem
from simsuite.solvers.gbm.random_numbers.precision import PRECISIONS
from simsuite.solvers.gbm.schedule.level_steps import level_steps
from simsuite.solvers.gbm.statistics.exact_sums import exact
from simsuite.solvers.gbm.statistics.statistics import NO_FAULT

pytestmark = pytest.mark.usefixtures("one_thread")

__all__ = ["host_cuda"]  # a fixture
BOTH = pytest.mark.parametrize("scheme", ["euler", "milstein"])
BARRIER = {"style": "barrier", "payoff": "put", "strike": 110.0, "direction": "down", "knock": "out", "level": 80.0}


def last(power: int) -> dict[str, Any]:
    return {"style": "expression", "value": "last(A)" if power == 1 else f"last(A)**{power} / 100"}


def levelled(target=0.5, steps=32, scheme="milstein", count=10**7, **changes) -> MultilevelProblem:
    paths = {"count": count, "multilevel": True, "target_standard_error": target} | changes.pop("paths", {})
    found = problem(time={"end": 1.0, "steps": steps, "scheme": scheme}, paths=paths, **changes)
    assert isinstance(found, MultilevelProblem)
    return found


def ended(p: GbmProblem, backend: Backend, most: int = 1 << 60, start: Snapshot | None = None) -> tuple[dict, dict]:
    """`results` and the final state of a whole run, which asks what to do as a run does. most: steps at a time."""
    stepper = p.stepper(backend, start or p.initial())
    assert isinstance(stepper, MultilevelStepper)
    while stepper.step < p.clock.end:
        if p.next_look(stepper.step) == stepper.step:
            p.settle(stepper)
        look = p.next_look(stepper.step + 1) or p.clock.end
        stepper.advance(min(look - stepper.step, most))
    observed = copied(stepper.observe("time"))
    assert p.fault(observed) is None
    return p.results(observed), dict(copied(stepper.snapshot()).arrays)


# ---- how many paths


def test_paths_are_shared_out_at_least_cost():
    rng = np.random.default_rng(1)
    variances, costs = rng.uniform(0.1, 10.0, (5, 1)) * 2.0 ** -np.arange(5)[:, None], 3.0 * 2.0 ** np.arange(5)
    n = wanted(variances, costs, 0.01)
    assert standard_errors(variances, n)[0] == pytest.approx(0.01, rel=1e-12)
    for _ in range(100):  # others with the same error cost more
        other = n * rng.uniform(0.8, 1.25, 5)
        other *= (variances[:, 0] / other).sum() / 0.01**2
        assert other @ costs > n @ costs


def test_the_worst_option_decides():
    rng = np.random.default_rng(2)
    variances, costs = rng.uniform(0.1, 10.0, (4, 3)), np.array([4.0, 12.0, 24.0, 48.0])
    each = [wanted(variances[:, [o]], costs, 0.1) for o in range(3)]
    np.testing.assert_array_equal(wanted(variances, costs, 0.1), np.max(each, axis=0))


def test_rounds_grow_by_no_more_than_they_may():
    variances, costs = np.array([[100.0], [1.0], [0.5]]), np.array([4.0, 12.0, 24.0])
    done = np.array([4096, 4096, 4096])
    needed = 1.01 * wanted(variances, costs, 0.09)
    goals = next_goals(done, variances, costs, 1, 0.09, 10**9)
    np.testing.assert_array_equal(goals, np.clip(np.ceil(needed / 1024) * 1024, 4096, 4 * 4096))
    assert goals[0] == 4 * 4096 < needed[0]
    few = next_goals(done, variances, costs, 1, 0.09, 20_000)
    assert np.all(few % 1024 == 0)
    assert 20_000 - 2048 < few.sum() <= 20_000
    np.testing.assert_array_equal(next_goals(done, variances, costs, 1, 1.0, 10**9), done)
    unknown = np.array([[100.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    np.testing.assert_array_equal(next_goals(done, unknown, costs, 1, 1.0, 10**9), 4 * done)


@pytest.mark.parametrize("order", [0.5, 0.8, 1.0])
def test_the_bias_of_a_power_of_the_step_is_known(order):
    means = np.array([[5.0], *([0.3 * (2.0 ** -(order * k) - 2.0 ** -(order * (k - 1)))] for k in range(1, 5))])
    assert bias_estimate(means)[0] == pytest.approx(0.3 * 2.0 ** -(order * 4), rel=1e-9)


def test_levels_whose_pairs_do_not_differ_have_no_bias_of_0():
    means = np.array([[10.0, 10.0], [-0.08, 0.0], [0.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(bias_estimate(means), [0.02, 0.0], rtol=1e-14)
    np.testing.assert_allclose(bias_estimate(means[:, :1] * -1), [0.02], rtol=1e-14)


def test_levels_whose_pairs_do_not_differ_have_a_variance():
    """A digital option far out of the money differs in few pairs or none; its error is that of what is likely."""
    digital = {"style": "digital", "payoff": "call", "strike": 170.0}
    found, _ = ended(levelled(0.002, 64, option=[digital]), CpuBackend())
    levels = found["multilevel"]["levels"]
    seen = [level["variance"]["option1"] / level["paths"] for level in levels]
    assert seen[-1] == 0
    assert seen[0] > 0
    assert math.sqrt(sum(seen)) < found["options"]["option1"]["standard_error"] <= 0.002


def test_levels_have_all_dates():
    def steps(**changes):
        return level_steps(GbmScenario.model_validate(tables(**{"time": {"end": 1.0, "steps": 96}, **changes})))

    assert steps() == [6, 12, 24, 48, 96]
    assert steps(option=[ASIAN]) == [6, 12, 24, 48, 96]
    assert steps(option=[ASIAN | {"fixings": 12}]) == [12, 24, 48, 96]
    assert steps(option=[ASIAN | {"fixings": [0.25, 0.75]}, CALL]) == [12, 24, 48, 96]
    assert steps(option=[BARRIER | {"dates": 32}]) == [96]
    assert steps(asset=[ASSET | {"dividends": [{"time": 0.125, "proportion": 0.1}]}]) == [24, 48, 96]


# ---- the paths


@pytest.mark.parametrize("precision", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("antithetic", [False, True])
def test_a_coarse_path_has_the_brownian_motion_of_a_fine_one(backend, precision, antithetic):
    """Against Milstein's scheme in NumPy, of two correlated assets, and of a volatility that changes."""
    n = 6 if backend.name == "cudasim" else 1500
    p = levelled(
        steps=20,
        run={"precision": precision},
        market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET, {"spot": 40.0, "volatility": [[0.0, 0.4], [0.5, 0.6]]}],
        paths={"antithetic": antithetic},
        option=[ASIAN | {"asset": "B"}],
    )
    coarse = p.levels[-1].coarse
    assert isinstance(coarse, CoarsePlan)
    small = CoarsePlan(coarse.scenario, coarse.dynamics, coarse.payoffs, coarse.frame_steps, n)
    stepper = PathStepper(small, backend, small.initial())
    stepper.advance(small.n_steps)
    end = np.exp2(backend.to_host(stepper.state["x"])[:, :n] + small.dynamics.centre(np.array([10])))

    per_block, fill = (2, fill_normals64) if precision == "float64" else (4, fill_normals32)
    z = np.empty((2, 20 + per_block), np.float64 if per_block == 2 else np.float32)
    volatility = np.array([[0.2] * 10, [0.4] * 5 + [0.6] * 5])
    for path in range(n):
        block = np.empty((2, per_block), z.dtype)
        for b in range(-(-20 // per_block)):
            for a in range(2):
                fill(block, a, b, a, path // 2 if antithetic else path, np.uint64(p.seed))
            z[:, b * per_block : (b + 1) * per_block] = block
        dw = (
            math.sqrt(1 / 20)
            * (z[:, 0:20:2] + z[:, 1:20:2]).astype(np.float64)
            * (-1 if antithetic and path % 2 else 1)
        )
        dw = np.array([[1.0, 0.0], [0.6, 0.8]]) @ dw
        factors = 1 + 0.05 / 10 + volatility * dw + volatility**2 * (dw**2 - 1 / 10) / 2
        np.testing.assert_allclose(end[:, path], factors.prod(axis=1), rtol=1e-11 if per_block == 2 else 5e-5)


@BOTH
def test_levels_add_up_to_the_law_of_the_scheme(scheme):
    """The mean and the mean square of the last price, which a scheme changes in a known way, over 30 seeds."""
    expected = np.array([scheme_mean(100, 0.05, 1.0, 16), 0.0])
    expected[1] = scheme_second_moment(100, 0.05, 0.4, 1.0, 16, scheme) / 100
    expected *= math.exp(-0.05)
    scores = []
    for seed in range(30):
        p = levelled(
            0.3, 16, scheme, run={"seed": seed}, asset=[ASSET | {"volatility": 0.4}], option=[last(1), last(2)]
        )
        found, _ = ended(p, CpuBackend())
        assert found["target"] == {"standard_error": 0.3, "reached": True}
        options = found["options"].values()
        assert 0.27 < max(o["standard_error"] for o in options) <= 0.3
        scores.append([(o["price"] - e) / o["standard_error"] for o, e in zip(options, expected)])
    z = np.array(scores)
    assert np.all(np.abs(z) < 4.5)
    assert np.all((z**2).sum(axis=0) < 60.0)  # chi-square with 30 degrees of freedom: 1 in 1000
    assert np.all((z**2).sum(axis=0) > 11.0)
    assert np.all(np.abs(z.sum(axis=0)) < 3.5 * math.sqrt(30))


@BOTH
def test_variances_fall_as_the_scheme_converges(scheme):
    """Like h for Euler's, h^2 for Milstein's, of a payoff without jumps: strong orders 1/2 and 1."""
    p = levelled(0.2, 64, scheme, paths={"antithetic": False})
    found = ended(p, CpuBackend())[0]["multilevel"]
    assert [level["steps"] for level in found["levels"]] == [4, 8, 16, 32, 64]
    variances = [level["variance"]["option1"] for level in found["levels"]]
    rates = np.log2(np.divide(variances[1:-1], variances[2:]))
    assert np.all(np.abs(rates - (1.0 if scheme == "euler" else 2.0)) < 0.25)


def test_levels_cost_less_than_plain_paths():
    """By the estimate of `plain_cost`, and by a plain run to the same standard error."""
    p = levelled(0.05, 64, "milstein")
    found, _ = ended(p, CpuBackend())
    levels = found["multilevel"]
    assert levels["cost"] == sum(level["cost"] for level in levels["levels"])
    assert found["paths"] == sum(level["paths"] for level in levels["levels"])
    n, error = 50_000, found["options"]["option1"]["standard_error"]
    plain = problem(time={"end": 1.0, "steps": 64, "scheme": "milstein"}, paths={"count": n})
    stepper = plain.stepper(CpuBackend(), plain.initial())
    stepper.advance(plain.clock.end)
    option = plain.results(copied(stepper.observe("time")))["options"]["option1"]
    cost = 64 * n * (option["standard_error"] / error) ** 2
    assert levels["plain_cost"] == pytest.approx(cost, rel=0.1)
    assert levels["cost"] < cost / 4
    difference = option["price"] - found["options"]["option1"]["price"]
    assert abs(difference) < 4 * math.hypot(error, option["standard_error"])


def test_dividends_fall_on_all_levels():
    """Expected prices are a recursion: cash makes them less by an amount, no price here being below it."""
    paid = [{"time": 0.25, "proportion": 0.1}, {"time": 0.5, "cash": 20.0}]
    p = levelled(1.0, 32, "euler", asset=[ASSET | {"dividends": paid}], option=[last(1)], paths={"antithetic": True})
    expected = 100.0
    for step in range(1, 33):
        expected *= 1 + 0.05 / 32
        expected = expected * 0.9 if step == 8 else expected - 20.0 if step == 16 else expected
    found = ended(p, CpuBackend())[0]["options"]["option1"]
    assert abs(found["price"] - expected * math.exp(-0.05)) < 4 * found["standard_error"] < 4.0


# ---- bits


def everything(**changes) -> MultilevelProblem:
    """Functionals that are fewer on some levels, frames amid blocks, paths that are stored."""
    return levelled(
        0.15,
        24,
        "euler",
        market={"rate": 0.05, "correlation": [[1.0, 0.6], [0.6, 1.0]]},
        asset=[ASSET, {"spot": 40.0, "volatility": 0.4}],
        option=[CALL, BARRIER | {"asset": "A"}, ASIAN | {"asset": "B", "strike": 40.0}, ASIAN | {"fixings": 6}],
        output={"frames": 4, "store_paths": 7},
        **changes,
    )


def test_neither_cuts_nor_restarts_nor_batches_change_a_bit():
    cpu = CpuBackend()
    whole, expected = ended(everything(), cpu)
    assert whole["target"]["reached"]
    for found, state in (ended(everything(), cpu, 1), ended(everything(paths={"batch": 1024}), cpu, 3)):
        assert found == whole
        for name, a in expected.items():
            np.testing.assert_array_equal(state[name], a, err_msg=name)
    p = everything(paths={"batch": 1024})
    stepper, restarts = p.stepper(cpu, p.initial()), 0
    while stepper.step < p.batches_end:
        if p.next_look(stepper.step) == stepper.step:
            p.settle(stepper)
        if restarts % 3 == 0:
            assert ended(p, cpu, start=copied(stepper.snapshot()))[0] == whole
        restarts += 1
        stepper.advance(1)
    assert restarts > 9


def test_a_run_that_is_killed_ends_with_the_same_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tables(
        time={"end": 1.0, "steps": 16, "scheme": "milstein"},
        paths={"count": 10**8, "multilevel": True, "target_standard_error": 0.02, "batch": 4096},
        run={"device": "cpu"},
        output={"frames": 5},
    )
    path = write(tmp_path / "s.toml", scenario, {})
    whole = run(capsys, "run", path, "-o", tmp_path / "whole")
    assert kill_somewhere(path, tmp_path / "parts", 30, 0.0, "--set", OFTEN)
    rest = run(capsys, "run", path, "-o", tmp_path / "parts")
    assert rest["results"] == whole["results"]
    assert_same_bits(tmp_path / "parts" / "results.h5", tmp_path / "whole" / "results.h5")

    found, levels = contents(tmp_path / "whole" / "results.h5"), whole["results"]["multilevel"]["levels"]
    assert found["time"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found["multilevel"].tolist() == [4, 8, 16]
    assert found["level_paths"].tolist() == [level["paths"] for level in levels]
    assert found["option_price"] == pytest.approx(found["level_mean"].sum(axis=0), rel=1e-14)
    assert found["price_mean"][-1, 0] == whole["results"]["assets"]["A"]["mean"]
    assert abs(found["price_mean"][-1, 0] - 100 * math.exp(0.05)) < 4 * found["price_mean_standard_error"][-1, 0]
    assert np.isnan(found["option_delta"]).all()

    more = run(capsys, "resume", tmp_path / "whole", "--paths", 2 * 10**8)
    assert more["results"]["options"] == whole["results"]["options"]


def test_what_cannot_be_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = tables(
        time={"end": 1.0, "steps": 16, "scheme": "euler"},
        paths={"count": 10**6, "multilevel": True, "target_standard_error": 1e-4},
        run={"device": "cpu"},
    )
    path = write(tmp_path / "s.toml", base, {})
    for command in ("check", "run"):
        said = call(capsys, command, path, "-o", tmp_path / "run")
        assert said.returncode == 2
        assert "paths to get there" in said.stderr
    assert not (tmp_path / "run").exists()
    for changes, words in (
        ({"steps": 25}, "25 steps cannot be halved"),
        ({"option": [ASIAN | {"fixings": 16}]}, "16 steps cannot be halved"),
        ({"paths": {"count": 3000}}, "3 levels take 3072 paths"),
        ({"asset": [ASSET | {"jumps": {"intensity": 1.0, "mean": 0.0, "deviation": 0.1}}]}, "jumps by multilevel"),
        ({"option": [{"style": "american", "payoff": "put", "strike": 100.0}]}, "American options by multilevel"),
        ({"asset": [ASSET | {"holding": 1.0}], "output": {"risk": {}}}, "`risk` by multilevel"),
    ):
        with pytest.raises(ScenarioError) as caught:
            levelled(**{"scheme": "euler", "steps": 16} | changes)
        assert words in str([m.message for m in caught.value.mistakes])


def test_paths_do_not_go_beyond_their_number():
    p = levelled(0.01, 16, count=50_000)
    found, state = ended(p, CpuBackend())
    assert 50_000 - 3 * 1024 < found["paths"] == state["done"].sum() <= 50_000
    assert found["target"] == {"standard_error": 0.01, "reached": False}
    assert found["options"]["option1"]["standard_error"] > 0.01


def test_a_fault_is_named_with_its_level():
    p = levelled(1.0, 16)
    observed = Snapshot(0, {"fault": np.array([STRIDE + 5])})
    assert p.fault(observed) == "path 5 of 8 steps of asset 'A', in its price or in what an option on it pays,"


# ---- GPUs


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-11), ("float32", 2e-4), ("mixed", 2e-5)])
def test_gpus_find_the_same(backend, kernel, precision, tolerance):
    if backend.name == "cudasim" and (kernel == "nvrtc" or precision != "float64"):
        pytest.skip("the simulator has no programs, and is slow")
    found, batch = [], {"batch": 1024} if backend.name == "cudasim" else {}
    for on, how in ((backend, {"kernel": kernel, "precision": precision}), (CpuBackend(), {"precision": precision})):
        p = everything(run=how, paths=batch)
        stepper = p.stepper(on, p.initial())
        if backend.name == "cudasim":
            stepper.goals = np.array([9, 6, 3])
        stepper.advance(p.rounds_from[1])
        found.append(copied(stepper.observe("time")))
    for name in ("done", "goals"):
        np.testing.assert_array_equal(found[0].arrays[name], found[1].arrays[name])
    means, expected = (moments(p, observed) for observed in found)
    np.testing.assert_allclose(means[0], expected[0], rtol=tolerance, atol=10 * tolerance)
    np.testing.assert_allclose(means[1], expected[1], rtol=10 * tolerance, atol=100 * tolerance)


@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("kernel", ["numba", "nvrtc"])
def test_a_gpu_reaches_its_target(backend, kernel):
    found, state = ended(levelled(0.005, 64, run={"kernel": kernel}, count=10**9), backend)
    again, same = ended(levelled(0.005, 64, run={"kernel": kernel}, count=10**9), backend, 5)
    option = found["options"]["option1"]
    assert found["target"]["reached"]
    assert abs(option["price"] - 10.450583572185565) < 4 * option["standard_error"] + 0.02  # bias of the scheme
    assert again == found
    for name, a in state.items():
        np.testing.assert_array_equal(same[name], a, err_msg=name)


@pytest.mark.parametrize("antithetic", [False, True])
def test_a_program_adds_up_what_arithmetic_on_arrays_does(host_cuda: HostCuda, antithetic):
    """Its source, run on the host, on ends of paths that are made up: no two of a pair are alike."""
    p = everything(paths={"antithetic": antithetic, "batch": 4096})
    n, level, rng = 3 * 1024, p.levels[2], np.random.default_rng(5)
    noises = [rng.normal(0, 0.3, (p.n_assets, p.batch)) for _ in range(2)]
    taken = [rng.normal(-0.3, 0.3, (len(level.payoffs.functionals), p.batch)) for _ in range(2)]
    for of_pair, steps in zip(taken, (24, 12)):  # averages are of so many prices
        for own, functional in zip(of_pair, level.payoffs.functionals):
            if functional.kind is Kind.SUM:
                own[:] = functional.dates.steps(steps).size * np.exp2(own)
    found = []
    for differences in (ArrayDifferences, ProgramDifferences):
        arrays = p.initial().arrays
        differences(p, host_cuda, arrays).add(2, n, level.first_path + 1024, noises, taken)
        assert arrays["fault"][0] == NO_FAULT
        found.append([float(exact(row)) for row in arrays["options"][2]])
    assert np.all(np.array(found[0]) != 0)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-11)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_programs_compile_without_spills(precision):
    level = everything(run={"precision": precision}).levels[1]
    paying = replace(level.fine, payoffs=level.payoffs)
    macros, log = payoffs_program(paying, rows_together(paying)[0], level.fewer_steps)[0], io.StringIO()
    compile_program(PAYOFFS, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
    coarse = everything(run={"precision": precision}).levels[1].coarse
    assert coarse is not None
    macros, log = paths_macros(coarse, *SHAPES[0]), io.StringIO()
    assert macros["SUMMED"] == 1
    compile_program(PATHS, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}
    if precision == "float32":
        assert not re.findall(r"^\s*\w[\w.]*\.f64.*;", ptx_of(program_text(PATHS, macros)), re.MULTILINE)

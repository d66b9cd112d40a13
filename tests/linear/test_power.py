"""Powers of A instead of steps: against exact powers, closed forms and steps; what they lose, and bits when cut."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from counting import Counting
from linear_problems import (
    EPS,
    FAR,
    NORMAL,
    advanced,
    begun,
    cut_in_two,
    exact,
    extended,
    few_threads,
    grcar,
    last,
    off,
    orthogonal,
    problem,
    scenario,
    without_workspaces,
)
from running import assert_same_bits, call, finish, start, wait_for_step
from scipy.linalg import expm

import simsuite
from simsuite.backends.cpu import CpuBackend
from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure
from simsuite.expressions import Expression
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.linear.method_choice.method import LITTLE
from simsuite.solvers.linear.powers import power_error
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import PowerStepper
from simsuite.solvers.linear.powers.power_error import balance
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.results.residual import residual
from simsuite.solvers.linear.stepping.step import LinearStepper
from simsuite.solvers.matmul import product_cpu

# --- against what is known --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (3, 5), (17, 2), (40, 100)], ids=str)
@pytest.mark.parametrize("k", [1, 2, 3, 37, 64])
def test_powers_are_those_of_exact_arithmetic(shape, k):
    n, m = shape
    rng = np.random.default_rng(1)
    A, X = orthogonal(n) * 0.9, rng.standard_normal((n, min(m, 2)))
    A = np.round(A * 2**12) / 2**12  # so that fractions stay short
    wide = np.tile(X, (1, -(-m // X.shape[1])))[:, :m]
    found = last(problem(A, wide, k))
    k_exact = extended(A, X, k) if n > 3 else exact(A, X, k)
    assert off(found[:, : X.shape[1]], k_exact) < 200 * EPS
    np.testing.assert_array_equal(found, np.tile(found[:, : X.shape[1]], (1, -(-m // X.shape[1])))[:, :m])


def test_constant_inputs():
    A, B, X = orthogonal(3) * 0.9, np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 0.0]]), np.ones((3, 2))
    A = np.round(A * 2**12) / 2**12
    inputs = {"input_matrix": B.tolist(), "input": [1.5, "2 + 1"]}
    for k in (1, 2, 29):
        found = last(problem(A, X, k, system=inputs))
        np.testing.assert_allclose(found, exact(A, X, k, B @ [1.5, 3.0]), rtol=1e-14)


def test_a_rotation_of_a_million_steps():
    p = problem({"generator": "rotation", "angle": 0.1}, [1.0, 0.0], 10**6)
    found = last(p)
    c, s = (
        math.cos(0.1),
        math.sin(0.1),
    )  # the matrix has rounded entries, whose angle and length differ in the last bits
    angle, length = 10**6 * math.atan2(s, c), math.exp(10**6 * 0.5 * math.log1p((c * c - 1) + s * s))
    wanted = length * np.array([[math.cos(angle)], [math.sin(angle)]])
    assert off(found, wanted) < 2e-10


def test_jordan_blocks_in_closed_form():
    """Entries C(k, j) r^(k - j). The block is nowhere negative, so that its powers are accurate in every entry."""
    n, r, k = 12, 0.99, 3000
    p = problem(r * np.eye(n) + np.eye(n, k=1), np.eye(n)[:, [n - 1]], k)
    binomials = [math.exp(math.log(math.comb(k, j)) + (k - j) * math.log(r)) for j in reversed(range(n))]
    np.testing.assert_allclose(last(p)[:, 0], binomials, rtol=1e-11)
    assert begun(p).chosen["stepper_reason"].startswith("asked for; powers of A lose about ")


def test_a_markov_chain_arrives():
    n, up, down = 12, 0.3, 0.35
    p = problem({"generator": "markov", "states": n, "up": up, "down": down}, np.eye(n)[:, [0, n - 1]], 10**6)
    wanted = (up / down) ** np.arange(n)
    np.testing.assert_allclose(last(p), np.column_stack([wanted / wanted.sum()] * 2), rtol=2e-10)


def test_a_known_spectrum_and_continuous_time():
    """A mode of the heated rod, over 10^5 steps of its exponential."""
    n, steps, dt = 9, 10**5, 1e-6
    mode = np.sin(np.pi * 2 * np.arange(1, n + 1) / (n + 1))
    given = scenario({"generator": "heat1d", "points": n}, mode, steps, dt=dt)
    given["system"]["kind"] = "continuous"
    p = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."))
    rate = -4 * (n + 1) ** 2 * math.sin(math.pi * 2 / (2 * (n + 1))) ** 2
    np.testing.assert_allclose(last(p)[:, 0], math.exp(rate * steps * dt) * mode, rtol=0, atol=1e-11)


def test_single_precision_loses_less_than_steps_do():
    A, X = orthogonal(30), np.random.default_rng(2).standard_normal((30, 4))
    given = {"run": {"precision": "float32"}}
    wanted = extended(A.astype(np.float32), X.astype(np.float32), 20_000)
    wanted64 = extended(A, X.astype(np.float32), 20_000)
    powers, steps = (last(problem(A, X, 20_000, method=method, **given)) for method in ("power", "step"))
    assert powers.dtype == steps.dtype == np.float32
    assert off(powers, wanted64) < 4e-7
    assert min(off(steps, wanted), off(steps, wanted64)) > 3e-6


# --- gaps, cuts and looks ---------------------------------------------------------------------------------------------

GAPS = {
    "one frame": ({"frames": 2}, 1),
    "equal": ({"frames": 11}, 1),
    "nearly equal": ({"frames": 8}, 1),
    "many columns": ({"frames": 21}, 60),
    "single steps": ({"times": [1.0, 2.0, 3.0, 500.0, 501.0]}, 2),
    "odd ones": ({"times": [7.0, 8.0, 200.0, 333.0, 999.0]}, 3),
}


@pytest.mark.parametrize("case", GAPS)
def test_all_kinds_of_gaps(case):
    output, m = GAPS[case]
    A, X = orthogonal(20) * 0.999, np.random.default_rng(2).standard_normal((20, m))
    p = problem(A, X, 1000, output=output)
    stepper = begun(p)
    for step in p.frames[1:]:
        stepper.advance(step - stepper.step)
        with stepper.observe("time") as observed:
            assert off(observed.arrays["state"], extended(A, X, step)) < 1e-12
    formed = p._jumps.formed
    assert len(formed) == {"one frame": 0, "equal": 0, "nearly equal": 0, "many columns": 1}.get(case, 0)


def test_what_pays_is_formed():
    """Uses times columns beyond the rows of A, and more than one bit: those that come most often."""
    assert Jumps.between((0, 100, 200, 300), 10, 4).formed == (100,)
    assert Jumps.between((0, 100, 200, 300), 12, 4).formed == ()
    assert Jumps.between((0, 64, 128, 192), 10, 4).formed == ()
    assert Jumps.between((0, 3, 8, 11, 16, 19), 1, 1).formed == (3, 5)
    assert len(Jumps.between([k * k for k in range(60)], 1, 100).formed) == 16


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("m", [1, 30])
def test_neither_cuts_nor_looks_nor_restoring_change_a_bit(precision, m):
    given = {"run": {"precision": precision}, "output": {"frames": 4}}
    p = problem(orthogonal(20), {"random": "normal", "batch": m}, 1000, **given)
    whole = advanced(p, 1000)
    np.testing.assert_array_equal(advanced(p, 1, 2, 330, 1, 600, 66).arrays["state"], whole.arrays["state"])
    looked = begun(p)
    for step in (5, 333, 400, 667, 999, 1000):
        looked.advance(step - looked.step)
        assert np.isfinite(looked.state["state"]).all()
    np.testing.assert_array_equal(looked.state["state"], whole.arrays["state"])
    for step in (1, 300, 333, 334, 700):
        there = advanced(p, step)
        rest = advanced(p, 1000 - step, start=there)
        assert rest.step == 1000
        np.testing.assert_array_equal(rest.arrays["state"], whole.arrays["state"])


def test_between_frames_the_state_is_that_of_its_step():
    A, C = orthogonal(8), np.random.default_rng(3).standard_normal((2, 8))
    p = problem(A, np.eye(8)[:, :3], 500, system={"output_matrix": C.tolist()}, output={"frames": 3})
    stepper = begun(p)
    for step in (0, 1, 7, 249, 250, 251, 499, 500):
        stepper.advance(step - stepper.step)
        wanted = extended(A, np.eye(8)[:, :3], step)
        np.testing.assert_allclose(stepper.state["state"], wanted.astype(float), rtol=0, atol=1e-13)
        with stepper.observe("time") as observed, stepper.snapshot() as snapshot:
            np.testing.assert_allclose(p.rows("time", observed)["state"], C @ wanted.astype(float), atol=1e-12)
            np.testing.assert_array_equal(snapshot.arrays["state"], observed.arrays["state"])
            assert snapshot.step == step
    with pytest.raises(ValueError, match="past the end"):
        stepper.advance(1)


def test_stepping_by_hand(tmp_path):
    given = scenario(orthogonal(3), [1.0, 2.0, 3.0], 100)
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    simulation = simsuite.open_simulation(path, device="cpu")
    simulation.advance(7)
    wanted = extended(orthogonal(3), [[1.0], [2.0], [3.0]], 7)
    np.testing.assert_allclose(simulation.state["state"], wanted.astype(float), rtol=0, atol=1e-14)
    assert simulation.results()["method"] == "power"


@pytest.mark.parametrize(
    ("numbers", "u"),
    [([0], 0.5), ([41, 777], "where(t % 100 < 30, 0.5, 0)")],
    ids=["at the start", "between frames and changes"],
)
def test_a_killed_run_ends_with_the_bits_of_an_uninterrupted_one(tmp_path, capsys, numbers, u):
    given = scenario(
        orthogonal(6) * 0.9999,
        {"random": "normal", "batch": 3},
        1500,
        system={"input_matrix": [[1.0]] * 6, "input": [u], "output_matrix": [[1.0] * 6]},
        output={"frames": 31, "checkpoint_every": 17},
        run={"device": "cpu"},
    )
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    parts = tmp_path / "parts"
    for number in numbers:
        process = start("run", path, "-o", parts, "-q", cwd=tmp_path)
        wait_for_step(process, parts, max(number, 1))
        process.kill()
        finish(process)
    rest = call(capsys, "run", path, "-o", parts, "--json")
    assert rest.returncode == 0, rest.stderr
    assert_same_bits(parts / "results.h5", tmp_path / "whole" / "results.h5")
    found = json.loads(rest.stdout)
    assert found["results"] == json.loads(whole.stdout)["results"]
    assert (found["stepper"], found["results"]["method"]) == ("power", "power")
    assert 0 < found["results"]["power_error"] < 1e-11
    assert found["results"]["residual"] < 1e-11


# --- what is lost -----------------------------------------------------------------------------------------------------


def estimate_and_error(A, K, X):
    p = problem(A, X, K, tolerance=1e300)
    return begun(p)._powers.error, off(last(p), extended(A, X, K))


@pytest.mark.parametrize("K", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("name", NORMAL)
def test_the_estimate_is_close_above_the_error(name, K):
    A = np.asarray(NORMAL[name])
    if name == "growing":
        K = min(K, 10_000)
    estimate, error = estimate_and_error(A, K, np.random.default_rng(4).standard_normal((len(A), 3)))
    assert 0.8 * error < estimate < 30 * error
    assert estimate < 1e-9


@pytest.mark.parametrize("K", [100, 10_000])
@pytest.mark.parametrize("name", FAR)
def test_the_estimate_is_above_the_error(name, K):
    A = FAR[name]
    estimate, error = estimate_and_error(A, K, np.random.default_rng(4).standard_normal((len(A), 3)))
    assert estimate > error


def test_states_that_cancel_are_states():
    A, w = grcar(30), np.random.default_rng(1).standard_normal((30, 1))
    one, both = (begun(problem(A, X, 1000, tolerance=1.0))._powers.error for X in (w, np.hstack([w, -w])))
    assert 0.1 * one < both < 10 * one


def test_growth_of_powers_is_not_that_of_the_state():
    A, X = np.diag([10.0, *[1.01] * 9]), np.ones((10, 1))
    X[0] = 0.0
    with pytest.raises(NumericalFailure, match="powers of A overflow float64"):
        begun(problem(A, X, 3000))
    np.testing.assert_allclose(last(problem(A, X, 3000, method="auto"))[1:], 1.01**3000, rtol=1e-11)


def test_a_state_that_is_0_after_a_step_loses_nothing():
    p = problem([[0.0, -1.0], [0.0, 0.0]], [[1.0], [0.0]], 100)
    np.testing.assert_array_equal(last(p), 0.0)
    assert begun(p)._powers.error == 0.0


def test_exact_products_lose_nothing():
    """Which the estimate does not know: what agrees may do so by chance."""
    shift = np.roll(np.eye(12), 1, axis=0)
    p = problem(shift, np.arange(12.0), 10**8)
    np.testing.assert_array_equal(last(p)[:, 0], np.roll(np.arange(12.0), 10**8 % 12))
    assert begun(p)._powers.error == pytest.approx(10**8 * EPS / 4, rel=1e-6)


def test_units_do_not_matter():
    """The same system in other units: nothing changes but powers of 2."""
    A, X = expm(springs(5, 1.0, 400.0, 0.01).toarray() * 0.01), np.ones((10, 1))
    d = 2.0 ** np.repeat([0, 12], 5)
    errors = [
        begun(problem(A * scale[:, None] / scale, X * scale[:, None], 1000))._powers.error for scale in (np.ones(10), d)
    ]
    assert errors[1] < 4 * errors[0] < 16 * errors[1]
    scales = np.log2(balance(np.diag(d) @ orthogonal(10) @ np.diag(1 / d)) / d)
    assert np.ptp(scales) <= 2


def test_the_stepping_that_is_compared_is_part_of_the_run():
    """Of a short gap A itself is the only power, and nothing is lost."""
    assert begun(problem(orthogonal(3), np.ones((3, 1)), 1))._powers.error == 0.0
    assert power_error.DOUBLINGS == 7


def test_powers_that_lose_too_much_are_refused():
    p = problem(grcar(40), np.ones((40, 1)), 10**6)
    with pytest.raises(NumericalFailure, match=r"would lose about \d.*, more than 1e-08\n.*method = \"step\""):
        begun(p)
    assert isinstance(begun(problem(grcar(40), np.ones((40, 1)), 10**6, tolerance=1e3)), PowerStepper)


def test_auto_steps_where_powers_would_be_refused_and_goes_on_so(tmp_path):
    given = {"A": grcar(40), "state": np.ones((40, 1)), "steps": 10**5, "method": "auto", "tolerance": 1e-30}
    p = problem(**given)
    assert p.plan.method == "power"
    stepper = begun(p)
    assert isinstance(stepper, LinearStepper)
    assert stepper.chosen["stepper"] == "step"
    assert "would lose about" in stepper.chosen["stepper_reason"]
    stepper.advance(100)
    with stepper.snapshot() as snapshot, stepper.observe("time") as observed:
        assert "anchor" not in snapshot.arrays
        assert p.results(observed)["method"] == "step"
        again = begun(problem(**given, decided=p.decided), snapshot)
    assert isinstance(again, LinearStepper)
    assert again.chosen["stepper"] == "step"


def test_a_run_that_steps_after_all_is_continued_so(tmp_path, capsys):
    path = tmp_path / "s.toml"
    given = scenario(grcar(40), np.ones((40, 1)), 5000, method="auto", tolerance=1e-30, run={"device": "cpu"})
    path.write_text(tomli_w.dumps(given))
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    for name in ("log.txt", "scenario.toml"):
        assert (tmp_path / "whole" / name).exists()
    log = (tmp_path / "whole" / "log.txt").read_text()
    assert "step: powers of A would lose about " in log
    found = json.loads(whole.stdout)
    assert (found["stepper"], found["results"]["method"]) == ("step", "step")
    process = start("run", path, "-o", tmp_path / "parts", "-q", "--set", "output.checkpoint_every=1", cwd=tmp_path)
    wait_for_step(process, tmp_path / "parts", 100)
    process.kill()
    finish(process)
    rest = call(capsys, "run", path, "-o", tmp_path / "parts", "--json")
    assert rest.returncode == 0, rest.stderr
    assert "continuing" in rest.stderr
    assert json.loads(rest.stdout)["results"] == found["results"]
    assert_same_bits(tmp_path / "parts" / "results.h5", tmp_path / "whole" / "results.h5")


@pytest.mark.parametrize(("tolerance", "changes"), [(1e-30, True), (1e3, False)])
def test_a_run_that_steps_after_all_says_so_in_the_terminal(tmp_path, capsys, tolerance, changes):
    """`check` says on what it may, and that only where the scenario leaves the choice."""
    path = tmp_path / "s.toml"
    given = scenario(grcar(40), np.ones((40, 1)), 5000, method="auto", tolerance=tolerance, run={"device": "cpu"})
    path.write_text(tomli_w.dumps(given))
    powers = "powers of A from frame to frame"
    assert f"{powers}, unless they lose more than {tolerance:g} of the state" in call(capsys, "check", path).stdout
    assert f"{powers}\n" in call(capsys, "check", path, "--set", "time.method=power").stdout
    told = call(capsys, "run", path, "-o", tmp_path / "run").stderr
    assert f"by {powers}\n" in told
    assert ("\nstep instead of power: powers of A would lose about " in told) == changes
    assert (" instead of " in told) == changes


def test_the_run_says_what_it_chose_and_why(tmp_path, capsys):
    path = tmp_path / "s.toml"
    ends = {"refused": (grcar(40), 3), "kept": (orthogonal(40), 0)}
    for name, (A, code) in ends.items():
        path.write_text(tomli_w.dumps(scenario(A, np.ones((40, 1)), 10**5, run={"device": "cpu"})))
        done = call(capsys, "run", path, "-o", tmp_path / name, "--json")
        assert done.returncode == code
        if code:
            assert "1e-08" in done.stderr
            assert 'method = "step"' in done.stderr
    log = (tmp_path / "kept" / "log.txt").read_text()
    assert "power: asked for; powers of A lose about " in log
    assert json.loads(done.stdout)["rate_unit"] == "steps/s"


# --- the choice -------------------------------------------------------------------------------------------------------


def chosen(n, m, steps, frames=2, method="auto"):
    return problem(np.eye(n), {"random": "normal", "batch": m}, steps, method=method, output={"frames": frames}).plan


def test_auto_counts():
    assert chosen(40, 1, LITTLE // (2 * 40 * 40)).method == "step", "so little that it does not matter"
    assert chosen(40, 1, 10**6).method == "power"
    assert chosen(40, 1, 10**4, frames=10**4).method == "step", "each step is a frame"
    assert chosen(300, 1, 1000).method == "step", "squares cost more than the steps"
    assert chosen(300, 3000, 1000).method == "power"
    assert chosen(40, 1, 10, method="power").method == "power"
    assert chosen(40, 1, 10**6, method="step").method == "step"
    for plan in (chosen(40, 1, 10), chosen(40, 1, 10**6), chosen(300, 1, 1000)):
        assert "products" in plan.reason


def test_inputs_that_depend_on_time_are_stepped():
    moving = {"system": {"input_matrix": [[1.0]] * 40, "input": ["sin(t)"]}}
    assert (
        problem(np.eye(40), np.ones((40, 1)), 10**6, method="auto", **moving).plan.reason
        == "inputs depend on time and change too often"
    )


def test_powers_that_do_not_fit_are_not_taken():
    class Small(CpuBackend):
        def memory_free(self):
            return 10**6

    given = LinearScenario.model_validate(scenario(np.eye(100), np.ones((100, 1)), 10**6, method="auto"))
    plan = LinearProblem.from_scenario(given, Path("."), Small).plan
    assert plan.method == "step"
    assert "cpu has 0.00 GB free" in plan.reason


def test_a_run_keeps_its_plan():
    p = problem(np.eye(40), np.ones((40, 1)), 10**6, method="auto")
    assert problem(np.eye(40), np.ones((40, 1)), 10**6, method="auto", decided=p.decided).plan == p.plan
    kept = {"method": "step", "reason": "as it was"}
    assert problem(np.eye(40), np.ones((40, 1)), 10**6, method="auto", decided=kept).plan.method == "step"
    assert problem(np.eye(40), np.ones((40, 1)), 10**6).decided == {}
    with pytest.raises(simsuite.SimsuiteError, match="--fresh"):
        problem(np.eye(40), np.ones((40, 1)), 10**6, method="auto", decided={"stepper": "adi"})


def test_a_million_steps_take_few_products(monkeypatch):
    """19 squarings; 1 000 000 has seven bits: six products more, as its matrix is formed, and one with the states."""
    counted = {"square": 0, "states": 0}
    multiply = product_cpu.Multiplier.__call__
    n, m = 20, 50

    def counting(self, X, bias, row, stride, n_steps, out):
        if out.shape[1] > 1:
            counted["square" if out.shape[1] == n else "states"] += n_steps
        multiply(self, X, bias, row, stride, n_steps, out)

    monkeypatch.setattr(product_cpu.Multiplier, "__call__", counting)
    p = problem(orthogonal(n), {"random": "normal", "batch": m}, 10**6)
    advanced(p, 10**6)
    assert counted == {"square": p._jumps.squares, "states": p._jumps.applied} == {"square": 25, "states": 1}
    assert Jumps.between((0, 10**6), 2048, 2048).squares + Jumps.between((0, 10**6), 2048, 2048).applied < 40


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize(("m", "frames"), [(1, 4), (40, 4)])
def test_device_bytes_count_every_array(precision, m, frames, monkeypatch):
    without_workspaces(monkeypatch)
    C = {"output_matrix": [[1.0] * 200]}
    given = {"run": {"precision": precision}, "output": {"frames": frames}, "system": C}
    p = problem(orthogonal(200), {"random": "normal", "batch": m}, 3000, **given)
    counting = Counting()
    p.stepper(counting, p.initial())
    assert counting.most <= p.device_bytes() < 3 * counting.most


# --- growth -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "step", "power"])
@pytest.mark.parametrize(("precision", "steps"), [("float64", 512), ("float32", 64)])
def test_overflow_is_predicted(method, precision, steps):
    """4^512 = 2^1024 and 4^64 = 2^128 are the first that do not fit."""
    given = {"method": method, "run": {"precision": precision}}
    with pytest.raises(NumericalFailure, match=f"beyond the range of {precision} at step {steps} of 5000"):
        problem([[1.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], 5000, **given)
    fits = problem([[1.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]], steps - 1, **given)
    assert np.isfinite(last(fits)).all()
    still = problem([[1.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [0.0, 0.0]], 5000, **{**given, "method": "step"})
    assert np.isfinite(last(still)).all(), "the state has no part in the growth"


def test_overflow_by_inputs_is_predicted():
    inputs = {"input_matrix": [[1.0]], "input": [1e306]}
    with pytest.raises(NumericalFailure, match="at step 180 of 1000"):
        problem([[1.0]], [0.0], 1000, method="step", system=inputs)


def test_powers_find_overflow_where_the_host_does_not_look(monkeypatch):
    monkeypatch.setattr("simsuite.solvers.linear.checks.overflow._LIMIT", 0)
    growing = 1.01 * orthogonal(5)
    with pytest.raises(NumericalFailure, match="at about step 7") as found:
        begun(problem(growing, np.ones((5, 1)), 10**6))
    step = int(str(found.value).split("about step ")[1].split()[0])
    assert step == pytest.approx(math.log(np.finfo(float).max) / math.log(1.01), rel=2e-3)
    stepper = begun(problem(growing, np.ones((5, 1)), 10**7, method="auto"))
    assert isinstance(stepper, LinearStepper)
    assert "about step 7" in stepper.chosen["stepper_reason"]


# --- residual ---------------------------------------------------------------------------------------------------------


def test_the_residual_of_powers_is_found_by_steps():
    A, X = orthogonal(10), np.random.default_rng(1).standard_normal((10, 9))
    p = problem(A, X, 1000)
    state = last(p)
    assert residual(p.system, state, 1000, True, 10**9) < 1e-12
    assert residual(p.system, state * (1 + 1e-6), 1000, True, 10**9) == pytest.approx(1e-6, rel=1e-3)
    assert residual(p.system, state, 1000, True, 10**5) is None
    assert residual(p.system, state, 10**6, True, 10**12) is None
    with begun(p).observe("time") as observed:
        assert p.results(Snapshot(0, observed.arrays))["residual"] == 0.0


@pytest.mark.parametrize("kind", ["discrete", "continuous", "sparse"])
def test_the_residual_under_moving_inputs_is_found_by_steps(kind):
    A, X = 0.9 * orthogonal(10), np.random.default_rng(1).standard_normal((10, 9))
    system = {"input_matrix": np.ones((10, 1)).tolist(), "input": ["cos(3*t)"]}
    if kind != "discrete":
        system["kind"] = "continuous"
    if kind == "sparse":
        A = {"generator": "heat1d", "points": 10, "format": "csr"}
    p = problem(A, X, 500, dt=1e-3, method="step", system=system)
    for wrong, least, most in ((1.0, 0.0, 1e-13), (1 + 1e-6, 0.9e-6, 1.1e-6)):
        found = p.results(Snapshot(500, {"state": wrong * last(p)}))["residual"]
        assert least <= found < most
    assert residual(p.system, last(p), 500, False, 1000) is None
    inputs = replace(p.system.inputs, given=(Expression.parse("cos(3*(t + 1e-4))", ("t",)),))
    late = residual(replace(p.system, inputs=inputs), last(p), 500, False, 10**9)
    assert 1e-8 < late < 1e-2, "inputs of another time"


# --- other devices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("m", "precision", "tolerance"), [(1, "float64", 1e-10), (4, "float32", 5e-6)], ids=str)
def test_powers_on_a_gpu(backend, m, precision, tolerance, monkeypatch):
    n, steps = 300, 10**6
    if backend.name == "cudasim":
        n, steps = 2, 22
        monkeypatch.setattr(power_error, "DOUBLINGS", 1)
        monkeypatch.setattr(power_error, "WALK", 1)
        few_threads(backend, monkeypatch)
    A, X = orthogonal(n), np.random.default_rng(1).standard_normal((n, m))
    p = problem(A, X, steps, output={"frames": 3}, run={"precision": precision})
    cut_in_two(backend, p, lambda step: extended(A, X, step), tolerance)

"""Powers of A from change to change of inputs: against sums and steps, what they lose, and bits when cut."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from counting import Counting
from linear_problems import (
    EPS,
    FAR,
    advanced,
    begun,
    cut_in_two,
    exact,
    few_threads,
    grcar,
    inputs,
    last,
    off,
    orthogonal,
    problem,
    stepped,
    without_workspaces,
)
from scipy.linalg import expm

from simsuite.errors import NumericalFailure, ScenarioError
from simsuite.solvers.linear.powers import power, power_error
from simsuite.solvers.linear.powers.power import PowerStepper

# --- powers from change to change -------------------------------------------------------------------------------------


PULSES = ["where(t % 100 < 30, 1, 0)", "where(t < 333, 0.5, -2)"]
B2 = [[1.0, 0.0], [0.0, 2.0], [-1.0, 0.5]]


@pytest.mark.parametrize("m", [1, 3, 40])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("output", [{"frames": 2}, {"frames": 11}, {"times": [1.0, 2.0, 30.0, 31.0, 333.0, 999.0]}])
def test_states_are_those_of_steps(m, precision, output):
    A, X = 0.999 * orthogonal(3), np.random.default_rng(1).standard_normal((3, m))
    p = problem(A, X, 1000, output=output, system={"input_matrix": B2, "input": PULSES}, run={"precision": precision})
    wanted = stepped(A, X, B2, inputs(*PULSES).values(range(1000)))
    stepper, eps = begun(p), float(np.finfo(p.dtype).eps)
    assert isinstance(stepper, PowerStepper)
    for step in (1, 29, 30, 31, 100, 332, 333, 334, 999, 1000):
        stepper.advance(step - stepper.step)
        assert off(stepper.state["state"], wanted[step]) < 30 * eps * (1 if precision == "float32" else 20)


def test_inputs_that_would_change_after_the_end_only():
    """They count as one input that never changes."""
    A, X = 0.999 * orthogonal(3), np.ones((3, 1))
    p = problem(A, X, 100, system={"input_matrix": B2, "input": ["where(t < 1000, 1, 2)", 0.5]})
    assert off(last(p), stepped(A, X, B2, [[1.0] * 100, [0.5] * 100])[-1]) < 1e-13


def test_a_dose_in_fractions():
    """Whole numbers, so that nothing is rounded: x doubles, and takes 3 at steps 4 to 6."""
    p = problem([[2.0]], [1.0], 12, system={"input_matrix": [[3.0]], "input": ["4 <= t and t < 7"]})
    x = Fraction(1)
    for k in range(12):
        x = 2 * x + (3 if 4 <= k < 7 else 0)
    assert last(p)[0, 0] == x
    halved = problem([[0.5]], [1.0], 40, system={"input_matrix": [[3.0]], "input": ["t >= 20"]})
    np.testing.assert_allclose(last(halved), exact([[0.5]], exact([[0.5]], [[1.0]], 20), 20, [3.0]), rtol=4 * EPS)


def test_a_square_wave_through_a_lag_in_closed_form():
    """T x' = u - x, u 1 in the first half of each period and 0 in the second: x comes to 1 / (1 + exp(-P / 2T)) at the
    end of the first half, however it began."""
    dt, T, P, periods = 0.01, 0.7, 4.0, 20
    system = {"kind": "continuous", "input_matrix": [[1 / T]], "input": [f"t % {P} < {P / 2}"]}
    p = problem([[-1 / T]], [0.3], round(periods * P / dt), dt=dt, system=system, output={"times": [78.0, 80.0]})
    stepper, half, top = begun(p), np.exp(-P / 2 / T), 1 / (1 + np.exp(-P / 2 / T))
    stepper.advance(7800)
    np.testing.assert_allclose(stepper.state["state"], top, rtol=1e-12)
    stepper.advance(200)
    np.testing.assert_allclose(stepper.state["state"], top * half, rtol=1e-12)
    assert p.system.held.values.shape == (1, 2)
    assert len(p.system.held.steps) == 2 * periods


@pytest.mark.parametrize("kind", ["lines", "sparse", "complex"])
def test_other_systems_with_held_inputs(kind):
    """Lines between values (of which the last before a change leads to the new value), series of sparse matrices, and
    complex ones."""
    n, system = 6, {"kind": "continuous", "input_matrix": [[1.0]] * 6, "input": ["where(t % 0.5 < 0.2, 1, 0)"]}
    A = -np.eye(n) + 0.5 * orthogonal(n)
    if kind == "lines":
        system["hold"] = "first"
    if kind == "complex":
        A = [[f"{x}+0.25j" for x in row] for row in A]
    if kind == "sparse":
        A = {"generator": "heat1d", "points": n, "format": "csr"}
    X = np.random.default_rng(2).standard_normal((n, 2))
    found = {}
    for method in ("step", "power"):
        p = problem(A, X, 1000, dt=2e-3, method=method, system=system)
        found[method] = last(p)
        if method == "power":
            results = p.results(advanced(p, 1000))
            assert results["residual"] < 1e-12
    assert off(found["power"], found["step"]) < 1e-12


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_neither_cuts_nor_looks_nor_restoring_change_a_bit(precision):
    given = {"run": {"precision": precision}, "output": {"frames": 4}}
    given["system"] = {"input_matrix": [[1.0, 0.5]] * 20, "input": PULSES}
    p = problem(0.99 * orthogonal(20), {"random": "normal", "batch": 3}, 1000, **given)
    whole = advanced(p, 1000)
    np.testing.assert_array_equal(advanced(p, 1, 2, 330, 1, 600, 66).arrays["state"], whole.arrays["state"])
    looked = begun(p)
    for step in (5, 30, 129, 130, 131, 400, 667, 999, 1000):
        looked.advance(step - looked.step)
        assert np.isfinite(looked.state["state"]).all()
    np.testing.assert_array_equal(looked.state["state"], whole.arrays["state"])
    for step in (1, 30, 31, 300, 333, 334, 700, 999):
        rest = advanced(p, 1000 - step, start=advanced(p, step))
        np.testing.assert_array_equal(rest.arrays["state"], whole.arrays["state"])


# --- what is lost, and what is chosen ---------------------------------------------------------------------------------

LOSING = {
    "orthogonal": orthogonal(30),
    "decaying": 0.99 * orthogonal(30),
    "spring": expm(np.array([[0.0, 1.0], [-400.0, -0.05]]) * 0.01),
    "growing": 1.001 * orthogonal(8),
    "grcar": 0.9 * grcar(20),
}


@pytest.mark.parametrize("pulses", ["where(t % 700 < 200, 1, 0)", "where(t < 6000, 0, 1)", "where(t < 100, 1e6, 0)"])
@pytest.mark.parametrize("rest", [0.0, 1.0], ids=["at rest", "moving"])
@pytest.mark.parametrize("name", LOSING)
def test_the_estimate_is_above_the_error(name, rest, pulses):
    A, steps = LOSING[name], 10_000
    n = len(A)
    X, B = rest * np.random.default_rng(4).standard_normal((n, 1)), np.ones((n, 1))
    system = {"input_matrix": B.tolist(), "input": [pulses]}
    p = problem(A, X, steps, tolerance=1e300, system=system, output={"frames": 21})
    states = stepped(A, X, B, inputs(pulses).values(range(steps)))
    stepper, error = begun(p), 0.0
    for step in p.frames[1:]:
        stepper.advance(step - stepper.step)
        if np.abs(states[step]).max() > 1e-140:
            error = max(error, off(stepper.state["state"], states[step]))
    estimate = stepper._powers.error
    assert error < estimate
    assert estimate < 1e-7 or name == "grcar"


@pytest.mark.parametrize("frames", [21, 1001])
def test_what_comes_late_is_seen(frames):
    """With many frames the powers that the run has are short, and the first of many products see a state at rest."""
    system = {"input_matrix": [[1.0], [1.0]], "input": ["where(t < 90000, 0, 1)"]}
    p = problem(FAR["modes at a small angle"], [0.0, 0.0], 10**5, system=system, output={"frames": frames})
    with pytest.raises(NumericalFailure, match="would lose about"):
        begun(p)


def losses(A, start, steps, pulses, frames):
    """(the estimate, the largest error at a frame)."""
    n = len(A)
    system = {"input_matrix": np.eye(n)[:, :1].tolist(), "input": [pulses]}
    p = problem(A, start, steps, tolerance=1e300, system=system, output={"frames": frames})
    states = stepped(A, start, np.eye(n)[:, :1], inputs(pulses).values(range(steps)))
    stepper, error = begun(p), 0.0
    for step in p.frames[1:]:
        stepper.advance(step - stepper.step)
        size = np.abs(states[step]).max()
        error = max(error, off(stepper.state["state"] / size, states[step] / size))
    return stepper._powers.error, error


def test_a_long_decay_after_a_pulse():
    """Beyond the highest power errors go on decaying, as the state does."""
    A = 0.99 * np.array([[math.cos(0.1), -math.sin(0.1)], [math.sin(0.1), math.cos(0.1)]])
    estimate, error = losses(A, np.zeros((2, 1)), 60_000, "where(t < 20, 1, 0)", 2)
    assert 0.8 * error < estimate < 100 * error < 1e-9


@pytest.mark.parametrize("name", ["scalar", "rotation", "symmetric"])
def test_doses_that_end_after_many(name):
    c, s = math.cos(0.1), math.sin(0.1)
    Q = orthogonal(5, 3)
    A = {
        "scalar": np.array([[0.99]]),
        "rotation": 0.99 * np.array([[c, -s], [s, c]]),
        "symmetric": Q @ np.diag([0.99, 0.98, 0.97, 0.9, 0.5]) @ Q.T,
    }[name]
    estimate, error = losses(A, np.zeros((len(A), 1)), 60_000, "where(t < 7000, t % 7 < 1, 0)", 2)
    assert 0.4 * error < estimate < 100 * error


def test_many_values_have_no_graphs_of_their_own(monkeypatch):
    for values, recorded in ((power.RECORDED, True), (power.RECORDED + 1, False)):
        p = problem([[0.5]], [1.0], 10_000, system={"input_matrix": [[1.0]], "input": [f"floor(t/100) % {values}"]})
        stepper = begun(p)
        if not recorded:
            monkeypatch.setattr(stepper._recorder, "replay", None)
        stepper.advance(10_000)
        x = 1.0
        for k in range(10_000):
            x = 0.5 * x + k // 100 % values
        np.testing.assert_allclose(stepper.state["state"], x, rtol=1e-13)


def moving(**more):
    return {"system": {"input_matrix": [[1.0]] * 40, "input": ["t % 5000 < 100"]}, **more}


def test_auto_takes_powers_where_inputs_are_held():
    A = orthogonal(40)
    p = problem(A, np.ones((40, 1)), 10**6, method="auto", **moving())
    assert p.plan.method == "power"
    assert p._jumps.gaps == {100: 200, 4900: 200}
    stepper = begun(p)
    assert stepper.chosen["stepper"] == "power"
    often = problem(A, np.ones((40, 1)), 20_000, method="auto", system=moving()["system"] | {"input": ["t % 5 < 2"]})
    assert often.plan.method == "step", "too many changes to pay"
    too_much = begun(problem(A, np.ones((40, 1)), 10**6, method="auto", tolerance=1e-30, **moving()))
    assert too_much.chosen["stepper"] == "step", "modes do not take inputs that change"


def test_a_run_that_changes_too_often_for_powers_is_refused():
    for steps, often in ((100, "more often than at every other step"), (10**6, "more than 100000 times")):
        with pytest.raises(ScenarioError, match=f"the input sin\\(t\\) changes {often}"):
            problem([[0.5]], [1.0], steps, system={"input_matrix": [[1.0, 1.0]], "input": ["t > 3", "sin(t)"]})


def test_overflow_is_that_of_the_inputs_as_they_are(monkeypatch):
    """1.01^k overflows after 71 000 steps, counted from the beginning of the input."""
    monkeypatch.setattr("simsuite.solvers.linear.checks.overflow._LIMIT", 0)
    for steps, late, fits in ((1000, 990, True), (75_000, 1500, False), (75_000, 71_000, True)):
        system = {"input_matrix": [[1.0]] * 5, "input": [f"t >= {late}"]}
        p = problem(
            1.01 * orthogonal(5), [0.0] * 5, steps, system=system, output={"times": [float(steps - 900), steps]}
        )
        if fits:
            assert np.isfinite(last(p)).all()
        else:
            with pytest.raises(NumericalFailure, match="at about step 7") as found:
                begun(p)
            step = int(str(found.value).split("about step ")[1].split()[0])
            assert step == pytest.approx(late + np.log(np.finfo(float).max * 0.01 / 2) / np.log(1.01), rel=5e-3)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_device_bytes_count_every_array(precision, monkeypatch):
    without_workspaces(monkeypatch)
    n = 200
    system = {"input_matrix": [[1.0, 2.0]] * n, "input": PULSES, "output_matrix": [[1.0] * n]}
    p = problem(orthogonal(n), {"random": "normal", "batch": 4}, 3000, run={"precision": precision}, system=system)
    counting = Counting()
    p.stepper(counting, p.initial())
    assert counting.most <= p.device_bytes() < 3 * counting.most


# --- other devices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(
    ("n", "m", "precision"), [(1, 1, "float64"), (33, 1, "float64"), (300, 31, "float32")], ids=str
)
def test_on_a_gpu(backend, n, m, precision, monkeypatch):
    steps, pulses, tolerance = 10_000, ["t % 1000 < 300", "where(t < 3333, 1, -1)"], 1e-12
    if precision == "float32":
        tolerance = 1e-5
    if backend.name == "cudasim":
        n, m, steps, pulses = min(n, 2), min(m, 2), 9, ["t < 4", "where(t < 6, 1, -1)"]
        monkeypatch.setattr(power_error, "DOUBLINGS", 1)
        monkeypatch.setattr(power_error, "WALK", 1)
        monkeypatch.setattr(power_error, "FOLLOWED", 4)
        few_threads(backend, monkeypatch)
    rng = np.random.default_rng(1)
    A, X, B = 0.999 * orthogonal(n), rng.standard_normal((n, m)), rng.standard_normal((n, 2))
    system = {"input_matrix": B.tolist(), "input": pulses}
    p = problem(A, X, steps, output={"frames": 3}, run={"precision": precision}, system=system)
    wanted = stepped(A, X, B, inputs(*pulses).values(range(steps)), np.float64)
    cut_in_two(backend, p, lambda step: wanted[step], tolerance)

"""The linear solver against exact solutions, direct loops, and SciPy."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.signal
import scipy.sparse
from counting import Counting
from cuda_host import host_cuda  # noqa: F401

from simsuite.backends.cpu import CpuBackend
from simsuite.core import Snapshot
from simsuite.errors import DeviceError, ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.load import load
from simsuite.solvers.linear.generators.heat1d import heat1d
from simsuite.solvers.linear.generators.markov import markov
from simsuite.solvers.linear.generators.random_stable import random_stable
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.linear.matrices.matrices import read_matrix
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.matmul.sparse import filled
from simsuite.solvers.table import ROWS

ROOT = Path(__file__).parents[2]
SHAPES = [(1, 1), (1, 5), (2, 3), (3, 1), (7, 100), (31, 33), (33, 1), (33, 31), (64, 64), (65, 257), (100, 7)]


def problem(system, state, steps, dt=1.0, base=Path("."), **more):
    time = {"steps": steps, "dt": dt}
    scenario = {"solver": "linear", "system": system, "initial": {"state": state}, "time": time, **more}
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario, context={"base": base}), base)


def advanced(p, *blocks, start=None):
    """The snapshot after so many steps."""
    stepper = p.stepper(CpuBackend(), start or p.initial())
    for n in blocks:
        stepper.advance(n)
    with stepper.snapshot() as snapshot:
        return snapshot


def last(p):
    """The state at the end of the run."""
    return advanced(p, p.clock.end).arrays["state"]


def discrete(A, **more):
    return {"kind": "discrete", "matrix": np.asarray(A).tolist(), **more}


def continuous(A, **more):
    return {"kind": "continuous", "matrix": np.asarray(A).tolist(), **more}


def shrinking(n, seed=0):
    """A random matrix with a norm below 1, so that errors do not grow."""
    A = np.random.default_rng(seed).standard_normal((n, n))
    return 0.99 * A / np.linalg.norm(A, 2)


# --- stepping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_discrete_is_the_matrix_power(shape):
    n, m = shape
    A, X = shrinking(n), np.random.default_rng(1).standard_normal((n, m))
    expected = np.linalg.matrix_power(A, 9) @ X
    np.testing.assert_allclose(last(problem(discrete(A), X.tolist(), 9)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 31, 64])
def test_continuous_is_the_exponential_whatever_the_step(n):
    A = 3 * shrinking(n) - np.eye(n)
    X = np.random.default_rng(1).standard_normal((n, 3))
    expected = scipy.linalg.expm(2.0 * A) @ X
    for steps in (1, 7):
        p = problem(continuous(A), X.tolist(), steps, dt=2.0 / steps)
        np.testing.assert_allclose(last(p), expected, rtol=0, atol=1e-12)


def test_float32_is_stepped_in_float32():
    A, X = shrinking(33), np.random.default_rng(1).standard_normal((33, 5))
    p = problem(discrete(A), X.tolist(), 20, run={"precision": "float32"})
    state = last(p)
    expected = np.linalg.matrix_power(A, 20) @ X
    assert state.dtype == np.float32
    error = np.max(np.abs(state - expected)) / np.max(np.abs(expected))
    assert 1e-9 < error < 1e-5
    assert p.results(Snapshot(20, {"state": state}))["residual"] == pytest.approx(error, rel=1e-6)


def test_a_state_that_decays_below_the_range_of_float32_has_a_residual_of_one_rounding():
    """It stops at the smallest subnormal number, which is eps of the smallest normal one; 0.65^400 is 1e-75."""
    p = problem(discrete(np.array([[0.65]])), [1.0], 400, run={"precision": "float32"})
    state, float32 = last(p), np.finfo(np.float32)
    assert state[0, 0] == float32.smallest_subnormal
    residual = p.results(Snapshot(400, {"state": state}))["residual"]
    assert residual == pytest.approx(float(float32.eps), rel=1e-6)


def test_rotation_turns_by_its_angle():
    once = problem({"kind": "discrete", "matrix": {"generator": "rotation", "angle": 0.1}}, [1.0, 0.0], 25)
    flow = problem({"kind": "continuous", "matrix": {"generator": "rotation", "angle": 0.1}}, [1.0, 0.0], 10, dt=2.5)
    for p in (once, flow):
        np.testing.assert_allclose(last(p)[:, 0], [math.cos(2.5), math.sin(2.5)], rtol=0, atol=1e-14)


def test_springs_keep_their_energy_and_swing_at_their_frequencies():
    n, mass, stiffness = 5, 2.0, 3.0
    source = {"generator": "springs", "masses": n, "mass": mass, "stiffness": stiffness}
    p = problem({"kind": "continuous", "matrix": source}, {"random": "normal", "batch": 4}, 1000, dt=0.05)

    def energy(X):
        x, v = X[:n], X[n:]
        extension = np.diff(np.pad(x, ((1, 1), (0, 0))), axis=0)
        return mass / 2 * np.sum(v**2, axis=0) + stiffness / 2 * np.sum(extension**2, axis=0)

    np.testing.assert_allclose(energy(last(p)), energy(p.initial().arrays["state"]), rtol=1e-11)
    omega = 2 * math.sqrt(stiffness / mass) * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1)))
    found = np.sort(np.linalg.eigvals(springs(n, mass, stiffness, 0.0).toarray()).imag)[n:]
    np.testing.assert_allclose(found, np.sort(omega), rtol=1e-12)


def test_damped_spring_decays_as_it_should():
    source = {"generator": "springs", "masses": 1, "mass": 2.0, "stiffness": 3.0, "damping": 0.4}
    p = problem({"kind": "continuous", "matrix": source}, [1.0, 0.0], 30, dt=0.1)
    rate, omega = 0.1, math.sqrt(3.0 - 0.01)  # two springs hold the mass: 2 k/m = 3
    expected = math.exp(-rate * 3) * (math.cos(omega * 3) + rate / omega * math.sin(omega * 3))
    assert last(p)[0, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_markov_goes_to_its_stationary_vector(kind):
    n, up, down = 6, 0.3, 0.4
    source = {"kind": kind, "matrix": {"generator": "markov", "states": n, "up": up, "down": down}}
    p = problem(source, np.eye(n)[:, [0, n - 1]].tolist(), 3000)
    values, vectors = np.linalg.eig(markov(n, up, down, kind == "continuous").toarray())
    closest = int(np.argmax(values.real))
    assert values[closest].real == pytest.approx(1.0 if kind == "discrete" else 0.0, abs=1e-13)
    stationary = vectors[:, closest].real / np.sum(vectors[:, closest].real)
    np.testing.assert_allclose(
        stationary, (up / down) ** np.arange(n) / np.sum((up / down) ** np.arange(n)), rtol=1e-12
    )
    observed = advanced(p, 3000)
    np.testing.assert_allclose(observed.arrays["state"], np.column_stack([stationary] * 2), rtol=1e-11)
    assert p.results(observed)["change"] < 1e-15


def test_markov_spectrum():
    n, up, down = 7, 0.3, 0.4
    k = np.arange(1, n)
    exact = np.append(1 - up - down + 2 * math.sqrt(up * down) * np.cos(np.pi * k / n), 1.0)
    for is_continuous in (False, True):
        found = np.sort(np.linalg.eigvals(markov(n, up, down, is_continuous).toarray()).real)
        np.testing.assert_allclose(found, np.sort(exact) - is_continuous, rtol=0, atol=1e-13)


def test_heat1d_spectrum_and_decay():
    n, length, diffusivity = 9, 2.0, 0.5
    h = length / (n + 1)
    k = np.arange(1, n + 1)
    exact = -4 * diffusivity / h**2 * np.sin(np.pi * k / (2 * (n + 1))) ** 2
    np.testing.assert_allclose(np.linalg.eigvalsh(heat1d(n, length, diffusivity).toarray()), np.sort(exact), rtol=1e-12)
    mode = np.sin(np.pi * 2 * k / (n + 1))
    source = {"generator": "heat1d", "points": n, "length": length, "diffusivity": diffusivity}
    p = problem({"kind": "continuous", "matrix": source}, mode.tolist(), 4, dt=0.25)
    np.testing.assert_allclose(last(p)[:, 0], math.exp(exact[1]) * mode, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_random_stable_has_the_spectrum_it_says(n):
    A = random_stable(n, 0.9, 3, False)
    moduli = np.abs(np.linalg.eigvals(A))
    pairs = 0.9 * (1 - np.arange(n // 2) / max(n // 2, 1))
    np.testing.assert_allclose(np.sort(moduli), np.sort([*pairs, *pairs, *[0.9] * (n % 2)]), rtol=1e-9)
    assert np.linalg.norm(A, 2) == pytest.approx(0.9, rel=1e-12)
    np.testing.assert_allclose(random_stable(n, 0.9, 3, True), A - np.eye(n), rtol=0, atol=1e-15)
    assert not np.array_equal(A, random_stable(n, 0.9, 4, False)) or n == 1


# --- inputs -----------------------------------------------------------------------------------------------------------


def test_inputs_of_a_discrete_system():
    """More steps than one table of inputs holds, and inputs both constant and moving."""
    A, B = shrinking(5), np.random.default_rng(2).standard_normal((5, 3))
    steps = 2 * ROWS + 7
    p = problem(
        discrete(A, input_matrix=B.tolist(), input=["sin(t)", 2, "where(t < 40, t, 0)"]), [[1.0, 0.5]] * 5, steps
    )
    X = np.full((5, 2), [1.0, 0.5])
    for k in range(steps):
        X = A @ X + (B @ [math.sin(k), 2.0, k if k < 40 else 0.0])[:, None]
    np.testing.assert_allclose(last(p), X, rtol=0, atol=1e-11)


def test_inputs_of_a_continuous_system_are_held_over_each_step():
    A, B, dt = 2 * shrinking(4) - np.eye(4), np.random.default_rng(2).standard_normal((4, 1)), 0.2
    Ad, Bd, *_ = scipy.signal.cont2discrete((A, B, np.eye(4), np.zeros((4, 1))), dt, "zoh")
    p = problem(continuous(A, input_matrix=B.tolist(), input=["cos(3*t)"]), [1.0, 2.0, 3.0, 4.0], 50, dt=dt)
    x = np.array([1.0, 2.0, 3.0, 4.0])
    for k in range(50):
        x = Ad @ x + Bd @ [math.cos(3 * k * dt)]
    np.testing.assert_allclose(last(p)[:, 0], x, rtol=0, atol=1e-12)


def test_inputs_that_run_straight_between_steps():
    """SciPy's lsim takes them to."""
    A, B, dt = 2 * shrinking(4) - np.eye(4), np.random.default_rng(2).standard_normal((4, 2)), 0.2
    system = continuous(A, input_matrix=B.tolist(), input=["cos(3*t)", "1 + t"], hold="first")
    t = dt * np.arange(51)
    u = np.column_stack([np.cos(3 * t), 1 + t])
    _, _, x = scipy.signal.lsim((A, B, np.eye(4), np.zeros((4, 2))), u, t, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(last(problem(system, [1.0, 2.0, 3.0, 4.0], 50, dt=dt))[:, 0], x[-1], rtol=0, atol=1e-11)


def test_the_order_of_holds():
    """dx/dt = -x + sin t, x(0) = 0, in closed form: errors fall with dt, or its square; a ramp is exact."""
    system = {"kind": "continuous", "matrix": [[-1.0]], "input_matrix": [[1.0]]}
    exact = (math.sin(2.0) - math.cos(2.0) + math.exp(-2.0)) / 2
    for hold, order in (("zero", 1), ("first", 2)):
        few, many = (
            abs(last(problem(system | {"input": ["sin(t)"], "hold": hold}, [0.0], n, dt=2.0 / n))[0, 0] - exact)
            for n in (64, 128)
        )
        assert math.log2(few / many) == pytest.approx(order, abs=0.05)
    ramp = last(problem(system | {"input": ["3*t"], "hold": "first"}, [0.0], 4, dt=0.5))[0, 0]
    assert ramp == pytest.approx(3 * (2.0 - 1 + math.exp(-2.0)), rel=1e-14)


def test_constant_inputs_agree_with_lsim_and_with_the_residual():
    A, B = np.array([[0.0, 1.0], [-4.0, -0.3]]), np.array([[0.0], [1.0]])
    p = problem(continuous(A, input_matrix=B.tolist(), input=[1.5]), [0.2, 0.0], 40, dt=0.1)
    t = np.linspace(0.0, 4.0, 41)
    _, _, x = scipy.signal.lsim((A, B, np.eye(2), np.zeros((2, 1))), np.full(41, 1.5), t, [0.2, 0.0])
    observed = advanced(p, 40)
    np.testing.assert_allclose(observed.arrays["state"][:, 0], x[-1], rtol=0, atol=1e-12)
    assert p.results(observed)["residual"] < 1e-13
    wrong = Snapshot(40, {"state": observed.arrays["state"] * (1 + 1e-6)})
    assert p.results(wrong)["residual"] == pytest.approx(1e-6, rel=1e-3)


def test_stored_frames_do_not_change_the_inputs():
    system = discrete(shrinking(3), input_matrix=[[1.0], [0.0], [0.0]], input=["sin(0.1*t)"])
    runs = [problem(system, [1.0, 0.0, 0.0], 90, dt=0.07, output={"frames": f}) for f in (2, 14)]
    np.testing.assert_array_equal(last(runs[0]), last(runs[1]))


# --- bit for bit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_neither_splitting_nor_restoring_changes_a_bit(batch, precision):
    p = problem(
        discrete(shrinking(20), input_matrix=np.ones((20, 1)).tolist(), input=["sin(t)"]),
        {"random": "normal", "batch": batch},
        200,
        run={"precision": precision},
    )
    whole = advanced(p, 200)
    assert whole.step == 200
    np.testing.assert_array_equal(advanced(p, 1, 2, ROWS, 100, 200 - ROWS - 103).arrays["state"], whole.arrays["state"])
    half = advanced(p, 77)
    np.testing.assert_array_equal(advanced(p, 123, start=half).arrays["state"], whole.arrays["state"])


def test_results_do_not_depend_on_the_number_of_threads():
    p = problem(
        {"kind": "discrete", "matrix": {"generator": "random_stable", "size": 70}}, {"random": "normal", "batch": 9}, 5
    )
    threads = numba.get_num_threads()
    many = last(p)
    numba.set_num_threads(1)
    try:
        np.testing.assert_array_equal(last(p), many)
    finally:
        numba.set_num_threads(threads)


def test_programs_take_the_same_steps_and_need_a_gpu(host_cuda):  # noqa: F811
    system = discrete(shrinking(20), input_matrix=np.ones((20, 1)).tolist(), input=["sin(t)"])
    p = problem(system, {"random": "normal", "batch": 3}, 2 * ROWS + 5, run={"kernel": "nvrtc"})
    stepper = p.stepper(host_cuda, p.initial())
    assert stepper.chosen["kernel"] == "nvrtc"
    stepper.advance(p.clock.end)
    plain = problem(system, {"random": "normal", "batch": 3}, 2 * ROWS + 5)
    np.testing.assert_allclose(host_cuda.to_host(stepper.state["state"]), last(plain), rtol=0, atol=1e-13)
    with pytest.raises(DeviceError, match="needs a CUDA GPU"):
        p.stepper(CpuBackend(), p.initial())


def test_two_steppers_of_one_backend_keep_apart():
    backend = CpuBackend()
    p, q = (problem(discrete(A), [1.0, 1.0], 10) for A in ([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]]))
    a, b = p.stepper(backend, p.initial()), q.stepper(backend, q.initial())
    a.advance(3)
    b.advance(3)
    a.advance(1)
    assert backend.to_host(a.state["state"]).tolist() == [[16.0], [1.0]]
    assert backend.to_host(b.state["state"]).tolist() == [[1.0], [27.0]]


def test_random_states_come_from_the_seed():
    def start(seed):
        system = {"kind": "discrete", "matrix": {"generator": "rotation", "angle": 1.0}}
        return problem(system, {"random": "normal", "batch": 5000}, 1, run={"seed": seed}).initial().arrays["state"]

    np.testing.assert_array_equal(start(7), start(7))
    assert not np.array_equal(start(7), start(8))
    assert abs(np.mean(start(7))) < 0.05
    assert np.std(start(7)) == pytest.approx(1.0, abs=0.05)


# --- what is stored and reported --------------------------------------------------------------------------------------


def test_output_matrix_selects_what_is_stored():
    A, C = shrinking(6), np.random.default_rng(3).standard_normal((2, 6))
    p = problem(discrete(A, output_matrix=C.tolist()), {"random": "normal", "batch": 3}, 10)
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(10)
    with stepper.observe("time") as observed:
        row = p.rows("time", observed)
        X = observed.arrays["state"]
        assert set(row) == {"time", "state", "norm"}
        np.testing.assert_allclose(row["state"], C @ X, rtol=0, atol=1e-13)
        assert row["norm"] == pytest.approx(np.linalg.norm(X), rel=1e-14)
        assert p.results(observed)["state"] == row["state"].tolist()
    assert (p.layout.sizes["component"], p.layout.sizes["sample"]) == (2, 3)


def test_norm_overflows_only_where_it_has_to():
    p = problem(discrete(np.eye(2)), [3e200, 4e200], 1)
    assert p.results(p.initial())["norm"] == pytest.approx(5e200, rel=1e-15)


@pytest.mark.parametrize(
    ("output", "steps"),
    [
        ({}, (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)),
        ({"frames": 4}, (0, 33, 67, 100)),
        ({"every": 0.3}, (0, 30, 60, 90, 100)),
        ({"times": [0.119, 0.5]}, (0, 12, 50, 100)),
    ],
    ids=str,
)
def test_frames_fall_on_the_nearest_steps(output, steps):
    p = problem(discrete(np.eye(2)), [1.0, 1.0], 100, dt=0.01, output=output)
    assert p.layout.series[0].steps == p.clock.steps == steps
    assert p.clock.times == tuple(k / 100 for k in steps)


def test_results_of_small_and_large_states():
    p = problem(discrete([[0.0, 1.0], [1.0, 0.0]]), [3.0, 4.0], 3)
    found = p.results(advanced(p, 3))
    assert found.pop("analysis")["verdict"] == "marginally stable"
    assert found == {
        "norm": pytest.approx(5.0),
        "method": "step",
        "state": [[4.0], [3.0]],
        "change": 1.0,
        "residual": 0.0,
    }
    assert "analysis" not in p.results(advanced(p, 2))
    large = problem(discrete(np.eye(5)), {"random": "normal", "batch": 13}, 1)
    assert "state" not in large.results(large.initial())
    few = "3 products of 24 operations in all"
    assert p.method == {"stepper": "step", "stepper_reason": few, "precision": "float64"}
    assert (large.work(1), large.rate_unit) == (2 * 25 * 13, "FLOP/s")


def test_fault_names_the_place(monkeypatch):
    monkeypatch.setattr("simsuite.solvers.linear.checks.overflow._LIMIT", 0)
    p = problem(discrete([[1e300, 0.0], [0.0, 1.0]]), [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]], 3)
    assert p.fault(advanced(p, 1)) is None
    assert p.fault(advanced(p, 2)) == "component 0, sample 0"
    X = np.ones((2, 3))
    X[1, 2] = np.nan
    assert p.fault(Snapshot(1, {"state": X})) == "component 1, sample 2"


def test_device_bytes_counts_every_array():
    system = discrete(np.eye(6), input_matrix=np.ones((6, 2)).tolist(), input=["t", 1], output_matrix=[[1.0] * 6])
    for precision in ("float64", "float32"):
        p = problem(system, {"random": "normal", "batch": 11}, 5, run={"precision": precision})
        counting = Counting()
        p.stepper(counting, p.initial())
        points = (2 + 64) * 8  # of the input that moves, its point (x, y) and offsets in time, which count for nothing
        # What cores and blocks of two products work on is estimated, and filling.
        work = (2**21 * numba.config.NUMBA_NUM_THREADS + 2**20 + 2**24) * 2
        assert p.device_bytes() - work < counting.total <= p.device_bytes() + points


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_matrices_from_files(tmp_path):
    A = np.arange(9.0).reshape(3, 3) / 7
    np.save(tmp_path / "a.npy", A)
    np.savetxt(tmp_path / "a.csv", A, delimiter=",", fmt="%.17g")
    scipy.io.mmwrite(tmp_path / "a.mtx", A, precision=17)
    scipy.io.mmwrite(tmp_path / "sparse.mtx", scipy.sparse.coo_array(A), precision=17)
    np.save(tmp_path / "x.npy", np.array([1, 2, 3]))
    (tmp_path / "excel.csv").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "a.csv").read_bytes())
    for name in ("a.npy", "a.csv", "excel.csv", "a.mtx", "sparse.mtx"):
        p = problem({"kind": "discrete", "matrix": {"file": name}}, {"file": "x.npy"}, 1, base=tmp_path)
        np.testing.assert_array_equal(filled(p.system.A), A)
        np.testing.assert_allclose(last(p), A @ [[1.0], [2.0], [3.0]], rtol=1e-15)


def test_unreadable_files(tmp_path):
    np.save(tmp_path / "pickle.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "empty.npy", np.zeros((0, 2)))
    np.save(tmp_path / "truth.npy", np.zeros((2, 2), bool))
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "words.csv").write_text("1,2\n3,x\n")
    (tmp_path / "missing.csv").write_text("1,2\n,3\n")
    (tmp_path / "spaces.csv").write_text("# by spaces\n\n1 2\n")
    (tmp_path / "semicolons.csv").write_text("1;2\n3;4\n")
    (tmp_path / "ragged.csv").write_text("# a\n1,2\n\n3\n")
    (tmp_path / "comments.csv").write_text("# a, b\n\n# 1, 2\n")
    (tmp_path / "tab.csv").write_text("# a\x0b1, 2\n")
    (tmp_path / "python.csv").write_text("1,2\n3,1_0\n")
    for name in ("nothing.csv", "nothing.npy", "nothing.mtx"):
        (tmp_path / name).write_text("")
    (tmp_path / "broken.mtx").write_text("%%MatrixMarket matrix nonsense\n")
    (tmp_path / "a.xlsx").write_text("")
    for name, reason in {
        "pickle.npy": "cannot be read",
        "cube.npy": r"shape \(2, 2, 2\)",
        "empty.npy": r"shape \(0, 2\)",
        "truth.npy": "bool values",
        "text.npy": "cannot be read",
        "words.csv": 'line 2: "x" is not a number$',
        "missing.csv": "line 2: number 1 is missing",
        "spaces.csv": 'line 3: "1 2" is not a number, and numbers are separated by commas',
        "semicolons.csv": "separated by commas",
        "ragged.csv": "line 4 has 1 number, but line 2 has 2",
        "comments.csv": "comments only",
        "tab.csv": "comments only",
        "python.csv": 'line 2: "1_0" is not a number$',
        "nothing.csv": "the file is empty",
        "nothing.npy": "the file is empty",
        "nothing.mtx": "the file is empty",
        "broken.mtx": "cannot be read",
        "a.xlsx": r"only \.npy, \.csv, \.mtx and \.npz",
    }.items():
        with pytest.raises(ValueError, match=reason):
            read_matrix(tmp_path / name)


GOOD = {
    "kind": '"discrete"',
    "matrix": "[[0.0, 1.0], [1.0, 0.0]]",
    "system": "",
    "state": "[1.0, 2.0]",
    "steps": "5",
    "run": "",
    "output": "",
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"matrix": "[[1.0, 0.0]]"}, {"system.matrix": "1 x 2"}),
        ({"matrix": "[[1.0, 0.0], [1.0]]"}, {"system.matrix.1": "row 2 of the matrix has length 1"}),
        ({"matrix": "[]"}, {"system.matrix": "at least 1"}),
        ({"matrix": "7"}, {"system.matrix": "a list or a table"}),
        ({"matrix": '"A.npy"'}, {"system.matrix": "a list or a table"}),
        ({"matrix": '[["a", 1.0], [1.0, 1.0]]'}, {"system.matrix.0.0": "must be a number"}),
        ({"matrix": '{file = "nope.npy"}'}, {"system.matrix.file": "no such file"}),
        ({"matrix": '{file = "bad.csv"}'}, {"system.matrix.file": "cannot be read"}),
        ({"matrix": '{file = "nan.csv"}'}, {"system.matrix.file": "row 1, column 2 is nan"}),
        ({"matrix": '{generator = "rotaton", angle = 1.0}'}, {"system.matrix.generator": "must be one of"}),
        ({"matrix": '{generator = "rotation", angel = 1.0}'}, {"system.matrix.angel": "unknown key"}),
        (
            {"matrix": '{generator = "markov", states = 2, up = 0.6, down = 0.6}'},
            {"system.matrix.up": "up + down = 1.2"},
        ),
        ({"matrix": '{generator = "random_stable", size = 2, radius = 1.5}'}, {"system.matrix.radius": "at most 1"}),
        ({"matrix": '{generator = "heat1d", points = 2}'}, {"system.matrix.generator": "continuous time"}),
        ({"kind": '"continuous"'}, {"time": "needs `dt`"}),
        ({"kind": '"continuous"', "steps": "5\ndt = 1e5"}, {"time.dt": "overflows"}),
        ({"system": "input_matrix = [[1.0], [1.0]]"}, {"system.input_matrix": "no `input`"}),
        ({"system": "input = [1.0]"}, {"system.input": "no `input_matrix`"}),
        ({"system": 'hold = "first"'}, {"system.hold": "no `input`"}),
        (
            {"system": 'input_matrix = [[1.0], [1.0]]\ninput = ["t"]\nhold = "first"'},
            {"system.hold": "nothing between its steps"},
        ),
        ({"system": 'input_matrix = [[1.0], [1.0]]\ninput = ["sin(x)"]'}, {"system.input.0": "must not depend on x"}),
        (
            {
                "system": "input_matrix = [[1.0], [1.0], [1.0]]\ninput = [1.0, 2.0]\noutput_matrix = [[1.0]]",
                "state": "[[1.0, 2.0]]",
            },
            {
                "system.input_matrix": "3 rows, but the state has 2",
                "system.input": "2 entries, but `input_matrix` has 1 column",
                "system.output_matrix": "1 column, but the state has 2",
                "initial.state": "1 component, but the matrix is 2 x 2",
            },
        ),
        ({"state": '{random = "normal", batch = 0}'}, {"initial.state.batch": "at least 1"}),
        ({"state": '{random = "uniform"}'}, {"initial.state.random": "normal"}),
        ({"state": "[1e39, 0.0]", "run": '[run]\nprecision = "float32"'}, {"initial.state": "not a finite float32"}),
        ({"steps": "0"}, {"time.steps": "at least 1"}),
        ({"steps": "100000000000000000000"}, {"time.steps": "at most 1e+09"}),
        ({"steps": '5\nmethod = "powers"'}, {"time.method": '"auto", "step", "power"'}),
        ({"steps": "5\ntolerance = 0.0"}, {"time.tolerance": "greater than 0"}),
        (
            {"steps": '5\nmethod = "power"', "system": 'input_matrix = [[1.0], [0.0]]\ninput = ["t"]'},
            {"time.method": "the input t changes more often than at every other step"},
        ),
        ({"output": "samples = 4"}, {"output.samples": "frames only"}),
        ({"output": "frames = 7"}, {"output.frames": "at most 6 frames"}),
        ({"output": "every = 0.5"}, {"output.every": "shorter than a step"}),
        ({"output": "times = [1.0, 9.0]"}, {"output.times.1": "after the end"}),
    ],
    ids=lambda value: re.sub(r"\W+", " ", str(value))[:40] if isinstance(value, dict) else None,
)
def test_every_mistake_is_reported_at_its_place(tmp_path, changes, expected):
    (tmp_path / "bad.csv").write_text("1,x\n")
    (tmp_path / "nan.csv").write_text("1,nan\n0,1\n")
    text = (
        'solver = "linear"\n{run}\n[system]\nkind = {kind}\nmatrix = {matrix}\n{system}\n'
        "[initial]\nstate = {state}\n[time]\nsteps = {steps}\n[output]\n{output}\n"
    )
    path = tmp_path / "case.toml"
    path.write_text(text.format(**{**GOOD, **changes}))
    found = {}
    try:
        scenario = load(path)
        LinearProblem.from_scenario(scenario.model, scenario.base)
    except ScenarioError as error:
        found = {".".join(map(str, m.path)): m.message for m in error.mistakes}
    assert found.keys() == expected.keys()
    for place, words in expected.items():
        assert words in found[place]


def test_a_resolved_scenario_means_the_same(tmp_path):
    scenario = load(ROOT / "scenarios" / "linear.toml")
    (tmp_path / "again.toml").write_text(scenario.resolved_toml())
    assert load(tmp_path / "again.toml").model == scenario.model


def test_the_spring_scenario_swings_up_at_resonance():
    scenario = load(ROOT / "scenarios" / "linear.toml")
    p = LinearProblem.from_scenario(scenario.model, scenario.base)
    stepper = p.stepper(CpuBackend(), p.initial())
    largest = []
    for begin, end in ((0, 500), (500, 1250), (1250, 2000)):
        rows = []
        for k in (k for k in p.frames if begin < k <= end):
            stepper.advance(k - stepper.step)
            with stepper.observe("time") as observed:
                rows.append(p.rows("time", observed)["state"][:, 0].copy())
        largest.append(np.max(np.abs(rows)))
    assert np.shape(rows)[1] == 3
    assert largest[0] < 0.035
    assert 2 * largest[0] < largest[1] < 0.8 * largest[2]


def test_the_markov_scenario_arrives():
    scenario = load(ROOT / "scenarios" / "markov.toml")
    p = LinearProblem.from_scenario(scenario.model, scenario.base)
    results = p.results(advanced(p, p.clock.end))
    exact = (0.3 / 0.35) ** np.arange(12)
    np.testing.assert_allclose(results["state"], np.column_stack([exact / np.sum(exact)] * 3), rtol=1e-12)
    assert results["change"] < 1e-15


def test_matrices_that_lie_on_their_sides_are_recognised():
    system = discrete(np.eye(3), input_matrix=[[1.0, 2.0, 3.0]], input=[1.0], output_matrix=[[1.0]] * 3)
    with pytest.raises(ScenarioError) as found:
        problem(system, [1.0, 0.0, 0.0], 5)
    assert [(m.path[1], m.message, m.help) for m in found.value.mistakes] == [
        ("input_matrix", "`input_matrix` has 1 row, but the state has 3 components", "its transpose would fit"),
        ("output_matrix", "`output_matrix` has 1 column, but the state has 3 components", "its transpose would fit"),
    ]

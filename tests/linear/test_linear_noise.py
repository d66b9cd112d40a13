"""Process noise of linear systems: the numbers themselves, bit for bit, and the exact noise of a step."""

from __future__ import annotations

import math
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.linalg
from counting import Counting
from numba import types
from sm90 import compile_sm90
from test_kernels_sm90 import array
from test_rng import numpy_philox

from simsuite.backends.cpu import CpuBackend
from simsuite.core import Snapshot
from simsuite.errors import ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.load import load
from simsuite.solvers.linear.discretisation import noise_cuda
from simsuite.solvers.linear.discretisation.noise_covariance import noise_covariance, noise_factor
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.table import ROWS

EVERYWHERE = pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)


def problem(A, G, initial, steps, dt=None, kind="discrete", seed=1, precision="float64", frames=None, **system):
    scenario = {
        "solver": "linear",
        "run": {"seed": seed, "precision": precision},
        "system": {"kind": kind, "matrix": A, "noise_matrix": G, **system},
        "initial": initial,
        "time": {"steps": steps, **({} if dt is None else {"dt": dt})},
        "output": {} if frames is None else {"frames": frames},
    }
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario, context={"base": Path(".")}), Path("."))


def advanced(p, *blocks, start=None, backend=None):
    stepper = p.stepper(backend or CpuBackend(), start or p.initial())
    for n in blocks:
        stepper.advance(n)
    with stepper.observe("time") as observed:
        return Snapshot(observed.step, {name: a.copy() for name, a in observed.arrays.items()})


def state(p, *blocks, **more):
    return advanced(p, *blocks, **more).arrays["state"]


def white(q, m, seed=1, precision="float64"):
    """X_{k+1} = w_k."""
    zero, one = np.zeros((q, q)).tolist(), np.eye(q).tolist()
    return problem(zero, one, {"state": [0.0] * q, "copies": m}, 10**9, seed=seed, precision=precision)


def shrinking(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return (0.9 * A / np.linalg.norm(A, 2)).tolist()


# --- the numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0, 999_999_990])
def test_numbers_are_philox_and_box_muller_of_seed_state_step_and_component(step):
    q, m, seed = 5, 7, 0xFEDCBA9876543210
    p = white(q, m, seed)
    found = state(p, 3, start=Snapshot(step, p.initial().arrays))
    pair, j = (a.ravel() for a in np.meshgrid(np.arange(3), np.arange(m), indexing="ij"))
    counter = np.stack([np.full_like(j, step + 2), pair, j, np.zeros_like(j)], axis=1)
    key = np.tile(np.array([[0x76543210, 0xFEDCBA98]], np.uint64), (len(j), 1))
    w = numpy_philox(counter, key).astype(np.uint64)
    high, low = w[:, 0] << np.uint64(32) | w[:, 1], w[:, 2] << np.uint64(32) | w[:, 3]
    u = ((high >> np.uint64(11)).astype(np.longdouble) + np.longdouble(0.5)) * np.longdouble(2) ** -53
    angle = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * (low.astype(np.longdouble) / np.longdouble(2) ** 64)
    z = np.sqrt(-2 * np.log(u)) * np.stack([np.cos(angle), np.sin(angle)])
    expected = z.reshape(2, 3, m).transpose(1, 0, 2).reshape(6, m)[:q]
    np.testing.assert_allclose(found, expected.astype(np.float64), rtol=0, atol=4e-15)


def test_float32_takes_the_same_numbers_rounded():
    double, single = state(white(3, 50), 5), state(white(3, 50, precision="float32"), 5)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, double.astype(np.float32))


@EVERYWHERE
def test_the_same_numbers_on_every_device(backend):
    """The simulator multiplies and adds in two roundings."""
    p = white(3, 37)
    found, expected = state(p, 2, backend=backend), state(p, 2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-15 if backend.name == "cudasim" else 0)


@EVERYWHERE
@pytest.mark.parametrize("columns", [1, 5])
def test_systems_with_noise_on_every_device(backend, columns):
    p = problem(
        shrinking(4),
        np.arange(12.0).reshape(4, 3).tolist(),
        {"state": {"random": "normal", "batch": columns}},
        3,
        input_matrix=[[1.0], [0.0], [0.0], [0.5]],
        input=["cos(t)"],
        output_matrix=[[1.0, 1.0, 0.0, 0.0]],
    )
    found, expected = advanced(p, 1, 2, backend=backend), advanced(p, 3)
    for name in ("state", "output"):
        np.testing.assert_allclose(found.arrays[name], expected.arrays[name], rtol=0, atol=2e-13)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", [pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_recorded_steps_take_new_numbers_every_time(backend, precision):
    """From the third block of steps on a GPU replays what it has recorded."""
    p = problem(shrinking(40), np.eye(40).tolist(), {"state": [0.0] * 40, "copies": 300}, 4 * ROWS, precision=precision)
    found, expected = state(p, 4 * ROWS, backend=backend), state(p, 4 * ROWS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 if precision == "float64" else 1e-4)
    half = advanced(p, 77, backend=backend)
    np.testing.assert_array_equal(state(p, 4 * ROWS - 77, start=half, backend=backend), found)


@pytest.mark.parametrize("precision", [types.float32, types.float64], ids=str)
def test_the_kernel_is_small_on_an_h200(precision):
    """It draws in float64 whatever the state is, and calls nothing of the C library but the square root."""
    whole = types.int64
    signature = types.void(array(precision, 2), whole, array(whole, 1), whole, types.uint64, whole)
    ptx, info = compile_sm90(noise_cuda.fill, signature)
    assert info["spill_bytes"] == info["stack_bytes"] == 0
    assert info["registers"] <= 64
    assert "sqrt.rn.f64" in ptx
    assert "call" not in ptx


# --- bit for bit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("n", [3, 40])
def test_a_state_does_not_depend_on_the_others_of_its_batch(n, precision):
    """Some batches are so large that all cores draw numbers."""

    def run(copies):
        G = np.eye(n)[:, : max(n // 2, 1)].tolist()
        return state(problem(shrinking(n), G, {"state": [1.0] * n, "copies": copies}, 9, precision=precision), 9)

    large = run(10)
    np.testing.assert_array_equal(run(3), large[:, :3])
    np.testing.assert_array_equal(run(40000)[:, :10], large)
    assert len(np.unique(large[0])) == 10


def test_threads_do_not_change_a_bit():
    p = problem(shrinking(3), np.eye(3).tolist(), {"state": [0.0] * 3, "copies": 40000}, 5)
    many, threads = state(p, 5), numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        np.testing.assert_array_equal(state(p, 5), many)
    finally:
        numba.set_num_threads(threads)


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_neither_cutting_nor_resuming_changes_a_bit(batch, precision):
    p = problem(
        shrinking(6),
        np.ones((6, 3)).tolist(),
        {"state": {"random": "normal", "batch": batch}},
        200,
        precision=precision,
        input_matrix=np.ones((6, 1)).tolist(),
        input=["sin(t)"],
    )
    whole = state(p, 200)
    np.testing.assert_array_equal(state(p, 1, 2, ROWS, 100, 200 - ROWS - 103), whole)
    half = p.stepper(CpuBackend(), p.initial())
    half.advance(77)
    with half.snapshot() as snapshot:
        assert set(snapshot.arrays) == {"state"}
        np.testing.assert_array_equal(state(p, 123, start=snapshot), whole)


def test_seeds_and_steps_have_numbers_of_their_own():
    assert not np.any(state(white(3, 5, seed=1), 1) == state(white(3, 5, seed=2), 1))
    assert not np.any(state(white(3, 5), 1) == state(white(3, 5), 2))


# --- exact discretisation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [1e-9, 0.1, 1.0, 1e4])
def test_double_integrator(dt):
    """White noise, integrated twice."""
    Q = noise_covariance(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), dt)
    np.testing.assert_allclose(Q, [[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]], rtol=2e-14)
    L = noise_factor(Q)
    assert L[0, 1] == 0
    np.testing.assert_allclose(L @ L.T, Q, rtol=2e-14)


@pytest.mark.parametrize("rate", [1e-8, 0.5, 40.0, 1e9, -3.0])
def test_one_component_from_slow_to_stiff(rate):
    Q = noise_covariance(np.array([[-rate]]), np.array([[1.5]]), 2.0)
    assert Q[0, 0] == pytest.approx(1.5**2 * -math.expm1(-4 * rate) / (2 * rate), rel=1e-13)


def test_stiff_symmetric_system():
    """In the eigenvectors of A every pair has its integral, whose rates times dt are here from 100 to 40000."""
    n, dt = 30, 0.25
    A = 4e4 * (np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1) - 2 * np.eye(n))
    G = np.random.default_rng(2).standard_normal((n, 2))
    values, V = np.linalg.eigh(A)
    sums = values[:, None] + values
    exact = V @ ((V.T @ G @ G.T @ V) * np.expm1(sums * dt) / sums) @ V.T
    np.testing.assert_allclose(noise_covariance(A, G, dt), exact, rtol=0, atol=1e-12 * np.max(exact))


@pytest.mark.parametrize("n", [1, 4, 17])
def test_van_loans_block_exponential(n):
    """That of the paper has nearly all digits where A is not stiff."""
    rng = np.random.default_rng(n)
    A, G, dt = rng.standard_normal((n, n)), rng.standard_normal((n, 2)), 0.7
    E = scipy.linalg.expm(np.block([[-A, G @ G.T], [np.zeros((n, n)), A.T]]) * dt)
    expected = E[n:, n:].T @ E[:n, n:]
    np.testing.assert_allclose(noise_covariance(A, G, dt), expected, rtol=0, atol=1e-11 * np.max(np.abs(expected)))


def test_factors_of_singular_covariances():
    B = np.random.default_rng(0).standard_normal((6, 2)) * np.array([[1e-6], [1], [1e3], [1], [1], [0]])
    L = noise_factor(B @ B.T)
    assert L.shape == (6, 2)
    np.testing.assert_allclose(L @ L.T, B @ B.T, rtol=1e-13, atol=0)
    assert np.all(L[np.argmax(np.abs(L[:5] / np.abs(B).max(axis=1)[:5, None]), axis=0), [0, 1]] > 0)
    assert noise_factor(np.zeros((3, 3))).tolist() == [[0.0], [0.0], [0.0]]
    assert noise_factor(np.diag([4.0, 9.0])).tolist() == [[2.0, 0.0], [0.0, 3.0]]


def test_copies_stand_side_by_side():
    p = problem([[1.0]], [[0.0]], {"state": [[1.0, 2.0]], "copies": 3}, 1)
    assert p.system.start.tolist() == [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]]
    np.testing.assert_array_equal(state(p, 1), p.system.start)


def test_auto_steps_and_says_why():
    A = np.eye(40)
    noisy, quiet = (problem(A.tolist(), G, {"state": [0.0] * 40}, 10**6, frames=2) for G in (A.tolist(), None))
    assert noisy.method["stepper"] == "step"
    assert "noise" in noisy.method["stepper_reason"]
    assert quiet.method["stepper"] == "power"


def test_device_bytes_counts_the_noise():
    n, q, m = 3, 300, 5000
    p = problem(np.eye(n).tolist(), np.ones((n, q)).tolist(), {"state": [0.0] * n, "copies": m}, 5)
    counting = Counting()
    p.stepper(counting, p.initial())
    assert 2 * (n + q) * m * 8 < counting.total <= p.device_bytes()


# --- scenarios --------------------------------------------------------------------------------------------------------


def checked(path):
    scenario = load(path)
    return LinearProblem.from_scenario(scenario.model, scenario.base)


@pytest.mark.parametrize(
    ("system", "place", "words"),
    [
        ({"noise_matrix": [[1.0]]}, "system.noise_matrix", "`noise_matrix` has 1 row, but the state has 2 components"),
        ({"noise_matrix": [[1.0], [1e39]]}, "system.noise_matrix", "row 2, column 1 is 1e+39, not a finite float32"),
        ({"noise_matrix": {"file": "no.npy"}}, "system.noise_matrix.file", "no such file"),
    ],
    ids=["rows", "not finite", "no file"],
)
def test_mistakes_are_reported_at_their_places(tmp_path, system, place, words):
    path = tmp_path / "case.toml"
    source = system["noise_matrix"]
    text = '{file = "no.npy"}' if isinstance(source, dict) else str(source)
    path.write_text(
        'solver = "linear"\nrun = {precision = "float32"}\n[system]\nkind = "discrete"\n'
        f"matrix = [[1.0, 0.0], [0.0, 1.0]]\nnoise_matrix = {text}\n[initial]\nstate = [0.0, 0.0]\n[time]\nsteps = 3\n"
    )
    with pytest.raises(ScenarioError) as caught:
        checked(path)
    [found] = caught.value.mistakes
    assert ".".join(map(str, found.path)) == place
    assert words in found.message


def test_noise_that_overflows_within_a_step_is_a_mistake():
    with pytest.raises(ScenarioError, match="overflows with so long a step"):
        problem([[400.0]], [[1.0]], {"state": [0.0]}, 1, dt=1.0, kind="continuous")

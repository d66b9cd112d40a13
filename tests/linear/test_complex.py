"""Complex systems: against closed forms, complex arithmetic in extended precision and SciPy's exponential."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import tomli_w
from running import assert_same_bits, call
from scipy.linalg import expm
from scipy.special import jv

import simsuite
from simsuite.backends.cpu import CpuBackend
from simsuite.errors import ScenarioError
from simsuite.io.checkpoint import read_checkpoint
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.analysis.outermost import BY_NORM, BY_SUMS, outermost
from simsuite.solvers.linear.analysis.spectrum import MARGINAL, UNDETERMINED, UNSTABLE
from simsuite.solvers.linear.matrices.embedding import embedded, stacked
from simsuite.solvers.linear.matrices.matrices import read_matrix
from simsuite.solvers.linear.problem import LinearProblem

RNG = np.random.default_rng(7)


def written(A):
    """As a scenario has it: numbers, complex ones as text."""
    return [[str(z).strip("()") if z.imag else z.real for z in row] for row in np.asarray(A, complex).tolist()]


def scenario(A, state, steps, kind="discrete", dt=1.0, method="auto", system=None, **more):
    return {
        "solver": "linear",
        "system": {"kind": kind, "matrix": A if isinstance(A, dict) else written(A), **(system or {})},
        "initial": {"state": state if isinstance(state, dict) else written(state)},
        "time": {"steps": steps, "dt": dt, "method": method},
        **more,
    }


def problem(*args, base=Path("."), **more):
    model = LinearScenario.model_validate(scenario(*args, **more), context={"base": base})
    return LinearProblem.from_scenario(model, base)


def end(p):
    """What the last frame holds, as complex numbers; the results."""
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(p.clock.end)
    with stepper.observe("time") as observed:
        rows = p.rows("time", observed)
        assert float(rows["norm"]) == pytest.approx(np.linalg.norm(observed.arrays["state"]), rel=1e-6)
        return rows["state_real"] + 1j * rows["state_imag"], p.results(observed)


def random(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def unitary(n):
    return np.linalg.qr(random(n, n))[0]


def extended_power(A, X, steps):
    A, X = A.astype(np.clongdouble), X.astype(np.clongdouble)
    for _ in range(steps):
        X = np.einsum("ij,jk->ik", A, X)
    return X


# --- solutions that are known -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("detuning", [0.0, 1.5])
def test_rabi_oscillation(detuning):
    """I. I. Rabi, Phys. Rev. 51 (1937) 652, of the upper level after every step."""
    W, dt, steps = 2.0, 0.37, 50
    run = problem(
        [[0, -0.5j * W], [-0.5j * W, -1j * detuning]], [[1], [0]], steps, kind="continuous", dt=dt, method="step"
    )
    stepper, whole = run.stepper(CpuBackend(), run.initial()), math.hypot(W, detuning)
    for k in range(steps + 1):
        with stepper.observe("time") as observed:
            rows = run.rows("time", observed)
        upper = rows["state_real"][1, 0] ** 2 + rows["state_imag"][1, 0] ** 2
        assert upper == pytest.approx((W / whole) ** 2 * math.sin(whole * k * dt / 2) ** 2, abs=1e-14)
        if k < steps:
            stepper.advance(1)


def test_the_shipped_scenario_shows_a_rabi_oscillation(tmp_path):
    run = simsuite.run(Path(__file__).parents[2] / "scenarios" / "rabi.toml", directory=tmp_path / "run", device="cpu")
    with run.dataset as data:
        t = data.time.values
        upper = data.state_real.values[:, 1, 0] ** 2 + data.state_imag.values[:, 1, 0] ** 2
        np.testing.assert_allclose(upper, 0.64 * np.sin(1.25 * t) ** 2, rtol=0, atol=1e-12)
        assert set(data.data_vars) >= {"state_real", "state_imag", "norm"}
        assert "state" not in data
    assert run.summary["numbers"] == "complex128"


@pytest.mark.parametrize("method", ["step", "power"])
def test_a_complex_rotation_turns_by_its_angle(method):
    steps, angle = 1000, 0.1
    X, found = end(problem([[np.exp(1j * angle)]], [[1, 2j]], steps, method=method))
    np.testing.assert_allclose(X, [[np.exp(1j * angle * steps), 2j * np.exp(1j * angle * steps)]], rtol=0, atol=1e-12)
    assert found["method"] == method
    np.testing.assert_array_equal(found["state_real"], X.real)
    np.testing.assert_array_equal(found["state_imag"], X.imag)


@pytest.mark.parametrize("method", ["step", "power", "spectral"])
@pytest.mark.parametrize(("precision", "error"), [("float64", 1e-13), ("float32", 1e-4)])
def test_powers_of_a_unitary_matrix(method, precision, error):
    """Against complex products in extended precision; a propagator keeps the norm but for rounding."""
    A, start = unitary(9), random(9, 3)
    X, found = end(problem(A, start, 200, method=method, run={"precision": precision}))
    assert X.dtype == (np.complex128 if precision == "float64" else np.complex64)
    np.testing.assert_allclose(X, extended_power(A, start, 200), rtol=0, atol=error)
    assert found["norm"] == pytest.approx(np.linalg.norm(start), rel=error)
    assert found["residual"] < error


def test_a_free_particle_on_a_ring_keeps_its_momenta():
    """dX/dt = i/2 X'' on a lattice: the wave exp(2 pi i k x/n) turns with energy 1 - cos(2 pi k/n)."""
    n, t = 16, 20.0
    ring = np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)
    waves = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    X, _ = end(problem(-1j * (np.eye(n) - ring / 2), waves, 40, kind="continuous", dt=t / 40))
    energies = 1 - np.cos(2 * np.pi * np.arange(n) / n)
    np.testing.assert_allclose(X, waves * np.exp(-1j * energies * t), rtol=0, atol=1e-13)


@pytest.mark.parametrize("format", ["dense", "csr"])
def test_a_continuous_system_with_inputs_and_outputs(tmp_path, format):
    """Against SciPy's exponential of the complex [[A, B u], [0, 0]]: formed, and by series."""
    n, dt, steps = 5, 0.3, 7
    A, B, C, start = random(n, n) - 2 * np.eye(n), random(n, 2), random(3, n), random(n, 2)
    np.save(tmp_path / "A.npy", A)
    system = {"input_matrix": written(B), "input": [1.0, -0.5], "output_matrix": written(C)}
    p = problem(
        {"file": "A.npy", "format": format}, start, steps, kind="continuous", dt=dt, base=tmp_path, system=system
    )
    block = np.zeros((n + 1, n + 1), complex)
    block[:n, :n], block[:n, n] = A, B @ [1.0, -0.5]
    whole = expm(block * dt * steps) @ np.vstack([start, np.ones((1, 2))])
    Y, found = end(p)
    assert (p.system.series is not None) is (format == "csr")
    np.testing.assert_allclose(Y, C @ whole[:n], rtol=0, atol=1e-12)
    assert found["residual"] < 1e-13
    assert np.shape(found["state_real"]) == (3, 2)


def test_only_one_part_need_be_complex():
    real = [[0.6, -0.8], [0.8, 0.6]]
    turned = extended_power(np.array(real), np.array([[1j], [2.0]]), 5)
    X, found = end(problem(real, [[1j], [2.0]], 5))
    np.testing.assert_allclose(X, turned, rtol=0, atol=1e-14)
    assert len(found["analysis"]["slowest"]["imag"]) == 1  # of a real A: a pair counts once
    Y, _ = end(problem(real, [[1.0], [2.0]], 5, system={"output_matrix": [["1+0j", "-2j"]]}))
    X = extended_power(np.array(real), np.array([[1.0], [2.0]]), 5)
    np.testing.assert_allclose(Y, [[1, -2j]] @ X, rtol=0, atol=1e-14)


# --- files ------------------------------------------------------------------------------------------------------------


def test_complex_matrices_from_files(tmp_path):
    A = unitary(3)
    A[0, 1] = 0
    hermitian = A + A.conj().T
    np.save(tmp_path / "A128.npy", A)
    np.save(tmp_path / "A64.npy", A.astype(np.complex64))
    (tmp_path / "A.csv").write_text("\n".join(",".join(str(z).strip("()") for z in row) for row in A) + "\n")
    scipy.io.mmwrite(tmp_path / "dense.mtx", A, precision=17)
    scipy.io.mmwrite(tmp_path / "sparse.mtx", sp.coo_array(A), precision=17)
    scipy.io.mmwrite(tmp_path / "hermitian.mtx", sp.coo_array(hermitian), precision=17, symmetry="hermitian")
    sp.save_npz(tmp_path / "A.npz", sp.csc_array(A))
    known = dict.fromkeys(("A128.npy", "A.csv", "dense.mtx", "sparse.mtx", "A.npz"), A)
    for name, wanted in (known | {"A64.npy": A.astype(np.complex64), "hermitian.mtx": hermitian}).items():
        np.testing.assert_array_equal(read_matrix(tmp_path / name), wanted)
        p = problem({"file": name}, [[1], [1j], [0]], 6, base=tmp_path)
        assert p.system.sparse is (name in ("sparse.mtx", "hermitian.mtx", "A.npz"))
        if p.system.sparse:
            assert p.system.A.nnz == 2 * np.count_nonzero(wanted.real) + 2 * np.count_nonzero(wanted.imag)
        X, _ = end(p)
        np.testing.assert_allclose(X, extended_power(wanted, np.array([[1], [1j], [0]]), 6), rtol=1e-13, atol=1e-13)


def test_a_particle_hops_on_a_long_ring(tmp_path):
    """i dX/dt = -(X_left + X_right)/2 from one site: at distance d the amplitude is i^d J_d(t). A sparse, by series."""
    n, t = 1500, 12.0
    hop = sp.coo_array((np.full(n, 0.5j), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.coo_array(hop + hop.T), precision=17)
    p = problem({"file": "A.mtx"}, {"unit": [700]}, 8, kind="continuous", dt=t / 8, base=tmp_path)
    assert p.system.series is not None
    X, found = end(p)
    d = np.abs(np.arange(n) - 700)
    np.testing.assert_allclose(X[:, 0], 1j**d * jv(d, t), rtol=0, atol=1e-14)
    assert found["norm"] == pytest.approx(1.0, rel=1e-14)
    assert found["residual"] < 1e-14
    assert "state_real" not in found
    assert (found["analysis"]["verdict"], found["analysis"]["verdict_note"]) == (MARGINAL, BY_NORM)
    assert found["analysis"]["spectral_abscissa"] == 0.0


@pytest.mark.parametrize("continuous", [False, True])
def test_outermost_eigenvalues_of_a_complex_sparse_matrix(continuous):
    """Diagonal but for a twist, so that they are known; sums decide where phases do not matter."""
    n = 60
    moduli = np.linspace(0.2, 0.9, n)
    diagonal = moduli * np.exp(1j * np.arange(n)) - (2.0 if continuous else 0.0)
    A = sp.csr_array(sp.diags_array([diagonal, np.full(n - 1, 0.01j)], offsets=[0, 1]))
    found = outermost(A, continuous)
    assert (found.verdict, found.note, found.sums) == ("stable", BY_SUMS, "")
    wanted = np.max(diagonal.real) if continuous else 0.9
    assert found.bound == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("size", "verdict"), [(1.0, MARGINAL), (1.0 + 1e-9, UNDETERMINED), (1.01, UNSTABLE)])
def test_sparse_unitary_matrices_are_told_by_their_columns(size, verdict):
    """Blocks that turn and mix two components each, with sums above 1 throughout."""
    blocks = [unitary(2) for _ in range(40)]
    found = outermost(sp.csr_array(size * sp.block_diag(blocks)), False)
    assert found.verdict == verdict
    assert (found.note == BY_NORM) is (verdict == MARGINAL)
    assert found.bound == pytest.approx(size, rel=1e-12)


# --- analysis ---------------------------------------------------------------------------------------------------------


def test_the_analysis_is_that_of_the_complex_matrix():
    """Eigenvalues are not doubled by their conjugates, and ranks are out of n."""
    values = np.array([0.9j, -0.5 + 0.2j, 0.3])
    Q = unitary(3)
    A = Q @ np.diag(values) @ Q.conj().T
    b = Q[:, :1] + Q[:, 1:2]
    system = {"input_matrix": written(b), "input": [1.0], "output_matrix": written(Q[:, :1].conj().T)}
    _, found = end(problem(A, [[1j], [0], [0]], 3, system=system))
    analysis = found["analysis"]
    assert analysis["verdict"] == "stable"
    assert analysis["spectral_radius"] == pytest.approx(0.9, rel=1e-13)
    slowest = np.array(analysis["slowest"]["real"]) + 1j * np.array(analysis["slowest"]["imag"])
    np.testing.assert_allclose(slowest, values, rtol=0, atol=1e-14)
    assert (analysis["controllability"]["rank"], analysis["controllability"]["of"]) == (2, 3)
    assert (analysis["observability"]["rank"], analysis["observability"]["of"]) == (1, 3)
    steady = analysis["steady_state_real"][0] + 1j * analysis["steady_state_imag"][0]
    assert steady == pytest.approx(1 / (1 - 0.9j), rel=1e-13)
    json.dumps(found, allow_nan=False)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["step", "power"])
def test_a_run_that_is_cut_goes_on_to_the_same_bits(tmp_path, capsys, method):
    content = scenario(unitary(4), random(4, 2), 3000, method=method, output={"frames": 4, "checkpoint_every": 100})
    path = tmp_path / "walk.toml"
    path.write_text(tomli_w.dumps(content))
    assert call(capsys, "run", path, "-o", tmp_path / "whole", "--device", "cpu").returncode == 0
    cut = call(capsys, "run", path, "-o", tmp_path / "parts", "--device", "cpu", "--max-minutes", "0")
    assert cut.returncode == 75, cut.stderr
    checkpoint = read_checkpoint(tmp_path / "parts")
    assert checkpoint is not None
    assert checkpoint.snapshot.step < 3000
    rest = call(capsys, "resume", tmp_path / "parts")
    assert rest.returncode == 0, rest.stderr
    assert_same_bits(tmp_path / "parts" / "results.h5", tmp_path / "whole" / "results.h5")
    for command in (("info", tmp_path / "parts"), ("check", path)):
        assert call(capsys, *command).returncode == 0
    drawn = call(capsys, "plot", tmp_path / "parts", "-o", tmp_path / "walk.png")
    assert drawn.returncode == 0, drawn.stderr


def test_what_is_live_from_python_is_stacked(tmp_path):
    path = tmp_path / "turn.toml"
    path.write_text(tomli_w.dumps(scenario([[1j]], [[2.0]], 4)))
    sim = simsuite.open_simulation(path, device="cpu")
    sim.advance(1)
    np.testing.assert_array_equal(sim.state["state"], [[0.0], [2.0]])


def test_embedding_is_a_homomorphism():
    A, B = random(3, 4), random(4, 2)
    np.testing.assert_allclose(embedded(A) @ stacked(B), stacked(A @ B), rtol=1e-14)
    np.testing.assert_array_equal(embedded(sp.csr_array(A)).toarray(), embedded(A))


# --- mistakes ---------------------------------------------------------------------------------------------------------


def mistake(*args, **more):
    with pytest.raises(ScenarioError) as caught:
        problem(*args, **more)
    (found,) = caught.value.mistakes
    return found.path, found.message


def test_complex_systems_take_no_noise():
    path, message = mistake([[1j]], [[1.0]], 3, system={"noise_matrix": [[1.0]]})
    assert path == ("system", "noise_matrix")
    assert "no noise" in message


def test_numbers_that_the_precision_does_not_hold():
    path, message = mistake([[1, 0], [0, "1e200j"]], [[1], [0]], 3, run={"precision": "float32"})
    assert path == ("system", "matrix")
    assert message == "row 2, column 2 is 0+1e+200j, not a finite float32"


def test_files_that_hold_no_complex_numbers(tmp_path):
    np.save(tmp_path / "nan.npy", np.array([[1j, complex(0, np.nan)], [0, 0]]))
    (tmp_path / "A.csv").write_text("1j,0\n0,2x\n")
    start = [[1], [0]]
    assert "row 1, column 2 is 0+nanj" in mistake({"file": "nan.npy"}, start, 3, base=tmp_path)[1]
    assert 'line 2: "2x" is not a number' in mistake({"file": "A.csv"}, start, 3, base=tmp_path)[1]


def test_a_complex_state_of_another_size():
    path, message = mistake([[1j, 0], [0, 1]], [[1], [0], [1j]], 3)
    assert path == ("initial", "state")
    assert message == "`state` has 3 components, but the matrix is 2 x 2"


def test_a_state_that_overflows_is_named_by_its_component():
    p = problem([[1j, 0], [0, 0.5]], [[1], [1]], 3)
    snapshot = p.initial()
    snapshot.arrays["state"][3] = np.inf  # the imaginary part of component 1
    assert p.fault(snapshot) == "component 1, sample 0"

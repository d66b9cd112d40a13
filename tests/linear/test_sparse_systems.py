"""Linear systems with a sparse matrix: steps, series, files, and what is said of them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from counting import Counting
from pydantic import ValidationError
from scipy.linalg import expm

import simsuite
from simsuite.backends import open_backend
from simsuite.backends.cpu import CpuBackend
from simsuite.errors import DeviceError, ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.load import load
from simsuite.solvers.linear.analysis import outermost as outermost_module
from simsuite.solvers.linear.analysis.magnitudes import magnitudes
from simsuite.solvers.linear.analysis.outermost import BY_SUMS, outermost
from simsuite.solvers.linear.discretisation.series import LONGEST, series_of
from simsuite.solvers.linear.generators.heat1d import heat1d
from simsuite.solvers.linear.generators.lattice_walk import lattice_walk
from simsuite.solvers.linear.generators.rotation import rotation
from simsuite.solvers.linear.matrices.matrices import read_matrix
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.matmul.sparse import filled, in_rows


def problem(system, state, steps, dt=1.0, base=Path("."), method="auto", **more):
    time = {"steps": steps, "dt": dt, "method": method}
    scenario = {"solver": "linear", "system": system, "initial": {"state": state}, "time": time, **more}
    return LinearProblem.from_scenario(LinearScenario.model_validate(scenario, context={"base": base}), base)


def advanced(p, *blocks, start=None, backend=None):
    stepper = p.stepper(backend or CpuBackend(), start or p.initial())
    for n in blocks:
        stepper.advance(n)
    with stepper.snapshot() as snapshot:
        return snapshot


def last(p):
    return advanced(p, p.clock.end).arrays["state"]


def results(p):
    stepper = p.stepper(CpuBackend(), p.initial())
    stepper.advance(p.clock.end)
    with stepper.observe("time") as observed:
        return p.results(observed)


# --- discrete systems -------------------------------------------------------------------------------------------------


def walk(nx, ny, move=0.2, **more):
    return {"kind": "discrete", "matrix": {"generator": "lattice_walk", "nx": nx, "ny": ny, "move": move, **more}}


def test_a_lattice_walk_decays_as_its_modes_do():
    nx, ny, move, steps = 12, 7, 0.2, 30
    x, y = np.arange(nx) + 0.5, np.arange(ny) + 0.5
    start, end = [], []
    for k, l in ((0, 0), (1, 0), (0, 1), (3, 5), (11, 6)):
        mode = np.outer(np.cos(np.pi * l * y / ny), np.cos(np.pi * k * x / nx)).ravel()
        rate = 1 - 2 * move * (2 - np.cos(np.pi * k / nx) - np.cos(np.pi * l / ny))
        start.append(mode)
        end.append(rate**steps * mode)
    p = problem(walk(nx, ny, move), np.transpose(start).tolist(), steps, method="step")
    assert p.system.A.nnz == 5 * nx * ny - 2 * nx - 2 * ny
    np.testing.assert_allclose(last(p), np.transpose(end), rtol=0, atol=1e-14)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_steps_have_the_bits_of_dense_ones(precision):
    """With inputs that move, and noise."""
    found = []
    for kept in ("csr", "dense"):
        rng = np.random.default_rng(3)
        system = walk(9, 8, 0.23, format=kept) | {"input_matrix": rng.random((72, 2)).tolist(), "input": ["sin(t)", 2]}
        noise = {"noise_matrix": rng.random((72, 3)).tolist()}
        for more in ({}, noise):
            p = problem(system | more, {"random": "normal", "batch": 5}, 70, run={"precision": precision})
            assert p.system.sparse is (kept == "csr")
            found.append(last(p))
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
    assert np.any(found[0] != found[1])


def test_runs_say_what_they_do_and_go_on_bit_for_bit(tmp_path):
    path = tmp_path / "walk.toml"
    path.write_text(
        'solver = "linear"\nsystem = {kind = "discrete", matrix = {generator = "lattice_walk", nx = 40, ny = 30}}\n'
        "initial = {state = {unit = [0, 615]}}\ntime = {steps = 40}\noutput = {frames = 3}\n"
    )
    whole = simsuite.run(path, directory=tmp_path / "whole", device="cpu")
    assert whole.summary["kernel"] == "csr"
    assert whole.summary["matrix"] == f"csr, {2 * (39 * 30 + 40 * 29) + 136} numbers"  # nobody stays but at edges
    assert whole.results["residual"] < 1e-14
    p = problem(load(path).model.system.model_dump(exclude_none=True), {"unit": [0, 615]}, 40)
    split = advanced(p, 7, 13, start=advanced(p, 3, 17))
    assert split.step == 40
    np.testing.assert_array_equal(split.arrays["state"], whole.dataset["state"].values[-1])


def test_a_batch_split_in_two_is_the_same():
    X = np.random.default_rng(1).standard_normal((30, 37))
    whole = last(problem(walk(6, 5), X.tolist(), 20))
    for columns in (slice(0, 1), slice(1, 20), slice(20, 37)):
        np.testing.assert_array_equal(last(problem(walk(6, 5), X[:, columns].tolist(), 20)), whole[:, columns])


def test_unit_states():
    p = problem(walk(3, 2), {"unit": [5, 0, 5]}, 1)
    np.testing.assert_array_equal(p.initial().arrays["state"], np.eye(6)[:, [5, 0, 5]])
    with pytest.raises(ScenarioError) as caught:
        problem(walk(3, 2), {"unit": [1, 6]}, 1)
    (mistake,) = caught.value.mistakes
    assert mistake.path == ("initial", "state", "unit", 1)
    assert mistake.message == "there is no component 6: the last of 6 is 5"


# --- how a run gets from frame to frame -------------------------------------------------------------------------------


def test_powers_of_a_sparse_matrix_are_dense():
    few = problem(walk(6, 5), {"unit": [0]}, 50, output={"frames": 2})
    assert few.plan.method == "step"
    by_power = problem(walk(6, 5), {"unit": [0]}, 50, method="power", output={"frames": 2})
    assert results(by_power)["method"] == "power"
    np.testing.assert_allclose(last(by_power), last(few), rtol=1e-13)
    many = problem(walk(6, 5), {"unit": [0]}, 10**7, output={"frames": 2})
    assert many.plan.method == "power"
    np.testing.assert_allclose(last(many), np.full((30, 1), 1 / 30), rtol=1e-8)
    large = problem(walk(80, 80), {"unit": [0]}, 10**7, output={"frames": 2})
    assert large.plan.method == "step"
    assert "sparse" in large.plan.reason


def test_powers_that_do_not_fit_are_refused():
    class Small(CpuBackend):
        def memory_free(self):
            return 10**6

    time = {"steps": 9, "method": "power"}
    scenario = {"solver": "linear", "system": walk(20, 20), "initial": {"state": {"unit": [0]}}, "time": time}
    model = LinearScenario.model_validate(scenario)
    with pytest.raises(DeviceError, match="modes of a sparse matrix are dense: powers need") as caught:
        LinearProblem.from_scenario(model, Path("."), Small)
    assert 'write method = "step"' in str(caught.value)
    assert LinearProblem.from_scenario(model, Path("."), CpuBackend).plan.method == "power"


def test_huge_sparse_systems_are_never_filled_up(monkeypatch):
    """205 GB: anything dense would fail."""
    p = problem(walk(400, 400), {"unit": [80_200]}, 3, output={"frames": 2})
    monkeypatch.setattr(outermost_module, "_WORK", 0)
    assert p.device_bytes() < 20e6
    found = results(p)
    assert found["norm"] == pytest.approx(np.linalg.norm(last(p)), rel=1e-14)
    assert found["residual"] < 1e-15
    assert found["analysis"]["verdict"] == "marginally stable"
    assert found["analysis"]["spectral_radius"] == 1.0
    assert found["analysis"]["stochastic"] == "columns and rows"
    assert "160000 rows" in found["analysis"]["left_out"]
    assert p.layout.sizes["row"] <= 256


@pytest.mark.parametrize(
    ("generator", "numbers"),
    [
        ({"generator": "heat1d", "points": 200_000}, 3 * 200_000 - 2),
        ({"generator": "rc_ladder", "sections": 100_000}, 3 * 100_000 - 2),
        ({"generator": "springs", "masses": 100_000}, 4 * 100_000 - 2),
        ({"generator": "markov", "states": 100_000, "up": 0.3, "down": 0.2}, 3 * 100_000 - 2),
        ({"generator": "quantum_walk", "sites": 50_000}, 4 * 50_000),
    ],
    ids=lambda v: v["generator"] if isinstance(v, dict) else "",
)
def test_banded_matrices_of_any_size_are_generated(generator, numbers):
    """The largest would be 320 GB with their zeros, which is refused."""
    size = next(value for key, value in generator.items() if key != "generator")
    continuous = generator["generator"] in ("heat1d", "rc_ladder", "springs")
    system = {"kind": "continuous" if continuous else "discrete", "matrix": generator | {"format": "csr"}}
    p = problem(system, {"unit": [7]}, 1, dt=1e-12 if continuous else None, output={"frames": 2})
    assert p.system.A.nnz == numbers
    system["matrix"] = generator
    with pytest.raises(ValidationError, match=f"must be at most .* where A is dense, got {size}"):
        problem(system, {"unit": [7]}, 1, dt=1e-12)


def test_device_bytes():
    for kept in ("csr", "dense"):
        for system in (walk(20, 30, format=kept), conduction(600, format=kept)):
            noise = {"noise_matrix": np.ones((600, 2)).tolist()} if system["kind"] == "discrete" else {}
            p = problem(system | noise, {"random": "normal", "batch": 70}, 3, dt=1e-7)
            counting = Counting()
            p.stepper(counting, p.initial())
            slack = 2**21 * 64 if kept == "dense" else 0  # what cores work on is estimated
            assert p.device_bytes() - slack <= counting.total <= p.device_bytes() + (2 + 64) * 8 + slack


# --- continuous systems -----------------------------------------------------------------------------------------------


def conduction(points, **more):
    return {"kind": "continuous", "matrix": {"generator": "heat1d", "points": points, "format": "csr"} | more}


def extended(A, b, t, X, squarings=40, terms=20):
    """exp(A t) X and its integral of b, by Taylor's series and squaring in extended precision."""
    n = len(A)
    block = np.zeros((n + 1, n + 1), np.longdouble)
    block[:n, :n], block[:n, n] = A, b
    block *= np.longdouble(t) / 2**squarings
    E = term = np.eye(n + 1, dtype=np.longdouble)
    for k in range(1, terms):
        term = term @ block / k
        E = E + term
    for _ in range(squarings):
        E = E @ E
    return E[:n, :n] @ X + E[:n, n:]


@pytest.mark.parametrize("dt", [1e-9, 1e-4, 2e-2])
def test_a_series_is_the_exponential_whatever_the_step(dt):
    n, steps, u = 12, 3, 3.0
    system = conduction(n) | {"input_matrix": np.ones((n, 1)).tolist(), "input": [u]}
    p = problem(system, {"random": "normal", "batch": 4}, steps, dt=dt)
    assert p.system.series is not None
    assert "by series" in p.method["matrix"]
    exact = extended(heat1d(n, 1.0, 1.0).toarray(), u, dt * steps, p.system.start, squarings=12)
    assert np.max(np.abs(last(p) - exact)) < 2e-14 * np.max(np.abs(exact))
    # what u does, by itself
    zeros = problem(system, [0.0] * n, steps, dt=dt)
    expected = extended(heat1d(n, 1.0, 1.0).toarray(), u, dt * steps, zeros.system.start, squarings=12)
    assert np.max(np.abs(last(zeros) - expected)) < 1e-14 * np.max(np.abs(expected))
    assert results(p)["residual"] < 1e-13


@pytest.mark.parametrize("angle", [0.1, 7.0, 300.0])
def test_a_series_turns_what_turns(angle):
    """Nothing decays, so all errors add up."""
    p = problem(
        {"kind": "continuous", "matrix": {"generator": "rotation", "angle": angle, "format": "csr"}}, [1.0, 0.0], 5
    )
    np.testing.assert_allclose(last(p), rotation(5 * angle, False)[:, :1], rtol=0, atol=2e-15 * (5 + 5 * angle))


def test_series_have_as_few_products_as_rounding_allows():
    A = in_rows(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    for length in (1e-12, 0.3, 1.0, 50.0):
        for dtype in (np.float64, np.float32):
            found = series_of(A, length, dtype)
            t, eps = 2 * found.dt, float(np.finfo(dtype).eps)
            rests = [t**m / math.factorial(m + 1) * max(t, 1) * math.exp(t) for m in range(found.degree + 1)]
            assert rests[-1] <= eps / 2
            assert found.degree == 1 or rests[-2] > eps / 2
            assert t <= LONGEST * (1 + 1e-15)
            assert found.length == length
    assert series_of(in_rows(sp.csr_array((3, 3))), 1.0, np.float64).products == 1


def test_series_go_on_bit_for_bit_and_move_with_inputs():
    system = conduction(20) | {"input_matrix": np.eye(20)[:, :1].tolist(), "input": ["sin(100*t)"]}
    p = problem(system, {"random": "normal", "batch": 3}, 90, dt=1e-3)
    whole = advanced(p, 90).arrays["state"]
    np.testing.assert_array_equal(advanced(p, 20, 1, start=advanced(p, 69)).arrays["state"], whole)
    dense = problem(
        system | {"matrix": system["matrix"] | {"format": "dense"}}, {"random": "normal", "batch": 3}, 90, dt=1e-3
    )
    np.testing.assert_allclose(whole, last(dense), rtol=0, atol=1e-12 * np.max(np.abs(whole)))


def test_small_matrices_by_coordinates_are_discretised(tmp_path):
    A = heat1d(9, 1.0, 1.0).toarray()
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.coo_array(A), precision=17)
    system = {"kind": "continuous", "matrix": {"file": "A.mtx"}}
    p = problem(system, {"unit": [4]}, 3, dt=0.01, base=tmp_path)
    assert p.system.series is None
    assert not p.system.sparse
    np.testing.assert_allclose(last(p)[:, 0], expm(0.03 * A)[:, 4], rtol=1e-13)
    kept = problem(
        {"kind": "continuous", "matrix": {"file": "A.mtx", "format": "csr"}}, {"unit": [4]}, 3, 0.01, tmp_path
    )
    assert kept.system.series is not None
    np.testing.assert_allclose(last(kept), last(p), rtol=1e-13)


def test_what_needs_the_exponential_is_refused():
    needs = {
        "noise_matrix": (conduction(5) | {"noise_matrix": [[1.0]] * 5}, 1e-3, ("system", "noise_matrix")),
        "first": (
            conduction(5) | {"input_matrix": [[1.0]] * 5, "input": ["t"], "hold": "first"},
            1e-3,
            ("system", "hold"),
        ),
        "more than 10000 products": (conduction(100), 10.0, ("time", "dt")),
    }
    for system, dt, path in needs.values():
        with pytest.raises(ScenarioError) as caught:
            problem(system, {"unit": [0]}, 3, dt=dt)
        (mistake,) = caught.value.mistakes
        assert mistake.path == path
        assert 'format = "dense"' in (mistake.help or "")
        dense = system | {"matrix": system["matrix"] | {"format": "dense"}}
        assert problem(dense, {"unit": [0]}, 3, dt=dt).system.series is None


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("dt", [10.0, 1e300, 1e306])
def test_steps_that_are_short_enough_for_a_series_are_named(dt, precision):
    with pytest.raises(ScenarioError, match="more than 10000 products") as caught:
        problem(conduction(100), {"unit": [0]}, 3, dt=dt, run={"precision": precision})
    words = caught.value.mistakes[0].message.split()
    named = float(words[words.index("one") + 2])
    series = problem(conduction(100), {"unit": [0]}, 3, dt=named, run={"precision": precision}).system.series
    assert 8000 < series.products <= 10000


# --- files ------------------------------------------------------------------------------------------------------------

HEAD = "%%MatrixMarket matrix coordinate {} {}\n"


def mtx(directory, kind, symmetry, size, *entries):
    path = directory / "A.mtx"
    path.write_text(HEAD.format(kind, symmetry) + "\n".join([size, *entries]) + "\n")
    return path


@pytest.mark.parametrize(
    ("kind", "symmetry", "entries", "wanted"),
    [
        ("real", "general", ["1 2 0.5", "2 1 -1", "1 2 0.25"], [[0, 0.75], [-1, 0]]),
        ("integer", "general", ["2 2 7"], [[0, 0], [0, 7]]),
        ("pattern", "general", ["1 1", "2 1"], [[1, 0], [1, 0]]),
        ("real", "symmetric", ["2 1 3", "2 2 1"], [[0, 3], [3, 1]]),
        ("real", "skew-symmetric", ["2 1 3"], [[0, -3], [3, 0]]),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_kinds_of_matrix_market_files(tmp_path, kind, symmetry, entries, wanted):
    path = mtx(tmp_path, kind, symmetry, f"2 2 {len(entries)}", *entries)
    np.testing.assert_array_equal(read_matrix(path), wanted)
    p = problem({"kind": "discrete", "matrix": {"file": "A.mtx"}}, [1.0, 2.0], 1, base=tmp_path)
    assert p.system.sparse
    np.testing.assert_array_equal(filled(p.system.A), wanted)
    np.testing.assert_array_equal(last(p), np.array(wanted) @ [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("kind", "symmetry", "size", "entries", "message"),
    [
        ("real", "general", "2 2 1", ["3 1 1.0"], "cannot be read: .*[Rr]ow index out of bounds"),
        ("real", "general", "2 2 1", ["0 1 1.0"], "cannot be read: .*[Rr]ow index out of bounds"),
        ("real", "general", "2 2 2", ["1 1 1.0"], "cannot be read"),
        ("real", "general", "2 3 1", ["1 1 1.0"], "is 2 x 3, but A must be square"),
        ("complex", "general", "2 2 1", ["2 1 1.0 nan"], r"row 2, column 1 is 1\+nanj, not a finite float64"),
        ("complex", "hermitian", "2 2 1", ["2 1 1.0 inf"], r"row 1, column 2 is 1-infj, not a finite float64"),
        ("real", "general", "9 9 2", ["1 1 1.0", "7 3 nan"], "row 7, column 3 is nan, not a finite float64"),
        ("real", "general", "9 9 2", ["1 1 1.0", "2 9 -inf"], "row 2, column 9 is -inf, not a finite float64"),
        ("real", "general", "999999999999 999999999999 1", ["1 1 1.0"], "at most 67108864 are possible"),
    ],
)
def test_bad_matrix_market_files(tmp_path, kind, symmetry, size, entries, message):
    mtx(tmp_path, kind, symmetry, size, *entries)
    with pytest.raises(ScenarioError) as caught:
        problem({"kind": "discrete", "matrix": {"file": "A.mtx"}}, {"unit": [0]}, 1, base=tmp_path)
    (mistake,) = caught.value.mistakes
    assert mistake.path[:2] == ("system", "matrix")
    assert re.search(message, mistake.message), mistake.message


def test_which_files_stay_sparse(tmp_path):
    A = np.arange(9.0).reshape(3, 3) / 7
    np.save(tmp_path / "a.npy", A)
    np.savetxt(tmp_path / "a.csv", A, delimiter=",", fmt="%.17g")
    scipy.io.mmwrite(tmp_path / "array.mtx", A, precision=17)
    scipy.io.mmwrite(tmp_path / "coordinate.mtx", sp.coo_array(A), precision=17)
    sp.save_npz(tmp_path / "a.npz", sp.csc_array(A))
    for name, sparse in (("a.npy", 0), ("a.csv", 0), ("array.mtx", 0), ("coordinate.mtx", 1), ("a.npz", 1)):
        for kept in (None, "csr", "dense"):
            matrix = {"file": name} | ({} if kept is None else {"format": kept})
            p = problem({"kind": "discrete", "matrix": matrix}, {"unit": [1]}, 1, base=tmp_path)
            assert p.system.sparse is (kept == "csr" or (kept is None and bool(sparse)))
            np.testing.assert_array_equal(filled(p.system.A), A)


def test_bad_npz_files(tmp_path):
    (tmp_path / "text.npz").write_text("1 2 3")
    np.savez(tmp_path / "dense.npz", A=np.eye(2))
    sp.save_npz(tmp_path / "truth.npz", sp.csr_array(np.eye(2, dtype=bool)))
    for name in ("text", "dense", "truth"):
        with pytest.raises(ValueError, match=r"cannot be read|bool values"):
            read_matrix(tmp_path / f"{name}.npz")


# --- analysis ---------------------------------------------------------------------------------------------------------


def test_magnitudes_of_a_sparse_matrix():
    for n in (5, 300, 513):
        A = in_rows(sp.random_array((n, n), density=0.01, rng=np.random.default_rng(n)))
        np.testing.assert_array_equal(magnitudes(A), magnitudes(A.toarray()))


def test_outermost_eigenvalues_of_large_systems():
    """Damped rotations of all sorts, each with its own frequency, in an order that hides them."""
    n, rng = 3000, np.random.default_rng(4)
    radius = np.concatenate([[0.99, 0.97, 0.95, 0.9], 0.5 * rng.random(n // 2 - 4)])
    angle = 3 * rng.random(n // 2)
    c, s = radius * np.cos(angle), radius * np.sin(angle)
    A = sp.block_diag([[[a, -b], [b, a]] for a, b in zip(c, s)], format="csr")
    order = rng.permutation(n)
    A = in_rows(sp.csr_array(A)[order][:, order])
    found = outermost(A, False)
    assert found.bound == pytest.approx(0.99, rel=1e-9)
    np.testing.assert_allclose(found.values[:2], [c[0] + 1j * s[0], c[0] - 1j * s[0]], rtol=1e-8)
    assert found.verdict in ("stable", "undetermined")
    assert outermost(in_rows(A * (1 / 0.98)), False).verdict == "unstable"
    assert outermost(in_rows(A * 0.5), False).note == BY_SUMS
    twice, again = (outermost(A, False).values for _ in range(2))
    np.testing.assert_array_equal(twice, again)


@pytest.mark.parametrize("continuous", [False, True])
def test_norms_tell_what_arnoldi_does_not(continuous, monkeypatch):
    monkeypatch.setattr(outermost_module, "_values", lambda A, continuous: np.zeros(0))
    walker = lattice_walk(40, 30, 0.2)
    A = in_rows(walker - sp.eye_array(1200)) if continuous else walker
    found = outermost(A, continuous)
    assert found.verdict == "marginally stable"
    assert found.bound == (0.0 if continuous else 1.0)
    assert found.sums == "columns and rows"
    less = in_rows(A - 0.01 * sp.eye_array(1200)) if continuous else in_rows(A * 0.99)
    assert outermost(less, continuous).verdict == "stable"
    more = in_rows(A + 0.01 * sp.eye_array(1200)) if continuous else in_rows(A * 1.01)
    assert outermost(more, continuous).verdict == "undetermined"
    assert outermost(more, continuous).bound is None


def test_conduction_and_chains_that_lose_something_are_stable(monkeypatch):
    """Sums along rows are 0 (1) but at the ends, and what is lost there comes from everywhere."""
    monkeypatch.setattr(outermost_module, "_values", lambda A, continuous: np.zeros(0))
    rod = heat1d(1500, 1.0, 1.0).toarray()
    assert outermost(in_rows(sp.csr_array(rod)), True).verdict == "stable"
    closed = rod.copy()
    closed[0, 0], closed[-1, -1] = -closed[0, 1], -closed[0, 1]
    assert outermost(in_rows(sp.csr_array(closed)), True).verdict == "marginally stable"
    apart = sp.block_diag([sp.csr_array(rod), np.array([[0.0, 1.0], [-1.0, 0.0]])])  # turns for ever, apart from it
    assert outermost(in_rows(apart), True).verdict == "undetermined"
    leaking = lattice_walk(40, 30, 0.2).tolil()
    leaking[7, 7] -= 1e-3
    assert outermost(in_rows(leaking.tocsr()), False).verdict == "stable"


def test_small_sparse_systems_are_analysed_like_dense_ones():
    found = [results(problem(walk(6, 5, format=f), {"unit": [0]}, 9))["analysis"] for f in ("csr", "dense")]
    assert found[0] == found[1]
    assert found[0]["spectral_radius"] == pytest.approx(1.0, rel=1e-14)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_runs_on_a_gpu_have_the_bits_of_those_on_a_cpu(precision):
    try:
        backend = open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    for system in (walk(40, 30), conduction(100)):
        for m in (1, 3):
            p = problem(system, {"random": "normal", "batch": m}, 70, dt=1e-4, run={"precision": precision})
            found = advanced(p, 70, backend=backend).arrays["state"]
            np.testing.assert_array_equal(found, last(p))

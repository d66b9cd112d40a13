"""Modes of A instead of steps: against exact powers and closed forms; what they lose, refusals, and bits when cut."""

from __future__ import annotations

import functools
import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import mpmath
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
    exact,
    extended,
    few_threads,
    grcar,
    last,
    off,
    orthogonal,
    scenario,
)
from linear_problems import problem as any_problem
from numba import types
from running import assert_same_bits, call, finish, start, wait_for_step
from scipy.linalg import expm
from sm90 import compile_sm90

from simsuite.backends.cpu import CpuBackend
from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure
from simsuite.scenario.linear import LinearScenario
from simsuite.solvers.linear.discretisation.sliced import remainder
from simsuite.solvers.linear.powers.jumps import Jumps
from simsuite.solvers.linear.powers.power import PowerStepper
from simsuite.solvers.linear.problem import LinearProblem
from simsuite.solvers.linear.spectral.cost import Pace, columns_of_modes, gain_by_modes
from simsuite.solvers.linear.spectral.decompose import decompose
from simsuite.solvers.linear.spectral.rates import FIRST, GROWTH, GROWTH_REST, SECOND, THIRD, rates
from simsuite.solvers.linear.spectral.stepper import SpectralStepper
from simsuite.solvers.linear.stepping.step import LinearStepper

LONG = 2.0**-63  # what a reference in extended precision loses a step, at most
problem = functools.partial(any_problem, method="spectral")


def precise(A, X, k):
    """A^k X in 60 digits."""
    with localcontext(prec=60):
        P, X = (np.array([[Decimal(float(v)) for v in row] for row in M]) for M in (A, X))
        while k:
            X = P.dot(X) if k & 1 else X
            P, k = P.dot(P), k >> 1
        return X.astype(float)


# --- against what is known --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 1000, 10**9])
@pytest.mark.parametrize(
    "A",
    [
        [[math.cos(0.1), -math.sin(0.1)], [math.sin(0.1), math.cos(0.1)]],
        [[0.0, 1.0], [-1.0, 0.0]],
        [[0.3, 0.6], [0.7, 0.4]],
        [[-1.0, 1e-9], [3e-9, -0.5]],
        [[1.0 - 1e-9, 1e-9], [0.0, 1.0 - 5e-10]],
        (orthogonal(3) * (1 - 2e-9)).tolist(),
    ],
    ids=["rotation", "quarter turns", "Markov", "negative", "slow", "three"],
)
def test_any_number_of_steps_is_accurate(A, k):
    """Also 10^9, where eigenvalues with the digits of float64 would be off by 1e-7."""
    X = np.random.default_rng(1).standard_normal((len(A), 2))
    p = problem(A, X, k)
    error, estimate = off(last(p), precise(A, X, k)), begun(p)._error[0]
    assert error < min(estimate, 4 * EPS)
    assert estimate < 40 * EPS


@pytest.mark.parametrize("k", [1, 2, 29])
def test_constant_inputs(k):
    A, B, X = orthogonal(3) * 0.9, np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 0.0]]), np.ones((3, 2))
    A = np.round(A * 2**12) / 2**12
    found = last(problem(A, X, k, system={"input_matrix": B.tolist(), "input": [1.5, "2 + 1"]}))
    np.testing.assert_allclose(found, exact(A, X, k, B @ [1.5, 3.0]), rtol=1e-14)


@pytest.mark.parametrize("eigenvalue", [1.0, 1 + 2**-40, 1 - 2**-52, 1 - 2**-30, -1.0, 0.0, 1e-300, 0.5])
def test_inputs_of_every_eigenvalue(eigenvalue):
    """k + .. of an integrator, and what is as close to it as can be."""
    for k in (1, 1000, 10**9):
        inputs = {"input_matrix": [[1.0]], "input": [0.25]}
        found = last(problem([[eigenvalue]], [[3.0]], k, system=inputs))
        with localcontext(prec=60):
            power, one = Decimal(eigenvalue) ** k, Decimal(eigenvalue) - 1
            wanted = 3 * power + Decimal("0.25") * ((power - 1) / one if one else k)
        assert found == pytest.approx(float(wanted), rel=8 * EPS)


def long_exponential(A, X, t, b):
    """exp(A t) X and what constant b come to, (exp(A t) - 1)/A b, in 90 digits. t: a fraction."""
    n = len(A)
    with mpmath.workdps(90):
        block = mpmath.zeros(n + 1)
        for i in range(n):
            for j in range(n):
                block[i, j] = mpmath.mpf(float(A[i, j])) * t.numerator / t.denominator
            block[i, n] = mpmath.mpf(float(b[i])) * t.numerator / t.denominator
        whole = mpmath.expm(block) * mpmath.matrix(np.vstack([X, np.ones((1, X.shape[1]))]).tolist())
        return np.array([[float(whole[i, j]) for j in range(X.shape[1])] for i in range(n)])


CONTINUOUS = {  # A, and what inputs add to the rate of change
    "rotation": ([[0.0, 1.0], [-1.0, 0.0]], [0.0, 0.0]),
    "driven": ([[0.0, 1.0], [-1.0, 0.0]], [0.5, -2.0]),
    "damped": ([[0.0, 1.0], [-2.0, -1e-9]], [1.0, 0.0]),
    "stiff": ([[-1e6, 1e6], [1e-3, -2e-3]], [3.0, 1.0]),
    "integrator": ([[0.0, 1.0], [0.0, -0.25]], [0.0, 1.0]),
    "in space": ([[0.0, 0.7, -0.2], [-0.7, 0.0, 1.1], [0.2, -1.1, 0.0]], [0.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("k", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize(("A", "b"), CONTINUOUS.values(), ids=CONTINUOUS)
def test_continuous_time_is_exact(A, b, k):
    """As if there were no steps: the exponential of one, in float64, would be off by 1e-7 after 10^9 of them."""
    A, X = np.array(A), np.random.default_rng(1).standard_normal((len(A), 2))
    dt = 0.1
    system = {"kind": "continuous", "input_matrix": [[v] for v in b], "input": [1.0]}
    p = problem(A, X, k, dt=dt, system=system)
    error, estimate = off(last(p), long_exponential(A, X, Fraction(dt) * k, b)), begun(p)._error[0]
    assert error < min(estimate, 6 * EPS)
    assert estimate < 80 * EPS


def test_a_spin_in_continuous_time_is_exact():
    """exp(-i H t) for H = [[0.3, 0.4 - i], [0.4 + i, -0.3]], whose square is a multiple of 1."""
    A = [["-0.3j", "-1-0.4j"], ["1-0.4j", "0.3j"]]
    given = scenario([[0.0]], [[1.0], [0.0]], 10**8, dt=0.25, method="spectral")
    given["system"] = {"kind": "continuous", "matrix": A}
    p = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."))
    with mpmath.workdps(50):
        H, t = np.array([[0.3, 0.4 - 1j], [0.4 + 1j, -0.3]]), mpmath.mpf(10**8) / 4
        w = mpmath.sqrt(mpmath.mpf(0.3) ** 2 + mpmath.mpf(0.4) ** 2 + 1)
        c, s = mpmath.cos(w * t), mpmath.sin(w * t) / w
        wanted = np.array([complex(c) - 1j * float(s) * H[0, 0], -1j * float(s) * H[1, 0]])
    found = last(p)[:, 0]
    np.testing.assert_allclose(found[:2] + 1j * found[2:], wanted, rtol=0, atol=6 * EPS)


def test_inputs_of_rotations():
    """After whole turns all inputs have cancelled: the sum of the vectors around a polygon."""
    A, b = np.roll(np.eye(6), 1, axis=0), np.array([1.0, 2.0, -3.0, 4.0, -5.0, 1.0])
    inputs = {"input_matrix": b[:, None].tolist(), "input": [1.0]}
    p = problem(A, np.zeros(6), 6 * 10**8, system=inputs, tolerance=1e300)  # of nothing
    np.testing.assert_allclose(last(p), 0.0, atol=1e-14)
    p = problem(A, np.zeros(6), 6 * 10**8 + 1, system=inputs)
    np.testing.assert_allclose(last(p)[:, 0], b, rtol=0, atol=1e-14)


def test_a_markov_chain_arrives():
    n, up, down = 12, 0.3, 0.35
    p = problem({"generator": "markov", "states": n, "up": up, "down": down}, np.eye(n)[:, [0, n - 1]], 10**6)
    wanted = (up / down) ** np.arange(n)
    np.testing.assert_allclose(last(p), np.column_stack([wanted / wanted.sum()] * 2), rtol=2e-10)


def test_a_known_spectrum_and_continuous_time():
    """A mode of the heated rod, over 10^5 steps of its exponential."""
    n, steps, dt = 9, 10**5, 1e-6
    mode = np.sin(np.pi * 2 * np.arange(1, n + 1) / (n + 1))
    given = scenario({"generator": "heat1d", "points": n}, mode, steps, dt=dt, method="spectral")
    given["system"]["kind"] = "continuous"
    p = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."))
    rate = -4 * (n + 1) ** 2 * math.sin(math.pi * 2 / (2 * (n + 1))) ** 2
    np.testing.assert_allclose(last(p)[:, 0], math.exp(rate * steps * dt) * mode, rtol=0, atol=1e-15)


def test_a_population_in_the_long_run():
    """Leslie's matrix grows by the root of its characteristic equation."""
    fecundity, survival = [0.0, 1.2, 1.5], [0.5, 0.8]
    A = np.diag(survival, -1) + np.outer(np.eye(3)[0], fecundity)
    found = last(problem({"generator": "leslie", "fecundity": fecundity, "survival": survival}, np.eye(3), 999))
    assert off(found, precise(A, np.eye(3), 999)) < 1e-14


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (17, 2), (40, 100)], ids=str)
def test_single_precision_is_rounded_once(shape):
    A, X = orthogonal(shape[0]), np.random.default_rng(2).standard_normal(shape)
    found = last(problem(A, X, 10**6, run={"precision": "float32"}))
    assert found.dtype == np.float32
    assert off(found, extended(A, X, 10**6)) < 4e-7


# --- its parts --------------------------------------------------------------------------------------------------------


def test_remainders_are_those_of_exact_arithmetic():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((5, 40)), rng.standard_normal((40, 3))
    C = A @ B
    with localcontext(prec=60):
        decimals = [np.array([[Decimal(float(v)) for v in row] for row in M]) for M in (A, B, C)]
        wanted = (decimals[2] - decimals[0].dot(decimals[1])).astype(float)
    assert 0 < np.max(np.abs(wanted)) < 1e-14
    np.testing.assert_allclose(remainder(C, A, B), wanted, rtol=1e-6)


def test_remainders_of_many_columns(monkeypatch):
    rng = np.random.default_rng(1)
    C, A, B = (rng.standard_normal(shape) for shape in ((5, 7), (5, 4), (4, 7)))
    whole = remainder(C, A, B)
    monkeypatch.setattr("simsuite.solvers.linear.discretisation.sliced._TOGETHER", 3)
    np.testing.assert_array_equal(remainder(C, A, B), whole)


@pytest.mark.parametrize("name", [*NORMAL, "grcar"])
def test_modes_and_eigenvalues_belong_to_the_matrix(name):
    A = np.asarray({**NORMAL, **FAR}[name])
    modes = decompose(A)
    d, first = modes.scale, np.flatnonzero(modes.sign > 0)
    M = np.diag(modes.values.real)
    M[first, first + 1], M[first + 1, first] = modes.values[first].imag, -modes.values[first].imag
    W = d[:, None] * modes.W
    np.testing.assert_allclose(A @ W / d[:, None], W @ M / d[:, None], atol=1e-13 * np.linalg.norm(A))
    assert np.max(np.abs(modes.W @ modes.V - np.eye(len(A)))) < 1e-10
    z = np.random.default_rng(1).standard_normal(len(A))
    np.testing.assert_allclose(modes.real_coordinates(modes.complex_coordinates(z)), z, rtol=1e-15)
    normal = name in ("rotation", "orthogonal", "random_stable", "growing", "heat1d")
    assert (np.max(np.abs(modes.W.T @ modes.W - np.eye(len(A)))) < 1e-13) == normal


def test_turns_are_kept_in_parts():
    values = np.array([0.5 + 0.5j, 0.5 - 0.5j, -2.0, 0.0, np.exp(0.1j), np.exp(-0.1j)])
    found = rates(values, np.zeros(6), np.zeros(6))
    turns = found[FIRST] + found[SECOND] + found[THIRD]
    np.testing.assert_array_equal(turns[:4], [1 / 8, 1 / 8, 1 / 2, 0])
    assert turns[4] == pytest.approx(0.1 / (2 * math.pi), rel=4e-16)
    growth = (found[GROWTH] + found[GROWTH_REST])[[0, 2]]
    np.testing.assert_allclose(growth, [-0.5 * math.log(2), math.log(2)], rtol=2e-16)
    assert abs(found[GROWTH, 4]) < 1e-15
    assert (found[FIRST] * 2**26 % 1 == 0).all()
    assert (found[SECOND] * 2**52 % 1 == 0).all()


# --- cuts and looks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("m", [1, 30])
def test_neither_cuts_nor_looks_nor_restoring_change_a_bit(precision, m, monkeypatch):
    given = {"run": {"precision": precision}, "output": {"frames": 4}, "system": {"input_matrix": [[1.0]] * 20}}
    given["system"]["input"] = [0.5]
    p = problem(orthogonal(20), {"random": "normal", "batch": m}, 1000, **given)
    whole = advanced(p, 1000)
    np.testing.assert_array_equal(advanced(p, 1, 2, 330, 1, 600, 66).arrays["state"], whole.arrays["state"])
    looked = begun(p)
    for step in (0, 5, 333, 400, 999, 1000):
        looked.advance(step - looked.step)
        assert np.isfinite(looked.state["state"]).all()
    np.testing.assert_array_equal(looked.state["state"], whole.arrays["state"])
    cut = {step: advanced(p, step) for step in (0, 1, 334)}
    monkeypatch.setattr("simsuite.solvers.linear.batch.prepare", lambda *_: pytest.fail("a snapshot has it all"))
    for step, there in cut.items():
        np.testing.assert_array_equal(begun(p, there).state["state"], there.arrays["state"])
        rest = advanced(p, 1000 - step, start=there)
        assert rest.step == 1000
        for name, array in whole.arrays.items():
            np.testing.assert_array_equal(rest.arrays[name], array)


def test_every_step_can_be_looked_at():
    A, C = orthogonal(8), np.random.default_rng(3).standard_normal((2, 8))
    p = problem(A, np.eye(8)[:, :3], 500, system={"output_matrix": C.tolist()}, output={"frames": 3})
    stepper = begun(p)
    for step in (0, 1, 7, 249, 250, 500):
        stepper.advance(step - stepper.step)
        wanted = extended(A, np.eye(8)[:, :3], step).astype(float)
        np.testing.assert_allclose(stepper.state["state"], wanted, rtol=0, atol=1e-13)
        with stepper.observe("time") as observed, stepper.snapshot() as snapshot:
            np.testing.assert_allclose(p.rows("time", observed)["state"], C @ wanted, atol=1e-12)
            np.testing.assert_array_equal(snapshot.arrays["state"], observed.arrays["state"])
            if step == 0:
                np.testing.assert_array_equal(observed.arrays["state"], np.eye(8)[:, :3])


def test_a_run_that_is_killed_goes_on_bit_for_bit(tmp_path, capsys):
    given = scenario(
        orthogonal(6) * 0.9999,
        {"random": "normal", "batch": 3},
        600,
        method="spectral",
        system={"input_matrix": [[1.0]] * 6, "input": [0.5], "output_matrix": [[1.0] * 6]},
        output={"frames": 31, "checkpoint_every": 17},
        run={"device": "cpu"},
    )
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    whole = call(capsys, "run", path, "-o", tmp_path / "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    parts = tmp_path / "parts"
    process = start("run", path, "-o", parts, "-q", cwd=tmp_path)
    wait_for_step(process, parts, 1)
    process.kill()
    finish(process)
    rest = call(capsys, "run", path, "-o", parts, "--json")
    assert rest.returncode == 0, rest.stderr
    assert_same_bits(parts / "results.h5", tmp_path / "whole" / "results.h5")
    found = json.loads(rest.stdout)
    assert found["results"] == json.loads(whole.stdout)["results"]
    assert (found["stepper"], found["results"]["method"], found["rate_unit"]) == ("spectral", "spectral", "steps/s")
    assert 0 < found["results"]["spectral_error"] < 1e-12
    assert found["results"]["residual"] < 1e-11
    assert "spectral: asked for; modes of A lose about " in (tmp_path / "whole" / "log.txt").read_text()


# --- what is lost -----------------------------------------------------------------------------------------------------


def reference(A, X, K):
    """And what it may be off by."""
    return (precise(A, X, K), 0.0) if len(A) <= 12 else (extended(A, X, K), K * LONG)


TWICE = {"permutation": np.roll(np.eye(12), 1, axis=0), "two alike": np.kron(np.eye(2), orthogonal(5))}
CASES = {**NORMAL, **FAR, **TWICE}


@pytest.mark.parametrize("K", [1, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("name", [name for name in CASES if name != "rotations that feed each other"])
def test_little_is_lost_and_the_estimate_is_above_it(name, K):
    A = np.asarray(CASES[name])
    X = np.random.default_rng(4).standard_normal((len(A), 3))
    K = min(K, 10_000) if name == "growing" else K
    p = problem(A, X, K)
    (wanted, doubt), estimate = reference(A, X, K), begun(p)._error[0]
    error = off(last(p), wanted) - doubt
    assert error < estimate < max(40 * error, 20 * len(A) ** 0.5 * EPS)
    if name in NORMAL:
        assert error < 10 * EPS or name == "markov"
        assert estimate < 100 * EPS


@pytest.mark.parametrize("name", ["orthogonal", "springs", "markov", "grcar"])
def test_the_estimate_counts_the_precision_of_the_run(name):
    A = np.asarray(CASES[name])
    X = np.random.default_rng(4).standard_normal((len(A), 3)).astype(np.float32)
    p = problem(A, X, 100, run={"precision": "float32"})
    assert off(last(p), extended(A, X, 100)) < begun(p)._error[0] < 100 * 2.0**-24


@pytest.mark.parametrize("gap", [1e-4, 1e-6])
@pytest.mark.parametrize("K", [1, 1000])
def test_the_estimate_is_above_what_modes_at_a_small_angle_lose(gap, K):
    """Their coordinates nearly cancel."""
    Q, X = orthogonal(2), np.array([[1.0, 0.5], [0.3, -1.0]])
    A = Q @ np.array([[1.0, 1.0], [0.0, 1.0 - gap]]) @ Q.T
    p = problem(A, X, K, tolerance=1e300)
    assert off(last(p), precise(A, X, K)) < begun(p)._error[0] < 1e5 * EPS / gap


def test_the_estimate_counts_inputs():
    """A reference with one more component that is always 1."""
    n, K = 20, 2000
    for A in (
        orthogonal(n),
        expm(0.01 * np.diag(np.ones(n - 1), 1) - 0.01 * np.eye(n)) @ orthogonal(n),
        NORMAL["markov"],
    ):
        n = len(A)
        b = np.random.default_rng(5).standard_normal(n)
        whole = np.block([[A, b[:, None]], [np.zeros((1, n)), np.ones((1, 1))]])
        p = problem(A, np.zeros(n), K, system={"input_matrix": b[:, None].tolist(), "input": [1.0]})
        error = off(last(p), extended(whole, np.eye(n + 1)[:, [n]], K)[:n])
        estimate = begun(p)._error[0]
        assert error < estimate < max(40 * error, 20 * n**0.5 * EPS)


def test_units_matter_no_more_than_they_do_to_the_norm():
    """The same system in other units, of which the larger ones hide the others."""
    A, X = np.asarray(NORMAL["springs"]), np.ones((30, 1))
    for d in (np.ones(30), 2.0 ** np.repeat([0, 12], 15)):
        p = problem(A * d[:, None] / d, X * d[:, None], 1000)
        assert EPS < begun(p)._error[0] < 100 * EPS


def test_what_is_lost_in_other_units_counts():
    """Ward's fourth example: balanced, its states lose nothing; as they are, those of the last component do."""
    A = np.diag(np.ones(9), 1)
    A[-1, 0] = 1e-10
    A = expm(A)
    estimate = begun(problem(A, np.eye(10), 1, tolerance=1e300))._error[0]
    assert off(last(problem(A, np.eye(10), 1, tolerance=1e300)), A) < estimate < 1e-5


def test_the_estimate_sees_states_that_inputs_of_nearly_equal_modes_cancel_to():
    """Eigenvalues so close to 1 that their logarithms have few digits, in units far apart."""
    rng = np.random.default_rng(6)
    d = 10.0 ** np.linspace(-4, 4, 5)
    A, X, b = (np.eye(5) + 1e-10 * rng.standard_normal((5, 5))) * d[:, None] / d, np.ones((5, 1)), np.ones((5, 1))
    inputs = {"input_matrix": b.tolist(), "input": [1.0]}
    whole = np.block([[A, b], [np.zeros((1, 5)), np.ones((1, 1))]])
    for K in (1, 50):
        p = problem(A, X, K, tolerance=1e300, system=inputs)
        assert off(last(p), precise(whole, np.ones((6, 1)), K)[:5]) < begun(p)._error[0]


def test_states_without_the_modes_that_lose_do_not_hide_them():
    """Nearly Ward's first example, which is defective; the sum of all unit vectors is an eigenvector.

    Of the example itself only rounding tells two eigenvalues apart, or not: on each kind of CPU another."""
    near = 1e-13 * np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
    with pytest.raises(NumericalFailure, match="would lose about"):
        begun(problem(expm(np.array([[4.0, 2.0, 0.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) + near), np.eye(3), 1))


@pytest.mark.parametrize(
    "A",
    [
        0.99 * np.eye(4) + np.eye(4, k=1),
        np.array([[1.0, 1.0], [0.0, 1.0]]),
        np.array([[1.0, 1.0], [0.0, 1.0 + 1e-12]]),
        FAR["rotations that feed each other"],
        grcar(100),
    ],
    ids=["Jordan block", "two steps", "nearly defective", "two rotations", "Grcar"],
)
def test_what_has_no_good_modes_is_refused(A):
    p = problem(A, np.ones((len(A), 1)), 1000)
    with pytest.raises(NumericalFailure, match=r'modes.*\n.*help: write method = "power", or "step"'):
        begun(p)


def test_auto_goes_on_with_powers_where_modes_are_refused():
    A = 0.99 * np.eye(4) + np.eye(4, k=1)
    p = problem(A, np.ones((4, 1)), 10**6, method="auto", decided={"method": "spectral", "reason": "many frames"})
    stepper = begun(p)
    assert isinstance(stepper, PowerStepper)
    assert "depend on each other" in stepper.chosen["stepper_reason"]
    assert "powers of A lose about" in stepper.chosen["stepper_reason"]
    stepper.advance(100)
    with stepper.snapshot() as there:
        assert isinstance(begun(p, there), PowerStepper)
        assert isinstance(begun(p, Snapshot(100, {"state": there.arrays["state"]})), LinearStepper)


def test_auto_goes_on_with_modes_where_powers_lose_too_much():
    A = orthogonal(20)
    p = problem(A, np.ones((20, 1)), 10**9, method="auto")
    assert p.plan.method == "power"
    stepper = begun(p)
    assert isinstance(stepper, SpectralStepper)
    reason = stepper.chosen["stepper_reason"]
    assert reason.startswith("powers of A would lose about ")
    assert "; modes of A lose about " in reason
    stepper.advance(100)
    with stepper.snapshot() as there, stepper.observe("time") as observed:
        assert p.results(observed)["method"] == "spectral"
        assert isinstance(begun(p, there), SpectralStepper)


# --- the choice -------------------------------------------------------------------------------------------------------

IRREGULAR = {"times": [float(k**3) for k in range(1, 200)]}


def test_auto_takes_modes_where_every_gap_is_another():
    p = problem(np.eye(40), np.ones((40, 1)), 200**3, method="auto", output=IRREGULAR)
    assert p.plan.method == "spectral"
    assert "one product a frame and the modes of A" in p.plan.reason
    again = problem(np.eye(40), np.ones((40, 1)), 200**3, method="auto", output=IRREGULAR, decided=p.decided)
    assert again.plan == p.plan
    assert problem(np.eye(40), np.ones((40, 1)), 200**3, output=IRREGULAR).decided == {}
    assert isinstance(begun(p), SpectralStepper)


@pytest.mark.parametrize("fast", [True, False])
def test_what_is_timed_counts_too(fast, monkeypatch):
    """A device that is much faster than the host has done all products before the host has found the modes."""
    asked = []

    def pace(backend, jumps, dtype, kernel):
        asked.append(backend)
        return Pace(1e-9 if fast else 1e-3, 1e-9)

    monkeypatch.setattr("simsuite.solvers.linear.method_choice.on_device.pace", pace)
    given = scenario(np.eye(100), np.ones((100, 1)), 200**3, method="auto", output=IRREGULAR)
    backend = CpuBackend()
    plan = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."), lambda: backend).plan
    assert plan.method == ("power" if fast else "spectral")
    assert asked == [backend]


def test_a_device_is_timed():
    given = scenario(np.eye(100), np.ones((100, 1)), 200**3, method="auto", output=IRREGULAR)
    plan = LinearProblem.from_scenario(LinearScenario.model_validate(given), Path("."), CpuBackend).plan
    assert plan.method in ("power", "spectral")


def test_costs_are_counted():
    jumps = Jumps.between((0, 10, 30), 100, 64)
    assert columns_of_modes(jumps) == 65 * 100 / 2 + 2 * 64
    pace = Pace(product=1e-3, operation=1e-9)
    assert pace.modes(jumps) == pytest.approx(65e6 * 1e-9 + 2e-3)
    assert pace.columns(jumps, 640) == pytest.approx(1e-2)
    assert gain_by_modes(jumps, 30 * 64, lambda: pytest.fail("counting is enough")) < 1
    long = Jumps.between((0, 1000), 100, 64)
    assert gain_by_modes(long, 64_000, lambda: pace) == pytest.approx(1.0 / 0.066)
    assert gain_by_modes(long, 64_000, lambda: Pace(product=1e-6, operation=1e-9)) < 1
    assert gain_by_modes(long, 64_000, lambda: None) == 64_000 / columns_of_modes(long)
    assert gain_by_modes(Jumps.between((0, 1000), 50, 64), 64_000, lambda: pytest.fail("too little to be timed")) > 1


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_device_bytes_count_every_array(precision):
    given = {"run": {"precision": precision}, "system": {"output_matrix": [[1.0] * 6]}}
    p = problem(orthogonal(6), {"random": "normal", "batch": 40}, 3000, **given)
    counting = Counting()
    p.stepper(counting, p.initial())
    assert 0.01 * counting.total < counting.total <= p.device_bytes()


# --- growth -----------------------------------------------------------------------------------------------------------


def test_modes_find_overflow_where_the_host_does_not_look(monkeypatch):
    monkeypatch.setattr("simsuite.solvers.linear.checks.overflow._LIMIT", 0)
    with pytest.raises(NumericalFailure, match="at about step 7") as found:
        begun(problem(1.01 * orthogonal(5), np.ones((5, 1)), 10**6))
    step = int(str(found.value).split("about step ")[1].split()[0])
    assert step == pytest.approx(math.log(np.finfo(float).max) / math.log(1.01), rel=2e-3)


def test_modes_that_overflow_where_the_state_does_not_are_refused():
    A = np.diag([0.5, 2.0])
    with pytest.raises(NumericalFailure, match="modes of A overflow float64\n"):
        begun(problem(A, [[1.0], [0.0]], 5000))
    assert last(problem(A, [[1.0], [0.0]], 1000))[0, 0] == 2.0**-1000


# --- other devices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", [types.float32, types.float64], ids=str)
def test_kernels_compile_for_a_gpu(precision):
    from simsuite.solvers.linear.spectral import modes_cuda

    real, state = types.Array(types.float64, 2, "C"), types.Array(precision, 2, "C")
    for kernel, signature in (
        (modes_cuda.weigh, types.void(real, types.int64, real)),
        (modes_cuda.move, types.void(real, real, real, state)),
    ):
        _, info = compile_sm90(kernel, signature)
        assert info["spill_bytes"] == 0


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize(("m", "precision", "tolerance"), [(1, "float64", 1e-13), (3, "float32", 2e-6)], ids=str)
def test_modes_on_a_gpu(backend, m, precision, tolerance, monkeypatch):
    n, steps = 300, 10**6
    if backend.name == "cudasim":
        n = 3
        few_threads(backend, monkeypatch)
    A, X = orthogonal(n), np.random.default_rng(1).standard_normal((n, m))
    b = np.ones((n, 1))
    system = {"input_matrix": b.tolist(), "input": [0.5]}
    p = problem(A, X, steps, system=system, run={"precision": precision})
    stepper, half = p.stepper(backend, p.initial()), steps // 2 + 1
    stepper.advance(half)
    with stepper.snapshot() as there:
        rest = p.stepper(backend, Snapshot(there.step, {name: np.array(a) for name, a in there.arrays.items()}))
    found = []
    for s in (stepper, rest):
        s.advance(steps - half)
        found.append(backend.to_host(s.state["state"]))
    np.testing.assert_array_equal(*found)
    whole = np.block([[A, 0.5 * b], [np.zeros((1, n)), np.ones((1, 1))]])
    assert off(found[0], extended(whole, np.vstack([X, np.ones((1, m))]), steps)[:n]) < tolerance


@pytest.mark.parametrize("backend", ["cudasim", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("name", ["driven", "stiff", "integrator"])
def test_continuous_time_is_exact_on_a_gpu(backend, name):
    A, b = (np.array(part) for part in CONTINUOUS[name])
    X, k = np.ones((2, 1)), 10**9
    system = {"kind": "continuous", "input_matrix": b[:, None].tolist(), "input": [1.0]}
    p = problem(A, X, k, dt=0.1, system=system)
    stepper = p.stepper(backend, p.initial())
    stepper.advance(k)
    wanted = long_exponential(A, X, Fraction(0.1) * k, b)
    assert off(backend.to_host(stepper.state["state"]), wanted) < 6 * EPS

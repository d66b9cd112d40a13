"""States that grow beyond the range of numbers, against stepping in a wider range, and inputs that are no numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from linear_problems import last, problem

import simsuite
from simsuite.core import Snapshot
from simsuite.errors import NumericalFailure, ScenarioError
from simsuite.expressions import Expression
from simsuite.solvers.linear.checks import overflow
from simsuite.solvers.linear.inputs.input_values import Inputs
from simsuite.solvers.linear.method_choice.method import Plan

LARGEST = np.finfo(np.float64).max


def step_of(A, X, steps, u=None):
    """By steps of extended precision, whose range is 16 times as wide on a logarithmic scale."""
    A, X = np.asarray(A, np.longdouble), np.asarray(X, np.longdouble)
    for k in range(steps):
        X = A @ X + (0 if u is None else np.longdouble(u(k)))
        if np.abs(X).max() > LARGEST:
            return k + 1
    return None


def predicted(*args, **more):
    with pytest.raises(NumericalFailure, match="beyond the range of float64 at step ") as found:
        problem(*args, **more)
    words = str(found.value).split("at step ")[1].split()
    return int(words[0]), str(found.value)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 16384, reason="long double is not wider here")
@pytest.mark.parametrize("method", ["auto", "step"])
def test_the_step_of_a_few_hundred_components_is_named(method):
    random = np.random.default_rng(0)
    A = 1.1 * random.normal(size=(160, 160)) / np.sqrt(160)
    X = random.normal(size=(160, 3))
    step, message = predicted(A, X, 10**6, method=method)
    assert step == step_of(A, X, 20_000)
    growth = float(message.split("becomes ")[1].split()[0])
    assert growth == pytest.approx(np.abs(np.linalg.eigvals(A)).max(), rel=0.5)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 16384, reason="long double is not wider here")
def test_the_step_is_named_where_inputs_depend_on_time():
    system = {"input_matrix": [[1.0]], "input": ["sin(t)"]}
    step, message = predicted([[2.0]], [[0.0]], 2000, method="step", system=system)
    assert step == step_of([[2.0]], [[0.0]], 2000, np.sin)
    assert "= help: it becomes 2 times as large in a step there: take fewer steps" in message
    assert problem([[2.0]], [[0.0]], step - 1, method="step", system=system)


def test_a_state_that_would_come_back_has_left():
    A = [[0.0, 1e200], [0.0, 0.0]]
    assert predicted(A, [[0.0], [1e200]], 10, method="step")[0] == 1
    assert problem(A, [[0.0], [1e100]], 10, method="step")


def test_continuous_time_is_as_discrete_time():
    system = {"kind": "continuous"}
    assert predicted([[0.5]], [[1.0]], 2000, dt=2.0, method="step", system=system)[0] == 710  # e^709.8
    with pytest.raises(ScenarioError) as found:
        problem([[800.0]], [[1.0]], 10, dt=1.0, system=system)
    (mistake,) = found.value.mistakes
    assert mistake.path == ("time", "dt")
    assert mistake.help == "it grows like exp(800 t): take dt below 0.89 s"


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_bounds(seed):
    """Of all entries at any step, with inputs; and what cannot grow is known from few powers."""
    random = np.random.default_rng(seed)
    n, steps = 4, 61
    A = random.normal(size=(n, n)) * (0.3, 0.5, 0.7)[seed % 3]
    X, c = random.normal(size=(n, 2)), random.normal(size=(n, 1))
    powers = [(A, c)]
    for _ in range(4):
        P, d = powers[-1]
        powers.append((P @ P, P @ d + d))
    largest, Y = np.abs(X).max(), X
    for _ in range(steps):
        Y = A @ Y + c
        largest = max(largest, np.abs(Y).max())
    for count in range(1, 6):
        for order in (1, np.inf):
            assert overflow._bound(powers[:count], X, steps, order) >= largest


def test_stable_systems_are_known_early():
    random = np.random.default_rng(0)
    A = random.random((50, 50))
    for P in (A / A.sum(axis=0), A / A.sum(axis=1, keepdims=True), 0.9 * A / A.sum(axis=0)):
        powers = [(P, np.ones((50, 1)))]
        with np.errstate(over="ignore"):
            X, further, outside = overflow._leap(powers, np.eye(50), 10**9, LARGEST)
        assert (X.shape, further, outside, len(powers)) == ((50, 50), 10**9, False, 1)


def test_inputs_that_are_no_numbers_are_named():
    def mistakes(*inputs, **more):
        system = {"input_matrix": [[1.0] * len(inputs)] * 2, "input": list(inputs), **more.pop("system", {})}
        with pytest.raises(ScenarioError) as found:
            problem([[0.5, 0.1], [0.0, 0.2]], [[0.0], [1.0]], 10, method="step", system=system, **more)
        return [(m.path, m.message) for m in found.value.mistakes]

    assert mistakes("1/t", "t", "sqrt(5 - t)") == [
        (("system", "input", 0), "is inf at t = 0 s, step 0 of 10"),
        (("system", "input", 2), "is nan at t = 6 s, step 6 of 10"),
    ]
    between = {"kind": "continuous", "hold": "first"}
    assert mistakes("1/(t - 5)", system=between, dt=0.5)[0][1] == "is inf at t = 5 s, step 10 of 10"
    assert problem([[0.5]], [[0.0]], 10, method="step", system={"input_matrix": [[1.0]], "input": ["1/(t - 10)"]})
    large = mistakes("10**(40*t/9)", run={"precision": "float32"})
    assert large[0][1] == "is 1e+40 at t = 9 s, step 9 of 10"


def test_values_of_inputs():
    given = Expression.parse("2*t", ("t",)), Expression.constant(3.0)
    found = Inputs(given, 0.1).values(range(2, 7))
    np.testing.assert_array_equal(found, [[0.4, 0.6, 0.8, 1.0, 1.2], [3.0] * 5])
    with_ends = Inputs(given, 0.1, ahead=True).values(range(2, 7))
    np.testing.assert_array_equal(with_ends, [*found, [0.6, 0.8, 1.0, 1.2, 1.4], [3.0] * 5])


@pytest.mark.parametrize("method", ["step", "auto", "spectral"])
@pytest.mark.parametrize(
    ("A", "x"),
    [
        ([[2.0, 0.0], [0.0, 0.5]], [0.0, 1.0]),
        ([[2.0, 0.0], [0.0, 0.5]], [0.0, 0.0]),
        ([[1.5, 0.0], [0.0, -1.0]], [0.0, 1.0]),
    ],
    ids=["decays", "zero", "alternates"],
)
def test_growth_that_the_state_has_no_part_in_is_none(A, x, method):
    p = problem(A, x, 10**6, method=method)
    assert np.abs(last(replace(p, frames=(0, 3000), plan=Plan("step", "")))).max() <= 1.0


def test_outputs_that_overflow_are_a_fault():
    p = problem([[0.5]], [[1e200]], 10, method="step", system={"output_matrix": [[0.0], [1e200]]})
    state = np.array([[1e200]])
    assert p.fault(Snapshot(1, {"state": state, "output": np.array([[0.0], [np.inf]])})) == (
        "component 1 of C X, sample 0"
    )
    assert p.fault(Snapshot(1, {"state": state, "output": np.array([[0.0], [1.0]])})) is None


def test_the_last_step_without_a_fault_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(overflow, "_LIMIT", 0)
    path = tmp_path / "grows.toml"
    path.write_text(
        'solver = "linear"\n[run]\ndevice = "cpu"\n[system]\nkind = "discrete"\nmatrix = [[2.0]]\n'
        '[initial]\nstate = [1.0]\n[time]\nsteps = 2000\nmethod = "step"\n[output]\nframes = 5\n'
    )
    message = r"NaN or Inf in component 0, sample 0 at step 1500, time 1500 s; at step 1000, time 1000 s there was none"
    with pytest.raises(NumericalFailure, match=message):
        simsuite.run(path, directory=tmp_path / "out")

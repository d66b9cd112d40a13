"""Inputs that change now and then: when they do, when steps begin, and what inputs add in a step."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from linear_problems import (
    advanced,
    inputs,
    last,
    problem,
)

from simsuite.errors import ScenarioError
from simsuite.solvers.linear.inputs import held
from simsuite.solvers.linear.inputs.clock import UniformClock, step_times
from simsuite.solvers.linear.inputs.held import held_inputs

# --- when they change -------------------------------------------------------------------------------------------------

HELD = [
    "5",
    "where(t < 3, 1, 0)",
    "where(t < 100.5 and not (t < 7), 2, -1)",
    "t % 24 < 1",
    "(t - 500) % 24 < 1",
    "t // 30 % 2",
    "(t + 3) // 7 * 0.1",
    "floor(t/100)",
    "sign(sin(t/50))",
    "step(t - 2)*exp(-5)",
    "where(t < 20, sin(t), 0)",
    "where(t < 100, 1, where(t < 500, 2, 3))*(t % 7 < 3)",
    "max(0, min(1, 10 - t))",
    "t >= 6 and t <= 6",
    "(-1)**floor(t/100)",
    "(t - 1e6) % 24 < 1",
    "-t % 24 < 1",
    "(100 - t) % 24 < 1",
    "(t - 500) // 100",
    "atan2(floor(t/100), 2)",
]


@pytest.mark.parametrize("text", HELD)
@pytest.mark.parametrize(("dt", "steps"), [(1.0, 1000), (0.1, 20_001), (1.0, 7), (1.0, 1)])
def test_the_steps_found_are_those_at_which_values_change(text, dt, steps):
    wanted = inputs(text, dt=dt).values(range(steps))
    found = held_inputs(inputs(text, dt=dt), steps)
    changes = 1 + np.count_nonzero(wanted[0, 1:] != wanted[0, :-1])
    if changes - 1 > steps // 2:
        assert found is None
        return
    assert found is not None
    which = [found.at(step) for step in range(steps)]
    np.testing.assert_array_equal(found.values[:, which], wanted)
    assert len(found.steps) == changes, "none but changes"
    assert found.values.shape[1] == len(np.unique(wanted)), "each value once"


def test_inputs_change_together():
    found = held_inputs(inputs("t >= 10", "3", "(t >= 10) + (t >= 20)"), 30)
    np.testing.assert_array_equal(found.steps, [0, 10, 20])
    np.testing.assert_array_equal(found.values[:, found.which], [[0, 1, 1], [3, 3, 3], [0, 1, 2]])


def test_lines_begin_a_step_before_a_change():
    found = held_inputs(inputs("where(t < 4, 1, 3)", ahead=True), 9)
    np.testing.assert_array_equal(found.steps, [0, 3, 4])
    np.testing.assert_array_equal(found.values[:, found.which], [[1, 1, 3], [1, 3, 3]])
    at_the_end = held_inputs(inputs("where(t < 9, 1, 3)", ahead=True), 9)
    np.testing.assert_array_equal(at_the_end.steps, [0, 8])


def test_inputs_that_move_are_told_at_a_glance(monkeypatch):
    monkeypatch.setattr(held, "bounds_within", None)
    assert held_inputs(inputs(*(f"sin({k}*t)" for k in range(1, 30))), 10**9) is None


def test_values_that_are_not_numbers_are_found_wherever_they_come():
    for text, precision, said in (
        ("where(t > 1200000, log(-t), 0)", "float64", r"is nan at t = 1.2000\d*e\+06 s, step 12000\d\d of 2000000"),
        ("where(t > 1200000 and t < 1200005, 1e39, 0)", "float32", r"is 1e\+39 at t = 1.2e\+06 s, step 1200001 of"),
    ):
        system = {"input_matrix": [[1.0]], "input": [text]}
        with pytest.raises(ScenarioError, match=said):
            problem([[0.5]], [1.0], 2_000_000, system=system, run={"precision": precision})


def test_the_longest_runs_take_a_moment(monkeypatch):
    evaluated = []
    within = held.bounds_within

    def counting(tree, boxes):
        evaluated.append(np.size(boxes["t"][0]))
        return within(tree, boxes)

    monkeypatch.setattr(held, "bounds_within", counting)
    found = held_inputs(inputs("(t >= 1234567) + 2*(t % 1e8 < 1000)"), 10**9)
    assert found.steps.tolist()[:4] == [0, 1000, 1234567, 10**8]
    assert len(found.steps) == 21
    assert sum(evaluated) < 21 * 2 * 31


@pytest.mark.parametrize("text", ["sin(t)", "t", "exp(-t/1e6)", "t % 2 < 1"])
@pytest.mark.parametrize("steps", [50, 10**9])
def test_inputs_that_change_all_the_time_are_not_held(text, steps):
    assert held_inputs(inputs(text, "1"), steps) is None


def test_what_decays_is_held_once_it_is_0():
    found = held_inputs(inputs("exp(-t)"), 10**9)
    assert found.steps[-1] == 746, "exp(-745.2) is half of the smallest number"
    assert found.values[0, found.which[-1]] == 0.0


# --- when steps begin -------------------------------------------------------------------------------------------------


def test_periods_of_whole_steps_miss_none():
    """A dose a day, of an hour: step 24 k begins at 24 k h, not a rounding before it."""
    np.testing.assert_array_equal(step_times(1.0, range(10**6)), np.arange(10**6))


@pytest.mark.parametrize("dt", ["0.1", "0.7", "0.001", "1e-6", "2.5", "3600", "0.12345", "1e-15", "86400"])
def test_steps_begin_at_the_numbers_nearest_to_decimals(dt):
    k = np.unique(np.concatenate([np.arange(1000), np.random.default_rng(1).integers(0, 10**8, 1000)]))
    wanted = [float(int(i) * Decimal(dt)) for i in k]
    np.testing.assert_array_equal(step_times(float(dt), k), wanted)
    clock = UniformClock.of(float(dt), (0, 3, 500, 1000))
    assert [clock.time(int(i)) for i in k[:1001]] == wanted[:1001]


@pytest.mark.parametrize("dt", [1 / 3, 0.1 + 0.2, math.pi, 1e-300, 5e-324, 1e300])
def test_steps_of_many_digits_begin_at_multiples_of_them(dt):
    np.testing.assert_array_equal(step_times(dt, range(1000)), dt * np.arange(1000))


@pytest.mark.parametrize(("dt", "steps", "text"), [(0.1, 9, "t >= 0.1"), (1e-4, 2400, "t % 0.01 < 0.005")])
@pytest.mark.parametrize("method", ["step", "power"])
def test_steps_and_powers_see_changes_at_the_same_steps(method, dt, steps, text):
    """Counted by x' = u. (0.015 % 0.01 is a rounding less than 0.005.)"""
    on = np.count_nonzero(inputs(text).given[0](t=np.array([float(k * Decimal(str(dt))) for k in range(steps)])))
    assert on == 8 or on > 1200
    system = {"kind": "continuous", "input_matrix": [[1.0]], "input": [text]}
    p = problem([[0.0]], [0.0], steps, dt=dt, method=method, system=system)
    np.testing.assert_allclose(last(p), on * dt, rtol=1e-11)
    assert p.results(advanced(p, steps))["residual"] < 1e-12


@pytest.mark.parametrize("method", ["step", "power"])
def test_lines_end_where_the_next_step_begins(method):
    """x' = u, which rises from 0 to 1 in the step before t = 0.8."""
    system = {"kind": "continuous", "hold": "first", "input_matrix": [[1.0]], "input": ["t >= 0.8"]}
    p = problem([[0.0]], [0.0], 100, dt=0.1, method=method, system=system)
    np.testing.assert_allclose(last(p), 9.25, rtol=1e-13)


# --- what they add ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ahead", [False, True], ids=["held", "lines"])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 3), (31, 2), (33, 5)], ids=str)
def test_rows_are_products_of_inputs(backend, n, p, ahead, precision):
    """Of some rows of a table, and of those after them where lines are drawn to the next values."""
    rng, first, count = np.random.default_rng(), 2, 3
    if backend.name == "cudasim":
        n, p, count = min(n, 2), min(p, 2), 2
    shapes = (first + count + 1, p), (n, p * (1 + ahead))
    values, B = (rng.standard_normal(shape).astype(precision) for shape in shapes)
    arrays = [backend.array(array) for array in (values, B, np.full((count, n), np.nan, precision))]
    table, matrix, bias = (backend.view(array) for array in arrays)
    kernel = backend.kernels("simsuite.solvers.linear.inputs.inputs").input_bias
    backend.launcher(kernel, (n, count), (min(n, 128), 1))(table, first, matrix, count, bias)
    U = values[first : first + count + 1].astype(np.float64)
    wanted = np.hstack([U[:-1], U[1:]])[:, : B.shape[1]] @ B.T.astype(np.float64)
    np.testing.assert_allclose(backend.to_host(arrays[2]), wanted, rtol=0, atol=40 * np.finfo(precision).eps)

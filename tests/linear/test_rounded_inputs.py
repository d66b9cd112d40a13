"""Inputs that rounding decides are warned of before a run, and what is proposed instead does what was meant."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tomli_w

from simsuite.assembly import make_problem
from simsuite.expressions import Expression
from simsuite.expressions.exact import as_written, shifted_decisions
from simsuite.expressions.formula import formula
from simsuite.scenario import load
from simsuite.solvers.linear.checks.rounded_inputs import LOOKED_AT, rounding_warnings
from simsuite.solvers.linear.inputs.clock import step_times


def parsed(text: str) -> Expression:
    return Expression.parse(text, ("t",))


def values(text: str, dt: float, steps: int) -> np.ndarray:
    times = step_times(dt, np.arange(steps))
    return np.array(np.broadcast_to(parsed(text)(t=times), times.shape))


# An input, dt, steps, and what it is to be at step k of length h, in rational numbers.
WRONG = [
    ("where(t % 24 < 0.05, 1600, 0)", 0.05, 1934, lambda k, h: 1600 if k % 480 == 0 else 0),
    ("where(t % 1 < 0.1, 1, 0)", 0.1, 100, lambda k, h: k % 10 == 0),
    ("where(0.7 <= t % 1, 1, 0)", 0.1, 100, lambda k, h: k % 10 >= 7),
    ("where(t % 24 < 0.05 and t > 10, 1, 0)", 0.05, 1934, lambda k, h: k % 480 == 0 and k > 0),
    ("floor(t/0.1)", 0.1, 100, lambda k, h: k),
    ("-ceil(-t/0.1)", 0.1, 100, lambda k, h: k),
    ("ceil(100*t)", 0.01, 100, lambda k, h: k),
    ("t // 0.1", 0.1, 100, lambda k, h: k),
    ("where(t % 0.25 < 0.05, 1, 0)", 0.1, 1000, lambda k, h: k * h % Fraction(1, 4) < Fraction(1, 20)),
    ("where(t % (1/3) < 0.1, 1, 0)", 1 / 30, 1000, lambda k, h: k % 10 < 3),
    ("where(t % 1 < 0.1, cos(t), 0)", 0.1, 100, lambda k, h: np.cos(k / 10) if k % 10 == 0 else 0),
    ("where(t * 60 % 60 < 0.5, 1, 0)", 1 / 120, 5000, lambda k, h: k % 120 == 0),
]


@pytest.mark.parametrize(("text", "dt", "steps", "meant"), WRONG)
def test_what_is_proposed_is_at_every_step_what_was_meant(text, dt, steps, meant):
    wanted = np.array([float(meant(k, as_written(dt))) for k in range(steps)])
    wrong = np.flatnonzero(~np.isclose(values(text, dt, steps), wanted))
    (warning,) = rounding_warnings([parsed(text)], dt, steps).values()
    assert f"`input[0]` is {values(text, dt, steps)[wrong[0]]:g} at t = {dt * wrong[0]:.10g} s" in warning
    assert (f"the first of {len(wrong)} such steps" in warning) == (len(wrong) > 1)
    proposed = warning.rpartition("; write ")[2]
    np.testing.assert_allclose(values(proposed, dt, steps), wanted, atol=1e-12)
    assert not rounding_warnings([parsed(proposed)], dt, steps)


@pytest.mark.parametrize(
    ("text", "dt", "first", "high"),
    [
        ("sin(2*pi*t) > 0", 0.05, "1 at t = 0.5 s, and 0 right after it", lambda t: t % 1 < Fraction(1, 2)),
        ("where(cos(2*pi*t/24) > 0, 1, 0)", 0.5, "1 at t = 6 s, and 0 right after it", lambda t: (t + 6) % 24 < 12),
        ("sign(sin(pi*t))/2 + 0.5", 0.1, "1 at t = 1 s, and 0 right after it", lambda t: t % 2 < 1),
    ],
)
def test_of_periodic_conditions_the_value_right_after_a_step_is_meant(text, dt, first, high):
    """Of which nothing is known exactly: sin(pi) is not 0 in floating-point numbers."""
    wanted = [float(high(k * as_written(dt))) for k in range(1000)]
    assert np.count_nonzero(values(text, dt, 1000) != wanted) > 20
    (warning,) = rounding_warnings([parsed(text)], dt, 1000).values()
    assert f"`input[0]` is {first}, the first of " in warning
    proposed = warning.rpartition("; write ")[2]
    np.testing.assert_allclose(values(proposed, dt, 1000), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "dt", "counted"),
    [
        ("where(t % 0.3 == 0, 1, 0)", 0.1, "where({} % 3 == 0, 1, 0)"),
        ("where(t % 24 <= 0.05, 1, 0)", 0.05, "where({} % 480 <= 1, 1, 0)"),
        ("where(t % 0.3, 0, 1)", 0.1, "where({} % 3, 0, 1)"),
    ],
)
def test_where_no_shift_does_steps_are_to_be_counted(text, dt, counted):
    (warning,) = rounding_warnings([parsed(text)], dt, 1000).values()
    number = f"floor(t/{dt} + 0.5)"
    assert warning.endswith(f"whole numbers of steps, which are exact: {number} is the number of a step")
    assert not rounding_warnings([parsed(counted.format(number))], dt, 1000)
    modulus = Fraction(3, 10) if dt == 0.1 else Fraction(24)
    meant = [k * as_written(dt) % modulus <= (Fraction(1, 20) if "<=" in text else 0) for k in range(1000)]
    np.testing.assert_array_equal(values(counted.format(number), dt, 1000), meant)


@pytest.mark.parametrize(
    ("text", "dt", "steps"),
    [
        ("where(t >= 3, 1, 0)", 0.1, 100),
        ("where(t < 0.3, 1, 0)", 0.1, 100),
        ("where(t == 0.3, 1, 0)", 0.1, 100),
        ("step(t - 0.3)", 0.1, 100),
        ("where(t % 24 < 1, 5, 0)", 0.1, 10**6),
        ("where((t < 40) and (t % 8 < 0.75), 43.7, 0)", 0.05, 1934),
        ("where(t % 24 < 0.04, 1600, 0)", 0.05, 1934),
        ("floor(t)", 1.0, 10**6),
        ("ceil(t/0.1)", 0.1, 100),
        ("floor(t/100)", 0.1, 10**5),
        ("where(t < 10, 0, 5)", 1e-3, 10**5),
        ("where(t < 0.7, t, 0.7)", 0.1, 100),  # the same on both sides
        ("abs(t % 2 - 1)", 0.1, 1000),
        ("sin(t) + exp(-t)*min(t, 3)", 0.1, 1000),
        ("sin(t) > 0", 0.1, 1000),  # sin(0) is 0
        ("sqrt(t) > 2", 0.1, 1000),
        ("sin(pi*t + 0.1) > 0", 0.1, 1000),  # never at a step
        ("where(1/(t - 0.3) > 0, 1, 0)", 0.1, 100),
        ("where(t < 5, 1, floor(t/0.1)*0)", 0.1, 100),
        ("3", 0.1, 100),
    ],
)
def test_what_rounding_does_not_decide_is_not_warned_of(text, dt, steps):
    assert not rounding_warnings([parsed(text)], dt, steps)


def test_each_input_is_named(tmp_path):
    given = {
        "solver": "linear",
        "system": {
            "kind": "discrete",
            "matrix": [[1.0, 0.0], [0.0, 0.0]],
            "input_matrix": [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]],
            "input": ["where(t % 1 < 0.1, 1, 0)", "1.0", "floor(t/0.1)"],
        },
        "initial": {"state": [0.0, 0.0]},
        "time": {"steps": 100, "dt": 0.1},
    }
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    doses, stairs = make_problem(load(path)).warnings
    assert doses.startswith("`input[0]` is 1 at t = 4.1 s, where exact arithmetic gives 0, the first of 6 such steps")
    assert doses.endswith("write where((t + 0.05) % 1 < 0.1, 1, 0)")
    assert stairs.startswith("`input[2]` is 2 at t = 0.3 s, where exact arithmetic gives 3")


def test_long_expressions_are_not_repeated():
    text = " + ".join(f"{k}*where(t % {k} < 0.1, 1, 0)" for k in range(1, 9))
    (warning,) = rounding_warnings([parsed(text)], 0.1, 1000).values()
    assert warning.endswith("write (t + 0.05) for t in its conditions")
    assert not rounding_warnings([parsed(text.replace("t % ", "(t + 0.05) % "))], 0.1, 1000)


def test_only_so_many_steps_are_looked_at(monkeypatch):
    """Of all inputs together, however many they are."""
    looked_at = []

    def times(dt, steps):
        looked_at.append(len(steps))
        return step_times(dt, steps)

    monkeypatch.setattr("simsuite.solvers.linear.checks.rounded_inputs.step_times", times)
    assert not rounding_warnings([parsed(f"where(t < {k}, 1, 0)") for k in range(50)], 1.0, 10**9)
    assert sum(set(looked_at)) * 50 <= LOOKED_AT


def test_numbers_stand_for_what_was_written():
    assert as_written(0.05) == Fraction(1, 20)
    assert as_written(1 / 3) == Fraction(1, 3)
    assert as_written(1e-300) == Fraction(1, 10**300)
    assert as_written(np.pi) == Fraction("3.141592653589793")


def test_only_what_decides_is_shifted():
    tree = parsed("t**2*where(t**2 < 1, t, 2*t) + t % 2*floor(t)").tree
    wanted = "t**2 * where((t + 0.5)**2 < 1, t, 2 * t) + (t + 0.5) % 2 * floor(t + 0.5)"
    assert formula(shifted_decisions(tree, "t", 0.5)) == wanted
    assert formula(shifted_decisions(parsed("t > 1").tree, "t", -0.5)) == "t - 0.5 > 1"

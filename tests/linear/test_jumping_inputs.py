"""Inputs that jump under `hold = "first"`, which draws ramps across jumps, or within a step under `hold = "zero"`, are
warned of before a run."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
import tomli_w

from simsuite.assembly import make_problem
from simsuite.expressions import Expression
from simsuite.expressions.exact import shifted_decisions
from simsuite.expressions.formula import formula
from simsuite.scenario import load
from simsuite.solvers.linear.checks.jumping_inputs import late_warnings, ramp_warnings
from simsuite.solvers.linear.inputs.clock import step_times


def parsed(*texts: str) -> list[Expression]:
    return [Expression.parse(text, ("t",)) for text in texts]


def warned(*texts: str, dt: float = 0.25, steps: int = 96) -> list[str]:
    return list(ramp_warnings(parsed(*texts), dt, steps))


def late(*texts: str, dt: float = 0.25, steps: int = 96, rounded: tuple[int, ...] = ()) -> list[str]:
    return list(late_warnings(parsed(*texts), dt, steps, rounded))


@pytest.mark.parametrize(
    ("text", "found", "ramp"),
    [
        ("where(t % 8 < 0.5, 200, 0)", "from 200 to 0 at t = 0.5 s", "before"),
        ("where(t >= 3, 1, 0)", "from 0 to 1 at t = 3 s", "before"),
        ("where(t > 3, 1, 0)", "from 0 to 1 at t = 3 s", "after"),
        ("where(t <= 3, 1, 0)", "from 1 to 0 at t = 3 s", "after"),
        ("where(t > 0, 1, 0)", "from 0 to 1 at t = 0 s", "after"),  # no step comes before
        ("where(t < 2.1, t, 7)", "from 2.1 to 7 at t = 2.1 s", "within"),
        ("step(t - 3) + 2", "from 2 to 3 at t = 3 s", "after"),
        ("floor(t/5)", "from 0 to 1 at t = 5 s", "before"),
        ("t % 2", "from 2 to 0 at t = 2 s", "before"),
        ("sign(cos(pi*t))", "from 1 to -1 at t = 0.5 s", "after"),
        ("sign(t - 2)", "from -1 to 1 at t = 2 s", "both"),
        ("(t > 10)*exp(-t)", "from 0 to 4.53999e-05 at t = 10 s", "after"),
        ("(sin(t) > 0.5)*1", "from 0 to 1 at t = 0.5235987756 s", "within"),
        ("where(t == 2, 9, 0)", "from 0 to 9 at t = 2 s", "both"),
        ("where(abs(t - 2.1) < 0.01, 9, 0)", "from 0 to 9 at t = 2.09 s", "within"),  # between two steps
        ("(sin(2*pi*t/4) > 0.999)*3", "from 0 to 3 at t = 0.9715271252 s", "within"),
    ],
)
def test_jumps_are_found_with_their_time(text, found, ramp):
    """And the steps over which the samples are joined by another line than the input."""
    (warning,) = warned(text)
    assert warning.startswith(f"`input[0]` jumps {found}: ")
    over = {"within": "step that it is in", "both": "steps before and after it"}.get(ramp, f"step {ramp} it")
    assert f"ramp across each jump, here over the {over} (dt = 0.25 s)" in warning
    assert 'set hold = "zero"' in warning


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "t",
        "sin(t) + exp(-t)*min(t, 3)",
        "tanh(100*(t - 3.1))",
        "where(t < 3.1, t, 3.1)",
        "abs(t % 2 - 1)",
        "where(t > 100, 1, 0)",
        "max(0, t - 3)*(t > 3)",
        "where(t < 3, 5, 5)",
    ],
)
def test_kinks_and_what_comes_after_the_run_are_no_jumps(text):
    assert not warned(text)


def test_one_sentence_names_all_inputs_that_jump():
    (warning,) = warned("sin(t)", "where(t < 1, 0, 5)", "3", "floor(t)")
    assert warning.startswith("`input[1]` jumps from 0 to 5 at t = 1 s (`input[3]` jumps as well): ")
    (warning,) = warned("sin(t)", "where(t < 2.5, 0, 5)", "3", "floor(t)")
    assert warning.startswith("`input[3]` jumps from 0 to 1 at t = 1 s (`input[1]` jumps as well): "), (
        "the first in time"
    )
    (warning,) = warned(*["floor(t)"] * 9)
    assert "`input[5]` and 3 more jump as well" in warning


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("where(t >= 2.1, 1, 0)", "from 0 to 1 at t = 2.1 s, within a step (dt = 0.25 s)"),
        ("(sin(t) > 0.5)*1", "from 0 to 1 at t = 0.5235987756 s, within a step (dt = 0.25 s)"),
        ("where(t % 8 < 0.01, 100, 0)", "from 100 to 0 at t = 0.01 s, within a step (dt = 0.25 s)"),
        ("where(abs(t - 2.1) < 0.01, 9, 0)", "from 0 to 9 at t = 2.09 s, within a step (dt = 0.25 s)"),
        ("where(t > 2, 1, 0)", "from 0 to 1 at t = 2 s, right after a step begins"),
        ("where(t <= 2, 1, 0)", "from 1 to 0 at t = 2 s, right after a step begins"),
        ("(sin(t) > 0)*1", "from 0 to 1 at t = 0 s, right after a step begins"),
        ("step(t - 3)", "from 0 to 1 at t = 3 s, right after a step begins"),
    ],
)
def test_jumps_within_a_step_are_found_with_their_time(text, found):
    """Which a step does not see at once that keeps the value from its beginning."""
    (warning,) = late(text)
    assert warning.startswith(f'`input[0]` jumps {found}, and `hold = "zero"` takes it from the next one on')


# An input that jumps right after the beginning of a step, dt, and what it is to be at the step that begins at about t.
RIGHT_AFTER = [
    ("t % 1 < 0.5", 0.0333333333333333, lambda t: t % 1 < Fraction(1, 2)),
    ("where(t % 1 < 0.5 and t > 3, exp(t/9), 0)", 0.0333333333333333, lambda t: (t % 1 < 0.5 and t >= 3) * exp(t / 9)),
    ("floor(t)", 0.0333333333333333, lambda t: t // 1),
    ("where(2 >= t, 1, 0)", 0.25, lambda t: t < 2),
    ("step(t - 3)", 0.25, lambda t: t >= 3),
]


@pytest.mark.parametrize(("text", "dt", "meant"), RIGHT_AFTER)
def test_conditions_right_after_a_step_are_moved_by_half_of_one(text, dt, meant):
    """Where a comparison cannot be written so that it holds at the step itself already."""
    (warning,) = late(text, dt=dt, steps=300)
    (proposed,) = parsed(warning.rpartition("; write ")[2])
    times = step_times(dt, np.arange(300))
    wanted = [float(meant(k * Fraction(dt).limit_denominator(100))) for k in range(300)]
    np.testing.assert_allclose(np.broadcast_to(proposed(t=times), times.shape), wanted, rtol=1e-12)
    assert not late(formula(proposed.tree), dt=dt, steps=300)


def test_what_is_proposed_names_its_input_where_several_jump():
    (warning,) = late("1", "step(t - 3)", "step(t - 4)")
    assert "(`input[2]` jumps as well)" in warning
    assert warning.endswith("; in `input[1]` write step(t + 0.125 - 3)")


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("where(t > 2, sin(t), 0)", "where(t >= 2, sin(t), 0)"),
        ("where(t <= 2, 1, cos(t))", "where(t < 2, 1, cos(t))"),
        ("(t % 4 > 1)*t**2", "(t % 4 >= 1)*t**2"),
    ],
)
def test_comparisons_that_can_hold_at_the_step_already_are_to_do_so(text, better):
    (warning,) = late(text)
    assert warning.endswith("let it hold at that step already (>= for >, < for <=), or make dt smaller")
    assert not late(better)


@pytest.mark.parametrize(
    "text",
    [
        "t",
        "sin(t)",
        "where(t % 8 < 0.5, 200, 0)",
        "where(t >= 3, 1, 0)",
        "floor(t/5)",
        "t % 2",
        "where(t == 2, 9, 0)",  # as a step sees it
        "max(t - 3.1, 0)",
        "where(t < 100.1, 1, 0)",
        "(t % 2 < 1)*(sin(1e-3*t) < 0.5)",
    ],
)
def test_jumps_where_steps_begin_are_seen_at_once(text):
    assert not late(text)


@pytest.mark.parametrize("dt", [0.25, 1 / 12, 0.003])
@pytest.mark.parametrize("text", ["(sin(2*pi*t/({dt}*40)) > 0)*1", "where(t % ({dt}*10) < {dt}*3, 1, 0)"])
def test_what_is_proposed_where_rounding_decides_is_not_late(text, dt):
    """Conditions that are moved away from steps, by half of one or a hundredth, are meant for these steps."""
    (expression,) = parsed(text.format(dt=dt))
    for shift in (0.5, -0.5, 0.01, -0.01):
        moved = formula(shifted_decisions(expression.tree, "t", float(f"{shift * dt:.3g}")))
        assert not late(moved, dt=dt)
    assert late(formula(shifted_decisions(expression.tree, "t", 0.3 * dt)), dt=dt)


def test_the_size_of_what_a_late_jump_does_is_that_of_a_step():
    """What `(sin(t) > 0)` brings to dX/dt = u by t = 9.6, held from beginnings of steps: less than a step a jump."""
    for dt in (0.25, 0.025):
        times = dt * np.arange(round(9.6 / dt))
        held = dt * np.count_nonzero(np.sin(times) > 0)
        exact = np.pi + (9.6 - 2 * np.pi) - (9.6 - 3 * np.pi)
        assert 0.1 * dt < abs(held - exact) < 4 * dt
        (warning,) = late("(sin(t) > 0)*1 + 0*t", "(sin(t) > 0.5)*1", dt=dt, steps=len(times))
        assert "(`input[1]` jumps as well)" in warning


def test_where_rounding_is_told_to_decide_beginnings_of_steps_are_left_alone():
    assert late("(sin(pi*t) > 0)*1")
    assert not late("(sin(pi*t) > 0)*1", rounded=(0,))
    assert late("(sin(pi*t) > 0.3)*1", rounded=(0,))


@pytest.mark.parametrize("of", [warned, late])
def test_what_jumps_all_the_time_is_said_not_to_be_resolved(of):
    (warning,) = of("(sin(1e6*t) > 0)*1")
    assert warning.startswith("`input[0]` jumps more than 10000 times in the first 64 steps, as far as can be told")
    assert not of("(sin(1e6*t) > 2)*1")


def test_jumps_are_looked_for_far_on():
    """Beyond the first stretch of steps, and where there are too many in a longer one."""
    (warning,) = late("where(t < 2000.1, 1, 0)", steps=10**6)
    assert "at t = 2000.1 s" in warning
    (warning,) = late("(t % 0.5 < 0.25)*1 + (t > 30.1)", steps=10**6)
    assert "at t = 30.1 s" in warning


@pytest.mark.parametrize(
    ("kind", "hold", "wide", "warnings"),
    [
        ("continuous", "zero", 0.5, 0),
        ("continuous", "zero", 0.4, 1),
        ("continuous", "first", 0.5, 1),
        ("discrete", "zero", 0.4, 0),
    ],
)
def test_only_what_a_run_does_not_see_is_warned_of(kind, hold, wide, warnings, tmp_path):
    given = {
        "solver": "linear",
        "system": {
            "kind": kind,
            "matrix": [[-0.1]],
            "input_matrix": [[1.0]],
            "input": [f"where(t % 8 < {wide}, 200, 0)"],
            "hold": hold,
        },
        "initial": {"state": [0.0]},
        "time": {"steps": 96, "dt": 0.25},
    }
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(given))
    assert len(make_problem(load(path)).warnings) == warnings


def test_what_is_no_number_somewhere_is_looked_at_elsewhere():
    with np.errstate(all="raise"):
        (warning,) = warned("where(t < 3, 1/t, 9)")
    assert "to 9 at t = 3 s" in warning

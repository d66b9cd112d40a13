"""Inputs that jump under `hold = "first"`, which draws ramps across jumps, are warned of before a run."""

from __future__ import annotations

import numpy as np
import pytest
import tomli_w

from simsuite.assembly import make_problem
from simsuite.expressions import Expression
from simsuite.scenario import load
from simsuite.solvers.linear.jumping_inputs import jump_warnings


def warned(*texts: str, dt: float = 0.25, steps: int = 96) -> list[str]:
    return list(jump_warnings([Expression.parse(text, ("t",)) for text in texts], dt, steps))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("where(t % 8 < 0.5, 200, 0)", "from 200 to 0 at t = 0.5 s"),
        ("where(t >= 3, 1, 0)", "from 0 to 1 at t = 3 s"),
        ("where(t < 2.1, t, 7)", "from 2.1 to 7 at t = 2.1 s"),
        ("step(t - 3) + 2", "from 2 to 3 at t = 3 s"),
        ("floor(t/5)", "from 0 to 1 at t = 5 s"),
        ("t % 2", "from 2 to 0 at t = 2 s"),
        ("sign(cos(pi*t))", "from 1 to -1 at t = 0.5 s"),
        ("(t > 10)*exp(-t)", "from 0 to 4.53999e-05 at t = 10 s"),
    ],
)
def test_jumps_are_found_with_their_time(text, found):
    (warning,) = warned(text)
    assert warning.startswith(f"`input[0]` jumps {found}: ")
    assert "ramp across each jump, over the step before it (dt = 0.25 s)" in warning
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
    (warning,) = warned(*["floor(t)"] * 9)
    assert "`input[5]` and 3 more jump as well" in warning


@pytest.mark.parametrize(("hold", "warnings"), [("zero", 0), ("first", 1)])
def test_only_straight_lines_are_warned_of(hold, warnings, tmp_path):
    given = {
        "solver": "linear",
        "system": {
            "kind": "continuous",
            "matrix": [[-0.1]],
            "input_matrix": [[1.0]],
            "input": ["where(t % 8 < 0.5, 200, 0)"],
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

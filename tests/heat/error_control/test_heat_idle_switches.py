"""What data do at single moments, and switches that another factor hides, have no effect on a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simsuite
from simsuite.expressions import Expression
from simsuite.expressions.moments import almost_everywhere, isolated
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.grid.single_moments import without_moments
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.time_scales.data_changes import data_changes

PLATE = {
    "solver": "heat",
    "grid": {"nx": 4, "ny": 2, "lx": 0.02, "ly": 0.01},
    "material": {"conductivity": 200.0, "density": 2700.0, "specific_heat": 900.0},
    "initial": {"temperature": 300.0},
    "boundary": {"bottom": {"kind": "convection", "h": 500.0, "ambient": 300.0}},
    "output": {"frames": 2},
}
X, Y = np.linspace(0.1, 0.9, 9), np.linspace(0.1, 0.9, 9)[:, None]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("7*(t == 1)", 0.0),
        ("7*(t != 1)", 7.0),
        ("7*(t % 1 == 0.5)", 0.0),
        ("7*(x == 5*t)", 0.0),
        ("7*(t**2 + 1 == 5)", 0.0),
        ("7*(1 == t and x > 0)", 0.0),
        ("where(sin(t) == 0, 7, 3)", 3.0),
    ],
)
def test_comparisons_that_hold_at_single_moments_never_hold(text: str, rest: float) -> None:
    f = without_moments(Expression.parse(text), X, Y, 10.0)
    for t in (0.0, 0.5, 1.0, 2.0, np.pi):
        assert np.all(f(x=X, y=Y, t=t) == rest)


@pytest.mark.parametrize(
    "text",
    [
        "(t - 5 == abs(t - 5))",  # from 5 on
        "(max(t, 5) == 5)",
        "(floor(t) == 3)",
        "(t - t % 5 == 0)",
        "(0.3 % t == 0.3)",
        "(0*t == 0)",
        "(x + y == 1)",
        "(t > 5) == 1",
        "(min(t, 1e-3) == t)",
    ],
)
def test_comparisons_that_hold_for_a_time_are_left(text: str) -> None:
    f = Expression.parse(text)
    assert without_moments(f, X, Y, 10.0) is f


@given(st.floats(-3, 3), st.sampled_from(["t", "t % 2", "2*t - 1", "t*t", "exp(t) - x", "sin(3*t)"]), st.booleans())
def test_values_at_other_times_stay(number: float, side: str, equal: bool) -> None:
    """Almost everywhere: at irregular times nothing changes."""
    f = Expression.parse(f"3*({side} {'==' if equal else '!='} {number!r}) + t")
    g = almost_everywhere(f.tree, frozenset(isolated(f.tree, "t")))
    for t in np.random.default_rng(1).uniform(0, 10, 20):
        assert f(x=0.25, t=t) == Expression.from_tree(g, f.variables)(x=0.25, t=t)


@pytest.mark.parametrize("stepper", ["explicit", "rkl2", "adi", "auto"])
@pytest.mark.parametrize("power", ["1e8*(t == 1)", "1e8*(t % 1 == 0.5)"])
def test_nothing_is_heated_at_a_moment_at_which_a_step_begins(power: str, stepper: str, tmp_path: Path) -> None:
    """Steps of 1/1024 s begin just then."""
    time = {"end": 4.0, "stepper": stepper} | ({} if stepper == "auto" else {"dt": 1.0 / 1024.0})
    results = simsuite.run(PLATE | {"source": [{"power": power}], "time": time}, directory=tmp_path / "run").results
    assert results["energy"]["source"] == 0.0
    assert results["min"] == pytest.approx(300.0, abs=1e-9)
    assert results["max"] == pytest.approx(300.0, abs=1e-9)


def test_an_edge_at_a_moment_lets_nothing_in(tmp_path: Path) -> None:
    edges = {"left": {"kind": "flux", "value": "1e6*(t == 2)"}}
    plate = PLATE | {"boundary": edges, "time": {"end": 4.0, "stepper": "explicit", "dt": 1.0 / 1024.0}}
    results = simsuite.run(plate, directory=tmp_path / "run").results
    assert (results["min"], results["max"]) == (300.0, 300.0)


PULSES = ["(t % 0.7 < 0.2)", "max(0, sin(9*t))", "sign(cos(5*t))", "(floor(3*t) % 2 == 1)", "(abs(x - t % 1) < 0.3)"]
GATES = ["(t < 4)", "(t >= 6)", "(3 < t)*(t < 5)", "max(0, 1 - t/3)", "where(t < 2, t, 0)", "(x - t > -3)", "exp(-t)"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(PULSES), st.sampled_from(GATES)), min_size=1, max_size=3),
    st.sampled_from(["", " + sin(t)", " + 2*x", "*(1 + 0.1*t)"]),
)
def test_only_switches_without_effect_are_left_out(parts: list[tuple[str, str]], rest: str) -> None:
    """Against values and slopes just before and after each of the switches of the pulses and gates alone."""
    text = "(" + " + ".join(f"{pulse}*{gate}" for pulse, gate in parts) + ")" + rest
    end, tiny = 10.0, 1e-7
    f = Expression.parse(text)
    alone = [changes_of(part, end) for pair in parts for part in pair]
    every = np.unique(np.concatenate([np.zeros(0), *alone]))
    kept = changes_of(text, end)
    x = (np.arange(4) + 0.5) * 0.25
    for t in every[(every > 0.01) & (every < end - 0.01)]:
        before, after = (np.asarray(f(x=x, t=t + side * tiny)) * np.ones(4) for side in (-1, 1))
        steep = [np.asarray(f(x=x, t=t + 2 * side * tiny)) * np.ones(4) for side in (-1, 1)]
        slopes = (before - steep[0]) / tiny, (steep[1] - after) / tiny
        acts = np.max(np.abs(after - before)) > 1e-4 or np.max(np.abs(slopes[0] - slopes[1])) > 0.05
        if acts:
            assert np.min(np.abs(kept - t)) < 1e-6, (text, t)


def changes_of(text: str, end: float) -> np.ndarray:
    plate = PLATE | {"grid": {"nx": 4, "ny": 1}, "source": [{"power": text}], "time": {"end": end}}
    made = HeatProblem.from_scenario(HeatScenario.model_validate(plate), Path()).made
    return np.array(sorted(data_changes(made, end).all))


@pytest.mark.parametrize(
    "gated",
    [
        "(t % 4 < 1)*(t < 20)",
        "where(t < 20, (t % 4 < 1), 0)",
        "(t < 20 and t % 4 < 1)",
        "max(0, sin(2*pi*t/4))*(t < 20)",
        "(t % 4 < 1)*(abs(y - 0.001*t) < 0.001)",  # which leaves the edge after 9 s
    ],
)
def test_pulses_that_have_ended_do_not_keep_a_run_from_being_steady(gated: str, tmp_path: Path) -> None:
    edges: dict[str, Any] = {
        "left": {"kind": "convection", "h": 3000.0, "ambient": 300.0},
        "right": {"kind": "flux", "value": f"5e4 + 2e4*{gated}"},
    }
    time = {"end": 2000.0, "steady_tolerance": 1e-4}
    grid = {"nx": 10, "ny": 2, "lx": 0.05, "ly": 0.008}
    plate = PLATE | {"grid": grid, "boundary": edges, "time": time, "output": {"every": 7.0}}
    run = simsuite.run(plate, directory=tmp_path / "run")
    assert run.summary["time"] < 600.0
    assert run.results["steady"]["reached"]


def test_pulses_that_go_on_are_changes() -> None:
    assert changes_of("(t % 4 < 1)*(t < 20) + (t > 7)*(t % 50 < 1)", 200.0)[-1] > 190.0

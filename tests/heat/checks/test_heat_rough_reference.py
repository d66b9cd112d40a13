"""A manufactured reference that jumps or has a kink is told before the run, which would be off by as much."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simsuite.solvers.heat.checks.rough_reference import rough_reference
from simsuite.solvers.heat.problem import HeatProblem

SMOOTH = "300 + 10*cos(pi*x)*sin(2*pi*y)*exp(-t)"


def told(
    heat: Callable[..., HeatProblem], temperature: str, diffusivity: float | str = 0.1, **reference: bool
) -> list[str]:
    derived = reference.get("manufactured", True)
    problem = heat(
        grid={"nx": 8, "ny": 6, "lx": 1.0, "ly": 1.0},
        material={"diffusivity": diffusivity},
        boundary={
            edge: {"kind": "temperature"} | ({} if derived else {"value": 300.0})
            for edge in ("left", "right", "bottom", "top")
        },
        reference={"temperature": temperature, "manufactured": True} | reference,
        time={"end": 2.0, "stepper": "auto"},
    )
    return rough_reference(problem.scenario)


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("5*(t > 1)", ["jumps at t = 1 s"]),
        ("where(t > 1.25, 5, 0)*sin(2*pi*y)", ["jumps at t = 1.25 s"]),
        ("3*(x < 0.3)", ["jumps at x = 0.3 m"]),
        ("10*abs(x - 0.4)*cos(2*pi*y)", ["has a kink at x = 0.4 m"]),
        ("max(0, y - 0.7)*t + (t > 0.5)", ["has a kink at y = 0.7 m", "jumps at t = 0.5 s"]),
    ],
)
def test_what_no_source_follows_is_told(heat: Callable[..., HeatProblem], added: str, words: list[str]) -> None:
    found = told(heat, f"{SMOOTH} + {added}")
    assert len(found) == len(words)
    for sentence, word in zip(found, words):
        assert f"the manufactured reference {word}, " in sentence


@pytest.mark.parametrize(
    "added",
    ["0", "5*max(0, t - 1)", "0.1*abs(t - 1)", "max(0, x - 0.5)**3", "(t > 5)", "where(x > 0.5, sin(pi*x), sin(pi*x))"],
)
def test_what_a_source_follows_is_not(heat: Callable[..., HeatProblem], added: str) -> None:
    assert told(heat, f"{SMOOTH} + {added}") == []


def test_a_kink_where_the_material_changes_may_be_right(heat: Callable[..., HeatProblem]) -> None:
    wall = "300 + where(x < 0.5, 2*x, 1 + (x - 0.5))"
    assert told(heat, wall, "where(x < 0.5, 0.1, 0.2)") == []
    assert "kink at x = 0.5 m" in told(heat, wall)[0]


def test_a_reference_that_is_only_compared_with_may_jump(heat: Callable[..., HeatProblem]) -> None:
    assert told(heat, f"{SMOOTH} + (t > 1)", manufactured=False) == []

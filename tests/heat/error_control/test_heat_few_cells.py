"""Data that act in a single row of cells, or in a few cells: none of the places that are spread evenly lies there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SIMULATING

from simsuite.backends import open_backend
from simsuite.solvers.heat.checks.coarse import coarse_warnings
from simsuite.solvers.heat.problem import HeatProblem

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved that others do not test")
Heat = Callable[..., HeatProblem]
COPPER = {"conductivity": 390.0, "density": 8960.0, "specific_heat": 385.0}
PLATE: dict[str, Any] = {
    "grid": {"nx": 60, "ny": 20, "lx": 0.06, "ly": 0.01},
    "material": COPPER,
    "initial": {"temperature": 313.15},
}
WARM_BELOW = {"bottom": {"kind": "convection", "h": 5000.0, "ambient": 313.15}}
SPOT = "(x > 0.029)*(x < 0.03)"
CHIP = "2e9*(x > 0.02)*(x < 0.04)*(y > 0.0095)"
THIN: dict[str, dict[str, Any]] = {
    "a source in a row": {"source": [{"power": f"{CHIP}*sin(20*pi*t)**2"}], "boundary": WARM_BELOW},
    "the temperature of a point": {
        "boundary": {"top": {"kind": "temperature", "value": f"313.15 + 60*{SPOT}*sin(20*pi*t)"}} | WARM_BELOW
    },
    "a flux into a point": {"boundary": {"top": {"kind": "flux", "value": f"1e7*{SPOT}*min(t/0.1, 1)"}}},
    "a source in nine cells of 40 000": {
        "grid": {"nx": 200, "ny": 200, "lx": 0.2, "ly": 0.2},
        "source": [{"power": "2e9*(x > 0.101)*(x < 0.104)*(y > 0.101)*(y < 0.104)*sin(20*pi*t)**2"}],
        "boundary": WARM_BELOW,
    },
}


def end_of(problem: HeatProblem) -> np.ndarray:
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    return np.array(run.state["temperature"])


@pytest.mark.parametrize("thin", THIN.values(), ids=THIN)
def test_the_error_of_explicit_steps_is_bounded_and_auto_takes_others(heat: Heat, thin: dict[str, Any]) -> None:
    plate = PLATE | thin
    explicit = heat(**plate, time={"end": 0.1, "stepper": "explicit"})
    close = end_of(heat(**plate, time={"end": 0.1, "stepper": "rkl2", "tolerance": 1e-6}))
    off = float(np.max(np.abs(end_of(explicit) - close)))
    assert explicit.plan.time_error is not None
    assert 1e-5 * float(np.ptp(close)) < off <= explicit.plan.time_error
    auto = heat(**plate, time={"end": 0.1, "stepper": "auto"})
    assert auto.plan.stepper != "explicit"
    assert float(np.max(np.abs(end_of(auto) - close))) < 2e-5 * float(np.ptp(close)) + 1e-9


STEADY = {"bottom": {"kind": "temperature", "value": f"313.15 + 40*{SPOT}"}, "top": {"kind": "flux", "value": 1e4}}
FORETOLD: dict[str, dict[str, Any]] = {
    "a steady source in a row": {"source": [{"power": f"{CHIP} + 1e3*sin(t)"}], "boundary": WARM_BELOW},
    "a source in a row that pulses": {"source": [{"power": f"{CHIP}*(t % 2 < 0.7)"}], "boundary": WARM_BELOW},
    "one that is switched off": {"source": [{"power": f"{CHIP}*(t < 0.7)"}], "boundary": WARM_BELOW},
    "a small transistor on a large plate": {
        "grid": {"nx": 200, "ny": 200, "lx": 0.2, "ly": 0.2},
        "source": [{"power": "1e9*(x > 0.101)*(x < 0.103)*(y > 0.101)*(y < 0.103)*(t % 2 < 1)"}],
        "boundary": WARM_BELOW,
    },
    "a point of an edge": {
        "boundary": {"top": {"kind": "temperature", "value": f"313.15 + 60*{SPOT}*min(t, 1)"}} | WARM_BELOW
    },
}


@pytest.mark.parametrize("thin", FORETOLD.values(), ids=FORETOLD)
def test_steps_are_foretold(heat: Heat, thin: dict[str, Any]) -> None:
    problem = heat(**(PLATE | thin), time={"end": 4.0, "stepper": "rkl2", "tolerance": 1e-3})
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    stepper.advance(problem.clock.end)
    least, most = problem.steps_expected
    assert most is not None
    assert least <= stepper.taken <= most


@pytest.mark.parametrize("thin", [THIN["a source in a row"], THIN["the temperature of a point"]], ids=str)
def test_given_steps_that_do_not_follow_are_told(heat: Heat, thin: dict[str, Any]) -> None:
    problem = heat(**(PLATE | thin), time={"end": 1.0, "stepper": "adi", "dt": 0.04})
    assert any("within a step" in told for told in coarse_warnings(problem.scenario, problem.made, problem.plan, ()))


@pytest.mark.parametrize("what", ["source", "initial"])
def test_a_hot_spot_counts_wherever_it_is_on_a_plate_too_large_to_look_at(heat: Heat, what: str) -> None:
    def told(row: int) -> float:
        spot = f"(abs(x - 1000) < 5)*(abs(y - {row}) < 5)"
        given: dict[str, Any] = {"initial": {"temperature": f"300 + 50*{spot}"}}
        if what == "source":
            given = {"initial": {"temperature": 300.0}, "source": [{"power": f"1e3*{spot}"}]}
        grid = {"nx": 2048, "ny": 2048, "lx": 2048.0, "ly": 2048.0}
        plan = heat(grid=grid, material={"diffusivity": 1.0}, time={"end": 1.0, "stepper": "explicit"}, **given).plan
        assert plan.time_error is not None
        return plan.time_error

    near = told(20)  # in the first rows, which are looked at in any case
    assert near > 1.0
    assert [told(row) for row in (101, 777, 1400, 1999)] == pytest.approx([near] * 4)

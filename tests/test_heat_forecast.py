"""Forecasts of steps whose lengths follow from their error, against the steps that runs take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.heat.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem

STEEL = {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}
GOLD = {"conductivity": 300.0, "density": 19300.0, "specific_heat": 129.0}
FILM = {"grid": {"nx": 40, "ny": 4, "lx": 1e-6, "ly": 1e-7}, "material": GOLD}
PLATE = {"grid": {"nx": 24, "ny": 24, "lx": 0.1, "ly": 0.1}, "material": STEEL}
PULSE = "exp(-((t - 5e-13)/1e-13)**2)"
WARM = {"initial": {"temperature": 300.0}}
CASES = {
    "a short pulse that warms a film": FILM
    | WARM
    | {"source": [{"power": f"1e21*{PULSE}*exp(-x/1e-7)"}], "time": {"end": 1e-11, "stepper": "adi"}},
    "a short pulse into an edge": FILM
    | WARM
    | {"boundary": {"left": {"kind": "flux", "value": f"1e14*{PULSE}"}}, "time": {"end": 1e-9, "stepper": "adi"}},
    "an edge that begins infinitely fast": PLATE
    | WARM
    | {
        "boundary": {"left": {"kind": "temperature", "value": "300 + 10*sqrt(t)"}},
        "time": {"end": 100.0, "stepper": "rkl2"},
    },
    "a disc that moves": PLATE
    | WARM
    | {
        "source": [{"power": "1e7*(hypot(x - 0.001*t, y - 0.05) < 0.01)"}],
        "time": {"end": 100.0, "stepper": "rkl2", "tolerance": 1e-3},
    },
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_takes_about_as_many_steps_as_are_foretold(heat: Callable[..., HeatProblem], name: str) -> None:
    problem = heat(**CASES[name])
    assert problem.plan.control is not None
    stepper = problem.stepper(CpuBackend(), problem.initial())
    assert isinstance(stepper, ControlledStepper)
    stepper.advance(problem.clock.end)
    assert 1 / 3 < stepper.taken / problem.plan.control.expected < 2
    least, most = problem.steps_expected
    assert most is not None
    assert least <= stepper.taken <= most


@pytest.mark.parametrize(("power", "known"), [("T", True), ("5*T", False), ("-50*T", True), ("9*T*(t < 0.1)", True)])
def test_steps_may_be_many_more_where_temperatures_grow(
    heat: Callable[..., HeatProblem], power: str, known: bool
) -> None:
    """By more than e^1.5 in the run, as long as all heat stays; then errors grow, too."""

    def plate(power: str) -> tuple[int, int | None]:
        time: dict[str, Any] = {"end": 1.0, "stepper": "adi"}
        initial = {"temperature": "1 + 0.5*cos(pi*x)"}
        return heat(initial=initial, source=[{"power": power}], time=time).steps_expected

    least, most = plate(power)
    assert (most is not None) == known
    assert known or least > 1.5 * plate("x")[0], "those that follow the growth at least"

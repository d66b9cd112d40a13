"""Plates whose temperatures are all 0 at the beginning, and which data warm from almost nothing on: errors have nothing
to be measured by then, neither a range nor rounding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.time_scales.range_limits import SHARE, range_floor

pytestmark = pytest.mark.usefixtures("one_thread")

LENGTH, END, TOLERANCE = 0.002, 20.0, 1e-5
PLATE: dict[str, Any] = {
    "grid": {"nx": 20, "ny": 1, "lx": LENGTH, "ly": 0.001},
    "material": {"conductivity": 16.0, "density": 8000.0, "specific_heat": 500.0},
    "initial": {"temperature": 0.0},
    "output": {"frames": 5},
}
HEAT = 8000.0 * 500.0 * LENGTH  # J/m² that warm the plate by 1 K
FLUXES: dict[str, tuple[str, Callable[[float], float]]] = {  # W/m², and J/m² by a time
    "power": ("2e3*t**2", lambda t: 2e3 * t**3 / 3),
    "flash": ("2e5*exp(-((t - 5)/0.1)**2)", lambda t: 1e4 * math.sqrt(math.pi) * (math.erf((t - 5) / 0.1) + 1)),
    "wave": ("2e3*sin(t)**2", lambda t: 1e3 * t - 500 * math.sin(2 * t)),
    "switch": ("4e4/(1 + exp(-(t - 11)/1e-3))", lambda t: 4e4 * max(t - 11, 0.0)),
}


def plate(heat: Callable[..., HeatProblem], flux: str, **time: Any) -> HeatProblem:
    return heat(**PLATE, boundary={"left": {"kind": "flux", "value": flux}}, time={"end": END, **time})


@pytest.mark.parametrize(
    ("name", "stepper"),
    others_long(
        itertools.product(FLUXES, ("auto", "rkl2", "adi")),
        {("power", "adi"), ("flash", "auto"), ("wave", "rkl2"), ("switch", "auto"), ("switch", "adi")},
        several=True,
    ),
)
def test_heat_that_comes_from_nothing(heat: Callable[..., HeatProblem], name: str, stepper: str) -> None:
    """Against the heat that has come in by each frame: the mean of all cells, since edges let none out."""
    flux, heat_by = FLUXES[name]
    problem = plate(heat, flux, stepper=stepper, tolerance=TOLERANCE)
    run: Any = problem.stepper(open_backend("cpu"), problem.initial())
    assert isinstance(run, ControlledStepper)
    worst = 0.0
    for step in problem.layout.series[0].steps[1:]:
        run.advance(step - run.step)
        mean = float(np.mean(run.state["temperature"]))
        worst = max(worst, abs(mean - heat_by(problem.clock.time(step)) / HEAT))
    assert worst <= TOLERANCE * (run.control["high"] - run.control["low"])
    assert run.taken <= 12_000


def test_a_floor_is_far_below_what_temperatures_come_to(heat: Callable[..., HeatProblem]) -> None:
    """A tolerance of it is all that errors may be at first."""
    for flux, heat_by in FLUXES.values():
        problem, warmed = plate(heat, flux), heat_by(END) / HEAT
        assert 0.1 * SHARE * warmed < range_floor(problem.made, END, problem.clock.times) < 1e-3 * warmed


def test_where_nothing_happens_there_is_no_floor(heat: Callable[..., HeatProblem]) -> None:
    edges = {edge: {"kind": "insulated"} for edge in ("left", "right", "bottom", "top")}
    still = {"initial": {"temperature": 7.0}, "boundary": edges, "source": [{"power": "0*t"}]}
    problem = heat(**still, time={"end": 1.0, "stepper": "rkl2"})
    assert range_floor(problem.made, 1.0, (0.0, 1.0)) == 0.0
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    assert np.all(np.asarray(run.state["temperature"]) == 7.0)

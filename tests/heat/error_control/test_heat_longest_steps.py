"""Steps that see data which go up and down many times in a run, at whatever phase steps may meet them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.time_scales.data_changes import data_changes
from simsuite.solvers.heat.time_scales.data_stops import data_stops
from simsuite.solvers.heat.time_scales.longest_steps import LongestSteps, longest_steps

CELLS, LENGTH, DIFFUSIVITY = 6, 1.0, 0.3


def rod(heat: Callable[..., HeatProblem], flux: str, end: float, stepper: str, as_source: bool) -> HeatProblem:
    """A rod of CELLS cells, held at 0 on the left, with heat given on the right: a flux, or a source in the last
    cell."""
    dx = LENGTH / CELLS
    given: dict[str, Any] = {"boundary": {"left": {"kind": "temperature", "value": 0.0}}}
    if as_source:
        given["source"] = [{"power": f"(x > {LENGTH - dx})*({flux})/{dx!r}"}]
    else:
        given["boundary"]["right"] = {"kind": "flux", "value": flux}
    return heat(
        grid={"nx": CELLS, "ny": 2, "lx": LENGTH, "ly": 2 * dx},
        material={"conductivity": DIFFUSIVITY, "density": 1.0, "specific_heat": 1.0},
        time={"end": end, "stepper": stepper, "tolerance": 1e-4},
        output={"frames": 4},
        **given,
    )


def exact(t: float, f: float) -> np.ndarray:
    """Temperatures of the cells of that rod at a time t for the flux 1 - cos(2πft): of each mode with dc/dt = λc + b
    (1 - cos ωt), c = b ((e^(λt) - 1)/λ - Re (e^(iωt) - e^(λt))/(iω - λ))."""
    dx = LENGTH / CELLS
    A = (np.diag(np.full(CELLS, -2.0)) + np.eye(CELLS, k=1) + np.eye(CELLS, k=-1)) * DIFFUSIVITY / dx**2
    A[0, 0], A[-1, -1] = -3.0 * DIFFUSIVITY / dx**2, -DIFFUSIVITY / dx**2
    rates, modes = np.linalg.eigh(A)
    b, omega = modes[-1] / dx, 2.0 * np.pi * f
    swing = (np.exp(1j * omega * t) - np.exp(rates * t)) / (1j * omega - rates)
    return modes @ (b * (np.expm1(rates * t) / rates - swing.real))


@pytest.mark.parametrize("as_source", [False, True], ids=["edge", "source"])
@pytest.mark.parametrize("stepper", ["rkl2", "adi", "explicit"])
@pytest.mark.parametrize(("f", "end"), [(64.0, 1.0), (51.3, 0.4)])
def test_what_goes_up_and_down_is_not_met_at_one_phase(
    heat: Callable[..., HeatProblem], stepper: str, as_source: bool, f: float, end: float
) -> None:
    problem = rod(heat, f"1 - cos(2*pi*{f}*t)", end, stepper, as_source)
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    with run.snapshot() as snapshot:
        T = np.array(snapshot.arrays["temperature"])
    expected = exact(end, f)
    estimated = problem.plan.time_error if stepper == "explicit" else 1e-4 * np.max(expected)
    assert np.max(np.abs(T - expected)) < estimated


def limits(heat: Callable[..., HeatProblem], value: str, tolerance: float = 1e-4, **sections: Any) -> LongestSteps:
    edge = {"boundary": {"left": {"kind": "temperature", "value": value}}} if value else {}
    made = heat(**edge, **sections, time={"end": 1.0}).made
    changes = data_changes(made, 1.0).all
    peaks = data_stops(made, 1.0, sorted({0.0, *changes, 1.0}))
    return longest_steps(made, 1.0, changes, tolerance, peaks.unsearched)


@pytest.mark.parametrize("f", [3.0, 16.0, 128.0, 512.0, 1024.0, 30720.0])
def test_a_step_is_a_small_part_of_a_period(heat: Callable[..., HeatProblem], f: float) -> None:
    found = limits(heat, f"sin(2*pi*{f}*t)")
    assert all(1 / 40 <= dt * f <= 1 / 4 for dt in found.longest[:-1])
    assert found.steps(1.0) >= 4 * f


def test_steps_are_short_only_while_data_move(heat: Callable[..., HeatProblem]) -> None:
    found = limits(heat, "(t > 0.5)*sin(2*pi*200*t)")
    assert found.at(0.3) > 0.2
    assert found.at(0.6) < 1 / 800
    assert found.stops == (0.5,)


@pytest.mark.parametrize("value", ["300", "300 + 5*t", "(t > 0.3)*5", "sign(sin(2*pi*512*t))", "min(5, 40*t)"])
def test_data_of_straight_lines_need_none(heat: Callable[..., HeatProblem], value: str) -> None:
    assert limits(heat, value) == LongestSteps()


def test_short_peaks_too_many_to_be_looked_for(heat: Callable[..., HeatProblem]) -> None:
    """Each lasts about 1 % of the time to the next one, of 4000."""
    found = limits(heat, "exp(-200*(1 - cos(2*pi*4000*t))**2*50)")
    assert all(dt < 0.02 / 4000 for dt in found.longest)


def test_a_ripple_that_warms_by_less_than_the_tolerance_is_passed_over(heat: Callable[..., HeatProblem]) -> None:
    plate: dict[str, Any] = {
        "initial": {"temperature": "300 + 100*x"},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
    }
    weak, strong = (
        limits(heat, "", **plate, boundary={"top": {"kind": "flux", "value": f"{q}*sin(2*pi*300*t)"}})
        for q in (1e-5, 1e-1)
    )
    assert weak == LongestSteps()
    assert strong.least < 1 / 1200

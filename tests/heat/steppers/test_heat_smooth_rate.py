"""When a run is at its steady state: rates of change without waves that long steps leave, which move nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.solvers.heat.problem import HeatProblem

STEEL = {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}
COOLING = {
    "left": {"kind": "radiation", "emissivity": 0.8, "ambient": 800.0},
    "right": {"kind": "radiation", "emissivity": 0.8, "ambient": 300.0},
    "bottom": {"kind": "convection", "h": 20.0, "ambient": 300.0},
}
PLATE: dict[str, Any] = {
    "grid": {"nx": 10, "ny": 8, "lx": 0.1, "ly": 0.1},
    "material": STEEL,
    "initial": {"temperature": 300.0},
    "boundary": COOLING,
    "output": {"frames": 5},
}


def rate(stepper: Any) -> float:
    with stepper.observe("time") as observed:
        return float(observed.arrays["row_rate"].max())


@pytest.mark.parametrize(("precision", "dt"), [("float64", "auto"), ("float32", "auto"), ("float64", 2e3)])
def test_a_plate_that_radiates_comes_to_its_steady_state(
    heat: Callable[..., HeatProblem], precision: str, dt: float | str
) -> None:
    """Temperatures rest, to rounding, and so do they for who measures how fast they change."""
    end, backend = 2e6, open_backend("cpu")
    time = {"end": end, "stepper": "adi", "dt": dt, "tolerance": 1e-3, "steady_tolerance": 1e-8}
    problem = heat(**PLATE, run={"precision": precision}, time=time)
    stepper: Any = problem.stepper(backend, problem.initial())
    first, last = problem.layout.series[0].steps[-2:]
    stepper.advance(first)
    before = backend.to_host(stepper.state["temperature"]).copy()
    assert problem.settle(stepper) == first
    assert rate(stepper) <= 1e-8
    stepper.advance(last - first)
    assert np.max(np.abs(backend.to_host(stepper.state["temperature"]) - before)) < 1e-8 * end / 4


def test_the_rate_of_a_slow_decay_is_that_of_its_mode(heat: Callable[..., HeatProblem]) -> None:
    """T = 300 + A·cos(πx)·exp(-π² t), on a grid whose own eigenvalue is 0.8 % less."""
    time = {"end": 0.2, "stepper": "adi", "tolerance": 1e-4, "steady_tolerance": 1e-9}
    problem = heat(grid={"nx": 10, "ny": 4}, initial={"temperature": "300 + 10*cos(pi*x)"}, time=time)
    backend = open_backend("cpu")
    stepper: Any = problem.stepper(backend, problem.initial())
    assert rate(stepper) == pytest.approx(10 * np.pi**2, rel=0.05), "at the centres of cells"
    stepper.advance(problem.clock.end)
    largest = np.max(np.abs(backend.to_host(stepper.state["temperature"]) - 300.0))
    assert rate(stepper) == pytest.approx(largest * np.pi**2, rel=0.05)


def test_rates_are_smoothed_by_no_longer_steps_than_frames_allow(heat: Callable[..., HeatProblem]) -> None:
    """The error alone would allow steps of a third of the time in which the slowest mode decays."""
    time = {"end": 0.5, "stepper": "adi", "tolerance": 3e-2, "steady_tolerance": 1e-9}
    problem = heat(
        grid={"nx": 30, "ny": 4},
        initial={"temperature": "300 + 10*cos(pi*x)"},
        time=time,
        output={"frames": 41},
    )
    backend = open_backend("cpu")
    stepper: Any = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end)
    assert stepper.control["dt"] > 2 * 0.5 / 40
    largest = np.max(np.abs(backend.to_host(stepper.state["temperature"]) - 300.0))
    eigenvalue = (2 * 30 * np.sin(np.pi / 60)) ** 2
    assert rate(stepper) == pytest.approx(largest * eigenvalue, rel=0.02)


def test_a_jump_at_that_very_time_is_no_steady_state(heat: Callable[..., HeatProblem]) -> None:
    """An edge that gets warmer at a frame, after a long rest, which does not end the run either."""
    boundary = {"left": {"kind": "temperature", "value": "300 + 1e-6*(t >= 5e5)"}}
    time = {"end": 1e6, "stepper": "adi", "tolerance": 1e-3, "steady_tolerance": 1e-9}
    problem = heat(**PLATE | {"boundary": boundary, "initial": {"temperature": "300 + x"}}, time=time)
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    steps = problem.layout.series[0].steps
    stepper.advance(steps[1])
    assert problem.settle(stepper) == problem.clock.end
    stepper.advance(steps[2] - steps[1])
    assert problem.settle(stepper) == problem.clock.end
    alpha, dx = 45.0 / (7800.0 * 470.0), 0.01
    assert rate(stepper) == pytest.approx(2 * alpha / dx**2 * 1e-6, rel=0.1)


def test_a_plate_in_equilibrium_that_a_source_begins_to_warm_is_not_steady(heat: Callable[..., HeatProblem]) -> None:
    """Its source is 0 at the start, and so are all rates of change."""
    source = [{"power": "1e5*sin(0.2*t)"}]
    time = {"end": 60.0, "stepper": "rkl2", "tolerance": 1e-3, "steady_tolerance": 1e-3}
    problem = heat(**PLATE | {"boundary": {}, "source": source}, time=time)
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    assert rate(stepper) == 0
    assert problem.settle(stepper) == problem.clock.end


def test_a_run_that_is_continued_measures_the_same(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    """To the bit; and on every device about the same, which is less than the rate with all waves."""
    time = {"end": 1e5, "stepper": "adi", "tolerance": 1e-2, "steady_tolerance": 1e-8}
    nx, ny = (4, 3) if backend.name == "cudasim" else (6, 5)  # there each cell takes milliseconds
    problem = heat(**PLATE | {"grid": {"nx": nx, "ny": ny, "lx": 0.1, "ly": 0.1}}, time=time)
    on_cpu: Any = problem.stepper(open_backend("cpu"), problem.initial())
    stepper: Any = problem.stepper(backend, problem.initial())
    for each in (stepper, on_cpu):
        each.advance(problem.layout.series[0].steps[2])
    with stepper.snapshot() as snapshot:
        again: Any = problem.stepper(backend, snapshot)
    assert rate(again) == rate(stepper)
    assert 0 < rate(stepper) == pytest.approx(rate(on_cpu), rel=1e-3)
    waves = backend.to_host(stepper._operator.rate_max).max()
    assert rate(stepper) < 0.5 * waves


@pytest.mark.parametrize(
    ("value", "dt"),
    [("300 + 80*(t > 2)", "auto"), ("300 + 80*(t > 2)", 0.5), ("300 + 80*max(0, t - 2)*(t < 2.5)", "auto")],
    ids=["jump", "given steps", "ramp"],
)
def test_a_rest_before_data_change_does_not_end_a_run(heat: Callable[..., HeatProblem], value: str, dt: Any) -> None:
    boundary = {"left": {"kind": "temperature", "value": value}}
    time = {"end": 4.0, "stepper": "adi", "dt": dt, "steady_tolerance": 1e-5}
    problem = heat(boundary=boundary, initial={"temperature": 300.0}, time=time, output={"frames": 5})
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    steps = problem.layout.series[0].steps
    for frame in (0, 1, 2):
        stepper.advance(steps[frame] - stepper.step)
        assert problem.settle(stepper) == problem.clock.end
        with stepper.observe("time") as observed:
            assert not problem.results(observed)["steady"]["reached"]


def test_no_heat_is_stored_after_no_steps(heat: Callable[..., HeatProblem]) -> None:
    """Not that by which two sums over all cells differ."""
    initial = {"temperature": "300 + 17.3*sin(9*x)*cos(7*y)"}
    problem = heat(
        grid={"nx": 371, "ny": 29},
        material={"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0},
        initial=initial,
        time={"end": 1.0, "stepper": "adi"},
    )
    stepper: Any = problem.stepper(open_backend("cpu"), problem.initial())
    with stepper.observe("time") as observed:
        assert problem.results(observed)["energy"]["stored"] == 0.0

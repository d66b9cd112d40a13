"""Times at which steps end so that they see peaks of smooth data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.time_scales.data_stops import data_stops

PLATE: dict[str, Any] = {
    "grid": {"nx": 6, "ny": 6},
    "material": {"diffusivity": 1.0},
    "time": {"end": 1.0, "stepper": "adi", "tolerance": 1e-3},
    "output": {"frames": 2},
}
PEAK = "300 + 10*exp(-((t - 0.37)/0.01)**2)"


def at_edge(value: str) -> dict[str, Any]:
    return PLATE | {"boundary": {"left": {"kind": "temperature", "value": value}}}


@pytest.mark.parametrize(
    "sections",
    [at_edge(PEAK), PLATE | {"source": [{"power": f"(1 + x)*({PEAK})*(1 + 0*T)"}]}],
    ids=["edge", "source"],
)
def test_a_peak_is_met_on_its_way_up_and_down(heat: Callable[..., HeatProblem], sections: dict[str, Any]) -> None:
    stops = np.array(data_stops(heat(**sections).made, 1.0, (0.0, 1.0)).times)
    assert stops.size == 8
    assert np.all(np.abs(stops - 0.37) < 0.05)
    assert np.count_nonzero(stops < 0.37) == 6
    assert np.exp(-(((stops[0] - 0.37) / 0.01) ** 2)) < 1e-6


HIGH, LOW = "exp(-((t - 0.21)/0.0004)**2)", "0.003*exp(-((t - 0.75)/0.02)**2)"


@pytest.mark.parametrize(
    "value",
    [
        f"300 + {HIGH} + {LOW}",
        f"(1 + y)*({HIGH} + {LOW})/2",
        f"({HIGH} + {LOW})*(1 + 0.3*sin(20*t))",
        f"max(0, {HIGH} + {LOW})",
        f"where(t < 0.5, {HIGH} + t, {LOW})",
    ],
    ids=["sum", "product", "swinging", "inside", "where"],
)
def test_a_low_peak_beside_a_high_one_is_met(heat: Callable[..., HeatProblem], value: str) -> None:
    """It lasts so long that it brings a sixth of the heat, and is less than a hundredth as high."""
    stops = np.array(data_stops(heat(**at_edge(value)).made, 1.0, (0.0, 0.5, 1.0)).times)
    for centre, width in ((0.21, 0.0004), (0.75, 0.02)):
        near = stops[np.abs(stops - centre) < 4 * width]
        assert np.count_nonzero(near < centre - width / 3) >= 3
        assert np.count_nonzero(near > centre + width / 3) >= 2


@pytest.mark.parametrize(
    "value",
    [
        "1/cosh((t - 0.8279)/1e-6)",
        "1/(1 + exp(-(t - 0.8279)/1e-7))/(1 + exp((t - 0.827901)/1e-7))",
        "1/(1 + exp(t**2*1e9))",
    ],
)
def test_a_peak_of_functions_that_overflow_beside_it_is_met(heat: Callable[..., HeatProblem], value: str) -> None:
    stops = np.array(data_stops(heat(**at_edge(value)).made, 1.0, (0.0, 1.0)).times)
    at = 0.0 if "t**2" in value else 0.8279005
    assert np.count_nonzero(np.abs(stops - at) < 1e-4) >= 2


@pytest.mark.parametrize("frames", [2, 5], ids=["no frame", "a frame at the top"])
def test_a_run_gets_the_heat_of_a_low_peak(heat: Callable[..., HeatProblem], frames: int) -> None:
    """Nothing gets out, so that the plate is as warm in the end as all sources have made it."""
    problem = heat(
        material={"diffusivity": 0.01},
        initial={"temperature": "300 + 0.1*x"},
        source=[{"power": "exp(-((t - 0.21)/1e-5)**2)/1e-5 + exp(-((t - 0.75)/2e-4)**2)/2e-4"}],
        time={"end": 1.0, "stepper": "auto", "tolerance": 1e-3},
        output={"frames": frames},
    )
    run = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    warmed = 2.0 * np.sqrt(np.pi)
    assert np.mean(run.state["temperature"]) == pytest.approx(300.05 + warmed, abs=1e-3 * warmed)


@pytest.mark.parametrize("value", ["300 + 5*t", "300 + sin(50*t)", "300 + 5*sin(3*t)*y", "sqrt(1 - t)"])
def test_slow_data_and_oscillations_need_none(heat: Callable[..., HeatProblem], value: str) -> None:
    assert data_stops(heat(**at_edge("300 + 0*t")).made, 1.0, (0.0, 1.0)).times == ()
    assert data_stops(heat(**at_edge(value)).made, 1.0, (0.0, 1.0)).times == ()


def test_times_at_which_steps_end_anyway_are_left_out(heat: Callable[..., HeatProblem]) -> None:
    made = heat(**at_edge(PEAK)).made
    stops = data_stops(made, 1.0, (0.0, 1.0)).times
    assert data_stops(made, 1.0, (0.0, *stops, 1.0)).times == ()


@pytest.mark.parametrize("stepper", ["rkl2", "adi", "auto"])
def test_a_run_sees_a_peak_between_two_frames(heat: Callable[..., HeatProblem], stepper: str) -> None:
    """Steps would be a hundred times as long as the peak lasts; against 10 000 equal ones."""
    slow = at_edge(PEAK) | {"material": {"diffusivity": 0.002}, "initial": {"temperature": 300.0}}
    problem = heat(**slow | {"time": {"end": 1.0, "stepper": stepper, "tolerance": 1e-3}})
    fine = heat(**slow | {"time": {"end": 1.0, "stepper": "rkl2", "dt": 1e-4}})
    run, exact = (p.stepper(open_backend("cpu"), p.initial()) for p in (problem, fine))
    run.advance(problem.clock.end)
    largest = 0.0
    while exact.step < fine.clock.end:
        exact.advance(100)
        largest = max(largest, float(np.ptp(exact.state["temperature"])))
    assert largest > 0.02
    error = np.abs(np.asarray(run.state["temperature"]) - exact.state["temperature"])
    assert np.max(error) <= 1e-3 * largest


@pytest.mark.parametrize("seed", range(12))
def test_a_pulse_in_few_cells_is_met_on_any_plate(heat: Callable[..., HeatProblem], seed: int) -> None:
    """Where it acts is a single cell, or a piece of an edge as long as that, at a place that even points miss."""
    rng = np.random.default_rng(seed)
    nx, ny = (int(n) for n in rng.integers(1, 300, 2))
    column, row = int(rng.integers(nx)), int(rng.integers(ny))
    centre, width = rng.uniform(0.2, 0.8), 10 ** rng.uniform(-4, -2)
    pulse = f"exp(-((t - {centre})/{width})**2)"
    here = f"(abs(y - {(row + 0.5) / ny}) < {0.4 / ny})"
    cell = f"{here}*(abs(x - {(column + 0.5) / nx}) < {0.4 / nx})"
    plate = {**PLATE, "grid": {"nx": nx, "ny": ny, "lx": 1.0, "ly": 1.0}}
    for problem in (
        heat(**plate, source=[{"power": f"40*{pulse}*{cell}"}]),
        heat(**plate, boundary={"left": {"kind": "temperature", "value": f"300 + 50*{pulse}*{here}"}}),
        heat(**plate, boundary={"left": {"kind": "convection", "h": f"1 + 50*{pulse}*{here}", "ambient": 300.0}}),
    ):
        stops = np.array(data_stops(problem.made, 1.0, (0.0, 1.0)).times)
        assert np.count_nonzero(np.abs(stops - centre) < 5 * width) >= 6, f"{nx} x {ny}, cell {column}, {row}"


def test_a_run_gets_a_pulse_in_few_cells_beside_a_disc_that_moves(heat: Callable[..., HeatProblem]) -> None:
    """A step that ended where the disc jumps, on the flank of a pulse, missed what the pulse had brought by then: the
    result was three tolerances off. Nothing gets out, so that the two sources say how warm the plate is in the end."""
    disc = "0.3*(hypot((x - 0.011*t) % 0.46 - 0.23, (y - 0.007*t) % 0.38 - 0.19) < 0.05)"
    spark = "40*exp(-(((t % 17) - 4.4)/0.05)**2)*(abs(x - 0.1) < 0.03)*(abs(y - 0.1) < 0.03)"

    def warmed(*powers: str) -> float:
        problem = heat(
            grid={"nx": 23, "ny": 19, "lx": 0.46, "ly": 0.38},
            material={"diffusivity": 1e-4},
            initial={"temperature": 1.0},
            source=[{"power": power} for power in powers],
            time={"end": 60.0, "stepper": "rkl2", "tolerance": 8e-4},
            output={"times": [4.6, 21.6, 38.6, 55.6]},
        )
        run = problem.stepper(open_backend("cpu"), problem.initial())
        run.advance(problem.clock.end)
        return float(np.sum(np.asarray(run.state["temperature"]) - 1.0))

    pulse = 40 * 0.05 * np.sqrt(np.pi)
    assert abs((warmed(disc, spark) - warmed(disc)) / (4 * 4 * pulse) - 1) < 1e-3


@pytest.mark.parametrize(
    ("pulse", "width"),
    [
        ("exp(-((t - 0.43)/1e-4)**10)", 1e-4),
        ("exp(-((t - 0.43)/1e-4)**20)", 1e-4),
        ("max(0, 1 - ((t - 0.43)/1e-4)**10)", 1e-4),
        ("exp(-((t*t - 0.1849)/1e-4)**12)", 1.2e-4),
    ],
)
def test_a_pulse_of_a_high_power_is_met(heat: Callable[..., HeatProblem], pulse: str, width: float) -> None:
    """As of lasers, whose pulses are nearly rectangles."""
    problem = heat(**at_edge(f"300 + 50*{pulse}"))
    times = np.array([*data_stops(problem.made, 1.0, (0.0, 1.0)).times, *problem.plan.changes])
    assert np.count_nonzero(np.abs(times - 0.43) < 1.5 * width) >= 4

"""The longest stable explicit step where temperatures leave the range that was foreseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.solvers.heat.error_control.stable_step import WIDER, StableStep
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.stepper_record import SAFETY

# Heats itself, so that T - 300 grows like exp(t/900 s): from 310 K to 5000 K and more in 6000 s.
GROWING: dict[str, Any] = {
    "material": {"conductivity": "0.3 + 1e-9*T**3", "density": 900.0, "specific_heat": 1000.0},
    "initial": {"temperature": "310 + 5*x"},
    "source": [{"power": "1e3*(T - 300)"}],
}


def test_the_step_is_the_one_that_was_foreseen_as_long_as_temperatures_are(heat: Callable[..., HeatProblem]) -> None:
    made = heat(**GROWING, time={"end": 6000.0}).made
    low, high = made.reach([0.0], 6000.0)
    stable = StableStep(made, 12.0, 6000.0)
    assert stable.at(low, high) == stable.at(0.5 * (low + high), high) == 12.0
    assert stable.at(low, high + 1.0) < 12.0 or made.rates([0.0], 6000.0)[0] < 2.0 * SAFETY / 12.0


@pytest.mark.parametrize("hottest", [900.0, 2000.0, 1e4, 3e5])
def test_the_step_is_stable_at_higher_temperatures_and_not_much_shorter(
    heat: Callable[..., HeatProblem], hottest: float
) -> None:
    """The fastest mode of an even conductivity decays with 4 k/(ρc) (1/Δx² + 1/Δy²); the range is too wide by a factor
    of WIDER at most, and k goes by its third power."""
    made = heat(**GROWING, time={"end": 600.0}).made
    low, high = made.reach([0.0], 600.0)
    assert hottest > high
    step = StableStep(made, 1e9, 600.0).at(low, hottest)
    k = 0.3 + 1e-9 * hottest**3
    exact = 2.0 / (4.0 * k / 9e5 * (1.0 / made.dx**2 + 1.0 / made.dy**2))
    wider = (low + WIDER * (hottest - low + high - low)) / hottest
    assert SAFETY * exact / wider**3 * 0.99 < step < SAFETY * exact


def test_it_does_not_depend_on_what_was_asked_before(heat: Callable[..., HeatProblem]) -> None:
    """A run that goes on from a checkpoint takes the steps of one that was not stopped."""
    made = heat(**GROWING, time={"end": 600.0}).made
    one = StableStep(made, 50.0, 600.0)
    asked = [one.at(300.0, high) for high in (400.0, 900.0, 5e3, 2e4)]
    assert asked == [StableStep(made, 50.0, 600.0).at(300.0, high) for high in (400.0, 900.0, 5e3, 2e4)]
    assert asked == sorted(asked, reverse=True)


def test_a_plate_that_heats_itself_beyond_what_was_foreseen_takes_few_steps(heat: Callable[..., HeatProblem]) -> None:
    """With the stages of the foreseen range steps of rkl2 were unstable: their error made each of them short."""
    size = {"nx": 24, "ny": 4, "lx": 0.24, "ly": 0.04}
    region = {"shape": "rectangle", "x": [0.08, 0.12], "y": [0.0, 0.04], "conductivity": "0.1 + 1e-6*T**3"}
    problem = heat(**GROWING | {"grid": size, "region": [region]}, time={"end": 4500.0, "stepper": "rkl2"})
    assert problem.made.reach([0.0], 4500.0)[1] < 2000.0
    stepper = problem.stepper(CpuBackend(), problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.observe("sample") as observed:
        results = problem.results(observed)
    assert results["max"] > 1000.0
    assert stepper.control["taken"] < 3000, "it is 18 000 with the stages of the foreseen range"

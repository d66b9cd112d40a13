"""Explicit steps that are too long for the slope of a thermostat's ramp are told before the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.solvers.heat.checks.steep_sources import steep_sources
from simsuite.solvers.heat.problem import HeatProblem

RAMP = "4e5*min(1, max(0, (38 - T)/1))"


def plate(heat: Callable[..., HeatProblem], power: str = RAMP, stepper: str = "explicit", **time: Any) -> HeatProblem:
    return heat(
        grid={"nx": 10, "ny": 10, "lx": 0.4, "ly": 0.4},
        material={"conductivity": 2.0, "density": 800.0, "specific_heat": 900.0},
        initial={"temperature": 25.0},
        source=[{"name": "heater", "power": power}],
        time={"end": 3600.0, "stepper": stepper} | time,
    )


def hottest(problem: HeatProblem) -> float:
    stepper = problem.stepper(open_backend("cpu"), problem.initial())
    stepper.advance(problem.clock.end)
    return float(np.max(stepper.state["temperature"]))


def test_steps_that_pass_a_ramp_are_told_and_the_advice_helps(heat: Callable[..., HeatProblem]) -> None:
    problem = plate(heat)
    (told,) = steep_sources(problem.scenario, problem.made, problem.plan)
    assert told.startswith("the source heater kinks at temperatures that may come up, and falls there so steeply")
    assert " that explicit steps of " in told
    assert hottest(problem) > 50
    advised = float(told.partition("set time.dt to ")[2].split()[0])
    assert advised == pytest.approx(0.5 * 2 / (4e5 / (800 * 900) + 2 * 4 * 2.0 / (800 * 900 * 0.04**2)), rel=0.01)
    followed = plate(heat, dt=advised)
    assert steep_sources(followed.scenario, followed.made, followed.plan) == []
    assert hottest(followed) == pytest.approx(38.0, abs=1e-6)
    assert hottest(plate(heat, stepper="auto")) == pytest.approx(38.0, abs=1e-3)


@pytest.mark.parametrize("power", ["-4*T*(T - 1)*(T - 0.5)", "1e3*exp(-T/50)", "4e5*min(1, max(0, (T - 38)/1))", "1e5"])
def test_other_sources_are_not(heat: Callable[..., HeatProblem], power: str) -> None:
    problem = plate(heat, power)
    assert steep_sources(problem.scenario, problem.made, problem.plan) == []


def test_steps_of_rkl2_of_a_given_length_are_told(heat: Callable[..., HeatProblem]) -> None:
    """Its stages are counted by the rates at the start, where the source has no slope: such a plate cooled below its
    start while only a heater acted."""
    problem = plate(heat, stepper="rkl2", dt=120.0)
    (told,) = steep_sources(problem.scenario, problem.made, problem.plan)
    assert "falls there so steeply that rkl2 steps of 120 s do not follow it" in told
    assert abs(hottest(problem) - 38.0) > 5
    short = plate(heat, stepper="rkl2", dt=1.0)
    assert steep_sources(short.scenario, short.made, short.plan) == []
    assert hottest(short) == pytest.approx(38.0, abs=1e-6)
    assert steep_sources(*(lambda p: (p.scenario, p.made, p.plan))(plate(heat, stepper="rkl2"))) == []

"""Automatic steps on random plates, against solutions by another method of lines and another integrator (Radau).

`make long` takes 500 plates and 60 with switches; every run of the tests a few small ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from heat_random import Plate, random_plate

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem

pytestmark = pytest.mark.usefixtures("one_thread")


def problem_of(plate: Plate, **time: Any) -> HeatProblem:
    sections = plate.sections | {"solver": "heat", "time": plate.sections["time"] | time}
    return HeatProblem.from_scenario(HeatScenario.model_validate(sections), Path())


def off_by(plate: Plate, backend: Backend, **time: Any) -> float:
    """The largest error at any frame, in units of tolerance times range."""
    problem = problem_of(plate, **time)
    frames = problem.layout.series[0].steps
    want = np.array(plate.reference([problem.clock.time(step) for step in frames]))
    stepper = problem.stepper(backend, problem.initial())
    worst = 0.0
    for step, T in zip(frames, want):
        stepper.advance(step - stepper.step)
        worst = max(worst, float(np.max(np.abs(backend.to_host(stepper.state["temperature"]) - T))))
    if isinstance(stepper, ControlledStepper):
        assert stepper.control["error"] <= plate.sections["time"]["tolerance"]
    return worst / (plate.sections["time"]["tolerance"] * float(np.ptp(want)))


@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
@pytest.mark.parametrize("switches", [False, True], ids=["smooth", "switches"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_plate_is_within_its_tolerance(seed: int, switches: bool, stepper: str) -> None:
    assert off_by(random_plate(seed, switches, 6), open_backend("cpu"), stepper=stepper) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("stepper", ["auto", "rkl2", "adi"])
@pytest.mark.parametrize(("switches", "count"), [(False, 500), (True, 60)], ids=["smooth", "switches"])
def test_random_plates_are_within_their_tolerance(
    backend: Backend, switches: bool, count: int, stepper: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """99 of 100, and none beyond three times the tolerance."""
    off = np.array([off_by(random_plate(seed, switches, 16), backend, stepper=stepper) for seed in range(count)])
    with capsys.disabled():
        shares = ", ".join(f"{q:.0%}: {np.quantile(off, q):.2f}" for q in (0.5, 0.9, 0.99, 1.0))
        print(f"\n{stepper}, {count} plates: {np.mean(off <= 1):.1%} within, quantiles {shares}")
    assert np.mean(off <= 1.0) >= 0.99
    assert off.max() <= 3.0

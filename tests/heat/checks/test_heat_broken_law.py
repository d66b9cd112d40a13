"""A conductivity that becomes negative, or no number, during a run is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simsuite.backends import open_backend
from simsuite.solvers.heat.problem import HeatProblem


def told(
    heat: Callable[..., HeatProblem], conductivity: Any, power: str, stepper: str = "auto", **more: Any
) -> str | None:
    """What the rows of a run are found to say."""
    problem = heat(
        grid={"nx": 12, "ny": 6, "lx": 0.2, "ly": 0.1},
        material={"conductivity": conductivity, "density": 2000.0, "specific_heat": 800.0},
        initial={"temperature": 20.0},
        source=[{"power": power}],
        time={"end": 600.0, "stepper": stepper, "tolerance": 1e-3},
        output={"frames": 7},
        **({"units": "degC"} | more),
    )
    stepper_ = problem.stepper(open_backend("cpu"), problem.initial())
    stepper_.advance(problem.clock.end)
    with stepper_.observe(problem.layout.series[0].dim) as observed:
        return problem.doubt(observed)


HOT = "1e6*(x < 0.1)*(t < 300)"


@pytest.mark.parametrize("stepper", ["auto", "explicit", "adi"])
def test_a_conductivity_that_is_no_number_is_told(heat: Callable[..., HeatProblem], stepper: str) -> None:
    found = told(heat, "2*sqrt(100 - T)", HOT, stepper)
    assert found is not None
    assert found.startswith("the conductivity is no number at T = ")
    assert "°C, and is taken as 0 at such temperatures" in found


def test_a_negative_conductivity_is_told_with_its_value(heat: Callable[..., HeatProblem]) -> None:
    found = told(heat, "2.2 - 0.02*T", HOT)
    assert found is not None
    T, value = float(found.partition("at T = ")[2].split()[0]), float(found.partition("conductivity is ")[2].split()[0])
    assert T > 110
    assert value == pytest.approx(2.2 - 0.02 * T, rel=1e-2)


@pytest.mark.parametrize("law", ["max(0, 2.2 - 0.02*T)", "2 + 0.01*T", 2.0])
def test_a_law_that_holds_is_not(heat: Callable[..., HeatProblem], law: Any) -> None:
    assert told(heat, law, HOT) is None


def test_temperatures_of_another_material_do_not_count(heat: Callable[..., HeatProblem]) -> None:
    """The law of the cool half would be negative at the temperatures of the hot one."""
    region = [{"shape": "rectangle", "x": [0.1, 0.2], "y": [0.0, 0.1], "conductivity": "1e-3*(60 - T)"}]
    assert told(heat, "0.1 + 0*T", HOT, region=region) is None
    assert told(heat, "0.1 + 0*T", "1e6*(x > 0.1)*(t < 300)", region=region) is not None

"""Which stepper a heat scenario gets, and whether its automatic steps keep what `tolerance` promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.errors import ScenarioError
from simsuite.solvers.heat.problem import HeatProblem

HOLD = {"kind": "temperature", "value": 0.0}
HELD = dict.fromkeys(("left", "right", "bottom", "top"), HOLD)
MIXED = {"left": HOLD, "right": {"kind": "convection", "h": 2.0, "ambient": 1.0}, "top": {"kind": "flux", "value": 0.5}}
LINE = {"shape": "rectangle", "x": [0.5, 0.54], "y": [0.3, 0.7]}
VARIABLE = {"conductivity": "1 + 0.5*x", "density": 2.0, "specific_heat": 0.5}


def frames(problem: HeatProblem) -> list[np.ndarray]:
    stepper = problem.stepper(open_backend("cpu"), problem.initial())
    found = []
    for step in problem.layout.series[0].steps:
        stepper.advance(step - stepper.step)
        with stepper.snapshot() as held:
            found.append(np.array(held.arrays["temperature"]))
    return found


def auto(heat: Callable, **sections: Any) -> HeatProblem:
    time = {"stepper": "auto", "end": 0.2, **sections.pop("time", {})}
    return heat(**{"grid": {"nx": 24, "ny": 20}, "initial": {"temperature": "x*y"}, "time": time} | sections)


@pytest.mark.parametrize(
    ("sections", "stepper"),
    [
        ({}, "exact"),
        ({"boundary": MIXED, "source": [{"power": "x"}]}, "exact"),
        ({"material": VARIABLE, "grid": {"nx": 200, "ny": 200}}, "rkl2+adi"),
        ({"material": VARIABLE, "time": {"end": 1e-3, "tolerance": 0.1}}, "explicit"),
        ({"time": {"dt": 1e-4}}, "explicit"),
    ],
)
def test_auto_takes_the_cheapest(heat: Callable, sections: dict, stepper: str) -> None:
    problem = auto(heat, **sections)
    assert problem.method["stepper"] == stepper
    assert problem.method["stepper_reason"]


@pytest.mark.parametrize(("gpu", "each"), [(False, 4e-4), (True, 1e-3)])
def test_steps_that_control_their_error_take_time_besides_the_work_per_cell(
    heat: Callable, gpu: bool, each: float
) -> None:
    """Which on few cells is most of it; equal steps do without."""
    moving = {"grid": {"nx": 8, "ny": 8}, "boundary": {"left": {"kind": "temperature", "value": "sin(3*t)"}}}
    few = heat(**moving, time={"end": 200.0, "stepper": "rkl2"})
    steps = few.plan.control.expected
    seconds = few.usual_seconds(gpu)
    assert seconds > each * steps
    equal = heat(**moving, time={"end": 200.0, "stepper": "adi", "dt": 200.0 / steps})
    assert equal.usual_seconds(gpu) < each * steps


def test_auto_says_why_not_exact(heat: Callable) -> None:
    method = auto(heat, material=VARIABLE).method
    assert "exact does not apply: the conductivity is not the same everywhere" in method["stepper_reason"]
    assert method["stepper"] == "rkl2+adi"
    assert "explicit" in method["stepper_reason"]


def test_exact_where_it_does_not_apply_names_reason_and_alternatives(heat: Callable) -> None:
    with pytest.raises(ScenarioError) as caught:
        auto(heat, material=VARIABLE, time={"stepper": "exact"})
    (mistake,) = caught.value.mistakes
    assert mistake.path == ("time", "stepper")
    assert "`exact` does not apply" in mistake.message
    assert all(name in str(mistake.help) for name in ("explicit", "rkl2", "adi"))


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
@pytest.mark.parametrize("initial", ["sin(pi*x)*sin(pi*y)", "sin(pi*x)*sin(pi*y) + 0.3*sin(3*pi*x)*sin(2*pi*y)", 1.0])
def test_automatic_steps_meet_the_tolerance(
    heat: Callable, stepper: str, tolerance: float, initial: str | float
) -> None:
    """At every frame, relative to the largest temperature of the start; the exact stepper has no error in time."""
    sections = {"initial": {"temperature": initial}, "boundary": HELD, "output": {"frames": 6}}
    want = frames(auto(heat, **sections, time={"stepper": "exact"}))
    got = frames(auto(heat, **sections, time={"stepper": stepper, "tolerance": tolerance}))
    worst = max(float(np.sqrt(np.mean((a - b) ** 2))) for a, b in zip(want, got))
    assert worst <= tolerance * float(np.sqrt(np.mean(want[0] ** 2)))


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4])
@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize(
    "shape", [{"shape": "circle", "center": [0.5, 0.5], "radius": 0.2}, LINE], ids=["disc", "line"]
)
def test_automatic_steps_of_adi_meet_the_tolerance_beside_what_is_held(
    heat: Callable, shape: dict, start: float, tolerance: float
) -> None:
    """Against ones of rkl2, a fiftieth as long as these would be elsewhere."""
    region = [{**shape, "temperature": 1.0 - start}]
    cold = {"kind": "temperature", "value": 0.0}
    sections = {"initial": {"temperature": start}, "boundary": {"left": cold, "bottom": cold}, "region": region}
    sections |= {"grid": {"nx": 32, "ny": 32}, "output": {"frames": 2}}
    want = frames(auto(heat, **sections, time={"end": 0.05, "stepper": "rkl2", "dt": 0.05 / 2000}))[-1]
    got = frames(auto(heat, **sections, time={"end": 0.05, "stepper": "adi", "tolerance": tolerance}))[-1]
    assert np.sqrt(np.mean((got - want) ** 2)) <= tolerance * np.sqrt(np.mean(want**2))


@pytest.mark.filterwarnings("error")
def test_a_source_that_is_infinite_for_a_while_is_planned_without_a_warning(heat: Callable) -> None:
    """The run says at which step there is no number any more."""
    assert auto(heat, source=[{"power": "x*exp(1/(t - 0.5)**2)*(1 + T)"}], time={"end": 1.0}).clock.end > 0


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_automatic_steps_resolve_edges_that_move(heat: Callable, stepper: str) -> None:
    edges = {**HELD, "left": {"kind": "temperature", "value": "sin(60*t)"}}
    fine = frames(auto(heat, boundary=edges, time={"stepper": stepper, "dt": 2e-5}))
    got = frames(auto(heat, boundary=edges, time={"stepper": stepper, "tolerance": 1e-4}))
    assert max(float(np.sqrt(np.mean((a - b) ** 2))) for a, b in zip(fine, got)) <= 1e-4


LAW = {"conductivity": "50*exp(0.002*(T - 300))", "density": 7800.0, "specific_heat": 500.0}
STRONG = {"source": [{"power": "5e8*exp(-((x - 0.5)**2 + (y - 0.5)**2)/0.1)"}], "initial": {"temperature": 300.0}}


def test_a_conductivity_that_falls_beside_a_strong_source_leaves_all_steppers(heat: Callable) -> None:
    falling = LAW | {"conductivity": "50*exp(-0.002*(T - 300))"}
    for stepper in ("auto", "explicit", "rkl2", "adi"):
        plan = heat(material=falling, **STRONG, time={"end": 3600.0, "stepper": stepper}).plan
        assert plan.control is None or plan.control.safe > 1.0, stepper


@pytest.mark.parametrize("end", [300.0, 3600.0])
def test_a_conductivity_that_grows_beyond_bounds_is_left_to_adi(heat: Callable, end: float) -> None:
    """At the temperature that the source could drive a cell to it is 1e32 W/(m K), or beyond all numbers."""
    for stepper in ("auto", "adi"):
        plan = heat(material=LAW, **STRONG, time={"end": end, "stepper": stepper}).plan
        assert plan.stepper == "adi"
    assert "too short" in plan.reason


def test_where_no_step_is_stable_at_temperatures_that_may_come_the_conductivity_is_named(heat: Callable) -> None:
    with pytest.raises(ScenarioError) as caught:
        heat(material=LAW, **STRONG, time={"end": 3600.0, "stepper": "rkl2"})
    (mistake,) = caught.value.mistakes
    assert mistake.path == ("material", "conductivity")
    assert "limit it" in mistake.help


def test_explicit_steps_are_not_taken_for_exact_where_a_source_heats_what_was_even(heat: Callable) -> None:
    """Steps at the limit of stability miss the tolerance by a thousand times."""
    plan = heat(material=LAW | {"conductivity": "50 + x"}, **STRONG, time={"end": 3600.0, "stepper": "auto"}).plan
    assert plan.stepper == "rkl2+adi"
    assert "explicit might miss the tolerance" in plan.reason


def test_how_far_explicit_steps_may_be_off_is_said_without_an_exponent(heat: Callable) -> None:
    plan = heat(
        material={"diffusivity": 0.1},
        initial={"temperature": "300 + 1000*cos(pi*x)"},
        boundary={"left": {"kind": "convection", "h": 1.0, "ambient": "300 + 100*sin(t)"}},
        time={"end": 0.1, "stepper": "auto"},
    ).plan
    assert plan.reason.endswith("; explicit might miss the tolerance: its error may be up to 100 K")

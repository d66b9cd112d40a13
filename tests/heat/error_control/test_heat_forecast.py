"""Forecasts of steps whose lengths follow from their error, against the steps that runs take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simsuite.backends.cpu import CpuBackend
from simsuite.progress import SETTLING, Meter
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
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
    "a can of water that jumps from one rest to the next": {
        "grid": {"nx": 1, "ny": 1, "lx": 0.1, "ly": 0.1},
        "material": {"conductivity": 400.0, "density": 1000.0, "specific_heat": 4186.0},
        "initial": {"temperature": 20.0},
        "boundary": {
            "top": {"kind": "convection", "h": 40.0, "ambient": 20.0},
            "left": {"kind": "convection", "h": "5 + 5*(t >= 1800)", "ambient": "20 - 10*(t > 3000)"},
        },
        "source": [{"power": "5e4*(t < 1200) + 2e4*(t >= 2000)*(t < 2400)"}],
        "time": {"end": 7200.0, "tolerance": 1e-5, "stepper": "auto"},
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


YEAR = 365.25 * 86400
SOIL = {"density": 1800.0, "specific_heat": 1000.0}
GROUND = {"grid": {"nx": 4, "ny": 40, "lx": 1.0, "ly": 10.0}, "initial": {"temperature": 275.0}}
SEASONS = {"top": {"kind": "temperature", "value": f"275 + 15*sin(2*pi*t/{YEAR})"}}
COARSE = PLATE | WARM | {"grid": {"nx": 12, "ny": 12, "lx": 0.1, "ly": 0.1}}
FLOAT32 = {"run": {"precision": "float32"}}
FAN = {"kind": "convection", "h": "10 + 490*((t % 60) < 20)", "ambient": 20.0}
# These took seven times as many steps as expected, since the first of them leave little of the tolerance to the others.
TRAIN_AND_HALF_WAVES = "1e4*(t % 1 < 0.3)*(t < 20.15) - 2e3*max(0, sin(2*pi*t/3))*(t >= 10)"
RANGES = {
    "ground that freezes": GROUND
    | {"material": SOIL | {"conductivity": "2.2 - 1.2*(T > 273.15)"}, "boundary": SEASONS}
    | {"time": {"end": 2 * YEAR, "stepper": "adi", "tolerance": 1e-3}},
    "ground that conducts more when warm": GROUND
    | {"material": SOIL | {"conductivity": "1.5*(1 + 0.01*(T - 280))"}, "boundary": SEASONS}
    | {"time": {"end": 2 * YEAR, "stepper": "rkl2", "tolerance": 1e-3}},
    "ground that is the same": GROUND
    | {"material": SOIL | {"conductivity": 1.5}, "boundary": SEASONS}
    | {"time": {"end": 5 * YEAR, "stepper": "adi", "tolerance": 1e-4}},
    "waves of heat that the plate keeps": COARSE
    | {"boundary": {"left": {"kind": "flux", "value": "1e4*sin(2*pi*t)"}}}
    | {"time": {"end": 20.0, "stepper": "adi", "tolerance": 1e-4}},
    "a fan beside a rod that its other end warms": PLATE
    | {"grid": {"nx": 12, "ny": 1, "lx": 0.1, "ly": 0.01}, "initial": {"temperature": 20.0}}
    | {"material": {"conductivity": 45.0, "density": 7800.0, "specific_heat": 470.0}}
    | {"boundary": {"left": {"kind": "temperature", "value": 80.0}, "right": FAN}}
    | {"time": {"end": 600.0, "stepper": "rkl2", "tolerance": 1e-4}},
    "pulses and half-waves that a cell keeps": WARM
    | {"grid": {"nx": 1, "ny": 1, "lx": 0.01, "ly": 0.01}}
    | {"material": {"conductivity": 1e4, "density": 1000.0, "specific_heat": 1000.0}}
    | {"boundary": {"left": {"kind": "flux", "value": TRAIN_AND_HALF_WAVES}}}
    | {"time": {"end": 40.0, "stepper": "auto", "tolerance": 1e-5}},
    "a train of peaks that the plate keeps": COARSE
    | {"source": [{"power": "1e7*exp(-((t % 10 - 5)/0.6)**2)*exp(-((x - 0.05)/0.02)**2)"}]}
    | {"time": {"end": 60.0, "stepper": "rkl2", "tolerance": 1e-4}},
    "single precision below its rounding": COARSE
    | FLOAT32
    | {"boundary": {"left": {"kind": "temperature", "value": 310.0}}}
    | {"time": {"end": 100.0, "stepper": "rkl2", "tolerance": 1e-7}},
    "a wave in single precision": COARSE
    | FLOAT32
    | {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*sin(t/5)"}}}
    | {"time": {"end": 100.0, "stepper": "adi", "tolerance": 1e-7}},
    "double precision below its rounding": PLATE
    | WARM
    | {"grid": {"nx": 6, "ny": 5, "lx": 0.1, "ly": 0.1}}
    | {"boundary": {"left": {"kind": "temperature", "value": 310.0}}}
    | {"time": {"end": 5.0, "stepper": "rkl2", "tolerance": 1e-14}},
    "an edge that moves away from a plate at rest": COARSE
    | {"boundary": {"left": {"kind": "temperature", "value": "300 + 20*(t/100)**2"}}}
    | {"time": {"end": 100.0, "stepper": "rkl2", "tolerance": 1e-3}},
    "kinks and infinitely fast beginnings": COARSE
    | {"boundary": {"left": {"kind": "temperature", "value": "300 + 3*sqrt(t) + 5*abs(t % 20 - 10)"}}}
    | {"time": {"end": 100.0, "stepper": "adi", "tolerance": 1e-4}},
}


@pytest.mark.parametrize("name", RANGES)
def test_runs_take_as_many_steps_as_check_says(heat: Callable[..., HeatProblem], name: str) -> None:
    problem = heat(**RANGES[name])
    stepper: Any = problem.stepper(CpuBackend(), problem.initial())
    stepper.advance(problem.clock.end)
    least, most = problem.steps_expected
    if "freezes" in name:  # cells may stay at a jump of the conductivity, with steps without number
        assert most is None
        most = 9 * least
    assert most is not None
    assert least <= stepper.taken <= most
    assert most <= 9.1 * least * (32**0.5 if "keeps" in name else 1.0) + 10


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


GROWING = PLATE | WARM | {"time": {"end": 1e4, "stepper": "adi", "tolerance": 1e-4}}
SPREAD = {
    "steps that grow after the beginning": GROWING
    | {"boundary": {"left": {"kind": "convection", "h": 100.0, "ambient": 900.0}}},
    "two short flashes": GROWING
    | {"boundary": {"left": {"kind": "flux", "value": "1e6*(exp(-((t - 2e3)/20)**2) + exp(-((t - 7e3)/20)**2))"}}},
    "an edge that is switched": GROWING
    | {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*(t % 4e3 > 2e3)"}}},
    "a wave": GROWING | {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*sin(t/100)"}}},
}


@pytest.mark.parametrize("name", SPREAD)
def test_the_time_left_goes_by_when_steps_are_taken(heat: Callable[..., HeatProblem], name: str) -> None:
    """Of steps that all take a second. In proportion to the time that is over, hundreds of times too many would be
    left of a run with flashes, or one that only begins with short steps."""
    problem = heat(**SPREAD[name])
    stepper: Any = problem.stepper(CpuBackend(), problem.initial())
    at = [0]
    while stepper.step < problem.clock.end:
        stepper.advance(1)
        at.append(stepper.step)
    now, all_steps, told = [0.0], len(at) - 1, 0
    meter = Meter(problem.work, 0, problem.clock.end, lambda: now[0], least=SETTLING, foretold=True)
    for taken, step in enumerate(at):
        now[0] = float(taken)
        meter.reach(step)
        left = all_steps - taken
        if meter.seconds_left is not None and 0.1 < taken / all_steps < 0.85:
            told += 1
            assert left / 5 < meter.seconds_left < 5 * left, taken
    assert told > 0.5 * all_steps
    assert problem.work(problem.clock.end) == pytest.approx(all_steps * 24 * 24, rel=2.0)

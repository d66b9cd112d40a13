"""How many steps are foretold where they control their error, against how many were taken; and what that goes by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import gamma
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.time_scales.data_stops import data_stops
from simsuite.solvers.heat.time_scales.rates_of_change import Pace, pace

PLATE: dict[str, Any] = {"grid": {"nx": 12, "ny": 10}, "initial": {"temperature": 300.0}}
MOVING: dict[str, dict[str, Any]] = {
    "nothing": {"initial": {"temperature": "300 + 10*sin(5*x)"}},
    "wave at an edge": {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*sin(300*t)"}}},
    "slow wave": {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*sin(3*t)"}}},
    "flux": {"boundary": {"left": {"kind": "flux", "value": "50*sin(200*t)**2"}}},
    "air": {"boundary": {"top": {"kind": "convection", "h": 3.0, "ambient": "300 + 10*cos(200*t)"}}},
    "wind": {"boundary": {"top": {"kind": "convection", "h": "3 + 2*sin(200*t)", "ambient": 310.0}}},
    "source": {"source": [{"power": "100*(1 + sin(400*t))*exp(-((x - 0.4)/0.2)**2)"}]},
    "laser": {"source": [{"power": "900*exp(-((x-0.5-0.3*cos(60*t))**2 + (y-0.5-0.3*sin(60*t))**2)/0.01)"}]},
    "switched edge": {"boundary": {"left": {"kind": "temperature", "value": "300 + 10*(t % 0.1 < 0.05)"}}},
    "switched source": {"source": [{"power": "100*x*(t % 0.1 < 0.05)"}]},
    "short pulses": {"boundary": {"left": {"kind": "temperature", "value": "300 + 9*exp(-((t % 0.2 - 0.1)/0.01)**2)"}}},
    "saw": {"boundary": {"left": {"kind": "flux", "value": "300*abs(t % 0.1 - 0.05)"}}},
}


STEPPERS = ("auto", "rkl2", "adi")
SOME = {(case, STEPPERS[i % 3]) for i, case in enumerate(MOVING)}  # each of the data by one of them


@pytest.mark.parametrize(("case", "stepper"), others_long(itertools.product(MOVING, STEPPERS), SOME, several=True))
def test_as_many_steps_are_taken_as_are_foretold(heat: Callable[..., HeatProblem], case: str, stepper: str) -> None:
    """Where data move fast, up to a hundred times as many as were."""
    problem = heat(**PLATE | MOVING[case], time={"end": 1.0, "stepper": stepper, "tolerance": 1e-3})
    if problem.plan.control is None:
        pytest.skip("the exact stepper, or the explicit one, is faster")
    run: Any = problem.stepper(open_backend("cpu"), problem.initial())
    run.advance(problem.clock.end)
    least, most = problem.steps_expected
    assert most is not None
    assert least <= run.taken <= most


def test_a_wave_makes_as_many_turns_as_it_has_radians(heat: Callable[..., HeatProblem]) -> None:
    """A cell that follows its edges at once: T''' = A ω³ |cos ωt|, of a range of 2 A, in closed form."""
    edges = {
        edge: {"kind": "temperature", "value": "300 + 10*sin(40*t)"} for edge in ("left", "right", "top", "bottom")
    }
    made = heat(
        grid={"nx": 1, "ny": 1}, material={"diffusivity": 1e6}, boundary=edges | {}, initial={"temperature": 300.0}
    ).made
    mean = gamma(2 / 3) / (math.sqrt(math.pi) * gamma(7 / 6))  # of |cos|^(1/3)
    found = pace(made, 10.0, (), 1e-7)
    assert found.turns == pytest.approx(400.0 * mean / 2 ** (1 / 3), rel=0.1)
    assert found.rough == 0.0


def test_a_jump_costs_the_logarithm_of_the_time_to_the_next(heat: Callable[..., HeatProblem]) -> None:
    edge = {"kind": "temperature", "value": "300 + 10*(t >= 1) - 10*(t >= 4)"}
    problem = heat(material={"diffusivity": 1e3}, boundary={"left": edge}, initial={"temperature": 300.0})
    found = pace(problem.made, 10.0, (1.0, 4.0), 1e-6)
    assert found.turns == 0.0
    assert found.rough == pytest.approx(math.log1p(3e6) + math.log1p(6e6), rel=1e-6)
    twice = pace(problem.made, 10.0, (4.0, 1.0), 1e-6)
    assert twice == found, "in any order"


@pytest.mark.parametrize("power", ["3e3*x", "0.9*T", "-20*(T - 300)*x"])
def test_data_that_stand_still_make_no_turns(heat: Callable[..., HeatProblem], power: str) -> None:
    problem = heat(**PLATE, source=[{"power": power}], time={"end": 1.0, "stepper": "rkl2"})
    assert pace(problem.made, 1.0, (), 1e-3) == Pace()
    assert problem.steps_expected[1] is not None, "a source in proportion to T does nothing by surprise"


@pytest.mark.parametrize("power", ["3*(T - 290)**2", "500*(T < 302)", "exp(T/100)"])
def test_where_a_source_acts_back_nobody_knows_how_many(heat: Callable[..., HeatProblem], power: str) -> None:
    problem = heat(**PLATE, source=[{"power": power}], time={"end": 0.1, "stepper": "adi"})
    least, most = problem.steps_expected
    assert least > 0
    assert most is None


def test_more_jumps_than_are_looked_at_count_as_many_times(heat: Callable[..., HeatProblem]) -> None:
    edge = {"kind": "temperature", "value": "300 + 10*(t % 0.02 < 0.01)"}
    made = heat(material={"diffusivity": 1e3}, boundary={"left": edge}, initial={"temperature": 300.0}).made
    few, many = (pace(made, end, np.arange(0.01, end, 0.01).tolist(), 1e-6).rough for end in (1.0, 10.0))
    assert many / few == pytest.approx(10.0, rel=0.05)


@pytest.mark.parametrize("at", [0.15, 0.37, 0.56, 0.8125])
@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("kind", ["flux", "source"])
def test_a_peak_makes_a_few_turns_however_short_it_is(
    heat: Callable[..., HeatProblem], kind: str, width: float, at: float
) -> None:
    """Some three: ω = (2/(√π w³))^(1/3) over three widths w, where the range is what it warms cells by; and 16 at most
    while that grows from 1e-7 of itself, as temperatures are all the same at first."""
    peak = f"exp(-((t - {at})/{width})**2)/{width}"
    given = (
        {"source": [{"power": peak}]} if kind == "source" else {"boundary": {"top": {"kind": "flux", "value": peak}}}
    )
    made = heat(**PLATE | given, material={"diffusivity": 1e-3}, time={"end": 1.0, "stepper": "rkl2"}).made
    stops = data_stops(made, 1.0, (0.0, 1.0)).times
    beginning = math.log(1e7)
    assert 0.3 < pace(made, 1.0, (), 1e-3, stops).turns < 20.0 + beginning


def test_a_short_pulse_counts_by_what_it_brings(heat: Callable[..., HeatProblem]) -> None:
    """Beside it a wave is small, which without it is all there is."""
    edge = {"kind": "flux", "value": "0.01*sin(40*t) + 1e5*(t > 0.56)*(t < 0.5601)"}
    made = heat(**PLATE, boundary={"top": edge}, time={"end": 1.0, "stepper": "rkl2"}).made
    assert pace(made, 1.0, (0.56, 0.5601), 1e-3).turns < 0.2 * pace(made, 1.0, (), 1e-3).turns

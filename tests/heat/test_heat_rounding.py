"""What float32 rounds away in steps whose error is controlled: counted, warned of, and no reason for more steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.solvers.heat.error_control.controlled import ControlledStepper
from simsuite.solvers.heat.problem import HeatProblem

N, END, TOLERANCE = 24, 0.1, 1e-5


def slow_source(heat: Callable[..., HeatProblem], precision: str, stepper: str, n: int = N) -> HeatProblem:
    """An insulated plate at 300 K that a source warms by little, in the shape of one mode."""
    return heat(
        grid={"nx": n, "ny": 2},
        initial={"temperature": 300.0},
        source=[{"power": "cos(pi*x)"}],
        time={"end": END, "stepper": stepper, "tolerance": TOLERANCE},
        run={"precision": precision},
    )


def outcome(problem: HeatProblem, backend: Backend) -> tuple[dict[str, Any], float]:
    """Results of a run, and how far it is from the exact solution on its grid, relative to the range."""
    stepper = problem.stepper(backend, problem.initial())
    assert isinstance(stepper, ControlledStepper)
    stepper.advance(problem.clock.end)
    n = problem.made.nx
    decay = 2.0 * n * n * (1.0 - math.cos(math.pi / n))  # of the mode on this grid, 1/s
    exact = (1.0 - math.exp(-decay * END)) / decay * np.cos(math.pi * (np.arange(n) + 0.5) / n)
    with stepper.observe("time") as observed:
        off = float(np.max(np.abs(observed.arrays["temperature"] - 300.0 - exact)))
        return problem.results(observed), off / float(np.ptp(exact))


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_rounding_is_part_of_the_error(heat: Callable[..., HeatProblem], backend: Backend, stepper: str) -> None:
    p = slow_source(heat, "float32", stepper, 6 if backend.name == "cudasim" else N)
    results, off = outcome(p, backend)
    assert TOLERANCE < off <= results["time_error"]
    assert 0 < results["rounding_error"] <= results["time_error"]
    (text,) = p.shortcomings(results)
    assert 'set precision = "float64"' in text


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_float64_rounds_next_to_nothing(heat: Callable[..., HeatProblem], backend: Backend, stepper: str) -> None:
    if backend.name == "cudasim":
        pytest.skip("float32 shows that rounding is measured there")
    p = slow_source(heat, "float64", stepper, 6 if backend.name == "cudasim" else N)
    results, off = outcome(p, backend)
    assert off <= results["time_error"] <= TOLERANCE
    assert results["rounding_error"] < 1e-9
    assert not p.shortcomings(results)


def sine(heat: Callable[..., HeatProblem], height: float, n: int) -> HeatProblem:
    """Insulated, at 300 K and a mode of that height, K, which decays."""
    return heat(
        grid={"nx": n, "ny": 2},
        initial={"temperature": f"300 + {height}*cos(pi*x)"},
        time={"end": END, "stepper": "rkl2", "tolerance": TOLERANCE},
    )


def test_differences_next_to_rounding_are_told_of(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    p = sine(heat, 1e-9, 6 if backend.name == "cudasim" else N)
    results, _ = outcome(p, backend)
    assert results["time_error"] > TOLERANCE
    (text,) = p.shortcomings(results)
    assert "float64 rounds temperatures" in text
    assert "count all of them from 300 " in text


def test_a_plate_that_differs_by_rounding_alone_is_not(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    p = sine(heat, 1e-13, 6)
    results, _ = outcome(p, backend)
    assert results["time_error"] > TOLERANCE
    assert not p.shortcomings(results)


def test_rounding_does_not_cost_steps(heat: Callable[..., HeatProblem], backend: Backend) -> None:
    """Estimates are rounding from the first step on, which is as short as an explicit one."""
    if backend.name == "cudasim":
        pytest.skip("needs many cells")
    results, _ = outcome(slow_source(heat, "float32", "rkl2"), backend)
    shortest, longest = results["dt"]
    assert longest > 10 * shortest


@pytest.mark.parametrize("stepper", ["rkl2", "adi"])
def test_steps_do_not_depend_on_where_temperatures_are_counted_from(
    heat: Callable[..., HeatProblem], one_thread: None, stepper: str
) -> None:
    """A plate that follows its slowly warming surroundings: at the beginning its range is less than what rounding may
    make of the sum of all estimates, from 295 K on. That took eight times the steps."""
    found, steps = [], []
    for begin in (0.0, 295.0):
        edge = {"kind": "convection", "h": 80.0, "ambient": f"{begin} + 0.2*t"}
        p = heat(
            grid={"nx": 12, "ny": 2, "lx": 0.06, "ly": 0.01},
            material={"conductivity": 3.5, "density": 2300.0, "specific_heat": 950.0},
            initial={"temperature": begin},
            boundary={"left": edge, "right": edge},
            time={"end": 600.0, "stepper": stepper, "tolerance": 1e-6},
        )
        run = p.stepper(open_backend("cpu"), p.initial())
        assert isinstance(run, ControlledStepper)
        run.advance(p.clock.end)
        with run.observe("time") as observed:
            found.append(observed.arrays["temperature"] - begin)
            assert p.results(observed)["time_error"] <= 1e-6
        steps.append(run.taken)
    assert steps[1] <= 1.5 * steps[0]
    assert np.abs(found[1] - found[0]).max() <= 2e-6 * np.ptp(found[0], axis=None) + 2e-6 * found[0].max()

"""Data that act for short parts of a run only count before it begins, wherever in the run these parts lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SIMULATING
from scipy.integrate import solve_ivp

from simsuite.backends import open_backend
from simsuite.errors import ScenarioError
from simsuite.expressions import Expression
from simsuite.solvers.heat.checks.grid_power import grid_power
from simsuite.solvers.heat.grid.spans import extreme_times, most_given
from simsuite.solvers.heat.problem import HeatProblem

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved that others do not test")
Heat = Callable[..., HeatProblem]
STEEL = {"density": 2330.0, "specific_heat": 700.0}
ROD = {"nx": 20, "ny": 1, "lx": 0.4, "ly": 1.0}


def pulses(rng: np.random.Generator) -> tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    """A random train of pulses with a slope along x, as text and as a function of x and t."""
    period, begin, share = rng.uniform(5.0, 60.0), rng.uniform(0.0, 50.0), 10.0 ** rng.uniform(-3.0, -0.5)
    size, slope, base = rng.uniform(-3.0, 3.0), rng.uniform(-1.0, 1.0), rng.uniform(-0.1, 0.1)
    text = f"{base} + ({size} + {slope}*x)*((t - {begin}) % {period} < {share * period})*(t > {begin})"

    def values(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        on = ((t - begin) % period < share * period) & (t > begin)
        return base + (size + slope * x) * on

    return text, values


@pytest.mark.parametrize("seed", range(12))
def test_the_extremes_of_pulses_are_found(seed: int) -> None:
    text, values = pulses(np.random.default_rng(seed))
    f, x = Expression.parse(text), np.linspace(0.0, 1.0, 5)
    t = np.linspace(0.0, 100.0, 1_000_001)
    every = np.array([values(at, t) for at in (0.0, 1.0)])
    largest, least = (values(x, np.array(at)) for at in extreme_times(f, 100.0, {"x": x, "y": x}))
    assert np.max(largest) == pytest.approx(np.max(every), rel=1e-9)
    assert np.min(least) == pytest.approx(np.min(every), rel=1e-9)
    integrals, sizes = most_given(f, 100.0, {"x": (0.0, 1.0), "y": (0.0, 1.0)})
    for sign, integral, size in zip((1.0, -1.0), integrals, sizes):
        most = np.maximum(np.max(sign * every, axis=0), 0.0)
        assert np.max(most) <= size * (1 + 1e-12) <= 1.2 * np.max(most) + 1e-12
        assert 0.99 * np.mean(most) * 100.0 <= integral <= 1.3 * np.mean(most) * 100.0 + 0.5


def worst(problem: HeatProblem, rod: Callable[[float, np.ndarray], np.ndarray], switches: list[float]) -> float:
    """The largest difference, K, between a run and the same row of cells by SciPy's Radau, at frames. rod: dT/dt."""
    backend = open_backend("cpu")
    stepper: Any = problem.stepper(backend, problem.initial())
    T, begin, largest = np.full(problem.made.nx, 300.0), 0.0, 0.0
    for frame in problem.layout.series[0].steps[1:]:
        stepper.advance(frame - stepper.step)
        time = problem.clock.time(frame)
        ends = [s for s in switches if begin < s < time] + [time]
        for end in ends:
            T = solve_ivp(
                lambda t, T, middle=0.5 * (begin + end): rod(middle, T), (begin, end), T, "Radau", rtol=1e-8, atol=1e-8
            ).y[:, -1]
            begin = end
        largest = max(largest, float(np.max(np.abs(backend.to_host(stepper.state["temperature"])[0] - T))))
    return largest


def test_auto_keeps_its_tolerance_where_pulses_begin_at_rest(heat: Heat) -> None:
    """The conductivity depends on T; nothing happens at any of the times at which everybody looks first."""
    problem = heat(
        grid=ROD,
        material={"conductivity": "150*(300/T)**1.2", **STEEL},
        initial={"temperature": 300.0},
        boundary={"right": {"kind": "temperature", "value": 300.0}},
        source=[{"power": "4e6*exp(-x/0.05)*(((t - 100) % 500) < 30)*(t >= 100)"}],
        time={"end": 2000.0, "stepper": "auto", "tolerance": 1e-4},
        output={"times": [100.0, 115.0, 130.0, 200.0, 400.0, 630.0]},
    )
    assert problem.method["stepper"] != "explicit"
    dx, capacity = 0.02, 2330.0 * 700.0
    x = (np.arange(20) + 0.5) * dx

    def rod(t: float, T: np.ndarray) -> np.ndarray:
        k = 150.0 * (300.0 / (0.5 * (T[1:] + T[:-1]))) ** 1.2
        flux = np.concatenate([[0.0], k * np.diff(T) / dx])
        out = 150.0 * (300.0 / (0.5 * (T[-1] + 300.0))) ** 1.2 * (300.0 - T[-1]) / (0.5 * dx)
        heated = 4e6 * np.exp(-x / 0.05) * ((t - 100.0) % 500.0 < 30.0) * (t >= 100.0)
        return (np.diff(np.append(flux, out)) / dx + heated) / capacity

    assert worst(problem, rod, [100.0, 130.0, 600.0, 630.0, 1100.0, 1130.0, 1600.0, 1630.0]) < 1e-4 * 60.0


PULSE = "(((t - 90) % 500) < 8)*(t >= 90)"
UNSTEADY: dict[str, dict[str, Any]] = {
    "an edge that heats a conductor": {
        "material": {"conductivity": "15 + 0.5*max(0, T - 300)", **STEEL},
        "boundary": {"right": {"kind": "temperature", "value": f"300 + 1000*{PULSE}"}},
    },
    "a surface that cools well": {
        "material": {"conductivity": 1.5, **STEEL},
        "boundary": {"right": {"kind": "convection", "h": f"5 + 1e7*{PULSE}", "ambient": 350.0}},
    },
    "a flux that heats a conductor": {
        "material": {"conductivity": "15 + 0.5*max(0, T - 300)", **STEEL},
        "boundary": {"right": {"kind": "flux", "value": f"3e6*{PULSE}"}},
    },
    "a source that heats a conductor": {
        "material": {"conductivity": "15 + 0.5*max(0, T - 300)", **STEEL},
        "source": [{"power": f"1e8*(x > 0.35)*{PULSE}"}],
    },
    "a source that holds a temperature": {
        "material": {"conductivity": 1.5, **STEEL},
        "initial": {"temperature": "300 + 50*sin(30*x)"},
        "source": [{"power": f"-2e6*(T - 300)*{PULSE}"}],
    },
}


@pytest.mark.parametrize("case", UNSTEADY)
def test_explicit_steps_are_as_short_as_a_pulse_demands(heat: Heat, case: str) -> None:
    """No temperature leaves the range of what heats and cools, and of what pulses of a source can add."""
    sections = {"initial": {"temperature": 300.0}, **UNSTEADY[case]}
    problem = heat(grid=ROD, time={"end": 2000.0}, output={"frames": 101}, **sections)
    backend = open_backend("cpu")
    stepper: Any = problem.stepper(backend, problem.initial())
    low, high = problem.made.reach(problem.made.edges.looks(2000.0), 2000.0)
    for frame in problem.layout.series[0].steps[1:]:
        stepper.advance(frame - stepper.step)
        T = backend.to_host(stepper.state["temperature"])
        assert low - 1e-9 <= np.min(T)
        assert np.max(T) <= high + 1e-9
        jumps = np.diff(np.sign(np.round(np.diff(T[0]), 6)))
        assert case == "a source that holds a temperature" or np.count_nonzero(np.abs(jumps) == 2) <= 4, "no waves"


@pytest.mark.parametrize("width", [0.1, 0.03, 3e-5])
def test_a_short_dip_below_absolute_zero_is_found(heat: Heat, width: float) -> None:
    left = {"kind": "temperature", "value": f"20 - 400*exp(-((t - 4.5)/{width})**2)"}
    with pytest.raises(ScenarioError, match="must not be below absolute zero") as caught:
        heat(units="degC", initial={"temperature": 20.0}, boundary={"left": left}, time={"end": 20.0})
    first = 4.5 - width * np.sqrt(np.log(400.0 / 293.15))
    assert float(caught.value.mistakes[0].message.rpartition("t = ")[2].removesuffix(" s")) == pytest.approx(first)


def test_a_narrow_source_that_heats_and_cools_in_turn_lacks_as_much_as_one_that_heats(heat: Heat) -> None:
    """In the middles of cells of 0.01 m, exp(-(d/0.004)²) is sampled at d = 0.005, 0.015, ...: 41 % too little."""
    power = "1e3*exp(-((x - 0.1)**2)/0.004**2)*sin(pi*t/10)"
    problem = heat(grid={"nx": 20, "ny": 20, "lx": 0.2, "ly": 0.2}, source=[{"power": power}], time={"end": 20.0})
    sampled = 0.01 * sum(np.exp(-(((k + 0.5) * 0.01 - 0.1) ** 2) / 0.004**2) for k in range(20))
    lack = 1.0 - sampled / (0.004 * np.sqrt(np.pi))
    found = grid_power(problem.made.sources[0], problem.made, 20.0)
    assert found.off == pytest.approx(lack, abs=0.01)
    assert 1.0 - found.ratio == pytest.approx(lack, abs=0.01)

"""Steady states that small deviations move away from: the rate at which they do, against closed forms and against all
eigenvalues of a matrix of differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.steady.balance import Balance
from simsuite.solvers.heat.steady.stability import growth_rate
from simsuite.solvers.heat.steady.steady import solve_steady

COLD = {"kind": "temperature", "value": 0.0}
INSULATED = {"kind": "insulated"}
STEADY = {"steady": True, "stepper": "auto"}


def rate_of(problem: HeatProblem) -> float | None:
    return growth_rate(problem.made, solve_steady(problem.made, problem.scenario).T)


def rod(heat: Callable[..., HeatProblem], power: str, n: int = 40, **more: Any) -> HeatProblem:
    edges = {"left": COLD, "right": COLD}
    grid = {"nx": n, "ny": 3, "lx": 2.0, "ly": 0.1}
    return heat(**{"grid": grid, "boundary": edges, "source": [{"power": power}], "time": STEADY, **more})


def slowest(n: int, length: float) -> float:
    """The least eigenvalue of differences on n cells whose ends are held: 4/dx^2 sin^2(pi dx/(2 L))."""
    dx = length / n
    return 4.0 / dx**2 * math.sin(0.5 * math.pi * dx / length) ** 2


@pytest.mark.parametrize("n", [2, 7, 40, 300])
@pytest.mark.parametrize("gain", [-1.0, 0.5, 2.4, 2.5, 3.0, 20.0, 80.0])
def test_a_rod_that_heats_itself(heat: Callable[..., HeatProblem], gain: float, n: int) -> None:
    """dT/dt = T'' + r T + 1: deviations grow by r - lambda_1, where that is more than 0. At r = 20 and 80 other modes
    grow as well, whose rates are smaller and nearer to 0."""
    wanted = max(0.0, gain - slowest(n, 2.0))
    assert rate_of(rod(heat, f"{gain}*T + 1", n)) == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_the_middle_one_of_three_states(heat: Callable[..., HeatProblem]) -> None:
    """T (1 - T) (T - 0.3) on an insulated plate: the slope at 0.3 is 0.21; 0 and 1 are stable."""
    for start, wanted in ((0.3, 0.21), (0.02, 0.0), (0.97, 0.0)):
        plate = heat(source=[{"power": "T*(1 - T)*(T - 0.3)"}], initial={"temperature": start}, time=STEADY)
        assert rate_of(plate) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_plates_against_all_eigenvalues(heat: Callable[..., HeatProblem], seed: int) -> None:
    rng = np.random.default_rng(seed)
    gain, bend, h = rng.uniform(5, 40), rng.uniform(0, 0.4), rng.uniform(0.5, 5)
    problem = heat(
        grid={"nx": 9, "ny": 8},
        material={"conductivity": f"1 + {bend}*T/(1 + abs(T))", "density": 2.0 + seed, "specific_heat": 3.0},
        boundary={"left": COLD, "top": {"kind": "convection", "h": h, "ambient": 0.5}},
        source=[{"power": f"{gain}*T*(x > 0.3) + 0.1"}],
        initial={"temperature": 0.2},
        time=STEADY,
    )
    T = solve_steady(problem.made, problem.scenario).T
    balance = Balance(problem.made)
    J = np.empty((T.size, T.size))
    for j in range(T.size):
        d = np.zeros(T.size)
        d[j] = 1e-5
        up, down = (balance.flux(T + side * d.reshape(T.shape))[0] for side in (1, -1))
        J[:, j] = ((up - down) / 2e-5).ravel()
    rates = np.linalg.eigvals(J / np.broadcast_to(problem.made.rho_c, T.shape).reshape(-1, 1))
    wanted = max(0.0, float(rates.real.max()))
    assert rate_of(problem) == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(("gain", "told"), [(2.0, False), (3.0, True)])
def test_an_unstable_state_is_told(heat: Callable[..., HeatProblem], gain: float, told: bool) -> None:
    problem = rod(heat, f"{gain}*T + 1")
    state = {"residual": 1e-12, "iterations": 1, "growth_rate": rate_of(problem)}
    found = [text for text in problem.shortcomings({"steady": state, **RESULTS}) if "steady state is unstable" in text]
    assert [f"by a factor of e in {1 / (gain - slowest(40, 2.0)):.3g} s" in text for text in found] == [True] * told


RESULTS = {
    "min": 0.0,
    "max": 1.0,
    "mean": 0.5,
    "energy": {"stored": 0.0, "boundary": 0.0, "source": 0.0, "residual": 0.0, "edges": {}},
}

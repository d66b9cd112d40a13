"""The RKL2 stepper: its coefficients against what the paper asks of them, its order against SciPy's DOP853."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import heat_plates
import numpy as np
import pytest
from heat_worlds import grid, plate
from numpy.polynomial import legendre
from scipy.integrate import solve_ivp

from simsuite.backends import open_backend
from simsuite.solvers.heat.rkl2.coefficients import coefficients, defect, longest_step, stages_for

STAGES = [3, 5, 9, 21, 101]


@pytest.mark.parametrize("s", STAGES)
def test_the_weights_are_those_of_a_second_order_method(s: int) -> None:
    """Σ w = 1 and Σ w c = 1/2; with the linear order condition below that is order 2 (Butcher)."""
    made = coefficients(s)
    assert made.weights.shape == made.times.shape == (s,)
    assert made.weights.sum() == pytest.approx(1.0, abs=1e-13)
    assert made.weights @ made.times == pytest.approx(0.5, abs=1e-13)
    assert made.times[0] == 0.0
    assert np.all(np.diff(made.times) > 0)
    assert made.times[-1] < 1.0


def growth(s: int, z: np.ndarray) -> np.ndarray:
    """What a step makes of a mode with Δt λ = -z, by the stages' recursion."""
    c = coefficients(s)
    first, before, now = z, np.ones_like(z), 1.0 + c.mu_tilde[1] * z
    for j in range(2, s + 1):
        rest = 1.0 - c.mu[j] - c.nu[j]
        new = c.mu[j] * now + c.nu[j] * before + rest + c.mu_tilde[j] * z * now + c.gamma_tilde[j] * first
        before, now = now, new
    return now


def stages_of(s: int, derivative: Callable[[float, float], float]) -> list[float]:
    """Y_0 .. Y_s of a step of 1 from Y = 0 at t = 0, for dY/dt = derivative(t, Y)."""
    c, Y = coefficients(s), [0.0]
    times = c.times
    M0 = derivative(0.0, 0.0)
    Y.append(c.mu_tilde[1] * M0)
    for j in range(2, s + 1):
        new = c.mu[j] * Y[-1] + c.nu[j] * Y[-2]
        Y.append(new + c.mu_tilde[j] * derivative(times[j - 1], Y[-1]) + c.gamma_tilde[j] * M0)
    return Y


@pytest.mark.parametrize("s", STAGES)
def test_the_estimate_has_at_least_the_error_of_data_in_time(s: int) -> None:
    """Of dY/dt = t²/2 a step should make 1/6. The estimate of three stages had 3/4 of the difference."""
    Y = stages_of(s, lambda t, _: t * t / 2)
    estimate = sum(d * Y[j] for j, d in defect(coefficients(s)).items())
    assert 0.99 <= estimate / (1 / 6 - Y[s]) <= 1.05
    for t_power in (0, 1):  # which a step has without an error
        Y = stages_of(s, lambda t, _, n=t_power: t**n)
        assert sum(d * Y[j] for j, d in defect(coefficients(s)).items()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("s", STAGES)
def test_the_stability_polynomial(s: int) -> None:
    """R(z) = 1 - b + b P_s(1 + w z), b = (s² + s - 2)/(2s(s + 1)), w = 4/(s² + s - 2): eqs. 13-15 of the paper.

    |R| ≤ 1 as far as `longest_step` goes, where P_s is at the end of its interval; R = 1 + z + z²/2 + O(z³).
    """
    b, w = (s * s + s - 2) / (2 * s * (s + 1)), 4 / (s * s + s - 2)
    end = 2.0 * longest_step(s, 1.0)  # λ = 2 / Δt_explicit
    z = -np.linspace(0.0, end, 5001)
    R = growth(s, z)
    assert np.abs(R - (1 - b + b * legendre.legval(1 + w * z, [0] * s + [1]))).max() <= 1e-12 * s
    assert np.abs(R).max() <= 1 + 1e-12
    assert 1 - w * end == pytest.approx(-1.0, abs=1e-12)
    small = np.array([-1e-3])
    assert growth(s, small) == pytest.approx(1 + small + small**2 / 2, abs=1e-9)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 2.5, 2.5001, 7.0, 7.1, 1000.0])
def test_the_stages_of_a_step(ratio: float) -> None:
    """The least odd number, 3 or more, that is stable."""
    s = stages_for(ratio, 1.0)
    assert s % 2 == 1
    assert longest_step(s, 1.0) >= ratio * (1 - 1e-9)
    assert s == 3 or longest_step(s - 2, 1.0) < ratio


EDGES = {
    "temperature": {"kind": "temperature", "value": "300 + 50*sin(6*t)*y"},
    "flux": {"kind": "flux", "value": "800*cos(7*t)"},
    "convection": {"kind": "convection", "h": "30*(1 + sin(5*t)**2)", "ambient": "300 + 100*sin(6*t)"},
    "radiation": {"kind": "radiation", "emissivity": "0.5 + 0.4*sin(4*t)", "ambient": "700 + 200*sin(6*t)"},
}


def worlds(kind: str) -> tuple[dict[str, Any], heat_plates.Plate]:
    """A small grid with one edge that moves, or a source or conductivity that depends on temperature."""
    shape, initial = (3, 4), {"temperature": "300 + 40*cos(4*x)*sin(3*y)"}
    boundary = {"left": EDGES.get(kind, EDGES["temperature"]), "top": {"kind": "temperature", "value": 310.0}}
    source = ["40*cos(8*t)*x*T"] if kind == "source" else []
    material = {"conductivity": "2*(T/300)**2" if kind == "law" else 2.0, "density": 3.0, "specific_heat": 5.0}
    sections = {"grid": grid(shape), "initial": initial, "material": material, "boundary": boundary}

    def k(y: int, x: int, T: float) -> float:
        return 2.0 * (T / 300) ** 2 if kind == "law" else 2.0

    model = plate(boundary, source, k, k, np.full(shape, 15.0), np.zeros(shape, bool))
    return sections | {"source": [{"power": text} for text in source]}, model


@pytest.mark.parametrize("kind", [*EDGES, "source", "law"])
def test_order_two_in_time(heat: Callable, kind: str) -> None:
    """Against DOP853 at 1e-12 on the same cells, written independently."""
    sections, model = worlds(kind)
    end, errors = 0.4, []
    exact = solve_ivp(
        lambda t, T: heat_plates.flows(model, T.reshape(model.held.shape), t).rate.ravel(),
        (0.0, end),
        heat(**sections, time={"end": end}).T0.ravel(),
        method="DOP853",
        rtol=1e-12,
        atol=1e-10,
    ).y[:, -1]
    for n in (4, 8, 16):
        problem = heat(**sections, time={"end": end, "stepper": "rkl2", "dt": end / n * (1 + 1e-12)})
        assert problem.clock.end == n
        stepper = problem.stepper(open_backend("cpu"), problem.initial())
        stepper.advance(n)
        with stepper.snapshot() as snapshot:
            errors.append(np.abs(snapshot.arrays["temperature"].ravel() - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.15), (errors, orders)
    assert errors[-1] > 1e-7, "or rounding hides the order"

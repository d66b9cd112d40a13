"""Compensated float32 steps: small increments are not lost, and everything else stays as it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.operator.compensated import LOW
from simsuite.solvers.heat.problem import HeatProblem

PERIODIC = {"kind": "periodic"}
ROUND = dict.fromkeys(("left", "right", "bottom", "top"), PERIODIC)
WARM = {  # hardly warmer or colder than the plate
    "left": {"kind": "temperature", "value": "300 + 0.01*y*sin(40*t)"},
    "right": {"kind": "flux", "value": "0.003*y - 0.001*t"},
    "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "300 + 0.02*x*cos(30*t)"},
    "top": {"kind": "insulated"},
}
OPERATORS: dict[str, dict[str, Any]] = {"constant": {}, "general": {"source": [{"power": 0.0}]}}
ULP = 2.0**-15  # of a float32 number from 256 to 512


def after(problem: HeatProblem, backend: Backend, *cuts: int, start: Snapshot | None = None) -> Snapshot:
    """Everything that evolves, after steps in stretches of those lengths."""
    stepper = problem.stepper(backend, start or problem.initial())
    for n in cuts:
        stepper.advance(n)
    with stepper.snapshot() as held:
        return Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})


def same(a: Snapshot, b: Snapshot) -> bool:
    return a.arrays.keys() == b.arrays.keys() and all(
        np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays
    )


@pytest.fixture
def slow(heat: Callable) -> Callable[..., tuple[HeatProblem, np.ndarray, float]]:
    """A ripple of 1 K at 300 K that decays by a fraction `loss` a step: the problem, the ripple, and `loss`."""

    def make(precision: str, operator: str, steps: int, loss: float) -> tuple[HeatProblem, np.ndarray, float]:
        nx, ny = 8, 6
        x, y = (np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / ny
        eigenvalue = 4 * (nx * math.sin(math.pi / nx)) ** 2 + 4 * (ny * math.sin(math.pi / ny)) ** 2
        dt = loss / eigenvalue
        problem = heat(
            run={"precision": precision},
            grid={"nx": nx, "ny": ny},
            initial={"temperature": "300 + sin(2*pi*x)*cos(2*pi*y)"},
            boundary=ROUND,
            time={"end": steps * dt, "dt": dt},
            **OPERATORS[operator],
        )
        assert problem.clock.end == steps
        return problem, np.sin(2 * math.pi * x) * np.cos(2 * math.pi * y)[:, None], problem.clock.dt(0) * eigenvalue

    return make


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_slow_decay_does_not_stand_still(slow: Callable, backend: Backend, operator: str) -> None:
    """Increments of a sixth of an ulp: an eigenvector of the 5-point operator is multiplied by 1 - Δtλ every step."""
    steps = 12 if backend.name == "cudasim" else {"constant": 200_000, "general": 2000}[operator]
    problem, ripple, loss = slow("float32c", operator, steps, 5e-6)
    T = after(problem, backend, steps).arrays
    assert T["temperature"].dtype == np.float32
    want = 300 + (1 - loss) ** steps * ripple
    assert np.abs(T["temperature"] - want).max() <= ULP, (
        "half an ulp of its own, and as much from differences of T alone"
    )
    fallen = (T["temperature"] - problem.T0).astype(float) + T[LOW]
    assert np.abs(fallen - (want - 300 - ripple)).max() <= 1e-3 * (1 - (1 - loss) ** steps)
    plain, _, _ = slow("float32", operator, steps, 5e-6)
    assert np.array_equal(after(plain, backend, steps).arrays["temperature"], plain.T0)


@pytest.mark.parametrize("nx", [5, 37])
def test_steps_equal_an_independent_step(heat: Callable, backend: Backend, nx: int) -> None:
    """Straight from the definition. Where products and sums are fused they are rounded otherwise."""
    steps, ny = 5, 7
    problem = heat(
        run={"precision": "float32c"},
        grid={"nx": nx, "ny": ny, "ly": 1.3},
        initial={"temperature": "300 + sin(19*x)*cos(7*y)"},
        boundary=ROUND,
        time={"end": steps * 1e-5, "dt": 1e-5},
    )
    rx, q = np.float32(problem.clock.dt(0) * nx**2), np.float32((ny / nx / 1.3) ** 2)
    T, low = problem.T0, np.zeros_like(problem.T0)
    for _ in range(steps):
        west, east, south, north = (np.roll(T, n, axis) - T for n, axis in ((1, 1), (-1, 1), (1, 0), (-1, 0)))
        rise = low + rx * ((west + east) + q * (south + north))
        new = T + rise
        T, low = new, rise - (new - T)
    got = after(problem, backend, steps).arrays
    if backend.name.startswith("cuda:"):
        assert np.abs(got["temperature"] - T).max() <= ULP
        assert np.abs((got["temperature"] - T) + (got[LOW] - low)).max() <= 1e-3 * ULP * steps
    else:
        assert np.array_equal(got["temperature"], T)
        assert np.array_equal(got[LOW], low)
    assert np.abs(low).max() > 0


@pytest.fixture
def warm(heat: Callable) -> Callable[..., HeatProblem]:
    """A plate of 300 K, with all kinds of edges."""

    def make(precision: str = "float32c", operator: str = "constant", nx: int = 7, **sections: Any) -> HeatProblem:
        return heat(
            run={"precision": precision},
            grid={"nx": nx, "ny": 6, "lx": 0.7, "ly": 1.3},
            boundary=WARM,
            initial={"temperature": "300 + 0.01*x + 0.005*y"},
            material={"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
            time={"end": 0.8, "dt": 1e-4},
            **OPERATORS[operator],
            **sections,
        )

    return make


@pytest.mark.parametrize("operator", OPERATORS)
def test_cuts_and_continuing_change_no_bit(warm: Callable, backend: Backend, operator: str) -> None:
    steps = 26 if backend.name == "cudasim" else 1000
    problem = warm(operator=operator)
    whole = after(problem, backend, steps)
    assert np.abs(whole.arrays[LOW]).max() > 0
    assert same(after(problem, backend, 1, 6, 3, steps - 10), whole)
    middle = after(problem, backend, 9)
    assert same(after(problem, backend, steps - 9, start=middle), whole)


@pytest.mark.parametrize("nx", [1, 3, 33])
def test_the_kernel_for_large_grids_equals_the_one_for_small(
    warm: Callable, backend: Backend, monkeypatch: pytest.MonkeyPatch, nx: int
) -> None:
    problem = warm(nx=nx)
    small = after(problem, backend, 5)
    monkeypatch.setattr(backend.kernels("simsuite.solvers.heat.explicit.explicit"), "MANY_CELLS", 0)
    assert same(after(problem, backend, 5), small)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_energy_ledger_closes(warm: Callable, backend: Backend, operator: str) -> None:
    """To roundings of what passes through faces in a step, not of what is there, as in plain float32."""
    steps = 10 if backend.name == "cudasim" else 8000
    residual = {}
    for precision in ("float32c", "float32"):
        problem = warm(precision, operator)
        stepper = problem.stepper(backend, problem.initial())
        stepper.advance(steps)
        with stepper.observe("time") as observed:
            energy = problem.results(observed)["energy"]
            assert LOW not in observed.arrays
        moved = math.fsum(map(abs, energy["edges"].values()))
        assert moved > 0
        residual[precision] = abs(energy["residual"]) / moved
    assert residual["float32c"] <= 1e-4
    assert residual["float32"] > 1e-2


def test_a_uniform_field_stays_exactly_uniform(heat: Callable, backend: Backend) -> None:
    problem = heat(run={"precision": "float32c"}, initial={"temperature": 0.1}, time={"end": 4e-3, "dt": 1e-3})
    assert np.all(after(problem, backend, 4).arrays["temperature"] == np.float32(0.1))


def test_auto_takes_explicit_steps(heat: Callable) -> None:
    problem = heat(run={"precision": "float32c"}, time={"end": 1e-2, "stepper": "auto"})
    assert problem.method["stepper"] == "explicit"
    assert "float32c" in problem.method["stepper_reason"]
    assert problem.method["precision"] == "float32c"
    variable = next(v for v in problem.layout.variables if v.name == "temperature")
    assert np.dtype(variable.dtype) == np.float32


def test_fields_on_the_device_are_counted(warm: Callable) -> None:
    """Two more than those of float32."""
    more, fewer = (warm(precision).device_bytes() for precision in ("float32c", "float32"))
    assert more - fewer == 2 * 7 * 6 * 4

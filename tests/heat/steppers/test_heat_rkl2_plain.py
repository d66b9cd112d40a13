"""Stages of the RKL2 stepper with constant coefficients against those for any, which know nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_heat_transform import Counting

from simsuite.core import Backend, Snapshot, Stepper
from simsuite.solvers.heat.operator.ledger import booked
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.rkl2 import stages as rkl2_stages

PERIODIC = {"kind": "periodic"}
BOUNDARIES: dict[str, dict[str, Any]] = {
    "moving": {
        "left": {"kind": "temperature", "value": "y*sin(40*t) + 1"},
        "right": {"kind": "flux", "value": "3*y - t"},
        "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "x*cos(30*t)"},
        "top": {"kind": "insulated"},
    },
    "steady": {
        "left": {"kind": "convection", "h": 2.5, "ambient": 1.5},
        "right": [{"kind": "temperature", "value": 0.25, "to": 0.5}, {"kind": "flux", "value": 1.0, "from": 0.5}],
        "bottom": {"kind": "insulated"},
        "top": {"kind": "temperature", "value": "x"},
    },
    "around x": {"left": PERIODIC, "right": PERIODIC, "bottom": {"kind": "temperature", "value": "sin(30*t)"}},
    "around y": {"bottom": PERIODIC, "top": PERIODIC, "left": {"kind": "flux", "value": "cos(20*t)"}},
    "around": dict.fromkeys(("left", "right", "bottom", "top"), PERIODIC),
}
SIZES = [(1, 1), (1, 5), (5, 1), (2, 7), (6, 4), (31, 33)]
EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


def made(heat: Callable, shape: tuple[int, int], around: str, **sections: Any) -> HeatProblem:
    """Three steps on an orthotropic plate, several times as long as explicit ones."""
    ny, nx = shape
    dt = 6.0 / (2 * (2.0 * (nx / 0.7) ** 2 + 7.0 * (ny / 1.3) ** 2) / 15.0)
    plain = {
        "grid": {"nx": nx, "ny": ny, "lx": 0.7, "ly": 1.3},
        "material": {"conductivity": [2.0, 7.0], "density": 3.0, "specific_heat": 5.0},
        "boundary": BOUNDARIES[around],
        "initial": {"temperature": "1 + sin(9*x)*cos(7*y)"},
        "time": {"end": 3 * dt, "stepper": "rkl2", "dt": dt * (1 + 1e-12)},
    }
    return heat(**plain | sections)


def after(stepper: Stepper, steps: int) -> Snapshot:
    stepper.advance(steps)
    with stepper.snapshot() as snapshot:
        return Snapshot(snapshot.step, {name: np.array(a) for name, a in snapshot.arrays.items()})


@pytest.fixture
def general(monkeypatch: pytest.MonkeyPatch) -> Callable[[HeatProblem, Backend], Stepper]:
    """Makes a stepper whose stages are those for any coefficients."""

    def make(problem: HeatProblem, backend: Backend) -> Stepper:
        with monkeypatch.context() as patch:
            patch.setattr(rkl2_stages, "is_plain", lambda made: False)
            return problem.stepper(backend, problem.initial())

    return make


@pytest.mark.parametrize("precision", EPS)
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_they_agree_with_the_general_ones(
    heat: Callable, backend: Backend, general: Callable, shape: tuple[int, int], boundary: str, precision: str
) -> None:
    """To a few units in the last place, what is booked included."""
    if backend.name == "cudasim" and (shape[0] > 8 or precision == "float32"):
        pytest.skip("small grids in one precision are enough for the simulator")
    problem = made(heat, shape, boundary, run={"precision": precision})
    assert problem.plan.stages >= (5 if max(shape) > 1 else 3)
    plain = after(problem.stepper(backend, problem.initial()), 3).arrays
    want = after(general(problem, backend), 3).arrays
    assert plain["temperature"].dtype == np.dtype(precision)
    few = 40 * EPS[precision]
    assert np.abs(plain["temperature"] - want["temperature"]).max() <= few * np.abs(want["temperature"]).max()
    heat_in, expected = 15.0 * booked(plain), booked(want)
    assert np.abs(heat_in - expected).max() <= 3 * few * max(np.abs(expected).max(), 15.0), "sums of terms that cancel"


@pytest.mark.parametrize("boundary", ["moving", "around x", "around y"])
@pytest.mark.parametrize("shape", [(6, 1), (6, 2), (7, 3), (9, 5), (10, 4), (33, 70)], ids=str)
def test_the_kernel_for_large_grids_equals_the_one_for_small(
    heat: Callable, backend: Backend, shape: tuple[int, int], boundary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, ledger included."""
    if backend.dialect != "cuda" or (backend.name == "cudasim" and shape[0] > 10):
        pytest.skip("the CPU has one kernel, and the simulator is slow")
    kernels = backend.kernels("simsuite.solvers.heat.rkl2.plain")
    problem = made(heat, shape, boundary)
    small = after(problem.stepper(backend, problem.initial()), 3)
    monkeypatch.setattr(kernels, "MANY_CELLS", 0)
    assert kernels.choose(*shape)[0] is kernels.stage_tall
    large = after(problem.stepper(backend, problem.initial()), 3)
    for name, array in small.arrays.items():
        assert np.array_equal(large.arrays[name], array), name


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (6, 4)], ids=str)
def test_the_ledger_closes(heat: Callable, backend: Backend, shape: tuple[int, int], boundary: str) -> None:
    problem = made(heat, shape, boundary)
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(3)
    with stepper.observe("time") as observed:
        energy = problem.energy.of(observed)
    moved = sum(abs(energy[edge]) for edge in ("left", "right", "bottom", "top"))
    assert (moved > 0.001) == (boundary != "around")
    assert abs(energy["residual"]) <= 2e-14 * max(moved, 15.0 * 0.7 * 1.3)


@pytest.mark.parametrize("precision", EPS)
@pytest.mark.parametrize("boundary", ["moving", "around x"])
def test_a_run_in_parts_has_the_same_bits(heat: Callable, backend: Backend, boundary: str, precision: str) -> None:
    problem = made(heat, (6, 4), boundary, run={"precision": precision})
    whole = after(problem.stepper(backend, problem.initial()), 3)
    part = after(problem.stepper(backend, problem.initial()), 1)
    rest = after(problem.stepper(backend, part), 2)
    assert rest.step == whole.step
    for name, array in whole.arrays.items():
        assert rest.arrays[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("kind", ["insulated", "temperature"])
def test_a_uniform_field_stays_uniform(heat: Callable, backend: Backend, kind: str) -> None:
    edge = {"kind": kind, **({"value": 0.3} if kind == "temperature" else {})}
    boundary = dict.fromkeys(("left", "right", "bottom", "top"), edge)
    problem = made(heat, (6, 4), "around", boundary=boundary, initial={"temperature": 0.3})
    assert np.all(after(problem.stepper(backend, problem.initial()), 3).arrays["temperature"] == 0.3)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_there_are_no_arrays_of_coefficients(heat: Callable, boundary: str) -> None:
    """Three fields, and what grows with the edge."""
    problem, backend = made(heat, (600, 400), boundary), Counting()
    problem.stepper(backend, problem.initial())
    assert backend.total <= problem.device_bytes() < 6 * problem.T0.nbytes

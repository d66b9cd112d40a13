"""Temporal blocking on a GPU: the same bits as the kernels that take one step a pass, field and ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Backend, Snapshot
from simsuite.errors import DeviceError
from simsuite.solvers.heat.problem import HeatProblem

PERIODIC = {"kind": "periodic"}
MOVING = {
    "left": {"kind": "temperature", "value": "y*sin(40*t) + 1"},
    "right": {"kind": "flux", "value": "3*y - t"},
    "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "x*cos(30*t)"},
    "top": [
        {"kind": "insulated", "to": 0.3},
        {"kind": "temperature", "value": 0.25, "from": 0.3},
    ],
}
STEADY = {
    "left": {"kind": "convection", "h": 2.5, "ambient": 1.5},
    "right": {"kind": "temperature", "value": "y"},
    "bottom": {"kind": "insulated"},
    "top": {"kind": "flux", "value": "-2*x"},
}
EDGES = {
    "moving": MOVING,
    "steady": STEADY,
    "periodic x": {**STEADY, "left": PERIODIC, "right": PERIODIC},
    "periodic y": {**MOVING, "bottom": PERIODIC, "top": PERIODIC},
    "periodic": dict.fromkeys(("left", "right", "bottom", "top"), PERIODIC),
}
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 5), (31, 33), (33, 31), (64, 64), (200, 300), (301, 517), (1000, 1500)]
CUTS = [(64, 64, 9), (1, 2, 3, 5, 7, 64, 30, 17, 8)]


@pytest.fixture
def cuda() -> Backend:
    try:
        return open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))


def after(problem: HeatProblem, backend: Backend, T: np.ndarray, cuts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Everything that evolves, after steps in stretches of those lengths from random temperatures T."""
    stepper = problem.stepper(backend, Snapshot(0, {**problem.initial().arrays, "temperature": T}))
    assert stepper.chosen["kernel"] == problem.scenario.run.kernel
    for n in cuts:
        stepper.advance(n)
    with stepper.snapshot() as snapshot:
        return {name: np.array(a) for name, a in snapshot.arrays.items()}


class Choosing:
    """Stands in for `backend.fastest`: answers with one number after the other."""

    def __init__(self) -> None:
        self.answer, self.trials = 0, 1

    def __call__(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        self.trials = len(trials)
        trials[self.answer]()  # as they are made before a choice
        return self.answer


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("edges", EDGES)
def test_blocked_steps_have_the_bits_of_others(
    heat: Callable, cuda: Backend, monkeypatch: pytest.MonkeyPatch, edges: str, shape: tuple[int, int], precision: str
) -> None:
    """Every program and tiling that could be chosen."""
    ny, nx = shape
    lx, ly = 0.7, 1.3
    dt = 0.2 / ((nx / lx) ** 2 + (ny / ly) ** 2)
    T = np.random.default_rng(ny * nx).normal(size=shape).astype(precision)
    choosing = Choosing()
    monkeypatch.setattr(cuda, "fastest", choosing)

    def found(kernel: str, cuts: tuple[int, ...]) -> dict[str, Any]:
        problem = heat(
            run={"kernel": kernel, "precision": precision},
            grid={"nx": nx, "ny": ny, "lx": lx, "ly": ly},
            boundary=EDGES[edges],
            time={"end": sum(cuts) * dt, "dt": dt * (1 + 1e-12)},
        )
        assert problem.clock.end == sum(cuts)
        return after(problem, cuda, T, cuts)

    expected = found("numba", CUTS[0])
    while choosing.answer < choosing.trials:
        got = found("nvrtc", CUTS[choosing.answer % 2])
        for name, array in expected.items():
            assert np.array_equal(array, got[name]), (name, choosing.answer)
        choosing.answer += 1
    assert choosing.trials > 1

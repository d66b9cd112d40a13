"""Temporal blocking on a GPU: the same bits as the kernels that take one step a pass, field and ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda

from simsuite.backends import open_backend
from simsuite.core import Backend, Snapshot
from simsuite.errors import DeviceError
from simsuite.solvers.heat.problem import HeatProblem

__all__ = ["host_cuda"]  # a fixture

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


def plate(heat: Callable, kernel: str, precision: str, edges: str, shape: tuple[int, int], steps: int) -> HeatProblem:
    ny, nx = shape
    lx, ly = 0.7, 1.3
    dt = 0.2 / ((nx / lx) ** 2 + (ny / ly) ** 2)
    problem = heat(
        run={"kernel": kernel, "precision": precision},
        grid={"nx": nx, "ny": ny, "lx": lx, "ly": ly},
        boundary=EDGES[edges],
        time={"end": steps * dt, "dt": dt * (1 + 1e-12)},
    )
    assert problem.clock.end == steps
    return problem


ON_HOST = [  # edges, precision, shape, which of the programs: of those for (70, 262) cells
    *((edges, "float64", (70, 262), program) for edges in EDGES for program in (0, 4, -1)),  # 4: blocks that exchange
    ("moving", "float32", (67, 260), 0),
    ("steady", "float32", (67, 391), -1),
    ("moving", "float64", (37, 61), 0),
    ("steady", "float64", (1, 9), -1),
    ("moving", "float64", (9, 1), 0),
    ("periodic", "float32", (5, 7), 0),
]


@pytest.mark.parametrize(("edges", "precision", "shape", "program"), ON_HOST)
def test_blocked_steps_have_the_bits_of_the_cpu_kernels(
    heat: Callable, host_cuda: HostCuda, edges: str, precision: str, shape: tuple[int, int], program: int
) -> None:
    """The sources themselves, run on the host: see `cuda_host`."""
    T = np.random.default_rng(sum(shape)).normal(size=shape).astype(precision)
    cuts = (9, 8, 26)
    expected = after(plate(heat, "numba", precision, edges, shape, 43), open_backend("cpu"), T, cuts)
    host_cuda.answer = program
    got = after(plate(heat, "nvrtc", precision, edges, shape, 43), host_cuda, T, cuts)
    for name, array in expected.items():
        assert np.array_equal(array, got[name]), name


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
    T = np.random.default_rng(shape[0] * shape[1]).normal(size=shape).astype(precision)
    choosing = Choosing()
    monkeypatch.setattr(cuda, "fastest", choosing)

    def found(kernel: str, cuts: tuple[int, ...]) -> dict[str, np.ndarray]:
        return after(plate(heat, kernel, precision, edges, shape, sum(cuts)), cuda, T, cuts)

    expected = found("numba", CUTS[0])
    while choosing.answer < choosing.trials:
        got = found("nvrtc", CUTS[choosing.answer % 2])
        for name, array in expected.items():
            assert np.array_equal(array, got[name]), (name, choosing.answer)
        choosing.answer += 1
    assert choosing.trials > 1

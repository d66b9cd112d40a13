"""Temporal blocking on a GPU: the same bits as the kernels that take one step a pass, field and ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from sm90 import few, others_long

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
VARIED = {"conductivity": ["1+0.5*sin(3*x)*cos(2*y)", "2+x*y"], "density": "3+x", "specific_heat": 2.0}
MOVING_SOURCE = {"power": "50*exp(-((x-0.3-9*t)**2+(y-0.5)**2)/0.01)"}
SOURCES = [{"power": "50*exp(-((x-0.3)**2+(y-0.5)**2)/0.01)"}, {"power": "30*x"}]
MATERIALS: dict[str, dict[str, Any]] = {
    "constant": {},
    "varied": {"material": VARIED},
    "varied and heated": {"material": VARIED, "source": SOURCES},
    "heated": {"source": SOURCES},
    "of one capacity": {"material": {**VARIED, "density": 3.0}},
}
HELD = {
    "region": [
        {"shape": "circle", "center": [0.3, 0.6], "radius": 0.2, "temperature": 1.0},
        {"shape": "rectangle", "x": [0.5, 0.7], "y": [0.9, 1.3], "temperature": "x+y"},
        {"shape": "rectangle", "x": [0.0, 0.02], "y": [0.0, 1.0], "temperature": -1.0},
    ]
}
MATERIALS["held"] = HELD
MATERIALS["moving source"] = {"source": [MOVING_SOURCE]}
MATERIALS["varied, moving sources"] = {
    "material": VARIED,
    "source": [*SOURCES, MOVING_SOURCE, {"power": "sin(9*t)*x*y"}],
}
MATERIALS["varied, heated and held"] = {"material": VARIED, "source": SOURCES, **HELD}
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 5), (31, 33), (33, 31), (64, 64), (200, 300), (301, 517), (1000, 1500)]
FEW_SIZES = [(1, 1), (7, 1), (33, 31), (200, 300), (1000, 1500)]
REAL = {"float64": "float64", "float32": "float32", "float32c": "float32"}
CUTS = [(64, 64, 9), (1, 2, 3, 5, 7, 64, 30, 17, 8)]


def after(problem: HeatProblem, backend: Backend, T: np.ndarray, cuts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Everything that evolves, after steps in stretches of those lengths from random temperatures T."""
    stepper = problem.stepper(backend, Snapshot(0, {**problem.initial().arrays, "temperature": T}))
    assert stepper.chosen["kernel"] == problem.scenario.run.kernel
    for n in cuts:
        stepper.advance(n)
    with stepper.snapshot() as snapshot:
        return {name: np.array(a) for name, a in snapshot.arrays.items()}


def plate(
    heat: Callable, kernel: str, precision: str, edges: str, material: str, shape: tuple[int, int], steps: int
) -> HeatProblem:
    ny, nx = shape
    lx, ly = 0.7, 1.3
    dt = 0.2 / ((nx / lx) ** 2 + (ny / ly) ** 2)
    problem = heat(
        run={"kernel": kernel, "precision": precision},
        grid={"nx": nx, "ny": ny, "lx": lx, "ly": ly},
        boundary=EDGES[edges],
        **MATERIALS[material],
        time={"end": steps * dt, "dt": dt * (1 + 1e-12)},
    )
    assert problem.clock.end == steps
    return problem


TOGETHER, ALONE = 16, 4  # multiprocessors, with which blocks exchange cells or not
ONE = 1  # multiprocessors for which tiles of a small grid are so high that corners have no code of their own
ON_HOST = [  # edges, material, precision, shape, multiprocessors, which of the programs
    *((edges, "constant", "float64", (70, 262), TOGETHER, program) for edges in EDGES for program in (0, -1)),
    *((edges, "constant", "float64", (70, 262), ALONE, program) for edges in EDGES for program in (0, -1)),
    ("moving", "constant", "float64", (70, 262), ALONE, 3),
    ("moving", "constant", "float32", (67, 260), TOGETHER, 1),
    ("steady", "constant", "float32", (67, 391), ALONE, -1),
    ("moving", "constant", "float64", (37, 61), ALONE, 0),
    ("steady", "constant", "float64", (1, 9), ALONE, -1),
    ("moving", "constant", "float64", (9, 1), ALONE, 0),
    ("periodic", "constant", "float32", (5, 7), ALONE, 0),
    *((edges, "constant", "float32c", (70, 274), TOGETHER, 0) for edges in EDGES),
    *((edges, "constant", "float32c", (70, 274), ALONE, program) for edges in EDGES for program in (0, 3, -1)),
    ("moving", "constant", "float32c", (67, 391), ALONE, 0),
    *((edges, "constant", "float32c", (90, 460), ALONE, 0) for edges in EDGES),
    ("moving", "constant", "float32c", (60, 464), ALONE, 0),
    ("steady", "constant", "float32c", (60, 463), ALONE, 2),
    ("steady", "constant", "float32c", (9, 1), ALONE, 0),
    *((edges, "varied and heated", "float64", (70, 262), ALONE, -(i % 2)) for i, edges in enumerate(EDGES)),
    *(
        ("moving", material, "float64", (70, 262), ALONE, 0)
        for material in ("varied", "heated", "of one capacity", "held")
    ),
    *((edges, "varied, heated and held", "float64", (70, 270), ALONE, 0) for edges in EDGES),
    ("moving", "varied", "float32", (67, 260), ALONE, 0),
    ("moving", "held", "float32", (67, 260), ALONE, -1),
    ("steady", "held", "float64", (37, 61), ALONE, 0),
    ("steady", "of one capacity", "float32", (67, 599), ALONE, -1),
    ("moving", "varied", "float64", (37, 61), ALONE, 1),
    ("steady", "heated", "float64", (1, 9), ALONE, -1),
    ("moving", "varied", "float64", (9, 1), ALONE, 0),
    *((edges, "moving source", "float64", (70, 262), ALONE, -1) for edges in ("moving", "periodic y")),
    *((edges, "varied, moving sources", "float64", (70, 262), ALONE, 0) for edges in EDGES),
    ("steady", "moving source", "float32", (67, 391), ALONE, 0),
    ("moving", "varied, moving sources", "float32", (67, 260), ALONE, -1),
    ("periodic", "moving source", "float64", (5, 7), ALONE, 0),
    ("moving", "varied, moving sources", "float32", (9, 1), ALONE, 0),
    *((edges, "varied, heated and held", "float32c", (70, 270), ALONE, 0) for edges in ("moving", "periodic x")),
    ("moving", "varied and heated", "float32c", (67, 391), ALONE, -1),
    ("steady", "moving source", "float32c", (67, 260), ALONE, 0),
    ("periodic", "varied, moving sources", "float32c", (70, 262), ALONE, -1),
    ("moving", "of one capacity", "float32c", (9, 1), ALONE, 0),
    ("periodic", "varied", "float32", (5, 7), ALONE, 0),
    ("moving", "varied", "float64", (17, 144), ALONE, 0),
    ("moving", "varied", "float64", (70, 602), ONE, 0),
    ("steady", "varied and heated", "float32", (110, 600), ONE, -1),
]


def some_on_host() -> set[tuple]:
    """Of these, enough for all edges, materials, precisions, shapes and so on, and every material in each precision."""
    words = {case: dict(enumerate(case)) for case in ON_HOST}
    each = few({case: (Path(), found) for case, found in words.items()}, 1)
    return {*each, *few({case: (Path(), {k: found[k] for k in (1, 2)}) for case, found in words.items()})}


@pytest.mark.parametrize("case", others_long(ON_HOST, some_on_host()), ids=str)
def test_blocked_steps_have_the_bits_of_the_cpu_kernels(
    heat: Callable, host_cuda: HostCuda, case: tuple[str, str, str, tuple[int, int], int, int]
) -> None:
    """The sources themselves, run on the host: see `cuda_host`."""
    edges, material, precision, shape, processors, program = case
    T = np.random.default_rng(sum(shape)).normal(size=shape).astype(REAL[precision])
    cuts = (9, 8, 26)
    expected = after(plate(heat, "numba", precision, edges, material, shape, 43), open_backend("cpu"), T, cuts)
    host_cuda.answer, host_cuda.processors = program, processors
    got = after(plate(heat, "nvrtc", precision, edges, material, shape, 43), host_cuda, T, cuts)
    for name, array in expected.items():
        assert np.array_equal(array, got[name]), name


NOT_BLOCKED: dict[str, dict[str, Any]] = {
    "conductivity": {"material": {"diffusivity": "1 + 0.1*T"}},
    "radiate": {"boundary": {"left": {"kind": "radiation", "emissivity": 0.9, "ambient": 3.0}}},
    "temperature": {"source": [{"power": "x*T"}]},
    "products": {"source": [{"power": "sin(x*y*t)"}]},
    "held": {"source": [{"power": "x*t"}], **HELD},
}


@pytest.mark.parametrize("why", NOT_BLOCKED)
def test_runs_say_why_they_take_one_step_at_a_time(heat: Callable, host_cuda: HostCuda, why: str) -> None:
    def chosen(kernel: str, backend: Backend) -> Mapping[str, str]:
        problem = heat(run={"kernel": kernel}, **NOT_BLOCKED[why])
        return problem.stepper(backend, problem.initial()).chosen

    assert chosen("auto", host_cuda) == {"kernel": "numba"}
    assert chosen("numba", host_cuda) == {"kernel": "numba"}
    assert chosen("auto", open_backend("cpu")) == {"kernel": "numba"}
    assert chosen("nvrtc", host_cuda)["kernel"] == "numba"
    assert why in chosen("nvrtc", host_cuda)["kernel_note"]
    with pytest.raises(DeviceError, match="GPU"):
        chosen("nvrtc", open_backend("cpu"))


class Choosing:
    """Stands in for `backend.fastest`: answers with one number after the other."""

    def __init__(self) -> None:
        self.answer, self.trials = 0, 1

    def __call__(self, question: str, trials: Sequence[Callable[[], None]]) -> int:
        self.trials = len(trials)
        trials[self.answer]()  # as they are made before a choice
        return self.answer


@pytest.mark.gpu
@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize(
    ("edges", "material", "shape"),
    [
        *((edges, "constant", shape) for edges in EDGES for shape in SIZES),
        *((edges, "varied and heated", shape) for edges in EDGES for shape in FEW_SIZES),
        *((edges, "varied, moving sources", shape) for edges in ("moving", "periodic") for shape in FEW_SIZES),
        *((edges, "held", shape) for edges in ("steady", "periodic") for shape in FEW_SIZES),
        *(("moving", material, (301, 517)) for material in MATERIALS),
        *(("steady", "moving source", shape) for shape in FEW_SIZES),
    ],
    ids=str,
)
def test_blocked_steps_have_the_bits_of_others(
    heat: Callable,
    cuda: Backend,
    monkeypatch: pytest.MonkeyPatch,
    edges: str,
    material: str,
    shape: tuple[int, int],
    precision: str,
) -> None:
    """Every program and tiling that could be chosen."""
    T = np.random.default_rng(shape[0] * shape[1]).normal(size=shape).astype(REAL[precision])
    choosing = Choosing()
    monkeypatch.setattr(cuda, "fastest", choosing)

    def found(kernel: str, cuts: tuple[int, ...]) -> dict[str, np.ndarray]:
        return after(plate(heat, kernel, precision, edges, material, shape, sum(cuts)), cuda, T, cuts)

    expected = found("numba", CUTS[0])
    while choosing.answer < choosing.trials:
        got = found("nvrtc", CUTS[choosing.answer % 2])
        for name, array in expected.items():
            assert np.array_equal(array, got[name]), (name, choosing.answer)
        choosing.answer += 1

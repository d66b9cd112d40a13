"""Kernels of the explicit step that take several steps a launch, against the one that takes one: bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Snapshot
from simsuite.solvers.heat.problem import HeatProblem

BACKEND = open_backend("cpu")
KERNELS = BACKEND.kernels("simsuite.solvers.heat.explicit")
BLOCKED = BACKEND.kernels("simsuite.solvers.heat.blocked")
PERIODIC = {"kind": "periodic"}
MOVING = {
    "left": {"kind": "temperature", "value": "y*sin(40*t) + 1"},
    "right": {"kind": "flux", "value": "3*y - t"},
    "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "x*cos(30*t)"},
    "top": {"kind": "insulated"},
}
PIECES = {
    "left": {"kind": "insulated"},
    "right": {"kind": "convection", "h": 2.5, "ambient": 1.5},
    "bottom": [{"to": 0.4, "kind": "temperature", "value": 0.25}, {"from": 0.4, "kind": "flux", "value": -2.0}],
    "top": [{"to": 0.7, "kind": "flux", "value": 3.0}, {"from": 0.7, "kind": "temperature", "value": "sin(50*t)"}],
}
EDGES = {
    "moving": MOVING,
    "pieces": PIECES,
    "periodic in x": MOVING | {"left": PERIODIC, "right": PERIODIC},
    "periodic in y": PIECES | {"bottom": PERIODIC, "top": PERIODIC},
    "periodic": dict.fromkeys(MOVING, PERIODIC),
}
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 40), (31, 33), (100, 150)]
STEPS = 75  # past the end of the edge table's rows


@pytest.fixture
def run(heat: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, bytes]]:
    """The state after STEPS steps, in cuts, of some kernel with its depth."""

    def after(
        kernel: Any, depth: int, cuts: tuple[int, ...], shape: tuple[int, int], edges: dict, precision: str
    ) -> Any:
        ny, nx = shape
        dt = 0.2 / (nx**2 + ny**2)
        problem: HeatProblem = heat(
            run={"precision": precision},
            grid={"nx": nx, "ny": ny, "lx": 1.0, "ly": 1.3},
            boundary=edges,
            time={"end": 2 * STEPS * dt, "dt": dt},
        )
        T = np.random.default_rng(ny * 1000 + nx).normal(size=shape).astype(precision)
        monkeypatch.setattr(KERNELS, "choose", lambda ny, nx: (kernel, (nx, ny), (1, 1), depth))
        stepper = problem.stepper(BACKEND, Snapshot(0, {**problem.initial().arrays, "temperature": T}))
        for cut in (*cuts, STEPS - sum(cuts)):
            stepper.advance(cut)
        with stepper.snapshot() as snapshot:
            assert np.isfinite(snapshot.arrays["temperature"]).all()
            return {name: np.array(a).tobytes() for name, a in snapshot.arrays.items()}

    return after


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_tiles_equal_single_steps(
    run: Callable, monkeypatch: pytest.MonkeyPatch, shape: tuple, edges: str, precision: str
) -> None:
    """Whatever the tiles, the depth and the cuts."""
    where = (shape, EDGES[edges], precision)
    want = run(KERNELS.step, 1, (), *where)
    assert run(KERNELS.steps_short, 64, (2, 3), *where) == want
    assert run(BLOCKED.steps_blocked, 32, (), *where) == want
    monkeypatch.setattr(BLOCKED, "ROW_BYTES", 160)
    monkeypatch.setattr(BLOCKED, "get_num_threads", lambda: 5)
    for depth, cuts in ((7, (1, 20, 13)), (16, (40,)), (2, (1, 4))):
        assert run(BLOCKED.steps_blocked, depth, cuts, *where) == want


@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("shape", [(32, 512), (128, 128), (1000, 1500), (40000, 32)], ids=str)
def test_every_launch_of_a_chosen_kernel_covers_the_grid(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], threads: int
) -> None:
    """On machines of any size, with launches of any number of steps."""
    for module in (BLOCKED, KERNELS):
        monkeypatch.setattr(module, "get_num_threads", lambda: threads, raising=False)
    kernel, _, _, depth = KERNELS.choose(*shape)
    assert kernel is BLOCKED.steps_blocked
    T = np.random.default_rng(5).normal(size=shape)
    points = 2 * sum(shape)
    edges = np.concatenate([np.full(points, 2.0), np.ones(points)])
    arguments = (edges, 0, np.zeros(points), 0.1, 2.0, False, False)
    for n in {1, 2, depth}:
        out, want = np.full(shape, np.nan), np.full(shape, np.nan)
        kernel(T, out, *arguments, 0, n)
        KERNELS.steps_short(T, want, *arguments, 0, n)
        assert np.array_equal(out, want)

"""Kernels of the explicit step that take several steps a launch, against the one that takes one: bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simsuite.backends import open_backend
from simsuite.core import Snapshot
from simsuite.solvers.heat.arguments import Mesh
from simsuite.solvers.heat.problem import HeatProblem

BACKEND = open_backend("cpu")
EXPLICIT, OPERATOR, BLOCKED, GENERAL, TILES = (
    BACKEND.kernels(f"simsuite.solvers.heat.{name}")
    for name in (
        "explicit.explicit",
        "operator.operator",
        "explicit.blocked",
        "operator.blocked_operator",
        "operator.tiles",
    )
)
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
WAYS = {"step": (EXPLICIT, OPERATOR), "steps_blocked": (BLOCKED, GENERAL)}
STEPS = 75  # past the end of the edge table's rows


MATERIALS: dict[str, dict[str, Any]] = {
    "constant": {"material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0}},
    "varying": {"material": {"diffusivity": "0.2 - 0.1*sin(9*x)*cos(7*y)"}},
    "heated": {"material": {"diffusivity": "0.2 - 0.1*x*y"}, "source": [{"power": "x - y"}, {"power": 2.0}]},
}


@pytest.fixture
def run(heat: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, bytes]]:
    """The state after STEPS steps, in cuts, of some kernel with its depth."""

    def after(way: str, depth: int, cuts: tuple[int, ...], where: tuple[str, tuple[int, int], str, str]) -> Any:
        material, shape, edges, precision = where
        ny, nx = shape
        dt = 1.0 / (nx**2 + ny**2)
        problem: HeatProblem = heat(
            run={"precision": precision},
            grid={"nx": nx, "ny": ny, "lx": 1.0, "ly": 1.3},
            boundary=EDGES[edges],
            time={"end": 2 * STEPS * dt, "dt": dt},
            **MATERIALS[material],
        )
        T = np.random.default_rng(ny * 1000 + nx).normal(size=shape).astype(precision)
        constant, general = (getattr(module, way) for module in WAYS[way])
        monkeypatch.setattr(EXPLICIT, "choose", lambda ny, nx, compensated: (constant, (nx, ny), (1, 1), depth))
        monkeypatch.setattr(OPERATOR, "choose_constant", lambda ny, nx, compensated: (general, depth))
        stepper = problem.stepper(BACKEND, Snapshot(0, {**problem.initial().arrays, "temperature": T}))
        for cut in (*cuts, STEPS - sum(cuts)):
            stepper.advance(cut)
        with stepper.snapshot() as snapshot:
            assert np.isfinite(snapshot.arrays["temperature"]).all()
            return {name: np.array(a).tobytes() for name, a in snapshot.arrays.items()}

    return after


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_tiles_equal_single_steps(
    run: Callable, monkeypatch: pytest.MonkeyPatch, shape: tuple, material: str, edges: str, precision: str
) -> None:
    """Whatever the tiles, the depth and the cuts."""
    where = (material, shape, edges, precision)
    want = run("step", 1, (), where)
    assert run("steps_blocked", 32, (), where) == want
    monkeypatch.setattr(BLOCKED, "ROW_BYTES", 160)
    monkeypatch.setattr(GENERAL, "ROW_BYTES", 160)
    monkeypatch.setattr(TILES, "get_num_threads", lambda: 5)
    for depth, cuts in ((7, (1, 20, 13)), (16, (40,)), (2, (1, 4))):
        assert run("steps_blocked", depth, cuts, where) == want


@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("shape", [(32, 512), (128, 128), (1000, 1500), (40000, 32)], ids=str)
def test_every_launch_of_the_chosen_kernel_covers_the_grid(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], threads: int
) -> None:
    """On machines of any size, with launches of any number of steps."""
    monkeypatch.setattr(TILES, "get_num_threads", lambda: threads)
    kernel, _, _, depth = EXPLICIT.choose(*shape)
    assert kernel is BLOCKED.steps_blocked
    T = np.random.default_rng(5).normal(size=shape)
    points = 2 * sum(shape)
    edges = np.concatenate([np.full(points, 2.0), np.ones(points)])
    arguments = (tuple(Mesh(edges, np.zeros(points), 2.0, False, False)), 0, 0.1)
    for n in {1, 2, depth}:
        out, want = np.full(shape, np.nan), np.full(shape, np.nan)
        kernel(T, out, *arguments, 0, n)
        EXPLICIT.steps_short(T, want, *arguments, 0, n)
        assert np.array_equal(out, want)


@pytest.mark.parametrize(
    "sections",
    [
        {"material": {"diffusivity": "1 + T/400"}},
        {"region": [{"shape": "circle", "center": [0.5, 0.5], "radius": 0.2, "temperature": 290.0}]},
        {"boundary": {"left": {"kind": "radiation", "emissivity": 0.9, "ambient": 300.0}}},
        {"source": [{"power": "sin(t)"}]},
        {"source": [{"power": "x*T"}]},
    ],
    ids=["law", "held", "radiation", "source in t", "source in T"],
)
def test_what_changes_with_every_step_is_stepped_singly(heat: Callable, sections: dict[str, Any]) -> None:
    problem: HeatProblem = heat(**sections, initial={"temperature": 300.0})
    stepper = problem.stepper(BACKEND, problem.initial())
    assert stepper._steps.launches(0, 10) == 10

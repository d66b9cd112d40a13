"""The ADI stepper against dense solutions of its equations, exact decay factors, and itself with short steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adi_reference import Plate
from sm90 import others_long

from simsuite.backends import open_backend
from simsuite.core import Backend
from simsuite.solvers.heat.adi.adi import AdiStepper, parts_of
from simsuite.solvers.heat.adi.lines import Lines
from simsuite.solvers.heat.arguments import Along
from simsuite.solvers.heat.problem import HeatProblem

HOLD = {"kind": "temperature", "value": 0.0}
INSULATE = {"kind": "insulated"}
PERIODIC = {"kind": "periodic"}
SIDES = ("left", "right", "bottom", "top")
ALL_KINDS = {
    "left": {"kind": "temperature", "value": "y*sin(40*t) + 2"},
    "right": {"kind": "flux", "value": "3*y - t"},
    "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "2 + x*cos(30*t)"},
    "top": {"kind": "insulated"},
}
TURNED = {
    "left": {"kind": "convection", "h": 2.5, "ambient": "1.5*y + 8*t"},
    "right": {"kind": "temperature", "value": "cos(20*t)*y*y"},
    "bottom": {"kind": "insulated"},
    "top": {"kind": "temperature", "value": "t*x"},
}
ROUND_X = {"left": PERIODIC, "right": PERIODIC, "bottom": ALL_KINDS["bottom"], "top": HOLD}
ROUND_Y = {"left": ALL_KINDS["left"], "right": INSULATE, "bottom": PERIODIC, "top": PERIODIC}
CASES = {
    "all": ALL_KINDS,
    "turned": TURNED,
    "x": ROUND_X,
    "y": ROUND_Y,
    "xy": dict.fromkeys(SIDES, PERIODIC),
}


def everywhere(edge: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(SIDES, edge)


def adi(problem: HeatProblem, backend: Backend) -> AdiStepper:
    stepper = problem.stepper(backend, problem.initial())
    assert isinstance(stepper, AdiStepper)
    return stepper


def final(problem: HeatProblem, backend: Backend) -> np.ndarray:
    stepper = adi(problem, backend)
    stepper.advance(problem.clock.end)
    with stepper.snapshot() as snapshot:
        return np.array(snapshot.arrays["temperature"])


def steps(end: float, n: int) -> dict[str, Any]:
    return {"end": end, "stepper": "adi", "dt": end / n}


@pytest.mark.parametrize("wrap", [False, True], ids=["line", "ring"])
@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (3, 18), (17, 5), (75, 3)], ids=str)
def test_lines_are_solved(backend: Backend, shape: tuple[int, int], wrap: bool) -> None:
    """Long ones in pieces; conductances from almost none to almost only conduction, and cells that are held."""
    n, m = shape
    rng = np.random.default_rng(n)
    right, c = rng.normal(size=shape), rng.uniform(0.5, 2, shape) * (rng.uniform(size=shape) > 0.1)
    g = 10.0 ** rng.uniform(-6, 6, (n + 1, m))
    g[n] = g[0]
    edges = np.concatenate([rng.uniform(0, 2, 2 * (n + m)), rng.normal(size=2 * (n + m))])
    views = {name: backend.array(a) for name, a in {"g": g, "c": c, "edges": edges, "right": right}.items()}
    scratch = backend.zeros(shape, np.float64)
    arrays = {name: backend.view(views[name]) for name in ("g", "c", "edges")}
    lines = Lines(backend, np.float64, shape, Along(**arrays, first=2 * n, wrap=wrap))
    lines.solve(backend.view(views["right"]), 0, 0.7, backend.view(scratch))
    got = backend.to_host(views["right"])
    for j in range(m):
        A, b = np.eye(n), right[:, j].copy()
        for i in range(n):
            for face, neighbour in ((i, i - 1), (i + 1, i + 1)):
                f = 0.7 * c[i, j] * g[face, j]
                if 0 <= neighbour < n or wrap:
                    A[i, i] += f
                    A[i, neighbour % n] -= f
                else:
                    p = 2 * n + j + (m if neighbour == n else 0)
                    A[i, i] += f * edges[p]
                    b[i] += f * edges[2 * (n + m) + p]
        want = np.linalg.solve(A, b)
        assert np.abs(got[:, j] - want).max() <= 1e-9 * np.abs(want).max()
        assert np.abs(A @ got[:, j] - b).max() <= 1e-14 * (np.abs(A) @ np.abs(got[:, j])).max()


@pytest.mark.parametrize("edges", CASES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (3, 7), (21, 18)], ids=str)
def test_steps_solve_the_factored_equations(
    heat: Callable, backend: Backend, tmp_path: Path, shape: tuple[int, int], edges: str
) -> None:
    if backend.name == "cudasim" and (edges != "all" or shape not in ((1, 5), (3, 7))):
        pytest.skip("two small grids are enough for the simulator")
    ny, nx = shape
    rng = np.random.default_rng(nx * 100 + ny)
    arrays = {"k": rng.uniform(0.5, 4, shape), "rho": rng.uniform(1, 3, shape), "T0": rng.normal(size=shape)}
    held = rng.uniform(size=shape) < (0.1 if nx * ny > 5 else 0)
    for name, a in {**arrays, "held": held}.items():
        np.save(tmp_path / f"{name}.npy", a)
    problem = heat(
        grid={"nx": nx, "ny": ny, "lx": 0.7, "ly": 1.3},
        material={"conductivity": {"file": "k.npy"}, "density": {"file": "rho.npy"}, "specific_heat": 5.0},
        region=[{"shape": "mask", "file": "held.npy", "temperature": 0.25}],
        initial={"temperature": {"file": "T0.npy"}},
        boundary=CASES[edges],
        source=[{"name": "s", "power": "9*x + sin(8*t)"}, {"name": "u", "power": "y"}],
        time=steps(0.6, 3),
    )
    made = problem.made
    y, x = np.meshgrid((np.arange(ny) + 0.5) * 1.3 / ny, (np.arange(nx) + 0.5) * 0.7 / nx, indexing="ij")
    plate = Plate(
        *(arrays["k"], arrays["rho"] * 5.0, held, (0.7 / nx, 1.3 / ny), (made.wrap_x, made.wrap_y)),
        lambda t: made.edges.coefficients(t, made.edge_k()),
        lambda t: np.where(held, 0.0, 9 * x + np.sin(8 * t) + y),
    )
    stepper, want = adi(problem, backend), problem.T0
    times = problem.clock.dt(0) * (stepper.parts if stepper.rough else parts_of(0))
    for a, b in itertools.pairwise(times):
        want = plate.step(want, a, b - a)
    for k in range(1, 3):
        want = plate.step(want, problem.clock.time(k), problem.clock.dt(k))
    stepper.advance(3)
    with stepper.snapshot() as snapshot:
        assert np.abs(snapshot.arrays["temperature"] - want).max() <= 1e-12 * np.abs(want).max()


@pytest.mark.parametrize("edges", ["held", "insulated", "mixed", "periodic"])
def test_a_mode_decays_exactly_as_the_scheme_says(heat: Callable, backend: Backend, edges: str) -> None:
    nx, ny, n = (8, 6, 3) if backend.name != "cudasim" else (4, 5, 2)
    mode = {  # text, boundary, wave numbers
        "held": ("sin(pi*x)*sin(2*pi*y)", everywhere(HOLD), math.pi, 2 * math.pi),
        "insulated": ("cos(pi*x)*cos(pi*y)", everywhere(INSULATE), math.pi, math.pi),
        "mixed": (
            "sin(pi*x/2)*cos(pi*y/2)",
            {"left": HOLD, "right": INSULATE, "bottom": INSULATE, "top": HOLD},
            math.pi / 2,
            math.pi / 2,
        ),
        "periodic": ("sin(2*pi*x)*cos(4*pi*y)", everywhere(PERIODIC), 2 * math.pi, 4 * math.pi),
    }
    text, boundary, kx, ky = mode[edges]
    problem = heat(grid={"nx": nx, "ny": ny}, initial={"temperature": text}, boundary=boundary, time=steps(0.01 * n, n))
    a = problem.clock.dt(0) / 2
    zx, zy = a * 4 * (nx * math.sin(kx / nx / 2)) ** 2, a * 4 * (ny * math.sin(ky / ny / 2)) ** 2
    want = problem.T0 * ((1 - zx) * (1 - zy) / ((1 + zx) * (1 + zy))) ** n
    assert np.abs(final(problem, backend) - want).max() <= 1e-13 * np.abs(problem.T0).max()


MANUFACTURED = "2 + sin(3*t + 2*x)*cos(1.7*y + 0.2 - t) + 0.2*x*y*y*cos(5*t)"
SMOOTH = {
    "temperature": everywhere({"kind": "temperature"}),
    "flux": everywhere({"kind": "flux"}),
    "convection": everywhere({"kind": "convection", "h": "3 + x + y + sin(4*t)"}),
    "mixed": {
        "left": {"kind": "temperature"},
        "right": {"kind": "convection", "h": 50.0},
        "bottom": {"kind": "flux"},
        "top": {"kind": "temperature"},
    },
}
LAWS = {
    "linear": {"material": {"diffusivity": "1 + 0.5*x*y"}},
    "orthotropic": {"material": {"diffusivity": [2.0, 0.5]}, "source": [{"name": "r", "power": "-T"}]},
    "conducting": {"material": {"diffusivity": "1 + 0.3*T"}, "source": [{"name": "r", "power": "T*(3 - T)"}]},
}


def orders(make: Callable[[int], HeatProblem], counts: list[int], short: int) -> np.ndarray:
    """Rows: L∞, L2. Of the error of time integration alone, against steps so short that theirs does not count."""
    exact = final(make(short), open_backend("cpu"))
    errors = [final(make(n), open_backend("cpu")) - exact for n in counts]
    norms = np.array([[np.abs(e).max() for e in errors], [np.sqrt(np.mean(e**2)) for e in errors]])
    return -np.diff(np.log2(norms), axis=1)


@pytest.mark.parametrize(
    ("edges", "law"),
    others_long(
        [*((edges, "linear") for edges in SMOOTH), ("mixed", "orthotropic"), ("mixed", "conducting")],
        [("mixed", law) for law in LAWS],
        several=True,
    ),
)
def test_order_two_in_time(heat: Callable, edges: str, law: str) -> None:
    def make(n: int) -> HeatProblem:
        return heat(
            **{"grid": {"nx": 24, "ny": 20}, "boundary": SMOOTH[edges], "time": steps(1.0, n), **LAWS[law]},
            reference={"temperature": MANUFACTURED, "manufactured": True},
        )

    found = orders(make, [64, 128], 1024)
    assert np.all(np.abs(found - 2.0) <= 0.15), found


def test_order_two_with_radiating_edges(heat: Callable) -> None:
    def make(n: int) -> HeatProblem:
        return heat(
            grid={"nx": 16, "ny": 12, "lx": 0.1, "ly": 0.1},
            material={"conductivity": 20.0, "density": 7800.0, "specific_heat": 470.0},
            initial={"temperature": 1000},
            boundary=everywhere({"kind": "radiation", "emissivity": 0.9, "ambient": "650 + 350*cos(t/160)"}),
            time=steps(500.0, n),
        )

    found = orders(make, [16, 32, 64], 512)
    assert np.all(np.abs(found - 2.0) <= 0.15), found
    stepper = adi(make(32), open_backend("cpu"))
    stepper.advance(32)
    with stepper.snapshot() as snapshot:
        assert 0 < snapshot.arrays["iteration_change"][0] < 1e-5


def shock(heat: Callable, n: int, hot: float) -> HeatProblem:
    """Edges at 0, but for the left one at `hot`, around a plate that starts at 1 - hot."""
    boundary = {**everywhere(HOLD), "left": {"kind": "temperature", "value": hot}}
    return heat(
        grid={"nx": 64, "ny": 64},
        initial={"temperature": 1.0 - hot},
        boundary=boundary,
        time=steps(0.1, n),
    )


@pytest.mark.parametrize("hot", [0.0, 1.0], ids=["cooling", "hot wall"])
def test_order_two_after_a_thermal_shock(heat: Callable, hot: float) -> None:
    """Corners between edges of different temperatures included. Without short first steps nothing converges."""
    found = orders(lambda n: shock(heat, n, hot), [8, 16, 32], 1024)
    assert np.all(np.abs(found - 2.0) <= 0.15), found


def test_without_short_first_steps_a_shock_rings(heat: Callable) -> None:
    lowest = {}
    for rough in (False, True):
        stepper = adi(shock(heat, 16, 0.0), open_backend("cpu"))
        assert stepper.rough
        stepper.rough = rough
        lowest[rough] = 0.0
        for _ in range(16):
            stepper.advance(1)
            with stepper.snapshot() as snapshot:
                T = snapshot.arrays["temperature"]
                lowest[rough] = min(lowest[rough], float(T.min()), 1.0 - float(T.max()))
    assert lowest[False] < -0.3
    assert lowest[True] > -0.01


def test_smooth_data_need_no_short_first_steps(heat: Callable) -> None:
    problem = heat(initial={"temperature": "sin(pi*x)*sin(pi*y)"}, boundary=everywhere(HOLD), time=steps(0.1, 8))
    assert not adi(problem, open_backend("cpu")).rough


def test_a_steady_state_stays(heat: Callable, backend: Backend) -> None:
    """With steps longer than everything, through two layers and with flux, convection and temperature at the edges."""
    nx, ny = (10, 3) if backend.name != "cudasim" else (4, 2)
    k, h = np.where(np.arange(nx) < nx // 2, 1.0, 4.0), 2.0
    heat_flux, delta = 3.0, 1 / nx
    # From the left: ambient 0 behind h, then the drops over halves of cells.
    resistance = np.cumsum(delta / (2 * k)) + np.concatenate([[0.0], np.cumsum(delta / (2 * k))[:-1]])
    exact = -heat_flux * (1 / h + resistance)
    problem = heat(
        grid={"nx": nx, "ny": ny},
        material={"diffusivity": "where(x < 0.5, 1, 4)"},
        initial={"temperature": 0.0},
        boundary={
            "left": {"kind": "convection", "h": h, "ambient": 0.0},
            "right": {"kind": "flux", "value": -heat_flux},
            "bottom": INSULATE,
            "top": INSULATE,
        },
        time=steps(3000.0, 3),
    )
    start = type(problem.initial())(0, {**problem.initial().arrays, "temperature": np.tile(exact, (ny, 1))})
    stepper = problem.stepper(backend, start)
    stepper.advance(3)
    with stepper.snapshot() as snapshot:
        assert np.abs(snapshot.arrays["temperature"] - exact).max() <= 1e-12 * np.abs(exact).max()


EVERYTHING: dict[str, Any] = {
    "grid": {"nx": 9, "ny": 7, "lx": 0.7, "ly": 1.3},
    "material": {"conductivity": "2 + 0.1*T", "density": 3.0, "specific_heat": 5.0},
    "region": [{"shape": "circle", "center": [0.35, 0.6], "radius": 0.2, "temperature": 2.0}],
    "initial": {"temperature": "20*x + y"},
    "boundary": {**ALL_KINDS, "top": {"kind": "radiation", "emissivity": 0.9, "ambient": "300 - t"}},
    "source": [{"name": "s", "power": "T*(3 - T)*cos(t)"}, {"name": "u", "power": "y"}],
}
LINEAR = {**EVERYTHING, "material": {"diffusivity": "2 + x"}, "boundary": ALL_KINDS, "source": []}


def sized(sections: dict[str, Any], backend: Backend) -> dict[str, Any]:
    """On fewer cells for the simulator, one of which is held."""
    few = {} if backend.name != "cudasim" else {"nx": 5, "ny": 4}
    return {**sections, "grid": {**sections["grid"], **few}}


@pytest.mark.parametrize("sections", [LINEAR, EVERYTHING, {**LINEAR, "boundary": ROUND_Y}], ids=["l", "all", "y"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_energy_ledger_closes(heat: Callable, backend: Backend, precision: str, sections: dict) -> None:
    if backend.name == "cudasim" and precision == "float32":
        pytest.skip("one precision is enough for the simulator")
    n = 4 if backend.name != "cudasim" else 1
    problem = heat(**sized(sections, backend), run={"precision": precision}, time=steps(0.2 * n, n))
    stepper = adi(problem, backend)
    stepper.rough = n > 1
    stepper.advance(n)
    with stepper.observe("time") as observed:
        energy = problem.results(observed)["energy"]
    moved = max(abs(energy["stored"]), *(abs(value) for value in energy["edges"].values()), abs(energy["held"]))
    assert moved > 0.1
    assert abs(energy["residual"]) <= (1e-13 if precision == "float64" else 2e-5) * moved


@pytest.mark.parametrize("sections", [LINEAR, EVERYTHING], ids=["linear", "everything"])
def test_splitting_and_resuming_change_no_bit(heat: Callable, backend: Backend, sections: dict) -> None:
    time = {"end": 0.8, "stepper": "adi", "dt": 0.09}
    problem = heat(**sized(sections, backend), output={"times": [0.3, 0.8]}, time=time)
    n = problem.clock.end if backend.name != "cudasim" else 2
    straight, split = adi(problem, backend), adi(problem, backend)
    straight.rough = split.rough = backend.name != "cudasim" or sections is LINEAR  # parts take the simulator minutes
    straight.advance(n)
    split.advance(1)
    with split.observe("sample"), split.snapshot() as held:
        middle = type(held)(held.step, {name: np.array(a) for name, a in held.arrays.items()})
    split.advance(1)
    split.advance(n - 2)
    resumed = problem.stepper(backend, middle)
    resumed.advance(n - 1)
    with straight.snapshot() as a, split.snapshot() as b, resumed.snapshot() as c:
        assert a.arrays.keys() == b.arrays.keys() == c.arrays.keys()
        for name in a.arrays:
            assert np.array_equal(a.arrays[name], b.arrays[name]), name
            assert np.array_equal(a.arrays[name], c.arrays[name]), name


def test_float32_stays_close_to_float64(heat: Callable, backend: Backend) -> None:
    n = 3 if backend.name != "cudasim" else 1
    single, double = (
        final(heat(**sized(LINEAR, backend), run={"precision": p}, time=steps(0.07 * n, n)), backend)
        for p in ("float32", "float64")
    )
    assert single.dtype == np.float32
    assert np.abs(single - double).max() <= 2e-5 * np.abs(double).max()

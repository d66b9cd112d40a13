"""What holds for every heat problem, on problems that Hypothesis makes up: the same ones in every run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.problem import HeatProblem

STEPPERS = ["explicit", "rkl2"]
EDGES = ("left", "right", "bottom", "top")
INSULATE = {"kind": "insulated"}
PERIODIC = {"kind": "periodic"}

# Fixtures may be shared by all examples: they are the machine and a directory whose files are written anew.
made_up = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
sizes = st.integers(1, 9)
seeds = st.integers(0, 2**32 - 1)
temperatures = st.floats(-50, 50).map(lambda v: round(v, 3))


@st.composite
def edges(draw: Callable, kinds: tuple[str, ...] = ("temperature", "insulated", "convection")) -> dict[str, Any]:
    kind = draw(st.sampled_from(kinds))
    if kind == "temperature":
        return {"kind": kind, "value": draw(temperatures)}
    if kind == "convection":
        return {"kind": kind, "h": draw(st.floats(0, 1e3)), "ambient": draw(temperatures)}
    return {"kind": kind} | ({"value": draw(temperatures)} if kind == "flux" else {})


@pytest.fixture
def plate(heat: Callable, tmp_path: Path) -> Callable[..., HeatProblem]:
    """Makes a problem of arrays of coefficients and temperatures."""

    def make(T0: np.ndarray, kx: np.ndarray, ky: np.ndarray, rho: np.ndarray, **sections: Any) -> HeatProblem:
        for name, values in (("T0", T0), ("kx", kx), ("ky", ky), ("rho", rho)):
            np.save(tmp_path / f"{name}.npy", values)
        material = {
            "conductivity": [{"file": "kx.npy"}, {"file": "ky.npy"}],
            "density": {"file": "rho.npy"},
            "specific_heat": 2.0,
        }
        whole = {"material": material, "initial": {"temperature": {"file": "T0.npy"}}} | sections
        whole["grid"] = {"nx": T0.shape[1], "ny": T0.shape[0]} | sections.get("grid", {})
        time = {"end": 1e-2} | sections.get("time", {})
        if time.get("stepper") == "rkl2":  # of a fixed length, which does not depend on the temperatures
            whole["time"] = {"dt": time["end"] / 4} | time
        return heat(**whole)

    return make


def fields(seed: int, shape: tuple[int, int]) -> list[np.ndarray]:
    """T0, kx, ky, ρ, the coefficients over three orders of magnitude."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-50, 50, shape), *(10 ** rng.uniform(-1.5, 1.5, (3, *shape)))]


def final(problem: HeatProblem, backend: Backend, steps: int) -> np.ndarray:
    return observed(problem, backend, steps).arrays["temperature"]


def observed(problem: HeatProblem, backend: Backend, steps: int) -> Snapshot:
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(min(steps, problem.clock.end))
    with stepper.observe("time") as seen:
        return Snapshot(seen.step, {name: np.array(a) for name, a in seen.arrays.items()})


def few(backend: Backend, steps: int) -> int:
    """As many steps as the backend does in good time."""
    return min(steps, 2) if backend.name == "cudasim" else steps


def only_native(backend: Backend) -> None:
    if backend.name == "cudasim":
        pytest.skip("too slow in the simulator")


@made_up
@given(seed=seeds, ny=sizes, nx=sizes, boundary=st.tuples(*[edges()] * 4), lx=st.floats(0.2, 5))
def test_the_maximum_principle(
    plate: Callable, backend: Backend, seed: int, ny: int, nx: int, boundary: tuple, lx: float
) -> None:
    """Without sources, explicit steps of the chosen length stay between the data of each step."""
    only_native(backend)
    problem = plate(
        *fields(seed, (ny, nx)),
        grid={"lx": lx},
        boundary=dict(zip(EDGES, boundary)),
        time={"end": 10.0, "stepper": "explicit", "tolerance": 1.0},
    )
    outside = [edge[key] for edge in boundary for key in ("value", "ambient") if key in edge]
    T = problem.T0
    stepper = problem.stepper(backend, problem.initial())
    for _ in range(min(problem.clock.end, 5)):
        low, high = min([T.min(), *outside]), max([T.max(), *outside])
        stepper.advance(1)
        with stepper.snapshot() as snapshot:
            T = np.array(snapshot.arrays["temperature"])
        slack = 1e-14 * 50
        assert low - slack <= T.min()
        assert T.max() <= high + slack


def turned(a: np.ndarray, quarter: int, mirrored: bool) -> np.ndarray:
    """One of the eight symmetries of the square."""
    a = np.rot90(a, quarter)
    return a[:, ::-1] if mirrored else a


def turned_edges(boundary: dict[str, Any], quarter: int, mirrored: bool) -> dict[str, Any]:
    """The same of the edges: which one comes to lie where is found by turning a field that is marked at one."""
    new = {}
    at = {"left": np.s_[1, 0], "right": np.s_[1, 2], "bottom": np.s_[0, 1], "top": np.s_[2, 1]}
    for edge in EDGES:
        marks = np.zeros((3, 3))
        marks[at[edge]] = 1
        marks = turned(marks, quarter, mirrored)
        new[next(e for e in EDGES if marks[at[e]])] = boundary[edge]
    return new


KINDS = {
    "left": {"kind": "temperature", "value": 17.0},
    "right": {"kind": "flux", "value": 350.0},
    "bottom": {"kind": "convection", "h": 12.0, "ambient": 55.0},
    "top": {"kind": "radiation", "emissivity": 0.6, "ambient": 700.0},
}
SYMMETRIES = [(q, m) for q in range(4) for m in (False, True) if (q, m) != (0, False)]


@pytest.mark.parametrize("what", ["plain", "fields", "law", "held"])
def test_a_turned_plate_gives_the_turned_result_to_the_last_bit(
    plate: Callable, backend: Backend, tmp_path: Path, what: str
) -> None:
    """All symmetries of the square, for constant coefficients and by the cell, for k(T), and with cells held."""
    n = 6
    T0, kx, ky, rho = fields(11, (n, n))
    T0 += 300
    mask = np.random.default_rng(3).random((n, n)) < 0.2

    def result(quarter: int, mirrored: bool) -> np.ndarray:
        across = quarter % 2 == 1
        turn = [turned(a, quarter, mirrored) for a in (T0, *((ky, kx) if across else (kx, ky)), rho)]
        more: dict[str, Any] = {"boundary": turned_edges(KINDS, quarter, mirrored)}
        if what == "plain":
            more["boundary"] = turned_edges(KINDS | {"top": INSULATE}, quarter, mirrored)
            more["material"] = {"conductivity": 2.0, "density": 3.0, "specific_heat": 0.7}
        elif what == "law":
            more["material"] = {"conductivity": "0.3 + T/700", "density": {"file": "rho.npy"}, "specific_heat": 2.0}
        elif what == "held":
            np.save(tmp_path / "mask.npy", turned(mask, quarter, mirrored))
            more["region"] = [{"shape": "mask", "file": "mask.npy", "temperature": 280.0}]
        problem = plate(*turn, time={"end": 1e-2, "dt": 1e-5}, **more)
        return final(problem, backend, few(backend, 20))

    straight = result(0, False)
    symmetries = SYMMETRIES[2:5] if backend.name == "cudasim" else SYMMETRIES
    for symmetry in symmetries:
        assert np.array_equal(result(*symmetry), turned(straight, *symmetry)), symmetry


@made_up
@given(seed=seeds, ny=sizes, nx=sizes, plain=st.booleans(), data=st.data())
def test_a_periodic_plate_has_no_place(
    plate: Callable, backend: Backend, seed: int, ny: int, nx: int, plain: bool, data: st.DataObject
) -> None:
    """Rolling all fields rolls the result, to the last bit."""
    only_native(backend)
    by = data.draw(st.tuples(st.integers(0, ny - 1), st.integers(0, nx - 1)))
    results = []
    for roll in ((0, 0), by):
        arrays = [np.roll(a, roll, (0, 1)) for a in fields(seed, (ny, nx))]
        more: dict[str, Any] = {"boundary": dict.fromkeys(EDGES, PERIODIC), "time": {"end": 1e-3}}
        if plain:
            more["material"] = {"diffusivity": [3.0, 0.7]}
        results.append(final(plate(*arrays, **more), backend, 10))
    assert np.array_equal(results[1], np.roll(results[0], by, (0, 1)))


@pytest.mark.parametrize("stepper", [*STEPPERS, "adi", "exact"])
def test_runs_that_stop_anywhere_continue_to_the_same_bits(plate: Callable, backend: Backend, stepper: str) -> None:
    """Whether the stepper goes on itself or another begins with its snapshot; also across frames and step lengths."""
    only_native(backend)
    moving = {
        "left": {"kind": "temperature", "value": "30*sin(50*t)"},
        "top": {"kind": "convection", "h": 9.0, "ambient": 20.0},
    }
    source, material = "30*cos(40*t)*(40 - T)", {}
    if stepper == "exact":  # which takes no coefficients that vary and nothing that moves
        moving["left"]["value"], source, material = "30*y", "30*x", {"material": {"diffusivity": [3.0, 0.7]}}
    problem = plate(
        *fields(5, (5, 4)),
        **material,
        boundary=moving,
        source=[{"power": source}],
        output={"times": [0.011, 0.04]},
        time={"end": 0.06, "stepper": stepper, "dt": 3e-4},
    )
    end = problem.clock.end
    straight = observed(problem, backend, end).arrays
    for seed in range(4):
        rng = np.random.default_rng(seed)
        stepping = problem.stepper(backend, problem.initial())
        while stepping.step < end:
            stepping.advance(min(int(rng.integers(1, 80)), end - stepping.step))
            if rng.random() < 0.5:
                with stepping.snapshot() as held:
                    kept = Snapshot(held.step, {name: np.array(a) for name, a in held.arrays.items()})
                stepping = problem.stepper(backend, kept)
        with stepping.observe("time") as seen:
            for name, array in straight.items():
                assert np.array_equal(seen.arrays[name], array), name


@pytest.mark.parametrize("stepper", STEPPERS)
@made_up
@given(
    seed=seeds, ny=sizes, nx=sizes, boundary=st.tuples(*[edges()] * 4), factors=st.tuples(temperatures, temperatures)
)
def test_solutions_add_up(
    plate: Callable, backend: Backend, stepper: str, seed: int, ny: int, nx: int, boundary: tuple, factors: tuple
) -> None:
    """Between edges of 0 any step is linear in the temperatures."""
    only_native(backend)
    zero = [edge | {key: 0.0 for key in ("value", "ambient") if key in edge} for edge in boundary]
    u, *coefficients = fields(seed, (ny, nx))
    v = fields(seed + 1, (ny, nx))[0]
    a, b = factors
    time = {"end": 0.01, "stepper": stepper}

    def after(T0: np.ndarray) -> np.ndarray:
        problem = plate(T0, *coefficients, boundary=dict(zip(EDGES, zero)), time=time)
        return final(problem, backend, 4)

    size = abs(a) * np.abs(u).max() + abs(b) * np.abs(v).max()
    assert np.abs(after(a * u + b * v) - (a * after(u) + b * after(v))).max() <= 1e-13 * size


@pytest.mark.parametrize("stepper", STEPPERS)
@made_up
@given(seed=seeds, ny=sizes, nx=sizes, periodic=st.booleans())
def test_an_insulated_plate_keeps_its_heat_and_evens_out(
    plate: Callable, backend: Backend, stepper: str, seed: int, ny: int, nx: int, periodic: bool
) -> None:
    """Σ ρc T stays, Σ ρc (T - mean)² never grows from step to step."""
    only_native(backend)
    T0, kx, ky, rho = fields(seed, (ny, nx))
    boundary = dict.fromkeys(EDGES, PERIODIC if periodic else INSULATE)
    problem = plate(T0, kx, ky, rho, boundary=boundary, time={"end": 0.01, "stepper": stepper})
    stepping = problem.stepper(backend, problem.initial())
    heat0, content = np.sum(rho * T0), np.sum(rho * np.abs(T0))
    mean, spread = heat0 / np.sum(rho), np.inf
    for _ in range(min(problem.clock.end, 6)):
        stepping.advance(1)
        with stepping.snapshot() as snapshot:
            T = np.array(snapshot.arrays["temperature"])
        assert abs(np.sum(rho * T) - heat0) <= 1e-14 * content
        now = np.sum(rho * (T - mean) ** 2)
        assert now <= spread * (1 + 1e-12) + 1e-20 * content
        spread = now

"""The heat solver against closed forms, discrete-exact decay and an independent NumPy step."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heat_reference
import numpy as np
import pytest

from simsuite.core import Backend
from simsuite.errors import ScenarioError
from simsuite.solvers.heat.problem import HeatProblem

HOLD = {"kind": "temperature", "value": 0.0}
INSULATE = {"kind": "insulated"}
PERIODIC = {"kind": "periodic"}
EDGES = ("left", "right", "bottom", "top")


def everywhere(edge: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(EDGES, edge)


def final(problem: HeatProblem, backend: Backend) -> np.ndarray:
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.snapshot() as snapshot:
        return np.array(snapshot.arrays["temperature"])


ALL_KINDS = {
    "left": {"kind": "temperature", "value": "y*sin(40*t) + 1"},
    "right": {"kind": "flux", "value": "3*y - t"},
    "bottom": {"kind": "convection", "h": "4 + x + t", "ambient": "x*cos(30*t)"},
    "top": {"kind": "insulated"},
}
TURNED = {
    "left": {"kind": "convection", "h": 2.5, "ambient": 1.5},
    "right": {"kind": "temperature", "value": 0.25},
    "bottom": {"kind": "insulated"},
    "top": {"kind": "flux", "value": -2.0},
}
ROUND = {"left": PERIODIC, "right": PERIODIC, "bottom": TURNED["left"], "top": HOLD}
SIZES = [(1, 1), (1, 5), (5, 1), (2, 2), (2, 7), (3, 3), (6, 4), (31, 33), (33, 31)]


def plain_edges(edges: dict[str, Any]) -> dict[str, Any]:
    """The same edges with expressions as Python functions, for the reference."""

    def value(v: Any) -> Any:
        if isinstance(v, str):
            code = compile(v, "edge", "eval")
            names = {"sin": np.sin, "cos": np.cos}
            return lambda x, y, t: eval(code, names | {"x": x, "y": y, "t": t})
        return v

    return {edge: {key: v if key == "kind" else value(v) for key, v in spec.items()} for edge, spec in edges.items()}


@pytest.mark.parametrize("edges", [ALL_KINDS, TURNED, ROUND, everywhere(PERIODIC)], ids=["all", "turned", "x", "xy"])
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_steps_equal_an_independent_step(heat: Callable, backend: Backend, shape: tuple, edges: dict) -> None:
    if backend.name == "cudasim" and shape[0] > 8 and (edges is not ALL_KINDS or shape != (31, 33)):
        pytest.skip("one large grid is enough for the simulator")
    ny, nx = shape
    steps = 5
    T = np.random.default_rng(nx * 100 + ny).normal(size=shape)
    problem = heat(
        grid={"nx": nx, "ny": ny, "lx": 0.7, "ly": 1.3},
        material={"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        boundary=edges,
        time={"end": 1.0},
    )
    limit = 1 / (2 * (2.0 / 15.0) * ((nx / 0.7) ** 2 + (ny / 1.3) ** 2))
    dt = 0.9 * limit
    problem = heat(**{**sections(problem), "time": {"end": steps * dt, "dt": dt * (1 + 1e-12)}})
    stepper = problem.stepper(backend, type(problem.initial())(0, {**problem.initial().arrays, "temperature": T}))
    want = T
    for k in range(problem.clock.end):
        t, dt = problem.clock.time(k), problem.clock.dt(k)
        want = heat_reference.step(want, plain_edges(edges), (0.7, 1.3), 2.0, 15.0, t, dt)
    stepper.advance(problem.clock.end)
    with stepper.snapshot() as snapshot:
        got = np.array(snapshot.arrays["temperature"])
    assert problem.clock.end == steps
    scale = np.abs(want).max()
    assert np.abs(got - want).max() <= 1e-13 * steps * scale


@pytest.mark.parametrize("edges", [ALL_KINDS, ROUND], ids=["all", "x"])
@pytest.mark.parametrize("shape", [(6, 1), (6, 2), (7, 3), (9, 5), (10, 4), (33, 31)], ids=str)
def test_the_kernel_for_large_grids_equals_the_one_for_small(
    heat: Callable, backend: Backend, shape: tuple, edges: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit, ledger included."""
    if backend.name == "cudasim" and shape[0] > 10 and edges is not ALL_KINDS:
        pytest.skip("one large grid is enough for the simulator")
    kernels = backend.kernels("simsuite.solvers.heat.explicit.explicit")
    text = "sin(9*x)*cos(7*y)"
    problem = heat(
        grid={"nx": shape[1], "ny": shape[0]}, boundary=edges, initial={"temperature": text}, time={"end": 0.5}
    )
    small, large = problem.stepper(backend, problem.initial()), None
    monkeypatch.setattr(kernels, "MANY_CELLS", 0)
    large = problem.stepper(backend, problem.initial())
    for stepper in (small, large):
        stepper.advance(3)
    with small.snapshot() as a, large.snapshot() as b:
        for name in a.arrays:
            assert np.array_equal(a.arrays[name], b.arrays[name]), name


def sections(problem: HeatProblem) -> dict[str, Any]:
    return problem.scenario.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize("edges", ["held", "insulated", "mixed", "periodic"])
def test_a_mode_decays_exactly_as_the_scheme_says(heat: Callable, backend: Backend, edges: str) -> None:
    """T_n = (1 - dt lambda)^n T_0 for an eigenvector of the 5-point operator, to rounding."""
    nx, ny = 8, 6
    mode = {  # text, boundary, eigenvalues of -d2/dx2 and -d2/dy2
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
    steps = 6 if backend.name == "cudasim" else 200
    problem = heat(
        grid={"nx": nx, "ny": ny},
        initial={"temperature": text},
        boundary=boundary,
        time={"end": steps * 1e-4, "dt": 1e-4},
    )
    assert problem.clock.end == steps
    decay = 4 * (nx * math.sin(kx / nx / 2)) ** 2 + 4 * (ny * math.sin(ky / ny / 2)) ** 2
    want = problem.T0 * (1 - problem.clock.dt(0) * decay) ** steps
    assert np.abs(final(problem, backend) - want).max() <= 1e-12 * np.abs(want).max()


BIOT_ROOT = 0.860333589019380  # of z tan z = 1
CASES = {
    "sine": ("sin(pi*x)*sin(pi*y)", everywhere(HOLD), 2 * math.pi**2),
    "cosine": ("cos(pi*x)*cos(pi*y)", everywhere(INSULATE), 2 * math.pi**2),
    "mixed": (
        f"cos({BIOT_ROOT}*x)*sin(pi*y/2)",
        {"left": INSULATE, "right": {"kind": "convection", "h": 1.0, "ambient": 0.0}, "bottom": HOLD, "top": INSULATE},
        BIOT_ROOT**2 + math.pi**2 / 4,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_order_two_in_space(heat: Callable, case: str) -> None:
    from simsuite.backends import open_backend

    text, boundary, rate = CASES[case]
    errors = []
    sizes = [16, 32, 64]
    for n in sizes:
        problem = heat(
            grid={"nx": n, "ny": n},
            initial={"temperature": text},
            boundary=boundary,
            time={"end": 0.05, "dt": 0.2 / n**2},
        )
        exact = problem.T0 * math.exp(-rate * 0.05)
        errors.append(np.sqrt(np.mean((final(problem, open_backend("cpu")) - exact) ** 2)))
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / np.array(sizes)))
    assert np.all(np.abs(orders - 2.0) <= 0.1), orders


def test_splitting_the_advance_changes_no_bit(heat: Callable, backend: Backend) -> None:
    problem = heat(
        grid={"nx": 5, "ny": 4},
        boundary=ALL_KINDS,
        initial={"temperature": "x*y"},
        output={"frames": 4},
        time={"end": 0.8},
    )
    steps = problem.clock.end if backend.name != "cudasim" else 30
    one, many = (problem.stepper(backend, problem.initial()) for _ in range(2))
    one.advance(steps)
    rng = np.random.default_rng(3)
    while many.step < steps:
        many.advance(min(int(rng.integers(1, 90)), steps - many.step))
    with one.snapshot() as a, many.snapshot() as b:
        for name in a.arrays:
            assert np.array_equal(a.arrays[name], b.arrays[name]), name


def test_a_stepper_continues_from_a_snapshot_bit_for_bit(heat: Callable, backend: Backend) -> None:
    problem = heat(
        grid={"nx": 5, "ny": 4},
        boundary=ALL_KINDS,
        initial={"temperature": "x*y"},
        output={"frames": 3},
        time={"end": 0.4},
    )
    steps = 20
    assert problem.clock.end > steps
    straight = problem.stepper(backend, problem.initial())
    straight.advance(7)
    with straight.snapshot() as held:
        middle = type(held)(held.step, {name: np.array(a) for name, a in held.arrays.items()})
    straight.advance(steps - 7)
    again = problem.stepper(backend, middle)
    again.advance(steps - 7)
    with straight.snapshot() as a, again.snapshot() as b:
        for name in a.arrays:
            assert np.array_equal(a.arrays[name], b.arrays[name]), name


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_energy_ledger_closes(heat: Callable, backend: Backend, precision: str) -> None:
    problem = heat(
        run={"precision": precision},
        grid={"nx": 7, "ny": 6, "lx": 0.7, "ly": 1.3},
        material={"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        boundary=ALL_KINDS,
        initial={"temperature": "20*x + y"},
        time={"end": 0.8},
    )
    steps = 10 if backend.name == "cudasim" else problem.clock.end
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(steps)
    with stepper.observe("time") as observed:
        energy = problem.results(observed)["energy"]
        content = 15.0 * 0.7 * 1.3 * float(np.mean(np.abs(observed.arrays["temperature"])))
    eps = float(np.finfo(precision).eps)
    assert abs(energy["stored"]) > 1e-3 * content
    assert abs(energy["residual"]) <= 4 * eps * math.sqrt(steps) * content


def test_a_constant_flux_stores_what_came_in(heat: Callable, backend: Backend) -> None:
    problem = heat(
        material={"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        boundary={"left": {"kind": "flux", "value": 7.0}},
        time={"end": 0.03},
    )
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end)
    with stepper.observe("time") as observed:
        energy = problem.results(observed)["energy"]
    assert energy["edges"]["left"] == pytest.approx(7.0 * 0.03, rel=1e-13)
    assert energy["stored"] == pytest.approx(7.0 * 0.03, rel=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_uniform_field_stays_exactly_uniform(heat: Callable, backend: Backend, precision: str) -> None:
    hold = {"kind": "temperature", "value": 0.1}
    boundary = {"left": hold, "right": INSULATE, "bottom": hold, "top": INSULATE}
    steps = 4 if backend.name == "cudasim" else 500
    problem = heat(
        run={"precision": precision},
        initial={"temperature": 0.1},
        boundary=boundary,
        time={"end": steps * 1e-3, "dt": 1e-3},
    )
    assert np.all(final(problem, backend) == np.dtype(precision).type(0.1))


def test_probes_are_bilinear_up_to_edges_and_corners(heat: Callable, backend: Backend) -> None:
    """A field linear in x and y, held at its own edge values, is recovered exactly everywhere."""
    text = "3 + 2*x - 5*y"
    points = [(0.0, 0.0), (0.7, 1.3), (0.0, 0.4), (0.33, 1.3), (0.35, 0.65), (0.05, 0.1), (0.7, 0.0)]
    problem = heat(
        grid={"nx": 7, "ny": 4, "lx": 0.7, "ly": 1.3},
        initial={"temperature": text},
        boundary=everywhere({"kind": "temperature", "value": text}),
        probe=[{"name": f"P{i}", "x": x, "y": y} for i, (x, y) in enumerate(points)],
    )
    stepper = problem.stepper(backend, problem.initial())
    with stepper.observe("sample") as observed:
        got = np.array(problem.rows("sample", observed)["probe_temperature"])
    assert np.allclose(got, [3 + 2 * x - 5 * y for x, y in points], rtol=0, atol=1e-14)


def test_probes_of_a_periodic_field_wrap_around(heat: Callable, backend: Backend) -> None:
    points = [{"name": "left", "x": 0.0, "y": 0.3}, {"name": "right", "x": 1.0, "y": 0.3}]
    problem = heat(initial={"temperature": "sin(2*pi*x + 1) + y"}, boundary=everywhere(PERIODIC), probe=points)
    stepper = problem.stepper(backend, problem.initial())
    with stepper.observe("sample") as observed:
        left, right = problem.rows("sample", observed)["probe_temperature"]
        want = (problem.T0[:, 0] + problem.T0[:, -1]) / 2
    assert left == right
    assert left == pytest.approx(np.interp(0.3, (np.arange(8) + 0.5) / 8, want), abs=1e-14)


def test_an_unstable_dt_is_refused_and_the_limit_accepted(heat: Callable) -> None:
    limit = 1 / (2 * 1.0 * (64 + 64))
    with pytest.raises(ScenarioError, match=r"largest stable dt is 0\.00390625 s"):
        heat(time={"end": 1.0, "dt": limit * 1.001})
    assert heat(time={"end": 1.0, "dt": limit}).clock.dt(0) == limit


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"grid": {"nx": 8, "ny": 8, "lx": 1e-200}}, "no stable time step"),
        ({"material": {"diffusivity": 1e-320}}, "no stable time step"),
        ({"time": {"end": 1e300}}, "at most 1e\\+15"),
        ({"time": {"end": 1.0, "dt": 1e-320}}, "takes inf steps"),
    ],
)
def test_impossible_runs_are_refused(heat: Callable, sections: dict, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        heat(**sections)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_overflow_is_no_internal_error(heat: Callable) -> None:
    from simsuite.backends import open_backend

    problem = heat(initial={"temperature": 1e308}, probe=[{"name": "P", "x": 0.5, "y": 0.5}])
    with problem.stepper(open_backend("cpu"), problem.initial()).observe("time") as observed:
        assert problem.fault(observed) == "the sum of row y=0"
    with pytest.raises(ScenarioError, match="is not finite"):
        heat(boundary={"left": {"kind": "temperature", "value": "1/t"}}, probe=[{"name": "P", "x": 0.0, "y": 0.5}])


def test_a_negative_heat_transfer_coefficient_is_found(heat: Callable) -> None:
    """Wherever and whenever it is: the scheme would grow without bound, and nobody would know why."""

    def convection(h: float | str) -> dict[str, Any]:
        return {"kind": "convection", "h": h, "ambient": 0.0}

    def found(**edges: Any) -> dict[tuple, str]:
        with pytest.raises(ScenarioError) as caught:
            heat(boundary=edges, time={"end": 1.0})
        return {m.path: m.message for m in caught.value.mistakes}

    harmless = {"left": convection(0), "right": convection("abs(y - 0.5)"), "top": convection("t/x"), "bottom": HOLD}
    heat(boundary=harmless, time={"end": 1.0})
    assert found(left=convection("-40 + 0*t"), top=convection("0.5 - t"), bottom=convection("x - 0.8")) == {
        ("boundary", "left", "h"): "must not be negative, but is -40 at x = 0 m, y = 0.0625 m, t = 0 s",
        ("boundary", "top", "h"): "must not be negative, but falls below 0 at x = 0.0625 m, y = 1 m, t = 0.5 s",
        ("boundary", "bottom", "h"): "must not be negative, but is -0.7375 at x = 0.0625 m, y = 0 m, t = 0 s",
    }


def test_steps_land_on_the_frames(heat: Callable) -> None:
    problem = heat(time={"end": 0.1, "dt": 0.003}, output={"times": [0.02, 0.05]})
    time = problem.layout.series[0]
    assert [problem.clock.time(k) for k in time.steps] == [0.02, 0.05, 0.1]
    assert all(problem.clock.dt(k) <= 0.003 for k in range(problem.clock.end))


def test_symmetry_under_transposition(heat: Callable, backend: Backend) -> None:
    """Swapping x and y swaps the result."""
    a = heat(grid={"nx": 6, "ny": 9}, initial={"temperature": "x + x*y*y"}, boundary={"left": HOLD, "top": INSULATE})
    b = heat(
        grid={"nx": 9, "ny": 6}, initial={"temperature": "y + y*x*x"}, boundary={"bottom": HOLD, "right": INSULATE}
    )
    Ta, Tb = final(a, backend), final(b, backend)
    assert np.abs(Ta - Tb.T).max() <= 1e-14


def test_float32_stays_close_to_float64(heat: Callable, backend: Backend) -> None:
    both = [
        heat(run={"precision": p}, boundary=ALL_KINDS, initial={"temperature": "x"}) for p in ("float32", "float64")
    ]
    single, double = (final(problem, backend) for problem in both)
    assert single.dtype == np.float32
    assert np.abs(single - double).max() <= 1e-5 * np.abs(double).max()


def test_the_measurements_of_a_field(heat: Callable, backend: Backend) -> None:
    """Rows longer and shorter than a thread block, and the first cell that is not finite."""
    for nx in (1, 130) if backend.name == "cudasim" else (1, 5, 128, 1000):
        problem = heat(grid={"nx": nx, "ny": 3})
        T = np.random.default_rng(nx).normal(size=(3, nx))
        stepper = problem.stepper(backend, type(problem.initial())(0, {**problem.initial().arrays, "temperature": T}))
        with stepper.observe("sample") as observed:
            assert problem.fault(observed) is None
            assert np.allclose(observed.arrays["row_sum"], T.sum(axis=1), rtol=1e-13, atol=1e-13)
            assert np.array_equal(observed.arrays["row_min"], T.min(axis=1))
            assert np.array_equal(observed.arrays["row_max"], T.max(axis=1))
        T[1, nx // 2], T[1, nx - 1], T[2, 0] = np.inf, np.nan, np.nan
        stepper = problem.stepper(backend, type(problem.initial())(0, {**problem.initial().arrays, "temperature": T}))
        for series in ("sample", "time"):
            with stepper.observe(series) as observed:
                assert problem.fault(observed) == f"cell {nx // 2} along x, 1 along y"


def test_energy_has_the_unit_that_the_material_allows(heat: Callable) -> None:
    """Without density and specific heat there are no joules."""
    full = {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0}
    for material, unit in ((full, "J m-1"), ({"diffusivity": 2.0}, "K m2")):
        variables = {v.name: v for v in heat(material=material).layout.variables}
        assert variables["energy_stored"].attrs["units"] == unit


def test_initial_temperatures_from_a_file(heat: Callable, tmp_path: Path) -> None:
    T0 = np.arange(64.0).reshape(8, 8)
    np.save(tmp_path / "T0.npy", T0.astype(np.int32))
    assert np.array_equal(heat(initial={"temperature": {"file": "T0.npy"}}).T0, T0)


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("shape", lambda path: np.save(path, np.ones((8, 9))), "shape \\(8, 9\\)"),
        ("complex", lambda path: np.save(path, np.ones((8, 8), complex)), "complex128"),
        ("text", lambda path: np.save(path, np.full((8, 8), "a")), "not real numbers"),
        ("objects", lambda path: np.save(path, np.full((8, 8), {}), allow_pickle=True), "cannot be read"),
        ("empty", lambda path: path.write_bytes(b""), "cannot be read"),
        ("archive", lambda path: np.savez(path.open("wb"), a=np.ones((8, 8))), "cannot be read"),
        ("infinite", lambda path: np.save(path, np.full((8, 8), np.inf)), "not finite in cell"),
    ],
)
def test_files_that_hold_no_temperatures(
    heat: Callable, tmp_path: Path, name: str, make: Callable[[Path], None], words: str
) -> None:
    make(tmp_path / f"{name}.npy")
    with pytest.raises(ScenarioError, match=words):
        heat(initial={"temperature": {"file": f"{name}.npy"}})

"""The exact heat stepper against matrix exponentials, decay of modes, PDE solutions and its energy ledger."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import heat_reference
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.special import erfc

from simsuite.core import Backend, Clock, Snapshot
from simsuite.scenario.heat import HeatScenario
from simsuite.solvers.heat.exact.exact import ExactStepper
from simsuite.solvers.heat.exact.modes import Axis
from simsuite.solvers.heat.exact.separation import obstacle
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.operator.ledger import booked, empty_ledger
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.statement import discretise

HOLD = {"kind": "temperature", "value": 0.0}
INSULATED = {"kind": "insulated"}
PERIODIC = {"kind": "periodic"}
EDGES = ("left", "right", "bottom", "top")
K, RHO, C = 2.0, 3.0, 5.0
LENGTHS = (0.7, 1.3)


def scenario(**sections: Any) -> HeatScenario:
    plain = {"solver": "heat", "material": {"diffusivity": 1.0}, "time": {"end": 1e-2}, "output": {"frames": 2}}
    return HeatScenario.model_validate(plain | sections)


def discretised(model: HeatScenario) -> Discretisation:
    mistakes: list[Any] = []
    made = discretise(model, Path(), mistakes)
    assert not mistakes
    return made


def stepper(
    model: HeatScenario, backend: Backend, clock: Clock, T: np.ndarray | None = None, step: int = 0
) -> ExactStepper:
    d = discretised(model)
    assert obstacle(model, d) is None
    T0 = d.T0 if T is None else T.astype(model.run.precision)
    start = Snapshot(step, {"temperature": T0, **empty_ledger(d.edges.size, T0.dtype)})
    return ExactStepper(d, Wanted(), clock, backend, start)


def final(made: ExactStepper, clock: Clock) -> dict[str, np.ndarray]:
    made.advance(clock.end)
    with made.snapshot() as snapshot:
        return {name: np.array(a) for name, a in snapshot.arrays.items()}


def system(shape: tuple[int, int], edges: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """A and s of dT/dt = A T + s, from an independent explicit step of one second."""

    def rate(T: np.ndarray) -> np.ndarray:
        return (heat_reference.step(T, edges, LENGTHS, K, RHO * C, 0.0, 1.0) - T).ravel()

    n = shape[0] * shape[1]
    s = rate(np.zeros(shape))
    return np.stack([rate(e.reshape(shape)) - s for e in np.eye(n)], axis=1), s


ONE = {
    "temperature": {"kind": "temperature", "value": 1.5},
    "flux": {"kind": "flux", "value": -3.0},
    "convection": {"kind": "convection", "h": 4.0, "ambient": 2.0},
}
OTHER = {
    "temperature": {"kind": "temperature", "value": -0.5},
    "flux": INSULATED,
    "convection": {"kind": "convection", "h": 0.7, "ambient": -1.0},
}
AXES = [*itertools.product(ONE, OTHER), ("periodic", "periodic")]


def edge(kinds: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return kinds.get(kind, PERIODIC)


def sides(along_x: tuple[str, str], along_y: tuple[str, str]) -> dict[str, Any]:
    return {
        "left": edge(ONE, along_x[0]),
        "right": edge(OTHER, along_x[1]),
        "bottom": edge(OTHER, along_y[0]),
        "top": edge(ONE, along_y[1]),
    }


SMALL, LARGE = [(1, 1), (1, 5), (2, 3)], [(16, 12), (31, 33)]


@pytest.mark.parametrize("shape", SMALL + LARGE, ids=str)
@pytest.mark.parametrize("along_x", AXES, ids="-".join)
def test_a_step_is_the_matrix_exponential(backend: Backend, along_x: tuple[str, str], shape: tuple[int, int]) -> None:
    """On small grids with every pair of edges along y, on larger ones with one."""
    along_y = AXES if shape in SMALL else [AXES[(3 * AXES.index(along_x) + shape[0]) % len(AXES)]]
    if shape == LARGE[1] and ("flux" in along_x or along_x[0] != along_x[1]):
        pytest.skip("as with other edges, and expm takes a second each time")
    if backend.name == "cudasim":
        if shape not in SMALL:
            pytest.skip("takes minutes there")
        along_y = along_y[AXES.index(along_x) :: len(AXES)]
    for kinds in along_y:
        compare_with_exponential(backend, sides(along_x, kinds), shape)


def compare_with_exponential(backend: Backend, edges: dict[str, Any], shape: tuple[int, int]) -> None:
    dt = 0.05
    T = 300 + np.random.default_rng(1).normal(size=shape)
    model = scenario(
        grid={"ny": shape[0], "nx": shape[1], "lx": LENGTHS[0], "ly": LENGTHS[1]},
        material={"conductivity": K, "density": RHO, "specific_heat": C},
        boundary=edges,
        initial={"temperature": 300.0},
    )
    clock = Clock((0, 2), (0.0, 2 * dt))
    got = final(stepper(model, backend, clock, T), clock)
    A, s = system(shape, edges)
    n = A.shape[0]
    block = np.zeros((n + 1, n + 1))
    block[:n, :n], block[:n, n] = A, s
    want = (expm(2 * dt * block) @ np.append(T.ravel(), 1.0))[:n].reshape(shape)
    assert np.abs(got["temperature"] - want).max() < 3e-15 * 300 * max(shape)
    through = booked(got)
    rounded = 1e-13 * RHO * C * np.sum(np.abs(want))  # in the exponential
    assert abs(RHO * C * np.sum(want - T) - math.fsum(through)) < 1e-12 * np.sum(np.abs(through)) + rounded


def matrix(axis: Axis) -> np.ndarray:
    M = 2 * np.eye(axis.n) - np.eye(axis.n, k=1) - np.eye(axis.n, k=-1)
    if axis.periodic:
        return 2 * np.eye(axis.n) - np.roll(np.eye(axis.n), 1, 0) - np.roll(np.eye(axis.n), -1, 0)
    M[0, 0] -= 1 - axis.begin
    M[-1, -1] -= 1 - axis.end
    return M


BETAS = [(0, 0), (2, 2), (0, 2), (2, 0), (0.3, 1.7), (1, 1), (1e-9, 0), (0, 1e-300), (2 - 1e-12, 2), (1e-20, 2)]


@pytest.mark.parametrize("betas", [*BETAS, None], ids=str)
def test_modes_diagonalise(betas: tuple[float, float] | None) -> None:
    for n in (*range(1, 40), 100, 400):
        axis = Axis(n, False, *betas) if betas else Axis(n, True, 0.0, 0.0)
        V, M = axis.matrix, matrix(axis)
        assert np.abs(V.T @ V - np.eye(n)).max() < 2e-14
        assert np.abs(M @ V - V * axis.eigenvalues).max() < 1e-14
        np.testing.assert_allclose(np.sort(axis.eigenvalues), np.linalg.eigvalsh(M), rtol=0, atol=2e-14)


@pytest.mark.parametrize("beta", [1e-12, 1e-6, 1e-2, 1.0, 2.0])
@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_the_smallest_eigenvalue_has_all_its_digits(n: int, beta: float) -> None:
    """M of an axis that is insulated at its end has the inverse 1/β + min(i, j), whose trace is mainly 1/µ_0."""
    for axis in (Axis(n, False, beta, 0.0), Axis(n, False, 0.0, beta)):
        assert np.sum(1 / axis.eigenvalues) == pytest.approx(n / beta + n * (n - 1) / 2, rel=1e-14 * (1 + 0.1 * n**0.5))


@pytest.mark.parametrize("kind", ["hartley", "cosine2", "sine2", "cosine4", "sine4"])
def test_fast_transforms_have_the_same_modes(kind: str) -> None:
    from simsuite.solvers.heat.exact.fast_transforms import fast_transform

    betas = {"cosine2": (0, 0), "sine2": (2, 2), "cosine4": (0, 2), "sine4": (2, 0), "hartley": (0, 0)}[kind]
    transform = fast_transform(kind)
    assert transform is not None
    for n in range(1, 40):
        axis = Axis(n, kind == "hartley", *betas)
        assert axis.kind == kind
        field = np.random.default_rng(n).normal(size=(n, 3))
        modes, back = np.empty_like(field), np.empty_like(field)
        transform(field, modes, 0, False)
        np.testing.assert_allclose(modes, axis.matrix.T @ field, rtol=0, atol=2e-14)
        transform(np.ascontiguousarray(modes.T), back.T, 1, True)
        np.testing.assert_allclose(back, field, rtol=0, atol=2e-14)


MIXED = {
    "left": {"kind": "convection", "h": 3.0, "ambient": "2 + y"},
    "right": [{"kind": "insulated", "to": 0.4}, {"kind": "flux", "value": 5.0, "from": 0.4}],
    "bottom": {"kind": "temperature", "value": "x"},
    "top": INSULATED,
}


def mixed(backend: Backend, **sections: Any) -> HeatScenario:
    nx, ny = (5, 3) if backend.name == "cudasim" else (40, 30)
    return scenario(
        **{
            "grid": {"nx": nx, "ny": ny},
            "material": {"conductivity": K, "density": RHO, "specific_heat": C},
            "boundary": MIXED,
            "initial": {"temperature": "3 + sin(5*x)*exp(y)"},
            "source": [{"power": "20*x"}, {"power": 3}],
        }
        | sections
    )


def test_many_steps_are_one(backend: Backend) -> None:
    model, end = mixed(backend), 0.3
    one, many, uneven = (Clock((0, n), (0.0, end)) for n in (1, 3 if backend.name == "cudasim" else 30, 7))
    want = final(stepper(model, backend, one), one)
    for clock in (many, uneven):
        got = final(stepper(model, backend, clock), clock)
        np.testing.assert_allclose(got["temperature"], want["temperature"], rtol=1e-13)
        np.testing.assert_allclose(booked(got), booked(want), rtol=1e-11)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_cutting_a_run_changes_no_bit(backend: Backend, precision: str) -> None:
    model = mixed(backend, run={"precision": precision})
    clock = Clock((0, 65, 66), (0.0, 0.1, 0.3))  # the ledger folds after 64
    uncut, cut = (stepper(model, backend, clock, step=61) for _ in range(2))
    uncut.advance(5)
    with uncut.snapshot() as snapshot:
        whole = {name: np.array(a) for name, a in snapshot.arrays.items()}
    cut.advance(1)
    with cut.snapshot() as snapshot:
        held = Snapshot(snapshot.step, {name: np.array(a) for name, a in snapshot.arrays.items()})
    resumed = ExactStepper(discretised(model), Wanted(), clock, backend, held)
    resumed.advance(1)
    resumed.advance(3)
    with resumed.snapshot() as snapshot:
        assert snapshot.step == 66
        for name, a in snapshot.arrays.items():
            assert a.dtype == whole[name].dtype
            assert np.array_equal(a, whole[name]), name


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 1e-4)])
def test_energy_is_accounted_for(backend: Backend, precision: str, tolerance: float) -> None:
    model = mixed(backend, run={"precision": precision})
    clock = Clock((0, 5), (0.0, 0.4))
    d = discretised(model)
    got = final(stepper(model, backend, clock), clock)
    stored = RHO * C * np.sum(got["temperature"] - d.T0, dtype=np.float64)
    sources = 0.4 * np.sum(20 * d.centres[0] + 3) * d.ny
    moved = np.sum(np.abs(booked(got))) + sources
    assert abs(stored - sources - math.fsum(booked(got))) < tolerance * moved
    quarters = np.split(booked(got), np.cumsum([d.ny, d.ny, d.nx]))
    assert math.fsum(quarters[3]) == 0
    assert math.fsum(quarters[1]) == pytest.approx(5.0 * 0.4 / d.dx * np.sum(d.centres[1] >= 0.4), rel=tolerance)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["temperature", "convection", "flux"])
def test_a_uniform_field_does_not_move(backend: Backend, kind: str, precision: str) -> None:
    level = 293.15
    condition = {
        "temperature": {"kind": "temperature", "value": level},
        "convection": {"kind": "convection", "h": 7.0, "ambient": level},
        "flux": {"kind": "flux", "value": 0.0},
    }[kind]
    model = mixed(
        backend,
        run={"precision": precision},
        boundary=dict.fromkeys(EDGES, condition),
        initial={"temperature": level},
        source=[],
    )
    clock = Clock((0, 4), (0.0, 10.0))
    got = final(stepper(model, backend, clock), clock)["temperature"]
    np.testing.assert_allclose(got, level, rtol=1e-14 if precision == "float64" else 1e-7)
    assert np.ptp(got) <= 1e-14 * level


DECAYS = {  # mode, edges, and the angles θ of one cell along x and y
    "held": ("sin(pi*x)*sin(2*pi*y)", dict.fromkeys(EDGES, HOLD), math.pi, 2 * math.pi),
    "insulated": ("cos(pi*x)*cos(3*pi*y)", dict.fromkeys(EDGES, INSULATED), math.pi, 3 * math.pi),
    "mixed": (
        "sin(pi*x/2)*cos(3*pi*y/2)",
        {"left": HOLD, "right": INSULATED, "bottom": INSULATED, "top": HOLD},
        math.pi / 2,
        3 * math.pi / 2,
    ),
    "periodic": ("sin(2*pi*x+1)*cos(4*pi*y)", dict.fromkeys(EDGES, PERIODIC), 2 * math.pi, 4 * math.pi),
}


@pytest.mark.parametrize("case", DECAYS)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 5e-15), ("float32", 3e-6)])
def test_a_mode_decays_at_its_rate(backend: Backend, case: str, precision: str, tolerance: float) -> None:
    """T(t) = e^(-λt) T(0), λ = (2/Δx sin(θx/2))² + (2/Δy sin(θy/2))²."""
    text, edges, kx, ky = DECAYS[case]
    nx, ny, t = 8, 6, 0.01
    model = scenario(
        grid={"nx": nx, "ny": ny}, boundary=edges, initial={"temperature": text}, run={"precision": precision}
    )
    clock = Clock((0, 1), (0.0, t))
    rate = (2 * nx * math.sin(kx / nx / 2)) ** 2 + (2 * ny * math.sin(ky / ny / 2)) ** 2
    got = final(stepper(model, backend, clock), clock)["temperature"]
    np.testing.assert_allclose(got, math.exp(-rate * t) * discretised(model).T0, rtol=0, atol=tolerance)


def test_a_source_fills_its_mode(backend: Backend) -> None:
    """q = cos(πx) in an insulated box: T = (1 - e^(-λt))/λ q; and evenly spread heat raises T by qt/(ρc) everywhere."""
    n, t = 8, 0.03
    model = scenario(grid={"nx": n, "ny": 3}, source=[{"power": "cos(pi*x)"}, {"power": 4}])
    clock = Clock((0, 1), (0.0, t))
    rate = (2 * n * math.sin(math.pi / n / 2)) ** 2
    got = final(stepper(model, backend, clock), clock)["temperature"]
    x = (np.arange(n) + 0.5) / n
    np.testing.assert_allclose(got, np.tile(-math.expm1(-rate * t) / rate * np.cos(math.pi * x) + 4 * t, (3, 1)))


def order(errors: list[float], refinement: float) -> float:
    return math.log(abs(errors[-2]) / abs(errors[-1])) / math.log(refinement)


def on_cpu(model: HeatScenario, t: float) -> tuple[np.ndarray, Discretisation]:
    from simsuite.backends import open_backend

    clock = Clock((0, 1), (0.0, t))
    return final(stepper(model, open_backend("cpu"), clock), clock)["temperature"], discretised(model)


def test_a_cooled_square() -> None:
    """T0 = 1 between edges at 0: the centre at t = 0.1 by the product of series (Carslaw & Jaeger, section 5.6)."""
    errors = []
    for n in (27, 81):
        grid = {"nx": n, "ny": n}
        T, _ = on_cpu(scenario(grid=grid, boundary=dict.fromkeys(EDGES, HOLD), initial={"temperature": 1.0}), 0.1)
        errors.append(T[n // 2, n // 2] - 0.225138350058)
        assert T[0, 0] == pytest.approx(T[-1, -1], rel=1e-12)
    assert abs(errors[-1]) < 1e-4
    assert order(errors, 3) == pytest.approx(2.0, abs=0.1)


def test_a_plate_that_convection_cools() -> None:
    """cos(ζx), ζ tan ζ = Bi = 1, decays by e^(-ζ²t) (Incropera, Fundamentals of Heat and Mass Transfer, Table 5.1)."""
    zeta, errors = 0.8603335890193797, []
    for n in (20, 40):
        edges = {"right": {"kind": "convection", "h": 1.0, "ambient": 0.0}}
        model = scenario(grid={"nx": n, "ny": 2}, boundary=edges, initial={"temperature": f"cos({zeta}*x)"})
        T, d = on_cpu(model, 0.8)
        errors.append(float(np.max(np.abs(T - math.exp(-(zeta**2) * 0.8) * np.cos(zeta * d.centres[0])))))
    assert errors[-1] < 1e-4
    assert order(errors, 2) == pytest.approx(2.0, abs=0.1)


def test_a_thick_slab_that_is_heated_from_one_side() -> None:
    """Steel at 35 °C gets 3.2e5 W/m²: 79.3 °C 2.5 cm deep after 30 s (Holman, Heat Transfer, Example 4-2)."""
    errors, depth, t, alpha, k = [], 0.025, 30.0, 1.4e-5, 45.0
    eta = depth / math.sqrt(4 * alpha * t)
    rise = 2 * math.sqrt(alpha * t / math.pi) * math.exp(-(eta**2)) - depth * erfc(eta)
    for n in (90, 270):  # the depth is a cell's centre
        model = scenario(
            grid={"nx": 1, "ny": n, "lx": 1.0, "ly": 0.3},
            material={"conductivity": k, "density": k / alpha, "specific_heat": 1.0},
            boundary={"bottom": {"kind": "flux", "value": 3.2e5}},
            initial={"temperature": 35.0},
        )
        T, d = on_cpu(model, t)
        row = int(np.argmin(np.abs(d.centres[1][:, 0] - depth)))
        errors.append(T[row, 0] - (35 + 3.2e5 / k * rise))
    assert 35 + 3.2e5 / k * rise == pytest.approx(79.3141588, abs=1e-7)
    assert abs(errors[-1]) < 1e-2
    assert order(errors, 3) == pytest.approx(2.0, abs=0.1)


RADIATES = {"kind": "radiation", "emissivity": 0.5, "ambient": 300.0}
INAPPLICABLE = {
    "conductivity in x": ({"material": {"diffusivity": "1 + x"}}, ("material", "diffusivity")),
    "conductivity in T": ({"material": {"diffusivity": "1 + T**2"}}, ("material", "diffusivity")),
    "density": (
        {"material": {"conductivity": 1, "density": "1 + y", "specific_heat": 1}},
        ("material", "density"),
    ),
    "another material": (
        {"region": [{"shape": "rectangle", "x": [0, 0.5], "y": [0, 1], "diffusivity": 3.0}]},
        ("region", 0, "diffusivity"),
    ),
    "a held region": (
        {"region": [{"shape": "circle", "center": [0.5, 0.5], "radius": 0.3, "temperature": 3.0}]},
        ("region", 0, "temperature"),
    ),
    "radiation": ({"boundary": {"top": RADIATES}}, ("boundary", "top", "kind")),
    "value in t": ({"boundary": {"left": {"kind": "flux", "value": "t"}}}, ("boundary", "left", "value")),
    "ambient in t": (
        {"boundary": {"left": {"kind": "convection", "h": 2, "ambient": "t"}}},
        ("boundary", "left", "ambient"),
    ),
    "h in x": ({"boundary": {"top": {"kind": "convection", "h": "1+x", "ambient": 0}}}, ("boundary", "top", "h")),
    "pieces": (
        {"boundary": {"top": [{"kind": "insulated", "to": 0.5}, {**HOLD, "from": 0.5}]}},
        ("boundary", "top", 1, "kind"),
    ),
    "source in t": ({"source": [{"power": 1}, {"power": "sin(t)"}]}, ("source", 1, "power")),
    "source in T": ({"source": [{"power": "1 - T"}]}, ("source", 0, "power")),
    "manufactured": (
        {
            "reference": {"temperature": "exp(-t)*cos(pi*x)", "manufactured": True},
            "boundary": {"left": {"kind": "temperature"}},
        },
        ("reference", "temperature"),
    ),
}


@pytest.mark.parametrize("case", INAPPLICABLE)
def test_what_is_in_the_way_of_exact_steps(case: str) -> None:
    sections, path = INAPPLICABLE[case]
    model = scenario(grid={"nx": 8, "ny": 8}, **sections)
    found = obstacle(model, discretised(model))
    assert found is not None
    assert found[0] == path


@pytest.mark.parametrize(
    "region",
    [
        {"radius": 0.01, "conductivity": 1.0},  # between the centres of cells
        {"radius": 0.01, "density": 7.0},
        {"radius": 0.3, "conductivity": 40.0},  # the plate's own
    ],
)
def test_a_region_that_changes_no_cell_is_not_in_the_way(region: dict[str, float]) -> None:
    """That the conductivity is not the same everywhere was said of it."""
    model = scenario(
        grid={"nx": 8, "ny": 8},
        material={"conductivity": 40.0, "density": 2.0, "specific_heat": 3.0},
        region=[{"shape": "circle", "center": [0.5, 0.5], **region}],
    )
    d = discretised(model)
    assert d.uniform
    assert obstacle(model, d) is None


def test_all_that_is_in_the_way_of_exact_steps_is_told_at_once() -> None:
    """A region, a source and an edge, one at a time, took three attempts."""
    model = scenario(
        grid={"nx": 8, "ny": 8},
        material={"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
        region=[{"shape": "circle", "center": [0.5, 0.5], "radius": 0.2, "temperature": 1.0}],
        source=[{"power": "-T"}],
        boundary={"left": {"kind": "radiation", "emissivity": 0.5, "ambient": 300.0}},
    )
    found = obstacle(model, discretised(model))
    why = "a region is held at a temperature; a source depends on T; an edge radiates"
    assert found == (("region", 0, "temperature"), why)


@pytest.mark.parametrize(
    "sections",
    [
        {"material": {"diffusivity": [1.0, "2 + 0"]}},
        {"boundary": {"top": [{**HOLD, "to": 0.5}, {"kind": "temperature", "value": "x", "from": 0.5}]}},
        {"boundary": {"top": {"kind": "convection", "h": 2, "ambient": "x"}}, "source": [{"power": "x*y"}]},
    ],
    ids=["orthotropic", "pieces of one kind", "ambient in x"],
)
def test_what_is_not_in_the_way(sections: dict[str, Any]) -> None:
    model = scenario(grid={"nx": 8, "ny": 8}, **sections)
    assert obstacle(model, discretised(model)) is None

"""Steady states against closed forms, published values and dense linear algebra."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import heat_reference
import numpy as np
import pytest
import tomli_w
from scipy.optimize import brentq
from typer.testing import CliRunner

from simsuite.assembly import make_problem
from simsuite.cli import app
from simsuite.core import Backend, Snapshot
from simsuite.errors import NumericalFailure, ScenarioError
from simsuite.scenario.heat import HeatScenario
from simsuite.scenario.load import load_table
from simsuite.solvers.heat.grid.discretisation import Discretisation
from simsuite.solvers.heat.grid.manufactured import STEFAN_BOLTZMANN
from simsuite.solvers.heat.operator.ledger import booked, empty_ledger
from simsuite.solvers.heat.operator.operator import ledger_entries
from simsuite.solvers.heat.problem import HeatProblem
from simsuite.solvers.heat.results.measure import Wanted
from simsuite.solvers.heat.statement import discretise
from simsuite.solvers.heat.steady import steady
from simsuite.solvers.heat.steady.balance import Balance
from simsuite.solvers.heat.steady.steady import SteadySolution, solve_steady
from simsuite.solvers.heat.steady.stepper import STEADY_CLOCK, SteadyStepper

EDGES = ("left", "right", "bottom", "top")


def hold(value: float | str) -> dict[str, Any]:
    return {"kind": "temperature", "value": value}


COLD = dict.fromkeys(EDGES, hold(0.0))


def scenario(nx: int, ny: int, *, lx: float = 1.0, ly: float = 1.0, **sections: Any) -> HeatScenario:
    plain = {
        "solver": "heat",
        "grid": {"nx": nx, "ny": ny, "lx": lx, "ly": ly},
        "material": {"diffusivity": 1.0},
        "time": {"steady": True},
    }
    return HeatScenario.model_validate(plain | sections)


def discretised(model: HeatScenario) -> Discretisation:
    mistakes: list[Any] = []
    made = discretise(model, Path(), mistakes)
    assert not mistakes
    return made


def solve(nx: int, ny: int, **sections: Any) -> SteadySolution:
    model = scenario(nx, ny, **sections)
    solution = solve_steady(discretised(model), model)
    assert solution.residual <= 1e-10
    return solution


def order(errors: list[float], refinement: float) -> float:
    return math.log(abs(errors[-2]) / abs(errors[-1])) / math.log(refinement)


@pytest.mark.parametrize("n", [1, 3, 21, 45])
def test_one_hot_side(n: int) -> None:
    """Four plates with one hot side each, turned, add up to a uniform one: the centre has exactly a quarter."""
    solution = solve(n, n, boundary=COLD | {"top": hold(1.0)})
    assert solution.method == "fast diagonalisation"
    assert solution.T[n // 2, n // 2] == pytest.approx(0.25, rel=1e-13)


def test_a_point_beside_the_centre_of_one_hot_side() -> None:
    errors = [solve(n, n, boundary=COLD | {"top": hold(1.0)}).T[3 * n // 4, n // 2] - 0.540529218260 for n in (18, 54)]
    assert order(errors, 3) == pytest.approx(2.0, abs=0.2)
    assert abs(errors[-1]) < 1e-3


def test_an_even_source() -> None:
    """-∇²T = 1 between edges at 0: the centre has 0.0736713532815, the mean is 0.0351442537388."""
    solutions = [solve(n, n, boundary=COLD, source=[{"power": 1}]).T for n in (27, 81)]
    at_centre = [float(T[len(T) // 2, len(T) // 2]) - 0.0736713532815138 for T in solutions]
    mean = [float(T.mean()) - 0.0351442537388 for T in solutions]
    for errors in (at_centre, mean):
        assert abs(errors[-1]) < 5e-5
        assert order(errors, 3) == pytest.approx(2.0, abs=0.1)


LAYERS = [{"shape": "rectangle", "x": [0.25, 0.75], "y": [0, 1], "diffusivity": 1e-4}]


@pytest.mark.parametrize("n", [4, 8, 40])
def test_layers_are_exact_on_any_grid_that_fits_them(n: int) -> None:
    """q = ΔT / Σ L/k; the temperature is linear within each layer."""
    solution = solve(n, 2, boundary={"left": hold(1.0), "right": hold(0.0)}, region=LAYERS)
    flux = 1.0 / (0.5 / 1.0 + 0.5 / 1e-4)
    x = (np.arange(n) + 0.5) / n
    exact = np.interp(x, [0, 0.25, 0.75, 1], [1, 1 - 0.25 * flux, 0.25 * flux, 0])
    np.testing.assert_allclose(solution.T, np.tile(exact, (2, 1)), rtol=0, atol=1e-13)


def test_a_column_that_convection_cools() -> None:
    """Three sides at 500 K, one with h = 10 W/(m² K) to 300 K, k = 1: Incropera, Fundamentals of Heat and Mass
    Transfer, Example 4.3, has the values below at nodes a quarter metre apart, which is good to a few kelvin."""
    edges = dict.fromkeys(("left", "right", "top"), hold(500.0))
    edges["bottom"] = {"kind": "convection", "h": 10.0, "ambient": 300.0}
    coarse, fine, finest = (solve(n, n, boundary=edges).T for n in (40, 80, 160))
    for y, nodes in ((0.75, (489.30, 485.15)), (0.5, (472.07, 462.01)), (0.25, (436.95, 418.74))):
        for x, book in zip((0.25, 0.5), nodes):
            values = [node(T, x, y) for T in (coarse, fine, finest)]
            assert values[2] == pytest.approx(book, abs=4.0)
            assert order([values[0] - values[1], values[1] - values[2]], 2) == pytest.approx(2.0, abs=0.2)


def node(T: np.ndarray, x: float, y: float) -> float:
    """The mean of the four cells around a corner of cells."""
    j, i = round(y * T.shape[0]), round(x * T.shape[1])
    return float(T[j - 1 : j + 1, i - 1 : i + 1].mean())


def test_conductivity_that_rises_with_temperature() -> None:
    """k = 2 (1 + 0.01 T), s = 5 over 10 m, insulated at 0 and T = 0 at the end (Arpaci, Conduction Heat Transfer,
    Example 3-8): T(0) = (√(1 + βsL²/k) - 1)/β = 87.0828693387, and T(x) likewise."""
    errors = []
    for n in (25, 50, 100):
        solution = solve(
            n,
            1,
            lx=10.0,
            material={"conductivity": "2*(1 + 0.01*T)", "density": 1, "specific_heat": 1},
            source=[{"power": 5}],
            boundary={"right": hold(0.0)},
        )
        assert solution.method == "Newton's method with sparse LU"
        x = (np.arange(n) + 0.5) * 10 / n
        exact = (np.sqrt(1 + 0.01 * 5 * (100 - x**2) / 2) - 1) / 0.01
        errors.append(float(np.max(np.abs(solution.T - exact))))
    assert (math.sqrt(1 + 0.01 * 5 * 100 / 2) - 1) / 0.01 == pytest.approx(87.0828693387, abs=1e-10)
    assert errors[-1] < 1e-2
    assert order(errors, 2) == pytest.approx(2.0, abs=0.1)


def test_a_bar_that_radiates() -> None:
    """NAFEMS T2: 927.0 K at the end of 0.1 m that radiates (ε = 0.98) to 300 K, 1000 K at the other. Exact on any grid:
    the temperature is linear, and the wall has the root of k (1000 - W)/L = εσ(W⁴ - 300⁴)."""
    end = {"kind": "radiation", "emissivity": 0.98, "ambient": 300.0}
    wall = brentq(lambda W: 55.6 / 0.1 * (1000 - W) - 0.98 * STEFAN_BOLTZMANN * (W**4 - 300**4), 300, 1000, xtol=1e-12)
    assert wall == pytest.approx(927.0, abs=0.05)
    for n in (1, 5, 30):
        solution = solve(
            n,
            1,
            lx=0.1,
            material={"conductivity": 55.6, "density": 7850, "specific_heat": 460},
            boundary={"left": hold(1000.0), "right": end},
        )
        np.testing.assert_allclose(solution.T[0], 1000 + (wall - 1000) * (np.arange(n) + 0.5) / n, rtol=1e-12)


def test_degenerate_conductivity() -> None:
    """k = T², T = 1 and 0 at the ends: T³ falls linearly."""
    errors = []
    for n in (50, 200):
        ends = {"left": hold(1.0), "right": hold(0.0)}
        T = solve(n, 1, material={"diffusivity": "T**2"}, boundary=ends, initial={"temperature": 0.1}).T[0]
        exact = np.cbrt(1 - (np.arange(n) + 0.5) / n)
        errors.append(float(np.mean(np.abs(T - exact))))
    assert errors[-1] < 2e-3
    assert errors[-1] < errors[0] / 2


def test_a_reaction_that_feeds_on_temperature() -> None:
    """-T'' = δ e^T (Bratu, Frank-Kamenetskii), T = 0 at the ends: the cooler of two solutions has the maximum
    2 ln(cosh c), c / cosh c = √(δ/8)."""
    c = brentq(lambda c: c / math.cosh(c) - math.sqrt(2.0 / 8), 0, 1.19967)
    errors = []
    for n in (21, 63):
        solution = solve(n, 1, boundary={"left": hold(0.0), "right": hold(0.0)}, source=[{"power": "2*exp(T)"}])
        errors.append(float(solution.T[0, n // 2]) - 2 * math.log(math.cosh(c)))
    assert order(errors, 3) == pytest.approx(2.0, abs=0.1)


def test_there_is_no_steady_state_of_a_reaction_that_runs_away() -> None:
    with pytest.raises(
        NumericalFailure, match=r"no steady state was found: after \d+ iterations .* is out by"
    ) as failed:
        solve(20, 1, boundary={"left": hold(0.0), "right": hold(0.0)}, source=[{"power": "5*exp(T)"}])
    assert "\n  = help: a source gives more for a higher temperature: " in str(failed.value)
    assert "no edge has" not in str(failed.value)


def test_what_may_balance_sources_is_asked_where_no_edge_takes_heat_by_its_temperature() -> None:
    """-5 - 1/(1 + T²) is below 0 at all temperatures, and no heat comes in."""
    with pytest.raises(NumericalFailure) as failed:
        solve(6, 1, boundary={}, source=[{"power": "-5 - 1/(1 + T*T)"}], initial={"temperature": 1.0})
    assert "no edge has a temperature, convection or radiation" in str(failed.value)
    assert "set time.end and time.steady_tolerance" in str(failed.value)


ONE = {"temperature": hold(1.5), "flux": {"kind": "flux", "value": -3.0}}
ONE["convection"] = {"kind": "convection", "h": 4.0, "ambient": 2.0}
PERIODIC = {"kind": "periodic"}
SIDES = [
    *itertools.product(("temperature", "convection"), ("temperature", "flux", "convection")),
    ("periodic", "periodic"),
]


@pytest.mark.parametrize("along_y", [("convection", "flux"), ("periodic", "periodic")], ids="-".join)
@pytest.mark.parametrize("along_x", SIDES, ids="-".join)
def test_fast_and_sparse_solutions_solve_the_dense_system(
    along_x: tuple[str, str], along_y: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if along_x == along_y == ("periodic", "periodic"):
        pytest.skip("has no level")
    edges = dict(zip(EDGES, [ONE.get(kind, PERIODIC) for kind in along_x + along_y]))
    shape, lengths = (4, 5), (0.7, 1.3)

    def rate(T: np.ndarray) -> np.ndarray:
        return (heat_reference.step(T, edges, lengths, 2.0, 15.0, 0.0, 1.0) - T).ravel()

    s = rate(np.zeros(shape))
    A = np.stack([rate(e.reshape(shape)) - s for e in np.eye(20)], axis=1)
    want = np.linalg.solve(A, -s).reshape(shape)
    material = {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0}
    model = scenario(shape[1], shape[0], lx=lengths[0], ly=lengths[1], material=material, boundary=edges)
    found = [solve_steady(discretised(model), model)]
    monkeypatch.setattr(steady, "obstacle", lambda *_: ((), "told so"))
    found.append(solve_steady(discretised(model), model))
    assert [solution.method for solution in found] == ["fast diagonalisation", "sparse LU"]
    for solution in found:
        np.testing.assert_allclose(solution.T, want, rtol=0, atol=1e-12 * np.abs(want).max())


def random_problem(shape: tuple[int, int], wrap: bool) -> tuple[HeatScenario, Discretisation]:
    """Conductivities over four decades, a fifth of the cells held, pieces of edges."""
    rng = np.random.default_rng(shape[0] + wrap)
    pieces = [{"to": 0.5, **hold(3.0)}, {"from": 0.5, "kind": "convection", "h": 2.0, "ambient": -1.0}]
    sides = {"left": PERIODIC, "right": PERIODIC} if wrap else {"left": pieces}
    model = scenario(shape[1], shape[0], boundary={**sides, "bottom": hold("x")}, source=[{"power": "100*sin(9*x*y)"}])
    made = discretised(model)
    kx, ky = 10 ** (4 * rng.random((2, *shape)))
    held = rng.random(shape) < 0.2
    held[0, 0] = True
    T0 = np.where(held, rng.normal(size=shape), 0.0)
    return model, replace(made, kx=kx, ky=ky, held=held, T0=T0)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (9, 7), (12, 15)], ids=str)
def test_random_coefficients_against_dense_algebra(shape: tuple[int, int], wrap: bool) -> None:
    model, made = random_problem(shape, wrap)
    solution = steady.solve_steady(made, model)
    free = ~made.held
    own = np.flatnonzero(free)
    A, s = np.zeros((own.size, own.size)), np.zeros(own.size)
    for row, cell in enumerate(own):
        s[row] = net_flux(made, np.where(made.held, made.T0, 0.0), cell)
        for column, other in enumerate(own):
            unit = np.zeros(shape)
            unit.flat[other] = 1.0
            A[row, column] = net_flux(made, unit, cell) - net_flux(made, np.zeros(shape), cell)
    np.testing.assert_allclose(solution.T[free], np.linalg.solve(A, -s), rtol=1e-9, atol=1e-9)
    assert np.array_equal(solution.T[made.held], made.T0[made.held])


def net_flux(made: Discretisation, T: np.ndarray, cell: int) -> float:
    """What comes into one cell, cell by cell from the definitions: half a cell's resistance on each side of a face."""
    ny, nx = T.shape
    y, x = divmod(cell, nx)
    cx, cy = made.centres
    total = 100 * math.sin(9 * cx[x] * cy[y, 0])
    for dy, dx in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        k, delta = (made.kx, made.dx) if dx else (made.ky, made.dy)
        j, i = y + dy, x + dx
        if made.wrap_x:
            i %= nx
        if 0 <= i < nx and 0 <= j < ny:
            resistance = delta / (2 * k[y, x]) + (0.0 if made.held[j, i] else delta / (2 * k[j, i]))
            total += (T[j, i] - T[y, x]) / resistance / delta
        elif j < 0:
            total += (cx[x] - T[y, x]) / (delta / (2 * k[y, x])) / delta
        elif i < 0 and cy[y, 0] < 0.5:
            total += (3.0 - T[y, x]) / (delta / (2 * k[y, x])) / delta
        elif i < 0:
            total += (-1.0 - T[y, x]) / (delta / (2 * k[y, x]) + 1 / 2.0) / delta
    return total


@pytest.mark.parametrize("contrast", ["none", "inclusions", "holes", "chequers"])
def test_large_grids_take_few_iterations(contrast: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of conjugate gradients with multigrid, for jumps of 10⁴; the same solution as by elimination."""
    n = 120
    model = scenario(n, n, boundary={"left": hold(0.0), "top": {"kind": "flux", "value": 1.0}})
    made = discretised(model)
    x, y = made.centres
    round_ = ((5 * x) % 1 - 0.5) ** 2 + ((5 * y) % 1 - 0.5) ** 2 < 0.16
    chequers = (np.arange(n)[:, None] // 7 + np.arange(n) // 7) % 2 == 1
    k = {
        "none": np.ones((n, n)),
        "inclusions": np.where(round_, 1e4, 1.0),
        "holes": np.where(round_, 1e-4, 1.0),
        "chequers": np.where(chequers, 1e4, 1.0),
    }[contrast]
    made = replace(made, kx=k, ky=k)
    monkeypatch.setattr(steady, "obstacle", lambda *_: ((), "told so"))
    want = steady.solve_steady(made, model)
    monkeypatch.setattr(steady, "DIRECT", 100)
    found = steady.solve_steady(made, model)
    assert (want.method, found.method) == ("sparse LU", "conjugate gradients with multigrid")
    assert found.residual <= 1e-10
    assert found.iterations < 75, "in all steps, of which the first does most"
    np.testing.assert_allclose(found.T, want.T, rtol=0, atol=1e-7 * np.abs(want.T).max())


def test_large_nonlinear_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    sections: dict[str, Any] = {
        "material": {"diffusivity": "1 + T**2 + x"},
        "boundary": {
            "left": hold(0.0),
            "right": hold(2.0),
            "top": {"kind": "radiation", "emissivity": 1, "ambient": 3},
        },
        "source": [{"power": "3 - T"}],
    }
    want = solve(60, 50, **sections)
    monkeypatch.setattr(steady, "DIRECT", 100)
    found = solve(60, 50, **sections)
    assert found.method == "Newton's method with BiCGSTAB with multigrid"
    np.testing.assert_allclose(found.T, want.T, rtol=1e-8)


@pytest.mark.parametrize("wrap", [False, True])
def test_newtons_matrix_is_the_derivative(wrap: bool) -> None:
    """By differences of the balance itself, for conductivities, edges and sources that all depend on T."""
    sides = (
        {"left": PERIODIC, "right": PERIODIC} if wrap else {"left": {"kind": "flux", "value": 2.0}, "right": hold(1.0)}
    )
    radiates = {"kind": "radiation", "emissivity": 0.9, "ambient": 400.0}
    model = scenario(
        4,
        3,
        material={"conductivity": ["2 + 0.001*T*x", "1 + 1e-5*T**2"], "density": 1, "specific_heat": 1},
        boundary={**sides, "bottom": {"kind": "convection", "h": 3, "ambient": 2}, "top": radiates},
        source=[{"power": "10*sin(T/50)*x"}],
        region=[{"shape": "rectangle", "x": [0.2, 0.4], "y": [0, 0.4], "temperature": 350.0}],
    )
    made = discretised(model)
    balance = Balance(made)
    T = np.where(made.held, made.T0, 300 + 40 * np.random.default_rng(2).normal(size=(3, 4)))
    own, h = np.argwhere(balance.free), 1e-3
    matrix = np.zeros((len(own), len(own)))
    for column, (y, x) in enumerate(own):
        unit = np.zeros(T.shape)
        unit[y, x] = h
        matrix[:, column] = ((balance.flux(T - unit)[0] - balance.flux(T + unit)[0]) / (2 * h))[balance.free]
    found = balance.response(T, True).toarray()
    np.testing.assert_allclose(found, matrix, rtol=1e-6, atol=1e-6 * np.abs(matrix).max())
    picard = balance.response(T, False).toarray()
    np.testing.assert_allclose(picard, picard.T, rtol=1e-14)


def test_nothing_that_fixes_a_level_is_no_steady_state() -> None:
    none = {"kind": "convection", "h": "0*x", "ambient": 0.0}
    with pytest.raises(NumericalFailure, match="no steady state"):
        solve(4, 4, boundary=dict.fromkeys(EDGES, none), source=[{"power": 1}])


def test_a_uniform_state_counts_as_found() -> None:
    solution = solve(30, 20, boundary=dict.fromkeys(EDGES, hold(293.15)), initial={"temperature": 293.15})
    np.testing.assert_allclose(solution.T, 293.15, rtol=1e-13)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_steady_step_books_powers(backend: Backend, precision: str) -> None:
    """What comes in through edges, from a source that depends on T, and from held cells adds up to nothing."""
    model = scenario(
        6,
        5,
        run={"precision": precision},
        boundary={
            "left": hold(3.0),
            "right": {"kind": "convection", "h": 2.0, "ambient": 1.0},
            "top": {"kind": "flux", "value": 2.0},
        },
        source=[{"power": "5 - T"}],
        region=[{"shape": "rectangle", "x": [0.3, 0.6], "y": [0.3, 0.6], "temperature": 7.0}],
    )
    made = discretised(model)
    start = Snapshot(0, {"temperature": made.T0, **empty_ledger(ledger_entries(made), made.T0.dtype)})
    stepper = SteadyStepper(made, Wanted([(0.5, 0.5)]), STEADY_CLOCK, backend, start, model)
    stepper.advance(0)
    stepper.advance(1)
    with stepper.observe("time") as seen:
        T, entries = np.array(seen.arrays["temperature"]), booked(seen.arrays)
        assert seen.arrays["steady"][0] <= 1e-10
        assert seen.arrays["steady"][1] >= 1
    assert T.dtype == precision
    np.testing.assert_allclose(T, solve_steady(made, model).T, rtol=1e-6 if precision == "float32" else 1e-14)
    cuts = np.cumsum([5, 5, 6, 6, 5])
    *edges, source, held = (math.fsum(part) for part in np.split(entries, cuts))
    assert edges[3] == pytest.approx(2.0 * 6 / made.dy, rel=1e-6)
    assert source == pytest.approx(np.sum(np.where(made.held, 0.0, 5 - T)), rel=1e-6)
    total = math.fsum([*edges, source, held])
    assert abs(total) < (1e-11 if precision == "float64" else 1e-5) * np.sum(np.abs(entries))
    with pytest.raises(ValueError, match="past the end"):
        stepper.advance(1)


def test_a_steady_run_can_be_resumed(backend: Backend) -> None:
    model = scenario(6, 5, boundary={"left": hold(3.0)}, source=[{"power": "5*x"}])
    made = discretised(model)
    start = Snapshot(0, {"temperature": made.T0, **empty_ledger(ledger_entries(made), made.T0.dtype)})
    whole = SteadyStepper(made, Wanted(), STEADY_CLOCK, backend, start, model)
    with whole.snapshot() as snapshot:
        before = Snapshot(snapshot.step, {name: np.array(a) for name, a in snapshot.arrays.items()})
    assert np.array_equal(before.arrays["temperature"], made.T0)
    again = SteadyStepper(made, Wanted(), STEADY_CLOCK, backend, before, model)
    for stepper in (whole, again):
        stepper.advance(1)
    with whole.snapshot() as a, again.snapshot() as b:
        after = Snapshot(a.step, {name: np.array(v) for name, v in a.arrays.items()})
        for name in after.arrays:
            assert np.array_equal(after.arrays[name], b.arrays[name]), name
    done = SteadyStepper(made, Wanted(), STEADY_CLOCK, backend, after, model)
    with done.snapshot() as c:
        assert c.step == 1
        for name in after.arrays:
            assert np.array_equal(after.arrays[name], c.arrays[name]), name


def test_a_steady_state_takes_no_steps_in_time_whoever_counts(tmp_path: Path) -> None:
    """Steps and dt of `check` and of the run, on the terminal and for programs; and there is nothing to checkpoint."""
    said = {"solver": "heat", "grid": {"nx": 6, "ny": 4}, "material": {"diffusivity": 1.0}, "time": {"steady": True}}
    path = tmp_path / "plate.toml"
    path.write_text(tomli_w.dumps(said | {"boundary": COLD | {"top": hold(1.0)}}))
    shown, told, ran = (
        CliRunner().invoke(app, [*command, str(path)]).stdout
        for command in (["check"], ["check", "--json"], ["run", "--json", "-o", str(tmp_path / "run")])
    )
    assert "steps      none" in shown
    assert "checkpoint" not in shown
    found, summary = json.loads(told), json.loads(ran)
    assert (found["steps"], found["steps_range"], found["dt"], found["dt_range"]) == (0, [0, 0], None, None)
    assert summary["steps"] == 0
    assert "dt" not in summary
    assert not list((tmp_path / "run").glob("checkpoint*"))


def test_a_steady_state_depends_on_the_conductivity_alone() -> None:
    """A wall of two layers between a temperature and a flux; without steps nobody asks what it can hold."""
    wall = {
        "solver": "heat",
        "grid": {"nx": 20, "ny": 3, "lx": 0.4, "ly": 0.1},
        "material": {"conductivity": 45.0},
        "region": [{"shape": "rectangle", "x": [0.2, 0.4], "y": [0.0, 0.1], "conductivity": 1.5}],
        "boundary": {edge: {"kind": "insulated"} for edge in EDGES}
        | {"left": hold(300.0), "right": {"kind": "flux", "value": 450.0}},
        "time": {"steady": True},
    }
    loaded = load_table(wall, Path("wall.toml"))
    problem: Any = make_problem(loaded)
    units = {variable.name: variable.attrs.get("units") for variable in problem.layout.variables}
    assert units["energy_left"] == "W m-1"
    x = problem.made.centres[0]
    exact = 300.0 + 450.0 * (np.minimum(x, 0.2) / 45.0 + np.maximum(x - 0.2, 0.0) / 1.5)
    np.testing.assert_allclose(solve_steady(problem.made, problem.scenario).T[1], exact, rtol=1e-12)
    with pytest.raises(ScenarioError, match="no `density`, `specific_heat`"):
        load_table(wall | {"time": {"end": 1.0}}, Path("wall.toml"))


@pytest.mark.parametrize("source", [{}, {"source": [{"power": "-T*T"}]}])
def test_a_start_that_is_steady_takes_no_iterations(source: dict[str, Any]) -> None:
    solution = solve(5, 4, boundary=COLD, **source)
    assert solution.iterations == 0
    assert solution.residual == 0
    assert not solution.T.any()


def test_an_answer_without_any_rest_takes_no_further_iterations() -> None:
    solution = solve(2, 1, boundary={"left": hold(1.0)})
    assert solution.residual == 0
    assert solution.iterations < 5


INSULATED = {"left": {"kind": "insulated"}}
RAMP = "1000*min(1, max(0, (350 - T)/10))"


@pytest.mark.parametrize("start", [-200.0, 20.0, 300.0, 349.5, 400.0, 3000.0])
@pytest.mark.parametrize(
    ("power", "edge", "mean"),
    [
        (f"{RAMP} - 100", INSULATED, 349.0),
        (f"{RAMP}*(x < 0.5) - 200*(y > 0.5)", {"left": {"kind": "flux", "value": 0.0}}, None),
        (f"{RAMP} - 100", {"left": {"kind": "convection", "h": 0.0, "ambient": 300.0}}, 349.0),
        (RAMP, {"left": {"kind": "flux", "value": -100.0}}, 349.0),
        ("1000*(1 - tanh((T - 400)/40)) - 100", INSULATED, 400.0 + 40.0 * math.atanh(0.9)),
        ("20000/(1 + exp((T - 380)/2)) - 10000/(1 + exp(-(T - 410)/2)) - 100", INSULATED, None),
    ],
)
def test_sources_alone_may_fix_the_level_of_temperatures(
    heat: Callable[..., HeatProblem], power: str, edge: dict[str, Any], mean: float | None, start: float
) -> None:
    """Wherever the search starts, also where the source has no slope: what comes in is what goes out. The mean follows
    where all cells are on the ramp."""
    problem = heat(
        grid={"nx": 8, "ny": 6},
        material={"conductivity": 500.0},
        units="degC",
        initial={"temperature": start},
        boundary=edge,
        source=[{"power": power}],
        time={"steady": True, "stepper": "auto"},
    )
    T = solve_steady(problem.made, problem.scenario).T
    sources = sum(np.broadcast_to(problem.made.source(i, 0.0, T), T.shape) for i in range(len(problem.made.sources)))
    given = float(edge["left"].get("value", 0.0))  # W/m2 along the left edge of a plate of 1 m2
    assert float(np.mean(sources)) + given == pytest.approx(0.0, abs=1e-6)
    assert 300.0 < T.min() <= T.max() < 500.0
    if mean is not None:
        assert float(np.mean(T)) == pytest.approx(mean, abs=1e-8)

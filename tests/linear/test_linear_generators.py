"""Generated matrices against the exact solutions that they document, and against published numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

from simsuite.errors import ScenarioError
from simsuite.scenario.linear import LinearScenario
from simsuite.scenario.load import load
from simsuite.simulation import Simulation
from simsuite.solvers.linear.generators.leslie import leslie
from simsuite.solvers.linear.generators.quantum_walk import quantum_walk
from simsuite.solvers.linear.generators.rc_ladder import rc_ladder, voltage_source
from simsuite.solvers.linear.generators.springs import springs
from simsuite.solvers.linear.problem import LinearProblem

FECUNDITY, SURVIVAL = [0.0, 0.6, 1.5, 1.1, 0.2], [0.5, 0.8, 0.7, 0.4]


def simulation(tmp_path: Path, text: str) -> Simulation:
    path = tmp_path / "case.toml"
    path.write_text('solver = "linear"\n' + text, encoding="utf-8")
    return Simulation(load(path))


def on_circle(values: np.ndarray) -> np.ndarray:
    """Complex numbers on the unit circle in a definite order, by their angles from 3 rad upwards."""
    return values[np.argsort(np.round((np.angle(values) - 3) % (2 * np.pi), 9), kind="stable")]


# --- leslie -----------------------------------------------------------------------------------------------------------


def euler_lotka(fecundity: list[float], survival: list[float]) -> float:
    reach = np.cumprod([1.0, *survival])
    age = np.arange(1, len(fecundity) + 1)
    return scipy.optimize.brentq(lambda r: np.sum(fecundity * reach * r**-age) - 1, 1e-3, 1e3, xtol=1e-15, rtol=1e-15)


@pytest.mark.parametrize("fecundity", [FECUNDITY, [0.3], [0.0, 0.0, 6.0], [0.1, 0.0, 0.05, 0.02]])
def test_leslie_grows_by_the_root_of_euler_and_lotka(fecundity: list[float]) -> None:
    survival = SURVIVAL[: len(fecundity) - 1]
    values = np.linalg.eigvals(leslie(fecundity, survival))
    assert np.max(np.abs(values)) == pytest.approx(euler_lotka(fecundity, survival), rel=1e-12)
    reach = np.cumprod([1.0, *survival])
    np.testing.assert_allclose(
        np.poly(leslie(fecundity, survival)), [1.0, *(-np.array(fecundity) * reach)], rtol=0, atol=1e-13
    )


def test_leslie_comes_to_the_stable_ages_and_values(tmp_path: Path) -> None:
    sim = simulation(
        tmp_path,
        f'system = {{kind = "discrete", matrix = {{generator = "leslie", fecundity = {FECUNDITY}, '
        f"survival = {SURVIVAL}}}}}\ninitial = {{state = [10.0, 0.0, 3.0, 0.0, 1.0]}}\ntime = {{steps = 400}}\n",
    )
    sim.advance(399)
    before = np.array(sim.state["state"][:, 0])
    sim.advance(1)
    after = sim.state["state"][:, 0]
    growth = euler_lotka(FECUNDITY, SURVIVAL)
    np.testing.assert_allclose(after / before, growth, rtol=1e-12)
    i = np.arange(5)
    ages = np.cumprod([1.0, *SURVIVAL]) * growth**-i
    np.testing.assert_allclose(after / after[0], ages, rtol=1e-12)
    young = np.array(FECUNDITY) * np.cumprod([1.0, *SURVIVAL]) * growth ** -(i + 1)
    worth = np.cumsum(young[::-1])[::-1] / ages
    np.testing.assert_allclose(worth @ leslie(FECUNDITY, SURVIVAL), growth * worth, rtol=1e-12)
    assert worth[0] == pytest.approx(1.0, rel=1e-12)


# --- rc_ladder --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_rc_ladder_spectrum(n: int) -> None:
    R, C = 100.0, 2e-6
    A = rc_ladder(n, R, C).toarray()
    k = np.arange(1, n + 1)
    exact = -4 / (R * C) * np.sin(np.pi * (2 * k - 1) / (2 * (2 * n + 1))) ** 2
    np.testing.assert_allclose(np.linalg.eigvalsh(A), np.sort(exact), rtol=1e-12)
    modes = np.sin(np.pi * np.outer(k, 2 * k - 1) / (2 * n + 1))
    np.testing.assert_allclose(A @ modes, modes * exact, rtol=0, atol=1e-11 / (R * C))


def test_rc_ladder_is_charged_with_elmores_delay(tmp_path: Path) -> None:
    n, R, C, u = 6, 1e3, 1e-6, 5.0
    given = f'kind = "continuous"\nmatrix = {{generator = "rc_ladder", sections = {n}, resistance = {R}, '
    given += f"capacitance = {C}}}\ninput = [{u}]\n"
    rest = f"[initial]\nstate = {[0.0] * n}\n[time]\nsteps = 300\ndt = 0.001\n"
    sim = simulation(tmp_path, "[system]\n" + given + rest)
    sim.advance(300)
    np.testing.assert_allclose(sim.state["state"][:, 0], u, rtol=1e-6)
    i = np.arange(1, n + 1)
    missing = u * R * C * (n * i - i * (i - 1) / 2)
    A, B = rc_ladder(n, R, C).toarray(), voltage_source(n, R, C)
    np.testing.assert_allclose(-np.linalg.solve(A, np.full(n, u)), missing, rtol=1e-12)
    np.testing.assert_allclose(-np.linalg.solve(A, B * u)[:, 0], u, rtol=1e-12)
    own = f"input_matrix = {B.tolist()}\n"
    other = simulation(tmp_path, "[system]\n" + given + own + rest)
    other.advance(300)
    np.testing.assert_array_equal(sim.state["state"], other.state["state"])


def test_rc_ladder_without_input_is_discharged(tmp_path: Path) -> None:
    n = 4
    mode = np.sin(np.pi * np.arange(1, n + 1) / (2 * n + 1))
    sim = simulation(
        tmp_path,
        f'[system]\nkind = "continuous"\nmatrix = {{generator = "rc_ladder", sections = {n}}}\n'
        f"[initial]\nstate = {mode.tolist()}\n[time]\nsteps = 10\ndt = 0.5\n",
    )
    sim.advance(10)
    decay = math.exp(-5.0 * 4 * math.sin(math.pi / (2 * (2 * n + 1))) ** 2)
    np.testing.assert_allclose(sim.state["state"][:, 0], decay * mode, rtol=1e-12)


# --- quantum_walk -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sites", [2, 3, 8, 9])
def test_quantum_walk_spectrum(sites: int) -> None:
    A = quantum_walk(sites).toarray()
    np.testing.assert_allclose(A.T @ A, np.eye(2 * sites), rtol=0, atol=1e-15)
    w = np.arcsin(np.sin(2 * np.pi * np.arange(sites) / sites) / math.sqrt(2))
    exact = np.concatenate([np.exp(-1j * w), -np.exp(1j * w)])
    np.testing.assert_allclose(on_circle(np.linalg.eigvals(A)), on_circle(exact), rtol=0, atol=1e-12)
    assert (len(np.unique(np.round(exact, 9))) == 2 * sites) is (sites % 2 == 1)


def test_quantum_walk_spreads_as_published(tmp_path: Path) -> None:
    """J. Kempe, Quantum random walks: an introductory overview, Contemporary Physics 44 (2003) 307-327, table 1."""
    published = {
        1: {-1: 1 / 2, 1: 1 / 2},
        2: {-2: 1 / 4, 0: 1 / 2, 2: 1 / 4},
        3: {-3: 1 / 8, -1: 5 / 8, 1: 1 / 8, 3: 1 / 8},
        4: {-4: 1 / 16, -2: 5 / 8, 0: 1 / 8, 2: 1 / 8, 4: 1 / 16},
        5: {-5: 1 / 32, -3: 17 / 32, -1: 1 / 8, 1: 1 / 8, 3: 5 / 32, 5: 1 / 32},
    }
    sites = 16
    start = [0.0] * (2 * sites)
    start[1] = 1.0  # at site 0, the coin saying down
    sim = simulation(
        tmp_path,
        f'system = {{kind = "discrete", matrix = {{generator = "quantum_walk", sites = {sites}}}}}\n'
        f"initial = {{state = {start}}}\ntime = {{steps = 2000}}\n",
    )
    for steps, expected in published.items():
        sim.advance(1)
        found = np.sum(sim.state["state"].reshape(sites, 2) ** 2, axis=1)
        np.testing.assert_allclose(found, [expected.get((x + 8) % 16 - 8, 0.0) for x in range(sites)], atol=1e-15)
        assert sim.step == steps
    sim.advance(1995)
    assert np.linalg.norm(sim.state["state"]) == pytest.approx(1.0, rel=1e-13)


def test_quantum_walk_on_an_odd_cycle_is_everywhere_equally_often() -> None:
    sites = 7
    values, vectors = np.linalg.eig(quantum_walk(sites).toarray())
    assert len(np.unique(np.round(values, 9))) == 2 * sites
    # the mean over all times of |sum_j c_j v_j e^(i a_j t)|^2 is the sum of the squares, the phases being different
    c = vectors.conj().T[:, 0]
    mean = np.sum(np.abs(vectors * c) ** 2, axis=1).reshape(sites, 2).sum(axis=1)
    np.testing.assert_allclose(mean, 1 / sites, rtol=1e-12)


# --- others -----------------------------------------------------------------------------------------------------------


def test_damped_springs_have_the_roots_they_should() -> None:
    n, mass, stiffness, damping = 5, 2.0, 3.0, 1.7
    w = 2 * math.sqrt(stiffness / mass) * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1)))
    exact = np.concatenate([np.roots([1.0, damping / mass, x * x]) for x in w])
    found = np.linalg.eigvals(springs(n, mass, stiffness, damping).toarray())
    np.testing.assert_allclose(np.sort_complex(np.round(found, 12)), np.sort_complex(np.round(exact, 12)), atol=1e-11)


def test_values_that_overflow_are_answered_at_the_matrix() -> None:
    source = {"generator": "rc_ladder", "sections": 3, "resistance": 1e-200, "capacitance": 1e-200}
    model = LinearScenario.model_validate(
        {
            "solver": "linear",
            "system": {"kind": "continuous", "matrix": source, "input": [1.0]},
            "initial": {"state": [0.0] * 3},
            "time": {"steps": 1, "dt": 1.0},
        }
    )
    with pytest.raises(ScenarioError) as caught:
        LinearProblem.from_scenario(model, Path("."))
    assert [m.path for m in caught.value.mistakes] == [("system", "matrix")]

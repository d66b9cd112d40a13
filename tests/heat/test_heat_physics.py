"""The general heat operator against an independent one, face by face: steps, and every entry of the energy ledger."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heat_plates
import numpy as np
import pytest
from heat_worlds import WORLDS
from scipy.optimize import brentq

from simsuite.backends import open_backend
from simsuite.core import Backend, Snapshot
from simsuite.solvers.heat.problem import HeatProblem

STEPPERS = ["explicit", "rkl2", "adi"]
LONGER = {"explicit": 1, "rkl2": 6, "adi": 6}  # steps than explicit ones
INSULATE = {"kind": "insulated"}


def hold(value: float | str) -> dict[str, Any]:
    return {"kind": "temperature", "value": value}


def build(
    heat: Callable, base: Path, world: str, shape: tuple[int, int], stepper: str, steps: int, **more: Any
) -> tuple[HeatProblem, heat_plates.Plate]:
    """A world that begins at random, stepped `steps` times at the largest stable explicit step or some times that."""
    sections, plate = WORLDS[world](shape, base)
    np.save(base / "T0.npy", 300 + 50 * np.random.default_rng(7).normal(size=shape))
    sections |= {"initial": {"temperature": {"file": "T0.npy"}}, **more}
    dt = LONGER[stepper] * heat(**sections, time={"end": 1.0}).dt
    time = {"stepper": stepper, "end": steps * dt, "dt": dt * (1 + 1e-12)}
    problem = heat(**sections, time=time)
    assert problem.clock.end == steps
    return problem, plate


def not_simulated(backend: Backend, when: bool = True) -> None:
    if backend.name == "cudasim" and when:
        pytest.skip("too slow in the simulator, where other tests launch these kernels")


def run(problem: HeatProblem, backend: Backend, steps: int | None = None) -> Snapshot:
    """What is observed at the end, as arrays of our own."""
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(problem.clock.end if steps is None else steps)
    with stepper.observe("time") as observed:
        return Snapshot(observed.step, {name: np.array(a) for name, a in observed.arrays.items()})


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (3, 7), (31, 33)], ids=str)
@pytest.mark.parametrize("world", WORLDS)
def test_steps_equal_an_independent_step(
    heat: Callable, backend: Backend, tmp_path: Path, world: str, shape: tuple[int, int]
) -> None:
    """Materials by the cell and by the region, held regions, split edges, radiation, k(T), sources in x, y, t, T."""
    not_simulated(backend, shape not in [(1, 5), (3, 7)])
    steps = 1 if backend.name == "cudasim" else 3
    problem, plate = build(heat, tmp_path, world, shape, "explicit", steps)
    assert np.array_equal(problem.made.held, plate.held)
    derivative, state = heat_plates.system(plate), heat_plates.begin(plate, problem.T0)
    for k in range(steps):
        state = heat_plates.euler(derivative, state, problem.clock.dt(k))
    want = state[: problem.T0.size].reshape(shape)
    got = run(problem, backend).arrays["temperature"]
    assert np.abs(got - want).max() <= 1e-13 * np.abs(want).max()
    assert np.array_equal(got[plate.held], problem.T0[plate.held])
    if shape == (3, 7):
        assert np.abs(want - problem.T0).max() > 1, "or nothing has been compared"


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("world", ["patchwork", "glowing", "tube"])
def test_the_energy_ledger_closes(heat: Callable, backend: Backend, tmp_path: Path, world: str, stepper: str) -> None:
    """All edge kinds, pieces of edges, sources that are static, move and follow T, and held cells, all at once."""
    not_simulated(backend)
    steps = 150 // LONGER[stepper]
    problem, _ = build(heat, tmp_path, world, (5, 7), stepper, steps)
    energy = problem.energy.of(run(problem, backend))
    moved = sum(abs(value) for name, value in energy.items() if name not in ("stored", "residual"))
    periodic = ("left", "right") if world == "tube" else ()
    assert all(abs(value) > 1e-3 * moved for name, value in energy.items() if name not in (*periodic, "residual"))
    assert all(energy[edge] == 0 for edge in periodic)
    assert abs(energy["residual"]) <= 1e-12 * moved


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_ledger_closes_to_the_precision_of_the_run(
    heat: Callable, backend: Backend, tmp_path: Path, stepper: str, precision: str
) -> None:
    """Relative to the heat that is there, of which every step rounds a part away."""
    not_simulated(backend, precision == "float64" or stepper == "rkl2")
    steps = 1 if backend.name == "cudasim" else 60 // LONGER[stepper]
    run_in = {"run": {"precision": precision}}
    problem, plate = build(heat, tmp_path, "patchwork", (5, 7), stepper, steps, **run_in)
    observed = run(problem, backend)
    cell = math.prod(plate.deltas)
    content = float((plate.rho_c * np.abs(observed.arrays["temperature"]))[~plate.held].sum()) * cell
    stages = 1 + problem.plan.stages
    assert abs(problem.energy.of(observed)["residual"]) <= np.finfo(precision).eps * steps * stages * content


REFERENCES: dict[str, Callable] = {"explicit": heat_plates.euler, "rkl2": heat_plates.rkl2}


@pytest.mark.parametrize("stepper", REFERENCES)
@pytest.mark.parametrize("world", ["patchwork", "glowing", "tube"])
def test_every_entry_of_the_ledger(heat: Callable, backend: Backend, tmp_path: Path, world: str, stepper: str) -> None:
    """Against the same stepper applied to the independent powers; it gives the temperatures of rkl2 as well."""
    steps = 1 if backend.name == "cudasim" else 2
    problem, plate = build(heat, tmp_path, world, (3, 5), stepper, steps)
    advance = REFERENCES[stepper]
    if stepper == "rkl2":
        assert problem.plan.stages >= 3
        advance = functools.partial(heat_plates.rkl2, s=problem.plan.stages)
    derivative, state = heat_plates.system(plate), heat_plates.begin(plate, problem.T0)
    for k in range(steps):
        state = advance(derivative, state, problem.clock.dt(k))
    observed = run(problem, backend)
    cells = problem.T0.size
    assert np.abs(observed.arrays["temperature"].ravel() - state[:cells]).max() <= 1e-13 * np.abs(state[:cells]).max()
    *flows, held = state[cells:-1]
    energy = problem.energy.of(observed)
    entries = [energy[edge] for edge in heat_plates.EDGES]
    entries += [energy[name] for name in problem.energy.sources]
    assert np.allclose(entries, flows, rtol=1e-11, atol=1e-11 * np.abs(state[cells:-1]).max())
    assert energy.get("held", 0.0) == pytest.approx(held, rel=1e-11, abs=1e-11 * np.abs(flows).max())


@pytest.mark.parametrize("stepper", STEPPERS)
def test_powers_of_constant_sources_are_exact(heat: Callable, backend: Backend, stepper: str) -> None:
    """Power times area times time, less the part in a held region; nothing is lost through insulated edges."""
    not_simulated(backend)
    problem = heat(
        grid={"nx": 8, "ny": 4, "lx": 2.0, "ly": 1.0},
        material={"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        region=[{"shape": "rectangle", "x": [0.0, 0.5], "y": [0.0, 0.5], "temperature": 0.0}],
        source=[{"name": "all", "power": 7.0}, {"name": "half", "power": "3*(x > 1)"}, {"name": "ramp", "power": "t"}],
        time={"end": 0.5, "stepper": stepper, "dt": 0.05},
    )
    energy = problem.energy.of(run(problem, backend))
    assert energy["source_all"] == pytest.approx(7.0 * 1.75 * 0.5, rel=1e-15)
    assert energy["source_half"] == pytest.approx(3.0 * 0.5, rel=1e-15)
    steps = problem.clock.end
    ramp = 0.5 * 0.5**2 * 1.75 * ((1 - 1 / steps) if stepper == "explicit" else 1)  # Euler's sum of t dt
    assert energy["source_ramp"] == pytest.approx(ramp, rel=1e-13)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("n", [2, 6, 20])
def test_the_steady_state_of_layers_is_exact(
    heat: Callable, backend: Backend, tmp_path: Path, n: int, axis: str, stepper: str
) -> None:
    """Harmonic means make it so at any number of cells; arithmetic ones are off by a factor at two."""
    not_simulated(backend, n != 2 or stepper != "explicit")
    s = (np.arange(n) + 0.5) / n
    flux = 100.0 / (0.5 / 1.0 + 0.5 / 50.0)
    profile = np.where(s < 0.5, flux * s, 100.0 - flux * (1.0 - s) / 50.0)
    T0 = np.tile(profile, (3, 1)) if axis == "x" else np.tile(profile[:, None], (1, 3))
    np.save(tmp_path / "T0.npy", T0)
    ends = ("left", "right") if axis == "x" else ("bottom", "top")
    problem = heat(
        grid={"nx": T0.shape[1], "ny": T0.shape[0]},
        material={"conductivity": f"where({axis} < 0.5, 1, 50)", "density": 1.0, "specific_heat": 1.0},
        initial={"temperature": {"file": "T0.npy"}},
        boundary={ends[0]: hold(0.0), ends[1]: hold(100.0)},
        time={"end": 0.02, "stepper": stepper},
    )
    observed = run(problem, backend, min(problem.clock.end, 2 if backend.name == "cudasim" else 100))
    assert np.abs(observed.arrays["temperature"] - T0).max() <= 1e-12 * 100
    energy, t = problem.energy.of(observed), problem.clock.time(observed.step)
    assert energy[ends[1]] == pytest.approx(flux * t, rel=1e-11)
    assert energy[ends[0]] == pytest.approx(-flux * t, rel=1e-11)


@pytest.mark.parametrize("general", [False, True], ids=["plain", "general"])
def test_a_mode_of_an_orthotropic_plate(heat: Callable, backend: Backend, general: bool) -> None:
    """Decays as e^(-Δt λ) to first order in one step, with λ that of each axis weighed by its own conductivity."""
    nx, ny, dt, steps = 6, 9, 1e-3, 1 if backend.name == "cudasim" else 4
    source = [{"power": "0*T"}] if general else []
    problem = heat(
        grid={"nx": nx, "ny": ny, "lx": 1.0, "ly": 2.0},
        material={"conductivity": [2.0, 7.0], "density": 2.0, "specific_heat": 3.0},
        initial={"temperature": "sin(pi*x)*cos(pi*y)"},
        boundary={"left": hold(0.0), "right": hold(0.0)},
        source=source,
        time={"end": steps * dt, "dt": dt},
    )
    along_x = 4 * nx**2 * math.sin(math.pi / nx / 2) ** 2
    along_y = 4 * (ny / 2) ** 2 * math.sin(math.pi / ny) ** 2
    want = problem.T0 * (1 - problem.dt * (2 * along_x + 7 * along_y) / 6) ** steps
    assert np.abs(run(problem, backend).arrays["temperature"] - want).max() <= 1e-14


def test_a_conductivity_that_depends_on_temperature(heat: Callable, tmp_path: Path) -> None:
    """Steady: Kirchhoff's transform θ = ∫k dT is linear in x. A k that is linear in T counts at the mean temperature of
    cells, and of cells and walls, with which the scheme has that solution to rounding on any grid."""
    b, hot = 0.01, 100.0
    for n in (5, 32):
        x = (np.arange(n) + 0.5) / n
        theta = (hot + b * hot**2 / 2) * x
        exact = (np.sqrt(1 + 2 * b * theta) - 1) / b
        np.save(tmp_path / "T0.npy", exact[None])
        problem = heat(
            grid={"nx": n, "ny": 1},
            material={"diffusivity": f"1 + {b}*T"},
            initial={"temperature": {"file": "T0.npy"}},
            boundary={"left": hold(0.0), "right": hold(hot)},
            time={"end": 1.0, "stepper": "rkl2", "dt": 0.02},
        )
        assert np.abs(run(problem, open_backend("cpu")).arrays["temperature"] - exact).max() <= 1e-11


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("side", ["right", "top"])
def test_a_wall_that_radiates(heat: Callable, backend: Backend, tmp_path: Path, side: str, stepper: str) -> None:
    """Steady: what is conducted through the slab is what its far wall radiates. Linear, so that any grid is exact."""
    not_simulated(backend, stepper != "explicit")
    k, emissivity, hot, sky = 2.0, 0.8, 900.0, 250.0
    s = emissivity * heat_plates.SIGMA
    wall = brentq(lambda W: k * (hot - W) - s * (W**4 - sky**4), sky, hot, rtol=1e-15)
    assert hot - wall > 50
    profile = hot + (wall - hot) * (np.arange(4) + 0.5) / 4
    T0 = profile[None] if side == "right" else profile[:, None]
    np.save(tmp_path / "T0.npy", T0)
    problem = heat(
        grid={"nx": T0.shape[1], "ny": T0.shape[0]},
        material={"conductivity": k, "density": 2.0, "specific_heat": 3.0},
        initial={"temperature": {"file": "T0.npy"}},
        boundary={
            {"right": "left", "top": "bottom"}[side]: hold(hot),
            side: {"kind": "radiation", "emissivity": emissivity, "ambient": sky},
        },
        probe=[{"name": "wall", "x": 1.0 if side == "right" else 0.5, "y": 0.5 if side == "right" else 1.0}],
        time={"end": 1.0, "stepper": stepper, "dt": 0.05},
    )
    observed = run(problem, backend, 2 if backend.name == "cudasim" else None)
    assert np.abs(observed.arrays["temperature"] - T0).max() <= 1e-12 * hot
    t = problem.clock.time(observed.step)
    assert problem.energy.of(observed)[side] == pytest.approx(-k * (hot - wall) * t, rel=1e-11)
    assert observed.arrays["probes"][0] == pytest.approx(wall, rel=1e-12)


@pytest.mark.parametrize("conductivity", [1.0, [1.0, 9.0], "where(x > 0.4, 30, 1)"], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 9), (9, 6)], ids=str)
def test_the_explicit_step_chosen_obeys_the_maximum_principle(
    heat: Callable, backend: Backend, shape: tuple[int, int], conductivity: Any
) -> None:
    """A field of 1 between edges of 0 never falls below 0, nor rises above 1, corners included."""
    not_simulated(backend, shape != (2, 2))
    problem = heat(
        grid={"ny": shape[0], "nx": shape[1]},
        material={"conductivity": conductivity, "density": 1.0, "specific_heat": 1.0},
        initial={"temperature": 1.0},
        boundary=dict.fromkeys(heat_plates.EDGES, hold(0.0)),
        time={"end": 1.0, "stepper": "explicit", "tolerance": 1.0},
    )
    stepper = problem.stepper(backend, problem.initial())
    for _ in range(min(problem.clock.end, 3 if backend.name == "cudasim" else 12)):
        stepper.advance(1)
        with stepper.snapshot() as snapshot:
            T = np.array(snapshot.arrays["temperature"])
        assert T.min() >= -1e-16
        assert T.max() <= 1.0


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("held", [False, True])
def test_a_plate_in_which_nothing_is_conducted(heat: Callable, stepper: str, held: bool) -> None:
    """One insulated cell is an ordinary differential equation, dT/dt = q(t); where all is held nothing happens."""
    from simsuite.backends import open_backend

    region = [{"shape": "rectangle", "x": [0, 1], "y": [0, 1], "temperature": 4.0}] if held else []
    problem = heat(
        grid={"nx": 1, "ny": 1},
        region=region,
        initial={"temperature": 4.0},
        source=[{"power": 6.0}],
        time={"end": 0.5, "stepper": stepper},
    )
    observed = run(problem, open_backend("cpu"))
    assert observed.arrays["temperature"][0, 0] == pytest.approx(4.0 if held else 4.0 + 6.0 * 0.5, rel=1e-14)


@pytest.mark.parametrize("stepper", ["explicit", "rkl2", "adi"])
def test_heat_gets_into_what_conducts_only_when_warm(heat: Callable, stepper: str) -> None:
    """k = T: from a warm edge a front moves in, and a flux is let in whatever the conductivity."""
    dt = {} if stepper == "explicit" else {"dt": 1e-4}
    edges = {"left": {"kind": "temperature", "value": 1.0}, "right": {"kind": "flux", "value": 0.25}}
    sections = {"material": {"diffusivity": "T"}, "boundary": edges, "grid": {"nx": 32, "ny": 2}}
    problem = heat(**sections, time={"stepper": stepper, "end": 0.02, **dt})
    stepper_ = problem.stepper(open_backend("cpu"), problem.initial())
    stepper_.advance(problem.clock.end)
    with stepper_.observe("time") as observed:
        energy = problem.results(observed)["energy"]
        T = np.array(observed.arrays["temperature"])
    assert energy["edges"]["left"] > 0.05
    assert energy["edges"]["right"] == pytest.approx(0.25 * 0.02, rel=1e-12)
    assert abs(energy["residual"]) <= 1e-12 * energy["stored"]
    assert T.min() > -1e-6


@pytest.mark.parametrize("stepper", ["explicit", "rkl2"])
def test_automatic_steps_stay_stable_where_sources_raise_the_conductivity(heat: Callable, stepper: str) -> None:
    """After Arpaci, from a cold start: k grows to nearly four times what it is at any temperature of the data."""
    problem = heat(
        grid={"nx": 20, "ny": 1, "lx": 10.0},
        material={"conductivity": "2*(1 + 0.01*T)", "density": 1.0, "specific_heat": 1.0},
        boundary={"right": hold(0.0)},
        source=[{"power": 5.0}],
        time={"end": 200.0, "stepper": stepper},
    )
    T = run(problem, open_backend("cpu")).arrays["temperature"]
    assert T.max() == pytest.approx(87.08, abs=0.5)

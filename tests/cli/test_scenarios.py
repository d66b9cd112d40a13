"""Every shipped scenario, at reduced size, on every backend: against stored numbers, exact answers, and other readers.

The numbers are in golden/scenarios.json. `SIMSUITE_REGENERATE=1 pytest tests/cli/test_scenarios.py` writes them anew,
from the CPU; what changed there has to be explained.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import xarray as xr
from scipy.signal import cont2discrete
from test_results_file import frames_in_vtk

import simsuite
from simsuite.core import Backend
from simsuite.solvers.gbm.closed_forms import european

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parents[1] / "golden" / "scenarios.json"
FILES = {f"{path.parent.name}/{path.stem}": path for path in sorted((ROOT / "scenarios").glob("*.toml"))} | {
    f"{path.parent.name}/{path.stem}": path for path in sorted((ROOT / "simsuite" / "templates").glob("*.toml"))
}
CHAIN = {  # two masses instead of eight, a step across the beginning of the force at t = 5
    "system.matrix.masses": 2,
    "system.input_matrix": [[0.0], [0.0], [1.0], [0.0]],
    "system.output_matrix": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    "initial.state": [0.01, 0.03, 0.0, 0.0],
    "time.steps": 9,
    "time.dt": 1.1,
    "output.frames": 4,
}
WALK = {
    "system.matrix.states": 3,
    "initial.state": [[1.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 1.0, 0.5]],
    "time.steps": 100,
    "output.frames": 3,
}
LATTICE = {
    "system.matrix.nx": 3,
    "system.matrix.ny": 2,
    "initial.state.unit": [4, 0],
    "time.steps": 8,
    "output.frames": 3,
}
NOISE = {"initial.copies": 3, "time.steps": 9, "time.dt": 0.4, "output.frames": 4}
RABI = {  # with a loss, lest real parts of eigenvalues be nothing but rounding
    "system.matrix": [[0.0, "-1j"], ["-1j", "-0.2-1.5j"]],
    "time.steps": 12,
    "time.dt": 0.3,
    "output.frames": 4,
}
REDUCED: dict[str, dict[str, Any]] = {  # small enough for the simulator, where a thread of the GPU is one of Python
    "scenarios/circuit_board": {"grid.nx": 8, "grid.ny": 5, "time.tolerance": 0.02, "output.frames": 3},
    "scenarios/gbm": {"paths.count": 96, "time.steps": 12, "output.frames": 4, "output.store_paths": 3},
    "scenarios/gbm_sobol": {"paths.count": 96, "time.steps": 12, "output.frames": 4, "output.store_paths": 3},
    "scenarios/heat": {"grid.nx": 6, "grid.ny": 3, "output.frames": 4, "output.samples": 7},
    "scenarios/heat_sine": {"grid.nx": 6, "grid.ny": 6, "output.frames": 3},
    "scenarios/lattice_walk": LATTICE,
    "scenarios/linear": CHAIN,
    "scenarios/markov": WALK,
    "scenarios/ornstein_uhlenbeck": NOISE,
    "scenarios/rabi": RABI,
    "templates/gbm": {"paths.count": 96, "time.steps": 12, "output.frames": 3, "output.store_paths": 3},
    "templates/heat": {"grid.nx": 4, "grid.ny": 3, "time.tolerance": 0.02, "output.frames": 3, "output.samples": 5},
    "templates/linear": {"time.steps": 12, "time.dt": 0.5, "output.frames": 4},
}
TOLERANCE = {"heat": 1e-12, "linear": 1e-12, "gbm": 1e-10}  # relative to the largest value of an array
SUFFIXES = ("", "_standard_error")
DIMS = {
    "heat": {"temperature": ("time", "y", "x"), "probe_temperature": ("sample", "probe"), "energy_stored": ("sample",)},
    "gbm": {
        "price_mean": ("time", "asset"),
        "price_std": ("time", "asset"),
        "price_quantile": ("quantile", "time", "asset"),
        "path": ("path_id", "time", "asset"),
        "option_price": ("option",),
        "option_standard_error": ("option",),
        **{f"option_{name}{suffix}": ("option", "asset") for name in ("delta", "gamma", "vega") for suffix in SUFFIXES},
        **{f"option_{name}{suffix}": ("option",) for name in ("rho", "theta") for suffix in SUFFIXES},
    },
    "linear": {"state": ("time", "component", "sample")},
    "scenarios/rabi": {f"state_{part}": ("time", "component", "sample") for part in ("real", "imag")},
}
UNITS = {
    "heat": {"x": "m", "y": "m", "time": "s", "sample_time": "s"},
    "gbm": {"time": "year"},
    "linear": {"time": "s"},
}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    numba.set_num_threads(1)


@pytest.fixture
def fast(backend: Backend) -> Backend:
    """A backend to compare with exact answers. The simulator's numbers are those stored, and so are the CPU's."""
    if backend.name == "cudasim":
        pytest.skip("compared with the stored numbers only")
    return backend


def reduced(name: str, backend: Backend, directory: Path, **changes: Any) -> simsuite.Run:
    return simsuite.run(FILES[name], REDUCED[name] | changes, device=backend.name, directory=directory)


def norms(data: xr.Dataset) -> dict[str, list[float]]:
    """Smallest, largest, sum and root of the sum of squares of the numbers in every array, and how many they are; any
    change of a value changes one. NaN stands where there is nothing to say."""
    found = {}
    for name, array in data.variables.items():
        if array.dtype.kind == "f":
            a = array.values.astype(np.float64).ravel()
            a = a[~np.isnan(a)]
            ends = [a.min(), a.max()] if a.size else [0.0, 0.0]
            found[str(name)] = [*ends, math.fsum(a), math.sqrt(math.fsum(a * a)), a.size]
    return found


def test_every_shipped_scenario_is_tested() -> None:
    assert FILES.keys() == REDUCED.keys()
    assert json.loads(GOLDEN.read_text()).keys() == REDUCED.keys()


@pytest.mark.parametrize("name", REDUCED)
def test_numbers_are_those_stored_on_every_backend(tmp_path: Path, backend: Backend, name: str) -> None:
    run = reduced(name, backend, tmp_path / "run")
    assert run.summary["device"] == backend.name
    with run.dataset as data:
        found = norms(data)
    if os.environ.get("SIMSUITE_REGENERATE") and backend.name == "cpu":
        stored = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
        GOLDEN.write_text(json.dumps(dict(sorted({**stored, name: found}.items())), indent=1) + "\n")
    expected = json.loads(GOLDEN.read_text())[name]
    assert found.keys() == expected.keys()
    tolerance = TOLERANCE[run.summary["solver"]]
    # What goes through the edges and what is left of the ledger are differences of what is stored. Rounding moves real
    # and imaginary parts of eigenvalues alike.
    together = {
        prefix: max((expected[key][3] for key in expected if key.startswith(prefix)), default=0.0)
        for prefix in ("energy_", "eigenvalue_")
    }
    for key, values in expected.items():
        scale = max(values[3], *(size for prefix, size in together.items() if key.startswith(prefix)), 0.0)
        assert found[key] == pytest.approx(values, rel=0, abs=tolerance * scale), key


def test_a_sine_decays_as_the_scheme_says_and_reports_its_error(tmp_path: Path, fast: Backend) -> None:
    """On these cells the wave is an eigenvector of the five-point operator: T_n = (1 - dt lambda)^n T_0."""
    run = reduced("scenarios/heat_sine", fast, tmp_path / "run", **{"time.stepper": "explicit"})
    n, end, steps = 6, 0.05, run.summary["steps"]
    eigenvalue = 2 * (2 * n * math.sin(math.pi / (2 * n))) ** 2
    by_scheme = (1 - end / steps * eigenvalue) ** steps
    exact = math.exp(-2 * math.pi**2 * end)
    wave = np.sin(math.pi * (np.arange(n) + 0.5) / n)
    T0 = np.outer(wave, wave)
    with run.dataset as data:
        T = data.temperature.values[-1]
        assert data.error_l2.values[-1] == run.results["error"]["l2"]
    assert np.abs(T - by_scheme * T0).max() <= 1e-14
    error = run.results["error"]
    assert error["l2"] == pytest.approx(abs(by_scheme - exact) * math.sqrt(np.mean(T0**2)), rel=1e-10)
    assert error["linf"] == pytest.approx(abs(by_scheme - exact) * T0.max(), rel=1e-10)
    assert error["relative_l2"] == pytest.approx(abs(by_scheme / exact - 1), rel=1e-10)
    leading = math.pi**4 * end / 6 / n**2 - (2 * math.pi**2) ** 2 * end**2 / (2 * steps)  # of the cells and of Euler
    assert error["relative_l2"] == pytest.approx(abs(leading), rel=0.06)


def test_more_cells_make_the_reported_error_smaller(tmp_path: Path) -> None:
    errors = []
    for n in (16, 32):
        size = {"grid.nx": n, "grid.ny": n}
        run = simsuite.run(FILES["scenarios/heat_sine"], size, device="cpu", directory=tmp_path / str(n))
        errors.append(run.results["error"]["l2"])
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_the_ledger_of_the_plate_closes(tmp_path: Path, fast: Backend) -> None:
    energy = reduced("scenarios/heat", fast, tmp_path / "run").results["energy"]
    assert energy["edges"]["right"] == energy["edges"]["top"] == 0.0
    assert energy["edges"]["bottom"] < 0.0
    assert abs(energy["residual"]) <= 1e-13 * 3.7e6 * 20  # of the content, rho c T a square metre


def test_the_walker_ends_in_the_stationary_distribution(tmp_path: Path, fast: Backend) -> None:
    run = reduced("scenarios/markov", fast, tmp_path / "run")
    up, down, n = 0.3, 0.35, 3
    A = np.diag([up] * (n - 1), -1) + np.diag([down] * (n - 1), 1)
    A += np.diag(1 - A.sum(axis=0))
    values, vectors = np.linalg.eig(A)
    stationary = vectors[:, np.argmax(values.real)].real
    stationary /= stationary.sum()
    assert np.abs(np.array(run.results["state"]) - stationary[:, None]).max() <= 1e-13
    assert run.results["change"] <= 1e-15
    with run.dataset as data:
        assert np.abs(data.state.values.sum(axis=1) - 1).max() <= 1e-13


def test_the_walker_on_a_lattice_goes_where_chance_takes_him(tmp_path: Path, fast: Backend) -> None:
    run = reduced("scenarios/lattice_walk", fast, tmp_path / "run")
    p = np.zeros((2, 2, 3))
    p[0, 1, 1] = p[1, 0, 0] = 1.0
    for _ in range(8):
        edged = np.pad(p, ((0, 0), (1, 1), (1, 1)), mode="edge")  # who would leave stays
        beside = edged[:, 1:-1, :-2] + edged[:, 1:-1, 2:] + edged[:, :-2, 1:-1] + edged[:, 2:, 1:-1]
        p = 0.2 * p + 0.2 * beside
    assert run.summary["kernel"] == "csr"
    np.testing.assert_allclose(run.results["state"], p.reshape(2, 6).T, rtol=1e-14)


def test_springs_follow_the_exact_discretisation(tmp_path: Path, fast: Backend) -> None:
    """Against SciPy's zero-order hold, with the system written down from the comment in the scenario."""
    run = reduced("scenarios/linear", fast, tmp_path / "run")
    m, k, c, dt, steps = 2, 400.0, 0.05, 1.1, 9
    chain = k * (np.diag([1.0] * (m - 1), 1) + np.diag([1.0] * (m - 1), -1) - 2 * np.eye(m))
    A = np.block([[np.zeros((m, m)), np.eye(m)], [chain, -c * np.eye(m)]])
    B = np.eye(2 * m)[:, [m]]
    C = np.eye(m, 2 * m)
    Ad, Bd, *_ = cont2discrete((A, B, C, np.zeros((m, 1))), dt, method="zoh")
    X = start = np.array([0.01, 0.03, 0.0, 0.0])
    outputs = [C @ X]
    for step in range(steps):
        t = step * dt
        X = Ad @ X + Bd[:, 0] * (0.0 if t < 5 else 5 * math.sin(6.946 * t))
        outputs.append(C @ X)
    with run.dataset as data:
        found = data.state.values[:, :, 0]
        assert data.time.values == pytest.approx(np.linspace(0, 9.9, 4), abs=1e-12)
    expected = np.array(outputs)[::3]
    unshaken = C @ np.linalg.matrix_power(Ad, steps) @ start
    assert np.abs(expected[-1] - unshaken).max() > 1e-3
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["scenarios/gbm", "templates/gbm"])
def test_calls_cost_what_black_and_scholes_say(tmp_path: Path, fast: Backend, name: str) -> None:
    run = reduced(name, fast, tmp_path / "run", **{"paths.count": 65536})
    call = run.results["options"]["call"]
    exact = european(100.0, 100.0, 0.05, 0.05, 0.2, 1.0, "call")
    assert exact == pytest.approx(10.450583572185565, rel=1e-14)
    assert abs(call["price"] - exact) <= 4 * call["standard_error"]
    assert call["standard_error"] < 0.06


@pytest.mark.parametrize("name", [name for name in REDUCED if name.startswith("scenarios/")])
def test_xarray_reads_what_was_promised(tmp_path: Path, backend: Backend, name: str) -> None:
    if backend.name != "cpu":
        pytest.skip("files are written alike on all devices")
    run = reduced(name, backend, tmp_path / "run")
    solver = run.summary["solver"]
    with xr.open_dataset(run.directory / "results.h5", engine="h5netcdf") as data:
        for variable, dims in DIMS.get(name, DIMS[solver]).items():
            assert data[variable].dims == dims
            assert not np.isnan(data[variable]).any(), variable
            assert data[variable].attrs["long_name"]
        assert data.sizes["time"] == REDUCED[name]["output.frames"]
        assert "time" in data.coords
        for variable, units in UNITS[solver].items():
            assert data[variable].attrs["units"] == units
        assert data.attrs["simsuite_version"] == simsuite.__version__
        assert (data.attrs["solver"], data.attrs["status"], data.attrs["device"]) == (solver, "complete", backend.name)
        assert {"format_version", "scenario", "seed"} <= data.attrs.keys()
        if solver == "heat":
            assert list(data.probe.values) == list(run.results["probes"])
            lx = REDUCED[name]["grid.nx"] * float(data.x[1] - data.x[0])
            assert float(data.x[0] + data.x[-1]) == pytest.approx(lx, rel=1e-12)
            assert float(data.temperature[-1].max()) == run.results["max"]
        elif solver == "gbm":
            assert list(data.asset.values) == list(run.results["assets"])
            assert list(data.option.values) == list(run.results["options"])
            prices = [option["price"] for option in run.results["options"].values()]
            assert data.option_price.values.tolist() == prices


@pytest.mark.parametrize("name", ["scenarios/heat", "scenarios/heat_sine"])
def test_vtk_reads_what_xarray_reads(tmp_path: Path, backend: Backend, name: str) -> None:
    if backend.name != "cpu":
        pytest.skip("files are written alike on all devices")
    run = reduced(name, backend, tmp_path / "run")
    frames = frames_in_vtk(run.directory / "results.h5")
    with run.dataset as data:
        assert [t for t, _ in frames] == data.time.values.tolist()
        for (_, seen), expected in zip(frames, data.temperature.values, strict=True):
            np.testing.assert_array_equal(seen, expected)

"""The plug-in in examples/wave: its numbers against closed forms, and all that simsuite gives it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
import tomli_w
from plugin_site import WAVE, add_wave, on_path
from running import assert_same_bits, call, finish, start_python

from simsuite.core import Backend
from simsuite.scenario import load

TOML = WAVE / "wave.toml"
SMALL = ("--set", "grid.nx=20", "--set", "grid.ny=16", "--set", "output.frames=6", "--device", "cpu")


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    add_wave(folder)
    monkeypatch.chdir(tmp_path)
    with on_path(folder, monkeypatch):
        yield folder


def standing(nx: int, ny: int, t: float, c: float = 1.5, lx: float = 2.0, ly: float = 1.0) -> np.ndarray:
    """sin(2 pi x / lx) sin(pi y / ly) cos(omega t) with the frequency of the wave equation."""
    x, y = np.linspace(0, lx, nx + 1), np.linspace(0, ly, ny + 1)[:, None]
    omega = c * math.pi * math.hypot(2 / lx, 1 / ly)
    return np.sin(2 * np.pi * x / lx) * np.sin(np.pi * y / ly) * math.cos(omega * t)


def scenario(path: Path, nx: int, ny: int, end: float, **time: object) -> Path:
    text = {
        "solver": "wave",
        "grid": {"nx": nx, "ny": ny, "lx": 2.0, "ly": 1.0},
        "medium": {"speed": 1.5},
        "initial": {"displacement": "sin(pi*x)*sin(pi*y)"},
        "time": {"end": end, **time},
        "output": {"frames": 4},
    }
    path.write_text(tomli_w.dumps(text))
    return path


def run(capsys: pytest.CaptureFixture[str], path: Path, *options: object) -> h5py.File:
    done = call(capsys, "run", path, "-o", path.stem, "-q", "--device", "cpu", *options)
    assert done.returncode == 0, done.stderr
    return h5py.File(Path(path.stem) / "results.h5")


def test_its_modes_have_the_frequency_of_the_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the grid, leapfrog keeps a mode as it is, but for a frequency w with sin(w dt/2) = c dt sqrt(..), to
    rounding."""
    nx, ny, dt, c = 16, 10, 0.02, 1.5
    with run(capsys, scenario(tmp_path / "a.toml", nx, ny, 3.0, dt=dt)) as file:
        dx, dy = 2.0 / nx, 1.0 / ny
        across = math.hypot(math.sin(math.pi * dx / 2) / dx, math.sin(math.pi * dy / 2) / dy)
        omega = 2 / dt * math.asin(c * dt * across)
        shape = standing(nx, ny, 0.0)
        assert file["time"][...].tolist() == [0.0, 1.0, 2.0, 3.0]
        for t, u in zip(file["time"][...], file["displacement"][...]):
            np.testing.assert_allclose(u, shape * math.cos(omega * t), rtol=0, atol=1e-13)
        energy = file["energy"][...]
        np.testing.assert_allclose(energy, energy[0], rtol=1e-12)


def test_it_is_of_order_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    errors = []
    for nx in (16, 32, 64):
        with run(capsys, scenario(tmp_path / f"n{nx}.toml", nx, nx // 2, 0.7, dt=0.5 / nx)) as file:
            errors.append(float(abs(file["displacement"][-1] - standing(nx, nx // 2, 0.7)).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[0] > 1e-4, "there is an error to measure"
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def test_every_backend_takes_the_steps_of_numpy(tmp_path: Path, backend: Backend) -> None:
    from simsuite_wave.problem import WaveProblem

    loaded = load(scenario(tmp_path / "a.toml", 7, 5, 0.2), ['initial.displacement="x*(2-x)*y*(1-y)*(1+x*y)"'])
    problem = WaveProblem.from_scenario(loaded.model, tmp_path)
    start = problem.initial()
    stepper = problem.stepper(backend, start)
    stepper.advance(3)
    stepper.advance(4)
    u, before = (start.arrays[name].copy() for name in ("displacement", "before"))
    dx, dy, dt = 2.0 / 7, 1.0 / 5, problem.dt
    for _ in range(7):
        padded = np.pad(u, 1, mode="edge")
        across = (padded[1:-1, 2:] - 2 * u + padded[1:-1, :-2]) / dx**2
        across += (padded[2:, 1:-1] - 2 * u + padded[:-2, 1:-1]) / dy**2
        after = 2 * u - before + (1.5 * dt) ** 2 * across
        after[[0, -1]] = after[:, [0, -1]] = 0.0
        u, before = after, u
    with stepper.snapshot() as found:
        assert found.step == 7
        np.testing.assert_allclose(found.arrays["displacement"], u, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.arrays["before"], before, rtol=0, atol=1e-14)


def test_its_start_is_at_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A step forward and one back from the start are alike, so that the error of the first step is of order 4."""
    with run(capsys, scenario(tmp_path / "a.toml", 16, 8, 0.03, dt=0.01)) as file:
        u = file["displacement"][...]
    assert abs(u[1] - standing(16, 8, 0.01)).max() < 1e-4


def test_mistakes_are_shown_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.toml").write_text(TOML.read_text().replace('end = "2 s"', 'end = "2 m"\nsteps = 3').replace("speed", "c"))
    found = call(capsys, "check", "bad.toml")
    assert found.returncode == 2
    for text in ("`c`", "steps", "^"):
        assert text in found.stderr
    unstable = call(capsys, "check", TOML, "--set", "time.dt=0.02")
    assert unstable.returncode == 2
    assert "is unstable on this grid" in unstable.stderr
    assert "the largest stable dt is 0.00707107 s" in unstable.stderr
    assert call(capsys, "check", TOML, "--set", "time.dt=0.00707106").returncode == 0
    late = call(capsys, "check", TOML, "--set", "output.frames=1000")
    assert "at most" in late.stderr
    assert late.returncode == 2


def test_a_stopped_run_goes_on_to_the_same_bits(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "run", TOML, "-o", "whole", *SMALL).returncode == 0
    for _ in range(3):
        assert call(capsys, "run", TOML, "-o", "parts", *SMALL, "--max-minutes", 0).returncode == 75
    assert call(capsys, "resume", "parts").returncode == 0
    assert_same_bits(Path("parts/results.h5"), Path("whole/results.h5"))


def test_commands_know_it(capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "run", TOML, "-o", "run", *SMALL)
    assert "energy" in done.stdout
    assert "m4 s-2" in done.stdout
    results = json.loads(call(capsys, "info", "run", "--json").stdout)["summary"]["results"]
    assert results["displacement"]["max"] <= 0.01
    assert call(capsys, "plot", "run", "-o", "run.png").returncode == 0
    assert Path("run.png").read_bytes().startswith(b"\x89PNG")
    assert "displacement.min,-0.00" in call(capsys, "info", "run", "--csv").stdout
    assert ",m\n" in call(capsys, "info", "run", "--csv").stdout
    for to in ("netcdf", "csv"):
        assert call(capsys, "export", "run", "--to", to, "-o", f"as_{to}").returncode == 0
    assert "medium.speed" in call(capsys, "explain", "speed").stdout
    assert json.loads(call(capsys, "schema", "wave").stdout)["properties"]["solver"]["const"] == "wave"
    assert json.loads(call(capsys, "schema").stdout)["properties"]["solver"]["enum"][-1] == "wave"
    assert '## solver = "wave"' in call(capsys, "schema", "wave", "--markdown").stdout
    assert call(capsys, "compare", "run", "run").returncode == 0
    assert call(capsys, "check", "run").returncode == 0
    assert "only those of heat, gbm" in call(capsys, "verify", TOML).stderr


def test_it_can_be_stepped_from_python(capsys: pytest.CaptureFixture[str]) -> None:
    import simsuite

    simulation = simsuite.open_simulation(TOML, set={"grid.nx": 10, "grid.ny": 8, "output.frames": 3})
    simulation.advance(5)
    assert simulation.state["displacement"].shape == (9, 11)


def test_a_sweep_runs_it_in_its_processes(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from simsuite.cli import main; main()"
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    command = ("sweep", TOML, "--vary", "medium.speed=1.0,2.0", "--workers", "1", "-o", "sweep", *SMALL[:6])
    done = finish(start_python(code, *command, cwd=Path.cwd(), PYTHONPATH=path))
    assert done.returncode == 0, done.stderr
    with h5py.File("sweep/sweep.h5") as file:
        assert file["status"][...].tolist() == [0, 0]
        energy = file["energy"][...]
    assert energy[1] / energy[0] == pytest.approx(4.0, rel=1e-9), "c² of the same displacement"


def test_it_is_as_short_as_promised() -> None:
    files = list((WAVE / "simsuite_wave").glob("*.py"))
    assert len(files) == 6
    assert sum(bool(line.strip()) for path in files for line in path.read_text().splitlines()) <= 150


def test_pip_installs_it(tmp_path: Path) -> None:
    """With its entry point, from its own pyproject.toml."""
    target = tmp_path / "installed"
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", str(WAVE), str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, capture_output=True)
    code = "from simsuite.cli import main; main()"
    path = os.pathsep.join([str(target), *(p for p in sys.path if p and not p.startswith(str(tmp_path)))])
    done = finish(start_python(code, "run", TOML, "-o", "run", *SMALL, cwd=tmp_path, PYTHONPATH=path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "results.h5").exists()

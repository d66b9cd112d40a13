"""simsuite from Python: `run`, `open_simulation`, and what they give back."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import h5py
import numba
import numpy as np
import pytest
import xarray as xr
from running import assert_same_bits, call

import simsuite
from simsuite.core import Backend

ROOT = Path(__file__).parents[2]
PLATE = """
solver = "heat"
grid = {nx = 8, ny = 6}
material = {diffusivity = 1.0}
boundary = {left = {kind = "temperature", value = "sin(30*t)"}}
time = {end = 0.05}
initial = {temperature = "x*y"}
output = {frames = 3}
"""


@pytest.fixture
def plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario in the working directory."""
    numba.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    Path("plate.toml").write_text(PLATE, encoding="utf-8")
    return Path("plate.toml")


def test_every_public_name_is_there_and_documented() -> None:
    for name in simsuite.__all__:
        found = getattr(simsuite, name)
        assert name in dir(simsuite)
        assert name == "__version__" or found.__doc__
    with pytest.raises(AttributeError, match="has no attribute 'walk'"):
        _ = simsuite.walk


def test_a_star_import_brings_the_public_names() -> None:
    names: dict[str, Any] = {}
    exec("from simsuite import *", names)
    assert set(simsuite.__all__) <= names.keys()


def test_run_gives_results_and_data(plate: Path, backend: Backend) -> None:
    run = simsuite.run("plate.toml", set={"grid.nx": 4, "grid.ny": 2}, device=backend.name)
    assert run.directory == Path("runs/plate")
    assert (run.summary["status"], run.summary["device"]) == ("complete", backend.name)
    assert run.results is run.summary["results"]
    assert isinstance(run.dataset, xr.Dataset)
    assert run.dataset is run.dataset
    assert run.dataset.temperature.shape == (3, 2, 4)
    assert float(run.dataset.temperature[-1].max()) == run.results["max"]
    run.dataset.close()


def test_the_dataset_is_read_when_it_is_looked_at(plate: Path) -> None:
    run = simsuite.run(plate, device="cpu")
    before = run.dataset.temperature
    assert not before.variable._in_memory
    assert repr(run) == f"Run(heat, complete, directory={str(run.directory)!r})"
    with h5py.File(run.directory / "results.h5") as file:
        np.testing.assert_array_equal(before.values, file["temperature"][...])
    run.dataset.close()


def test_run_is_what_the_command_does(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values: dict[str, Any] = {
        "title": 'Two "words"',
        "boundary.top": {"kind": "convection", "h": 2.0, "ambient": "20 + t"},
        "output": {"times": [0.0, 0.01]},
        "probe": [{"name": "P", "x": 0.5, "y": 0.25}],
    }
    ours = simsuite.run(plate, values, device="cpu", directory=Path("ours"))
    options = [
        'title=Two "words"',
        'boundary.top={kind = "convection", h = 2.0, ambient = "20 + t"}',
        "output={times = [0.0, 0.01]}",
        'probe=[{name = "P", x = 0.5, y = 0.25}]',
    ]
    words = [word for option in options for word in ("--set", option)]
    theirs = call(capsys, "run", plate, *words, "--device", "cpu", "-o", "theirs", "--json")
    assert theirs.returncode == 0, theirs.stderr
    said = json.loads(theirs.stdout)
    assert said["results"] == ours.results
    assert said.keys() == ours.summary.keys()
    assert_same_bits(Path("ours/results.h5"), Path("theirs/results.h5"))
    assert ours.dataset.attrs["title"] == 'Two "words"'
    ours.dataset.close()


def test_run_continues_and_starts_afresh(plate: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="simsuite")
    stopped = simsuite.run(plate, device="cpu", max_minutes=0)
    assert stopped.summary["status"] == "stopped"
    assert stopped.dataset.sizes["time"] == 1
    stopped.dataset.close()
    done = simsuite.run(plate, device="cpu")
    assert done.summary["status"] == "complete"
    assert "continuing runs/plate from time 0.0001" in caplog.text
    assert simsuite.run(plate, device="cpu").summary == done.summary
    assert "finished" in caplog.text
    again = simsuite.run(plate, device="cpu", fresh=True)
    assert again.results == done.results
    assert again.summary["wall_seconds"] != done.summary["wall_seconds"]


def test_mistakes_are_exceptions(plate: Path) -> None:
    with pytest.raises(simsuite.ScenarioError, match=r"grid\.nz") as caught:
        simsuite.run(plate, {"grid.nz": 3})
    assert isinstance(caught.value, simsuite.SimsuiteError)
    assert [m.path for m in caught.value.mistakes] == [("grid", "nz")]
    with pytest.raises(simsuite.ScenarioError, match=r"nowhere\.toml"):
        simsuite.open_simulation("nowhere.toml")
    with pytest.raises(simsuite.DeviceError):
        simsuite.open_simulation(plate, device="cuda:99")
    simsuite.run(plate, device="cpu")
    with pytest.raises(simsuite.UsageError, match=r"differs in grid\.nx"):
        simsuite.run(plate, {"grid.nx": 9}, device="cpu")
    with pytest.raises(simsuite.UsageError, match=r"differs in source\n"):
        simsuite.run(plate, {"source": [{"power": 1.0}]}, device="cpu")
    with pytest.raises(simsuite.ScenarioError, match=r"has the logarithm of `0\.02 - t`"):
        simsuite.run(plate, {"boundary.left.value": "log(0.02 - t)"}, device="cpu", fresh=True)
    warmed = {"initial.temperature": 0.0, "source": [{"power": "sqrt(0.2 - T)"}]}
    with pytest.raises(simsuite.NumericalFailure, match=r"time 0\.0"):
        simsuite.run(plate, warmed, device="cpu", fresh=True)


def test_a_simulation_is_stepped_by_hand(plate: Path, backend: Backend) -> None:
    size = {"grid.nx": 3, "grid.ny": 2, "time.end": 0.13, "time.tolerance": 1e-3}
    sim = simsuite.open_simulation(plate, set=size, device=backend.name)
    assert isinstance(sim, simsuite.Simulation)
    assert (sim.step, sim.time) == (0, 0.0)
    sim.advance(2)
    sim.advance()
    sim.synchronize()
    assert sim.step == 3
    assert 0.0 < sim.time < 0.13
    state = sim.state["temperature"]
    assert state.shape == (2, 3)
    assert hasattr(state, "__dlpack__")
    while sim.time < 0.13:
        sim.advance()
    run = simsuite.run(plate, size, device=backend.name)
    with run.dataset as data:
        np.testing.assert_array_equal(sim.snapshot().arrays["temperature"], data.temperature.values[-1])
    assert sim.results() == {key: value for key, value in run.results.items() if key != "extremes"}
    for n, why in ((1, "the run ends with step"), (-1, "the number of steps must be 0 or more$")):
        with pytest.raises(ValueError, match=f"cannot take {n} steps: {why}"):
            sim.advance(n)
    assert sim.step == run.summary["steps"]


def test_a_simulation_that_is_led_past_its_end_says_how_far_it_came(plate: Path) -> None:
    sim = simsuite.open_simulation(plate, {"time.stepper": "rkl2"}, device="cpu")
    sim.advance(2)
    with pytest.raises(ValueError, match="cannot take 1000000 steps") as caught:
        sim.advance(10**6)
    assert sim.step > 3
    assert str(caught.value).endswith(
        f"the run ends with step {sim.step}; {sim.step - 2} steps were left, and have been taken"
    )
    equal = simsuite.open_simulation(plate, {"time.stepper": "explicit"}, device="cpu")
    end = equal.problem.clock.end
    equal.advance(end - 1)
    with pytest.raises(ValueError, match=f"from step {end - 1} of {end}: 1 step is left, and none was taken$"):
        equal.advance(2)
    assert equal.step == end - 1


def test_steps_are_counted_in_whole_numbers(plate: Path) -> None:
    sim = simsuite.open_simulation(plate, device="cpu")
    for n in (0.5, 2.0, "3", None):
        with pytest.raises(TypeError, match=r"advance\(n\) takes a whole number of steps, not .*; to get to a time"):
            sim.advance(n)  # type: ignore[arg-type]
    assert sim.step == 0
    sim.advance(np.int64(2))
    assert sim.step == 2


def test_the_state_is_the_live_array(plate: Path) -> None:
    sim, other = (simsuite.open_simulation(plate, device="cpu") for _ in range(2))
    sim.state["temperature"][...] = 0.25
    sim.advance(1)
    other.advance(1)
    assert not np.array_equal(sim.state["temperature"], other.state["temperature"])
    assert sim.state["temperature"][3, 4] == 0.25


@pytest.mark.gpu
def test_the_state_on_a_gpu_needs_no_copy(plate: Path) -> None:
    try:
        sim = simsuite.open_simulation(plate, device="cuda")
    except simsuite.DeviceError as reason:
        pytest.skip(str(reason))
    sim.advance(3)
    sim.synchronize()
    state = sim.state["temperature"]
    assert state.__cuda_array_interface__["shape"] == (6, 8)
    assert state.__dlpack_device__()[0] == 2  # kDLCUDA
    np.testing.assert_array_equal(state.get(), sim.snapshot().arrays["temperature"])


def test_run_works_in_a_thread(plate: Path) -> None:
    """Where Python lets nobody handle signals."""
    found: list[simsuite.Run] = []
    thread = threading.Thread(target=lambda: found.append(simsuite.run(plate, device="cpu")))
    thread.start()
    thread.join(60)
    assert found[0].summary["status"] == "complete"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_takes_its_course_after_a_checkpoint(plate: Path, number: signal.Signals) -> None:
    code = f"""
import signal, simsuite, simsuite.execution as s
march = s.march
def interrupted(*arguments):
    signal.raise_signal({int(number)})  # while steps are taken
    return march(*arguments)
s.march = interrupted
try:
    simsuite.run("plate.toml", device="cpu")
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    if number == signal.SIGINT:
        assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
    else:
        assert done.returncode == -number
    assert Path("runs/plate/checkpoint.h5").exists()
    assert simsuite.run(plate, device="cpu").summary["status"] == "complete"


def test_a_dictionary_is_a_scenario(plate: Path, tmp_path: Path) -> None:
    table = tomllib.loads(PLATE) | {"output": {"frames": 3}}
    run = simsuite.run(table, device="cpu", directory="ours")
    theirs = simsuite.run(plate, device="cpu", directory="theirs")
    assert run.results == theirs.results
    assert (run.dataset.attrs["title"], run.directory) == ("ours", Path("ours"))
    run.dataset.close()
    assert simsuite.run(table, device="cpu", directory="ours").summary == run.summary
    named = table | {"output": {"frames": 3, "directory": "named"}, "initial": {"temperature": np.float64(2.0)}}
    assert simsuite.run(named, device="cpu").directory == Path("named")
    assert simsuite.open_simulation(table, device="cpu").step == 0
    with pytest.raises(simsuite.UsageError, match="give directory="):
        simsuite.run(table, device="cpu")
    with pytest.raises(simsuite.ScenarioError, match="unknown key `nz`"):
        simsuite.run(table | {"grid": {"nx": 4, "ny": 4, "nz": 4}}, device="cpu", directory="ours")
    for wrong in (None, 3, ["plate.toml"]):
        with pytest.raises(simsuite.UsageError, match="expected the path of a scenario file, or "):
            simsuite.run(wrong)  # type: ignore[arg-type]


def test_python_is_answered_in_python(plate: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that a call answers speaks of options of the command line."""
    caplog.set_level(logging.INFO, logger="simsuite")
    answers = []

    def refused(kind: type[Exception], *args: Any, **options: Any) -> None:
        with pytest.raises(kind) as caught:
            simsuite.run(*args, device="cpu", **options)
        answers.append(str(caught.value))

    simsuite.run(plate, device="cpu")
    simsuite.run(plate, device="cpu")
    refused(simsuite.UsageError, plate, {"grid.nx": 5})
    refused(simsuite.ScenarioError, plate, {"grid.nz": 5})
    refused(simsuite.ScenarioError, plate, {"time.dt": 1e6}, directory="another")
    Path("runs/plate/summary.json").write_text("{")
    refused(simsuite.SimsuiteError, plate)
    Path("runs/plate/summary.json").unlink()
    Path("runs/plate/results.h5").write_text("no HDF5")
    refused(simsuite.SimsuiteError, plate)
    said = "\n".join([*answers, caplog.text])
    assert said.count("fresh=True") >= 4
    assert "set: grid.nz=5" in said
    assert not re.search(r"--[a-z]|-o DIR", said)


def test_warnings_go_to_the_logger(plate: Path, caplog: pytest.LogCaptureFixture) -> None:
    simsuite.run(plate, {"grid.lx": 400.0, "grid.ly": 400.0}, device="cpu")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "in metres" in caplog.text


def test_many_keys_that_differ_are_counted(tmp_path: Path) -> None:
    plain = {
        "solver": "heat",
        "grid": {"nx": 4, "ny": 4},
        "material": {"diffusivity": 1.0},
        "time": {"end": 0.01},
        "output": {"directory": str(tmp_path / "d"), "frames": 2},
    }
    simsuite.run(plain, device="cpu")
    with pytest.raises(simsuite.UsageError) as caught:
        simsuite.run(plain, {"time.end": 0.02, "grid.lx": 2.0, "output.frames": 3}, device="cpu")
    assert "it differs in grid.lx, time.end, output.frames\n" in str(caught.value)
    many = {"grid.nx": 5, "grid.ny": 5, "grid.lx": 2.0, "grid.ly": 2.0, "output.frames": 3, "time.end": 0.02}
    many |= {"time.tolerance": 1e-3, "material.diffusivity": 2.0}
    with pytest.raises(simsuite.UsageError, match=r"it differs in (\w+\.\w+, ){4}\w+\.\w+ and 3 more\n"):
        simsuite.run(plain, many, device="cpu")

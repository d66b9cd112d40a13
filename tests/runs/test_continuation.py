"""New runs that begin with the last good state of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SIMULATING
from running import call, contents
from test_resume import GBM, LINEAR, write

from simsuite.execution import Execution
from simsuite.io.checkpoint import read_about, read_checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.scenario import load

pytestmark = pytest.mark.skipif(SIMULATING, reason="no kernel is involved")
PLATE: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 20, "ny": 16, "lx": 1.0, "ly": 0.8},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "sin(3*x)*cos(2*y)"},
    "boundary": {"left": {"kind": "temperature", "value": 0.5}},
    "time": {"end": 0.02, "stepper": "explicit", "dt": 1e-4},
    "output": {"frames": 3, "checkpoint_every": 100},
    "run": {"device": "cpu"},
}


@pytest.mark.parametrize("more", [{}, {"run.precision": "float32"}, {"time.stepper": "rkl2"}])
def test_two_parts_are_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: dict[str, Any]) -> None:
    """But for the rounding of the length of steps."""
    whole = write(tmp_path / "whole.toml", PLATE, more | {"output.checkpoint_every": 150})
    part = write(tmp_path / "part.toml", PLATE, more | {"time.end": 0.005, "output.frames": 2})
    first = RunDirectory(tmp_path / "first")
    Execution(load(whole), first, stopped=lambda: "time" if read_about(first.path) else None, asynchronous=False).run()
    found = read_checkpoint(first.path)
    assert found is not None
    assert found.snapshot.step == 150
    assert call(capsys, "run", whole, "-o", tmp_path / "whole").returncode == 0
    command = ("run", part, "-o", tmp_path / "rest", "--from-checkpoint", first.path)
    rest = call(capsys, *command)
    assert rest.returncode == 0, rest.stderr
    assert f"time 0 is t = 0.015 s of {first.path}" in rest.stderr
    expected, got = (contents(tmp_path / name / "results.h5")["temperature"] for name in ("whole", "rest"))
    tolerance = 1e-5 if "run.precision" in more else 1e-13
    np.testing.assert_allclose(got[-1], expected[-1], rtol=tolerance)
    assert np.abs(got[-1] - got[0]).max() > 100 * tolerance
    assert "holds this run, finished" in call(capsys, *command).stderr


def test_a_run_that_came_to_nan_goes_on_with_another_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reacting = PLATE | {"source": [{"power": "where(T > 0.9, 1e300*T**9, 30*T)"}]}
    path = write(tmp_path / "plate.toml", reacting, {"time.end": 0.2, "output.checkpoint_every": 10})
    failed = call(capsys, "run", path, "-o", tmp_path / "run")
    assert failed.returncode == 3, failed.stderr
    rest = call(
        capsys, "run", path, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run",
        "--set", 'source=[{power="-5*T"}]', "--set", "time.dt=5e-5", "--set", "time.end=0.01", "--json",
    )  # fmt: skip
    assert rest.returncode == 0, rest.stderr
    assert json.loads(rest.stdout)["steps"] == 200


def test_without_a_checkpoint_it_is_the_last_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "plate.toml", PLATE, {"output.checkpoint_every": 0})
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    assert read_checkpoint(tmp_path / "run") is None
    rest = call(capsys, "run", path, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run")
    assert rest.returncode == 0, rest.stderr
    assert f"time 0 is t = 0.02 s of {tmp_path / 'run'}" in rest.stderr
    first, second = (contents(tmp_path / name / "results.h5")["temperature"] for name in ("run", "rest"))
    np.testing.assert_array_equal(second[0], first[-1])


def test_of_a_run_that_has_ended_it_is_the_last_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Checkpoints of before its end are still there."""
    path = write(tmp_path / "plate.toml", PLATE, {"output.checkpoint_every": 0})
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert found.snapshot.step < 200
    rest = call(capsys, "run", path, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run")
    assert rest.returncode == 0, rest.stderr
    assert f"time 0 is t = 0.02 s of {tmp_path / 'run'}" in rest.stderr
    first, second = (contents(tmp_path / name / "results.h5")["temperature"] for name in ("run", "rest"))
    np.testing.assert_array_equal(second[0], first[-1])


def test_outputs_are_no_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames hold C X, here of as many numbers as X has: only checkpoints have X, and the last is at t = 10 s."""
    output = {"system.output_matrix": [[2.0 * (i == j) for j in range(6)] for i in range(6)], "run.device": "cpu"}
    system = write(tmp_path / "s.toml", LINEAR, output | {"output.checkpoint_every": 1000})
    assert call(capsys, "run", system, "-o", tmp_path / "a").returncode == 0
    rest = call(capsys, "run", system, "-o", tmp_path / "b", "--from-checkpoint", tmp_path / "a")
    assert rest.returncode == 0, rest.stderr
    first, second = (contents(tmp_path / name / "results.h5")["state"] for name in "ab")
    np.testing.assert_allclose(second[0], first[20], rtol=1e-12)
    assert call(capsys, "run", system, "-o", tmp_path / "c", "--set", "output.checkpoint_every=0").returncode == 0
    refused = call(capsys, "run", system, "-o", tmp_path / "d", "--from-checkpoint", tmp_path / "c")
    assert refused.returncode == 2
    assert "has no frame that a run can begin with" in refused.stderr


@pytest.mark.parametrize("method", ["step", "power", "spectral"])
@pytest.mark.parametrize("scale", [0.9, "0.9+0.3j"])
def test_linear_systems_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, scale: object) -> None:
    np.save(tmp_path / "A.npy", np.array([[complex(scale), 0.1], [0.0, 0.8]]))
    document = {
        "solver": "linear",
        "run": {"device": "cpu"},
        "system": {"kind": "discrete", "matrix": {"file": "A.npy"}},
        "initial": {"state": [1.0, 2.0]},
        "time": {"steps": 40, "method": method},
        "output": {"frames": 3},
    }
    path = write(tmp_path / "s.toml", document)
    assert call(capsys, "run", path, "-o", tmp_path / "run", "--max-minutes", 0).returncode in (0, 75)
    found = read_checkpoint(tmp_path / "run")
    steps = 40 - (40 if found is None else found.snapshot.step)
    if steps == 0:
        return
    changes = ("--set", f"time.steps={steps}", "--set", "output.frames=2")
    rest = call(capsys, "run", path, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run", *changes)
    assert rest.returncode == 0, rest.stderr
    assert call(capsys, "run", path, "-o", tmp_path / "whole").returncode == 0
    whole, found = (contents(tmp_path / name / "results.h5") for name in ("whole", "rest"))
    for name in [key for key in whole if key.startswith("state")]:
        np.testing.assert_allclose(found[name][-1], whole[name][-1], rtol=1e-12, atol=1e-15)


def test_what_cannot_be_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plate, gbm = write(tmp_path / "plate.toml", PLATE), write(tmp_path / "gbm.toml", GBM, {"run.device": "cpu"})
    assert call(capsys, "run", gbm, "-o", tmp_path / "gbm").returncode == 0
    assert call(capsys, "run", plate, "-o", tmp_path / "run").returncode == 0
    for source, target, said in (
        ("gbm", "new", "has no state but that of its paths"),
        ("run", "run", "is the run itself"),
        ("nowhere", "new", "holds no run"),
    ):
        refused = call(capsys, "run", plate, "-o", tmp_path / target, "--from-checkpoint", tmp_path / source)
        assert refused.returncode == 2
        assert said in refused.stderr
        assert not (tmp_path / "new").exists()
    (tmp_path / "new").mkdir()
    (tmp_path / "new/initial.npy").write_text("mine")
    refused = call(capsys, "run", plate, "-o", tmp_path / "new", "--from-checkpoint", tmp_path / "run")
    assert refused.returncode == 2
    assert (tmp_path / "new/initial.npy").read_text() == "mine"


@pytest.mark.parametrize(("units", "start"), [("degC", 12.0), ("K", 285.15)])
def test_temperatures_are_taken_over_in_the_unit_of_the_new_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], units: str, start: float
) -> None:
    warm = PLATE | {"boundary": {}, "initial": {"temperature": start}, "units": units}
    other = {"degC": "K", "K": "degC"}[units]
    assert call(capsys, "run", write(tmp_path / "old.toml", warm), "-o", tmp_path / "run").returncode == 0
    cold = write(tmp_path / "new.toml", warm | {"units": other, "initial": {"temperature": 1.0}})
    rest = call(capsys, "run", cold, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run")
    assert rest.returncode == 0, rest.stderr
    expected = {"K": 285.15, "degC": 12.0}[other]
    np.testing.assert_allclose(contents(tmp_path / "rest/results.h5")["temperature"][0], expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("grid.nx=21", "has 20 x 16 cells, and this scenario 21 x 16"),
        ("grid.lx=4", "is of 1 m x 0.8 m, and this scenario of 4 m x 0.8 m"),
    ],
)
def test_the_state_of_another_plate_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, said: str
) -> None:
    plate = write(tmp_path / "plate.toml", PLATE)
    assert call(capsys, "run", plate, "-o", tmp_path / "run").returncode == 0
    command = ("run", plate, "-o", tmp_path / "new", "--from-checkpoint", tmp_path / "run", "--set", change)
    refused = call(capsys, *command)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert not (tmp_path / "new").exists()


def test_data_that_depend_on_time_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "plate.toml", PLATE | {"source": [{"power": "sin(t)"}, {"power": "x"}]})
    assert call(capsys, "run", path, "-o", tmp_path / "run").returncode == 0
    rest = call(capsys, "run", path, "-o", tmp_path / "rest", "--from-checkpoint", tmp_path / "run")
    assert rest.returncode == 0
    begun = "warning: source.power depends on t, which begins again at 0, while the state is of t = 0.02 s: "
    assert f"{begun}`t + 0.02` in place of t goes on from there\n" in rest.stderr
    system = write(tmp_path / "s.toml", LINEAR, {"run.device": "cpu", "output.checkpoint_every": 1000})
    assert call(capsys, "run", system, "-o", tmp_path / "a").returncode == 0
    rest = call(capsys, "run", system, "-o", tmp_path / "b", "--from-checkpoint", tmp_path / "a")
    assert rest.returncode == 0, rest.stderr
    assert "warning: system.input depends on t, which begins again at 0, while" in rest.stderr

"""Members of a linear sweep that run together: from the command line, killed, failing, with frames."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from running import call

import simsuite
from simsuite.errors import UsageError
from simsuite.sweeps.table import numbers

SPRING = """\
solver = "linear"
[constants]
damping = 0.3
place = 1.0
force = 2.0
[system]
kind = "continuous"
matrix = [[0, 1], [-1, "-damping"]]
input_matrix = [[0.0], [1.0]]
input = ["force*sin(2*t)"]
[initial]
state = ["place", 0]
[time]
dt = 0.01
steps = 200
[output]
frames = 3
[run]
device = "cpu"
"""


@pytest.fixture
def spring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spring.toml").write_text(SPRING, encoding="utf-8")
    return tmp_path / "spring.toml"


def sweep(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    return call(capsys, "sweep", "spring.toml", *options, "-o", "s")


def records(log: Path = Path("s/members.jsonl")) -> dict[int, dict[str, Any]]:
    return {record["member"]: record for record in map(json.loads, log.read_text("utf-8").splitlines())}


@pytest.mark.parametrize("key", ["constants.damping", "constants.force", "initial.x0.0"])
def test_numbers_are_those_of_each_alone(key: str, spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = (0.1, 0.7, 2.0)
    done = sweep(capsys, "--vary", f"{key}=0.1,0.7,2.0", "--vary", "time.dt=0.01,0.02")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("s/members").iterdir()) == ["0000-0004", "0001-0005", "scenario.toml"]
    found = records()
    for i, value in enumerate(values):
        alone = simsuite.run(spring, set={key: value, "time.dt": 0.02}, directory=f"alone{i}")
        assert found[2 * i + 1]["results"] == numbers(alone.results)


def test_apart_each_has_a_run_of_its_own(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    together = simsuite.sweep(spring, {"constants.damping": [0.1, 0.2]}, directory="t", frames="all")
    with pytest.raises(UsageError, match="shared a run"):
        together.run(1)
    assert sweep(capsys, "--vary", "constants.damping=0.1,0.2", "--apart").returncode == 0
    assert {"0000", "0001"} <= {path.name for path in Path("s/members").iterdir()}
    shared, own = records(Path("t/members.jsonl")), records()
    assert [own[i]["results"] == shared[i]["results"] for i in range(2)] == [True, True]
    apart = simsuite.sweep(spring, {"constants.damping": [0.1, 0.2]}, directory="a", apart=True, frames="all")
    states = apart.dataset["state"].values
    assert states.tobytes() == together.dataset["state"].values.tobytes()
    norms = apart.dataset["frame_norm"]
    assert norms.dims == ("constants.damping", "time")
    np.testing.assert_allclose(norms.values, np.linalg.norm(states, axis=(2, 3)), rtol=1e-14)
    assert norms.identical(together.dataset["frame_norm"])
    assert set(apart.dataset) == set(together.dataset)
    assert np.isfinite(
        simsuite.sweep(spring, {"initial.x0.0": [1, 2]}, directory="l", frames="last").dataset["frame_norm"]
    ).all()
    assert apart.run(1).dataset["state"].values.tobytes() == states[1].tobytes()
    with pytest.raises(UsageError, match="last or all"):
        simsuite.sweep(spring, {"constants.damping": [0.1]}, directory="x", frames="first")  # type: ignore[call-overload]


def test_what_several_share_is_a_run_for_other_commands(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(capsys, "--vary", "constants.damping=0.1,0.2").returncode == 0
    shared = "s/members/0000-0001"
    for command in (("info", shared), ("plot", shared), ("export", shared, "--to", "csv"), ("plot", "s")):
        done = call(capsys, *command)
        assert done.returncode == 0, done.stderr
    with xarray.open_dataset(f"{shared}/results.h5", engine="h5netcdf") as run:
        assert run["member"].values.tolist() == [0, 1]


def test_a_resume_of_what_several_share_is_refused(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(capsys, "--vary", "constants.damping=0.1,0.2").returncode == 0
    shared = Path("s/members/0000-0001")
    (shared / "summary.json").unlink()
    done = call(capsys, "resume", shared)
    assert done.returncode == 2
    assert "several members of a sweep" in done.stderr


def test_those_that_fail_leave_the_others_together(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = sweep(capsys, "--vary", "constants.damping=0.1,-9000,0.2,inf,0.3", "--frames", "last")
    assert done.returncode == 1
    found = records()
    assert [found[i]["status"] for i in range(5)] == ["complete", "failed", "complete", "failed", "complete"]
    assert "grows beyond the range of float64 at step" in found[1]["error"]
    assert {found[i]["run"] for i in (0, 2, 4)} == {"0000-0004"}
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as data:
        assert data["state"].dims == ("constants.damping", "component", "sample")
        finite = np.isfinite(data["state"].values).all(axis=(1, 2))
        assert finite.tolist() == [True, False, True, False, True]
        assert float(data["state"][4, 0, 0]) == found[4]["results"]["state.0.0"]


def test_killed_three_times(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run that members share goes on from its checkpoint, and each member ends once."""
    text = SPRING.replace("steps = 200", "steps = 2000000").replace("dt = 0.01", "dt = 0.001")
    spring.write_text(text.replace("frames = 3", "frames = 3\ncheckpoint_every = 20000"), encoding="utf-8")
    options = ("--vary", "constants.damping=0.1,0.2,0.4", "--vary", "constants.force=1,2")
    command = [sys.executable, "-m", "simsuite", "sweep", "spring.toml", *options, "-o", "s", "-q"]
    shared = Path("s/members/0000-0005")
    checkpoints = [shared / "checkpoint.h5", shared / "checkpoint.previous.h5"]
    for _ in range(3):
        before = time.time_ns()
        process = subprocess.Popen(command, env=os.environ)
        until = time.monotonic() + 120
        while not all(path.exists() and path.stat().st_mtime_ns > before for path in checkpoints):
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not Path("s/members.jsonl").exists()
    assert sweep(capsys, *options).returncode == 0
    lines = Path("s/members.jsonl").read_text("utf-8").splitlines()
    assert Counter(json.loads(line)["member"] for line in lines) == dict.fromkeys(range(6), 1)
    assert (shared / "log.txt").read_text("utf-8").count("continuing from") == 3
    alone = simsuite.run(spring, set={"constants.damping": 0.4, "constants.force": 2}, directory="alone")
    assert records()[5]["results"] == numbers(alone.results)


def test_a_sweep_is_exported(spring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vary", "constants.damping=0.1,0.2", "--vary", 'time.method="step","auto","power"')
    assert sweep(capsys, *options, "--set", 'system.input=["force"]', "--frames", "all").returncode == 0
    assert call(capsys, "export", "s", "--to", "csv", "--what", "members", "-o", "m.csv").returncode == 0
    with Path("m.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = records()
    assert len(rows) == 6
    for i, row in enumerate(rows):
        assert float(row["constants.damping"]) == [0.1, 0.2][i // 3]
        assert row["time.method"] == ["step", "auto", "power"][i % 3]
        assert float(row["state.0.0"]) == found[i]["results"]["state.0.0"]
    assert call(capsys, "export", "s/sweep.h5", "--to", "netcdf").returncode == 0
    with (
        xarray.open_dataset("s/export/s.nc", engine="h5netcdf") as written,
        xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as data,
    ):
        assert written.sizes == data.sizes
        assert written["state"].dims == ("constants.damping", "time.method", "time", "component", "sample")
        xarray.testing.assert_equal(written.load(), data.load())
    refused = call(capsys, "export", "s", "--to", "vtk")
    assert refused.returncode == 2
    assert "fields over a plate" in refused.stderr
    Path("s/sweep.h5").unlink()
    assert "no results yet" in call(capsys, "export", "s", "--to", "csv").stderr
    Path("s/sweep.h5").write_bytes(b"no such file")
    assert "cannot be read" in call(capsys, "export", "s", "--to", "csv").stderr


def test_samples_are_exported_along_member(spring: Path) -> None:
    vary = {"constants.force": "normal(1, 0.1)", "constants.damping": "uniform(0.1, 1)"}
    found = simsuite.sweep(spring, vary, random=5, directory="r")
    (path,) = found.export("csv", what="members")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["member"]) for row in rows] == list(range(5))
    for key in vary:
        assert [float(row[key]) for row in rows] == [found.members[i]["values"][key] for i in range(5)]

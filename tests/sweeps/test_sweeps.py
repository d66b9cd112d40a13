"""Sweeps: members side by side, in one file, whatever is killed when."""

from __future__ import annotations

import csv
import io
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
from simsuite.errors import ScenarioError, UsageError

PLATE = """\
solver = "heat"
title = "A plate in a sweep"
[constants]
hot = 400
h = 25.0
[grid]
nx = 12
ny = 8
lx = 0.12
ly = 0.08
[material]
conductivity = 45.0
density = 7800.0
specific_heat = 470.0
[initial]
temperature = 300.0
[boundary]
left = {kind = "temperature", value = "hot"}
right = {kind = "convection", h = "h", ambient = 300.0}
[[probe]]
name = "middle"
x = 0.06
y = 0.04
[time]
end = 100.0
[output]
frames = 3
[run]
device = "cpu"
"""


@pytest.fixture
def plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plate.toml").write_text(PLATE, encoding="utf-8")
    return tmp_path / "plate.toml"


def test_a_product_is_an_array_over_the_keys(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers are those of the runs one by one."""
    done = call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,50", "--vary", "constants.hot=350,400,450")
    assert done.returncode == 0, done.stderr
    with xarray.open_dataset("runs/plate_sweep/sweep.h5", engine="h5netcdf") as found:
        assert found.sizes == {"constants.h": 2, "constants.hot": 3}
        assert found["constants.hot"].values.tolist() == [350, 400, 450]
        assert found["max"].attrs["units"] == "K"
        assert found["energy.stored"].attrs["units"] == "J m-1"
        for h in (5, 50):
            for hot in (350, 400, 450):
                values = {"constants.h": h, "constants.hot": hot}
                alone = simsuite.run(plate, set=values, directory=plate.parent / f"{h}_{hot}")
                at = found.sel(values)
                assert float(at["probes.middle"]) == alone.results["probes"]["middle"]
                assert float(at["energy.edges.right"]) == alone.results["energy"]["edges"]["right"]
        assert (found["status"] == 0).all()
    assert "constants.h  constants.hot" in done.stdout
    assert len(done.stdout.splitlines()) == 8
    assert "6/6  " in done.stderr


def test_the_same_command_runs_nothing_again(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("sweep", "plate.toml", "--vary", "constants.h=5,10,15", "-o", "s")
    first = call(capsys, *command)
    begun = {path: path.stat().st_mtime_ns for path in Path("s/members").rglob("*.h5")}
    assert len(begun) >= 3
    again = call(capsys, *command)
    assert again.stdout == first.stdout
    assert "/3  " not in again.stderr
    assert {path: path.stat().st_mtime_ns for path in Path("s/members").rglob("*.h5")} == begun
    other = call(capsys, *command[:-2], "-o", "s", "--set", "time.end=50")
    assert other.returncode == 2
    assert "holds another sweep" in other.stderr
    plate.write_text(PLATE.replace("100.0", "90.0"), encoding="utf-8")
    assert "holds another sweep" in call(capsys, *command).stderr
    assert call(capsys, *command, "--fresh").returncode == 0
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as found:
        assert "constants.h" in found.sizes
    Path("other").mkdir()
    Path("other/thesis.tex").write_text("years of work")
    for fresh in ([], ["--fresh"]):
        kept = call(capsys, *command[:-1], "other", *fresh)
        assert kept.returncode == 2
        assert "something else" in kept.stderr
    assert Path("other/thesis.tex").read_text() == "years of work"


def test_one_that_fails_does_not_stop_the_others(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,10,-1,20", "-o", "s", "--json")
    assert done.returncode == 1
    members = json.loads(done.stdout)["members"]
    assert [each["status"] for each in members] == ["complete", "complete", "failed", "complete"]
    assert "must be at least 0, got -1" in members[2]["error"]
    assert "1 member of 4 failed" in done.stderr
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as found:
        assert found["status"].values.tolist() == [0, 0, 1, 0]
        assert np.isnan(found["max"].values).tolist() == [False, False, True, False]
    lines = Path("s/members.jsonl").read_text().splitlines()
    again = call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,10,-1,20", "-o", "s", "--retry", "--json")
    assert again.returncode == 1
    assert len(Path("s/members.jsonl").read_text().splitlines()) == len(lines) + 1


def test_pairs_texts_and_samples_lie_along_member(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = ("--vary", "time.stepper=adi,rkl2", "--vary", "constants.h=5,50", "--zip")
    assert call(capsys, "sweep", "plate.toml", *pairs, "-o", "pairs").returncode == 0
    with xarray.open_dataset("pairs/sweep.h5", engine="h5netcdf") as found:
        assert found.sizes == {"member": 2}
        assert found["time.stepper"].values.tolist() == ["adi", "rkl2"]
        assert found["constants.h"].values.tolist() == [5, 50]
    samples = ("--vary", "constants.h=uniform(5,50)", "--vary", "grid.nx=8,12", "--random", "3", "--latin")
    done = call(capsys, "sweep", "plate.toml", *samples, "-o", "samples", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 3
    assert all(5 < float(row["constants.h"]) < 50 and row["grid.nx"] in "8 12" for row in rows)
    with xarray.open_dataset("samples/sweep.h5", engine="h5netcdf") as found:
        assert found["max"].values.tolist() == [float(row["max"]) for row in rows]


def test_mistakes_are_told_before_anything_runs(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for varied, said in (
        ("constants.hh=1,2", "has no constant `hh`; did you mean `h`?"),
        ("grid.nz=1,2", "unknown key `nz`"),
        ("output.directory=a,b", "a directory of its own"),
    ):
        done = call(capsys, "sweep", "plate.toml", "--vary", varied)
        assert done.returncode == 2
        assert said in done.stderr
    assert not Path("runs").exists() or not list(Path("runs").rglob("*.h5"))


def start(*options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "simsuite", "sweep", "plate.toml", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def workers_of(directory: str) -> list[str]:
    """Processes that work on a sweep, but for the one that started them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"simsuite.sweeps.worker" in path.read_bytes() and directory in os.readlink(path.parent / "cwd"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_twelve_with_one_that_fails_killed_three_times(
    device: str,
    how: signal.Signals,
    plate: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Ends complete with nothing run twice: each member ends once, and no process is left behind."""
    if device == "cuda":
        request.getfixturevalue("cuda")  # skips where there is none
    values = "5,10,15,20,-1,25,30,35,40,45,50,55"
    sizes = {"run.device": device, "grid.nx": 48, "grid.ny": 40}
    options = ("--vary", f"constants.h={values}", "-o", "s", *(f"--set={key}={value}" for key, value in sizes.items()))
    log = Path("s/members.jsonl")
    for wanted in (1, 4, 8):
        running = start(*options)
        until = time.monotonic() + 120
        while (not log.exists() or len(log.read_bytes().splitlines()) < wanted) and time.monotonic() < until:
            assert running.poll() is None, running.communicate()[1].decode()
            time.sleep(0.005)
        running.send_signal(how)
        running.communicate(timeout=120)
        assert running.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 75, signal.SIGINT: 130}[how]
        until = time.monotonic() + 30
        while workers_of(str(plate.parent)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not workers_of(str(plate.parent))
    done = call(capsys, "sweep", "plate.toml", *options, "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert Counter(each["status"] for each in found["members"]) == {"complete": 11, "failed": 1}
    ended = Counter(json.loads(line)["member"] for line in log.read_text().splitlines())
    assert ended == dict.fromkeys(range(12), 1)
    alone = simsuite.run(plate, set={"constants.h": 35, **sizes}, directory=plate.parent / "alone")
    assert found["members"][7]["results"]["probes.middle"] == alone.results["probes"]["middle"]


def test_a_line_that_a_kill_cut_short_does_not_count(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("sweep", "plate.toml", "--vary", "constants.h=5,10", "-o", "s", "--json")
    first = json.loads(call(capsys, *command).stdout)
    log = Path("s/members.jsonl")
    whole = log.read_bytes()
    for cut in (1, 30, len(whole.splitlines()[-1])):
        log.write_bytes(whole[:-cut])
        assert json.loads(call(capsys, *command).stdout) == first
        assert len(log.read_bytes().splitlines()) == 2


def test_a_process_that_is_killed_costs_its_member_alone(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the system does where memory runs out."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    sizes = ("--set", "grid.nx=300", "--set", "grid.ny=300", "--set", "time.stepper=explicit", "--workers", "1")
    options = ("--vary", "constants.h=5,10,15", "-o", "s", *sizes, "--set", "time.end=60")
    running = start(*options)
    until = time.monotonic() + 120
    while not list(Path("s/members").rglob("checkpoint*")) + list(Path("s/members").rglob("results.h5")):
        assert time.monotonic() < until
        assert running.poll() is None, running.communicate()[1].decode()
        time.sleep(0.01)
    (worker,) = workers_of(str(plate.parent))
    os.kill(int(worker), signal.SIGKILL)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 1
    assert "its process was ended by SIGKILL, as the system does where memory runs out" in said.decode()
    done = call(capsys, "sweep", "plate.toml", *options, "--retry", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["failed"] == 0


def test_two_at_once(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vary", "constants.h=5,10,15,20", "-o", "s", "--set", "grid.nx=64", "--set", "grid.ny=64")
    running = start(*options)
    while not Path("s/sweep.json").exists():
        assert running.poll() is None
        time.sleep(0.01)
    done = call(capsys, "sweep", "plate.toml", *options)
    assert done.returncode == 2
    assert "another simsuite works on the sweep" in done.stderr
    assert running.wait(timeout=120) == 0


def test_python(plate: Path, tmp_path: Path) -> None:
    found = simsuite.sweep(plate, {"constants.h": [5, np.float64(50)], "constants.hot": "linspace(350, 400, 2)"})
    assert found.complete
    assert found.keys == ("constants.h", "constants.hot")
    assert found.dataset["max"].shape == (2, 2)
    assert found.members[3]["values"] == {"constants.h": 50, "constants.hot": 400}
    assert found.members[3]["results"]["max"] == found.run(3).results["max"]
    table: dict[str, Any] = {
        "solver": "linear",
        "constants": {"k": 4.0},
        "system": {"kind": "continuous", "matrix": [[0.0, 1.0], ["-k", -0.2]]},
        "initial": {"state": [1.0, 0.0]},
        "time": {"steps": 10, "dt": 0.1},
        "run": {"device": "cpu"},
    }
    other = simsuite.sweep(table, {"constants.k": [1.0, 4.0, 9.0]}, directory=tmp_path / "linear")
    assert other.complete
    assert len({json.dumps(each["results"]) for each in other.members.values()}) == 3
    with pytest.raises(ScenarioError):
        simsuite.sweep(plate, {"grid.nx": [0, 8]}, directory=tmp_path / "wrong")
    with pytest.raises(UsageError, match="directory="):
        simsuite.sweep(plate, {"grid.nx": [8, 9]}, directory=tmp_path / "linear")


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["cuda"], indirect=True)
def test_on_a_gpu(backend: Any, plate: Path) -> None:
    found = [
        simsuite.sweep(plate, {"constants.h": [5, 20, 80]}, device=device, directory=plate.parent / device)
        for device in ("cpu", "cuda")
    ]
    for name in ("max", "probes.middle"):
        np.testing.assert_allclose(found[1].dataset[name], found[0].dataset[name], rtol=1e-5)


def test_files_of_the_user_stay(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever they are called, and with --fresh."""
    study = plate.parent / "study"
    study.mkdir()
    (study / "scenario.toml").write_text(PLATE, encoding="utf-8")
    for fresh in ([], ["--fresh"]):
        done = call(capsys, "sweep", "study/scenario.toml", "--vary", "constants.h=5,10", "-o", "study", *fresh)
        assert done.returncode == 2
        assert "something else" in done.stderr
        assert (study / "scenario.toml").read_text(encoding="utf-8") == PLATE
    assert call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,10", "-o", "s").returncode == 0
    Path("s/notes.txt").write_text("mine")
    for left in ("sweep.json.new", "sweep.h5.new"):
        Path("s", left).write_text("{")
    assert call(capsys, "sweep", "plate.toml", "--vary", "constants.h=5,10,15", "-o", "s", "--fresh").returncode == 0
    assert Path("s/notes.txt").read_text() == "mine"
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as found:
        assert found.sizes == {"constants.h": 3}


def test_data_files_are_those_of_the_beginning(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("T0.npy", np.full((8, 12), 300.0))
    plate.write_text(PLATE.replace("temperature = 300.0", 'temperature = {file = "T0.npy"}'), encoding="utf-8")
    command = ("sweep", "plate.toml", "--vary", "constants.h=5,10", "-o", "s")
    assert call(capsys, *command).returncode == 0
    np.save("T0.npy", np.full((8, 12), 310.0))
    done = call(capsys, *command)
    assert done.returncode == 2
    assert "holds another sweep" in done.stderr


def test_the_log_has_each_member_as_it_ended_last(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("sweep", "plate.toml", "--vary", "constants.h=5,-1,-2", "-o", "s")
    for retry in ([], ["--retry"], ["--retry"]):
        assert call(capsys, *command, *retry).returncode == 1
    assert "sweep, 3 of 3 members, 2 failed" in call(capsys, "list", "s").stdout
    lines = Path("s/members.jsonl").read_text().splitlines()
    Path("s/members.jsonl").write_text("\n".join([lines[0][:-1] + ', "later": 1}', *lines[1:]]) + "\n")
    assert "3 of 3" in call(capsys, "list", "s").stdout
    Path("s/members.jsonl").write_text("\n".join(["nonsense", *lines]) + "\n")
    assert "damaged" in call(capsys, *command).stderr


def test_values_of_all_sorts_are_in_the_file(plate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    big = "999999999999999999999999"
    call(capsys, "sweep", "plate.toml", "--vary", "run.seed=1,1", "--vary", f"constants.hot=400,{big}", "-o", "s")
    with xarray.open_dataset("s/sweep.h5", engine="h5netcdf") as found:
        assert found["run.seed"].values.tolist() == [1, 1]
        assert found["constants.hot"].values.tolist() == [400.0, 1e24]


@pytest.mark.skipif(sys.platform != "linux", reason="needs namespaces of Linux")
def test_as_the_first_process_of_a_container(plate: Path) -> None:
    command = ["unshare", "-rpf", "--kill-child", sys.executable, "-m", "simsuite", "sweep", "plate.toml"]
    try:
        done = subprocess.run(
            [*command, "--vary", "constants.h=5,10", "-o", "s", "-q"], capture_output=True, text=True, timeout=120
        )
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if "unshare" in done.stderr:
        pytest.skip("no namespaces here")
    assert done.returncode == 0, done.stderr

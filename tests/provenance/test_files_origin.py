"""What files tell of where they come from."""

from __future__ import annotations

import calendar
import importlib.metadata
import json
import platform
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
import pytest
import xarray
import zarr
from running import assert_same_bits, call, finish, start
from test_repository import git, head
from test_repository import repository as repository

import simsuite
from simsuite.io.checkpoint import read_checkpoint
from simsuite.provenance import HISTORY_BYTES, origin_of

SYSTEM = """\
solver = "linear"
[system]
kind = "discrete"
matrix = [[0.9, 0.1], [0.0, 0.8]]
[initial]
state = [1.0, 0.0]
[time]
steps = 60
method = "step"
"""
DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "system.toml"
    path.write_text(SYSTEM)
    return path


def attributes(path: Path) -> dict[str, Any]:
    with h5py.File(path) as file:
        return {name: v.decode() if isinstance(v, bytes) else v for name, v in file.attrs.items()}


def test_a_run_says_when_where_by_what_and_with_which_versions(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = time.time() - 1
    call(capsys, "run", "system.toml", "--set", "time.steps=40", "--set", "title='a b'", "-o", "run", "--device", "cpu")
    found = attributes(Path("run/results.h5"))
    made = calendar.timegm(time.strptime(found["date_created"], "%Y-%m-%dT%H:%M:%SZ"))
    assert before < made < time.time() + 1
    assert found["host"] == socket.gethostname()
    command = "simsuite run system.toml --set time.steps=40 --set 'title='\"'\"'a b'\"'\"'' -o run --device cpu"
    assert found["command_line"] == command
    assert json.loads(found["overrides"])[:2] == ["time.steps=40", "title='a b'"]
    versions = json.loads(found["versions"])
    assert versions["python"] == platform.python_version()
    assert versions["simsuite"] == simsuite.__version__
    for name in ("numpy", "h5py", "numba"):
        assert versions[name] == importlib.metadata.version(name)
    assert re.fullmatch(f"{DATE} begun by simsuite .* on {re.escape(found['host'])}: .*", found["history"])
    assert "git_commit" not in found
    assert found["history"].endswith(command)
    assert command in Path("run/log.txt").read_text()


def test_each_part_of_a_run_adds_a_line_and_no_bit_depends_on_it(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(capsys, "run", system, "-o", "whole")
    for _ in range(3):
        parts = call(capsys, "run", system, "-o", "run", "--max-minutes", 0)
        assert parts.returncode == 75
    assert call(capsys, "resume", "run", "-q").returncode == 0
    assert_same_bits(Path("run/results.h5"), Path("whole/results.h5"))
    lines = attributes(Path("run/results.h5"))["history"].split("\n")
    assert [line.split(" ", 1)[1].split(" by ")[0] for line in lines] == [
        "begun",
        "continued from step 1",
        "continued from step 2",
        "continued from step 3",
    ]
    assert all(re.match(DATE, line) for line in lines)
    assert lines[-1].endswith("simsuite resume run -q")
    meta = read_checkpoint(Path("run")).meta
    assert meta["command_line"] == f"simsuite run {system} -o run --max-minutes 0"
    with xarray.open_dataset("run/results.h5", engine="h5netcdf") as data:
        assert data.attrs["history"].split("\n") == lines
    with h5netcdf.File("run/results.h5") as file:
        assert str(file.attrs["history"]).split("\n") == lines


def test_many_parts_leave_the_first_and_the_newest(
    system: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simsuite.io.results_file.HISTORY_BYTES", 500)
    for _ in range(8):
        call(capsys, "run", system, "-o", "run", "--max-minutes", 0)
    call(capsys, "run", system, "-o", "run")
    lines = attributes(Path("run/results.h5"))["history"].split("\n")
    assert " begun by" in lines[0]
    assert lines[1].startswith(".. ")
    assert " continued from step 8 by" in lines[-1]
    assert len("\n".join(lines)) <= 500


def test_a_file_of_a_version_without_history_is_continued(
    system: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("simsuite.io.results_file.build", without_history)
        assert call(capsys, "run", system, "-o", "run", "--max-minutes", 0).returncode == 75
    assert "history" not in attributes(Path("run/results.h5"))
    assert call(capsys, "run", system, "-o", "run").returncode == 0
    assert "history" not in attributes(Path("run/results.h5"))
    assert "begun" not in call(capsys, "info", "run").stdout.replace("begun  ", "")


def without_history(file: h5py.File, *others: Any) -> None:
    from simsuite.io.layout import build

    build(file, *others)
    for name in ("history", "date_created", "host", "command_line"):
        del file.attrs[name]


def test_the_commit_of_the_scenario(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plate = repository / "cases" / "plate.toml"
    plate.write_text(SYSTEM)
    out = repository.parent / "out"
    call(capsys, "run", plate, "-o", out / "dirty")
    git(repository, "commit", "-am", "a system")
    call(capsys, "run", plate, "-o", out / "clean")
    dirty, clean = (attributes(out / name / "results.h5") for name in ("dirty", "clean"))
    assert clean["git_commit"] == head(repository) != dirty["git_commit"]
    assert (dirty["git_dirty"], clean["git_dirty"]) == ("yes", "no")
    assert f", git {dirty['git_commit'][:12]}-dirty: " in dirty["history"]
    assert f", git {clean['git_commit'][:12]}: " in clean["history"]
    assert_same_bits(out / "dirty" / "results.h5", out / "clean" / "results.h5")
    shown = call(capsys, "info", out / "dirty").stdout
    assert f"git {dirty['git_commit'][:12]} with changes since" in shown


def test_variables_of_the_environment_are_stored_nowhere(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hunter2-and-more")
    assert finish(start("run", system, "-o", "run", cwd=system.parent)).returncode == 0
    assert finish(start("export", "run", "--to", "netcdf", "-o", "run/export", cwd=system.parent)).returncode == 0
    files = [path for path in Path("run").rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if b"hunter2" in path.read_bytes()]


def test_commands_with_strange_characters(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "run", system, "-o", "a\nb\x1b[31m", "--set", 'title="ü"', "-q").returncode == 0
    found = attributes(Path("a\nb\x1b[31m/results.h5"))
    assert "a\\nb\\x1b[31m" in found["command_line"]
    assert found["history"].count("\n") == 0
    assert "\x1b" not in call(capsys, "info", "a\nb\x1b[31m", "--verbose").stdout


def test_arguments_that_are_no_text_become_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/lib/python3/simsuite/__main__.py", "run", "a b", "\udcff\0\u2028"])
    line = origin_of().line("begun")
    assert line.endswith(": simsuite run 'a b' '\\udcff\\x00\\u2028'")
    assert line.encode()
    monkeypatch.setattr(sys, "argv", [])
    assert origin_of().command == "''"


def test_a_very_long_command_leaves_room(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("run", system, "-o", "run", "--set", f"initial.state=[1.0,{' ' * 9000}0.0]")
    assert call(capsys, *run, "--max-minutes", 0).returncode == 75
    assert call(capsys, *run).returncode == 0
    found = attributes(Path("run/results.h5"))
    assert " " * 9000 in found["command_line"]
    assert len(found["history"].encode()) <= HISTORY_BYTES
    assert found["history"].count("\n") == 1


def test_exported_arrays_go_on_with_the_history(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "run", system, "-o", "run")
    own = attributes(Path("run/results.h5"))
    for to in ("netcdf", "zarr"):
        assert call(capsys, "export", "run", "--to", to, "-o", f"as_{to}").returncode == 0
    netcdf, store = next(Path("as_netcdf").glob("*.nc")), next(Path("as_zarr").glob("*.zarr"))
    with h5netcdf.File(netcdf) as file:
        written = dict(file.attrs)
    for found, to in ((written, "netcdf"), (dict(zarr.open_group(store).attrs), "zarr")):
        assert {name: found[name] for name in own if name in ("host", "command_line", "versions", "overrides")} == {
            name: own[name] for name in ("host", "command_line", "versions", "overrides")
        }
        first, last = str(found["history"]).split("\n")
        assert first == own["history"]
        assert re.match(f"{DATE} exported by simsuite .*: simsuite export run --to {to} -o as_{to}$", last)


def test_a_sweep_and_its_members(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = repository / "cases" / "plate.toml"
    system.write_text(SYSTEM)
    git(repository, "commit", "-am", "a system")
    out = repository.parent / "sweep"
    asked = ("sweep", system, "--vary", "time.steps=40,50", "-o", out, "--set", "title='s'", "--workers", 1)
    assert call(capsys, *asked).returncode == 0
    assert call(capsys, *asked).returncode == 0
    found = attributes(out / "sweep.h5")
    assert found["git_commit"] == head(repository)
    assert json.loads(found["overrides"]) == ["title='s'"]
    assert found["command_line"].startswith("simsuite sweep ")
    assert [line.split()[1:5] for line in found["history"].split("\n")] == 2 * [["2", "of", "2", "members"]]
    member = attributes(out / "members" / "0001" / "results.h5")
    assert member["command_line"] == found["command_line"]
    assert member["git_commit"] == head(repository)
    assert "time.steps=50" in json.loads(member["overrides"])


def test_more_paths_go_on_with_the_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "new", "gbm", "-o", tmp_path / "gbm.toml")
    few = ("--set", "paths.count=2000", "--set", "paths.batch=1024", "--set", "time.steps=4", "--set", "option=[]")
    assert call(capsys, "run", tmp_path / "gbm.toml", "-o", tmp_path / "run", *few).returncode == 0
    assert call(capsys, "resume", tmp_path / "run", "--paths", 3000).returncode == 0
    lines = attributes(tmp_path / "run" / "results.h5")["history"].split("\n")
    assert len(lines) == 2
    assert " begun by " in lines[0]
    assert lines[1].endswith("--paths 3000")


def test_info_has_it_as_json(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "run", system, "-o", "run", "--set", "time.steps=30")
    origin = json.loads(call(capsys, "info", "run", "--json").stdout)["origin"]
    assert origin["overrides"][0] == "time.steps=30"
    assert origin["versions"]["numpy"] == np.__version__
    assert len(origin["history"].split("\n")) == 1
    shown = call(capsys, "info", "run", "--verbose").stdout
    assert origin["command_line"] in shown
    assert f"numpy {np.__version__}" in shown


def test_a_program_that_runs_it_is_named(system: Path) -> None:
    program = system.parent / "my study.py"
    program.write_text("import simsuite; simsuite.run('system.toml', set={'time.steps': 30}, directory='run')")
    subprocess.run([sys.executable, str(program), "7"], check=True, cwd=system.parent, capture_output=True)
    found = attributes(system.parent / "run" / "results.h5")
    assert found["command_line"] == f"'{program}' 7"
    assert json.loads(found["overrides"])[0] == "time.steps=30"

"""`simsuite list` and `simsuite.load`: what runs there are, and one of them from Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from running import call

import simsuite
from simsuite.errors import UsageError

PLATE: dict[str, Any] = {
    "solver": "heat",
    "constants": {"h": 10.0},
    "grid": {"nx": 8, "ny": 8},
    "material": {"diffusivity": 1e-3},
    "initial": {"temperature": "x"},
    "boundary": {"left": {"kind": "convection", "h": "h", "ambient": 1.0}},
    "time": {"end": 10.0},
    "run": {"device": "cpu"},
}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    simsuite.run(PLATE, directory="runs/a")
    simsuite.run(PLATE, {"time.stepper": "rkl2", "time.dt": 0.01}, directory="runs/deep/down/b", max_minutes=0.0)
    simsuite.sweep(PLATE, {"constants.h": [1.0, -1.0, 2.0, 3.0][::-1]}, directory="runs/deep/s")
    (tmp_path / "runs" / "empty").mkdir()
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    return tmp_path / "runs"


def test_all_that_is_below(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "list")
    assert done.returncode == 0
    first, second, third = done.stdout.splitlines()
    assert first.startswith("runs/a ")
    assert "complete" in first
    assert "heat, " in first
    assert second.startswith("runs/deep/down/b  stopped")
    assert third.startswith("runs/deep/s ")
    assert "sweep, 4 of 4 members, 1 failed" in third
    found = json.loads(call(capsys, "list", "runs", "--json").stdout)["runs"]
    assert [each["directory"] for each in found] == ["runs/a", "runs/deep/down/b", "runs/deep/s"]
    sizes = [
        sum(path.stat().st_size for path in Path(each["directory"]).rglob("*") if path.is_file()) for each in found
    ]
    assert [each["bytes"] for each in found] == sizes
    assert all(0 <= each["seconds_since"] < 600 for each in found)
    assert len(call(capsys, "list", "runs/deep/s/members").stdout.splitlines()) == 3


def test_what_is_damaged_is_told(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "deep" / "s" / "sweep.json").write_text("{")
    os.truncate(runs / "a" / "results.h5", 100)
    done = call(capsys, "list")
    assert done.returncode == 0
    assert done.stdout.count("damaged") >= 2
    assert "stopped" in done.stdout


def test_nowhere(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "list", "runs/empty").stdout == "there are no runs in runs/empty\n"
    done = call(capsys, "list", "nowhere")
    assert done.returncode == 2
    assert "there is no directory nowhere" in done.stderr


def test_a_run_from_python(runs: Path) -> None:
    run = simsuite.load("runs/a")
    assert run.results == simsuite.run(PLATE, directory="runs/a").results
    assert run.dataset["temperature"].shape[1:] == (8, 8)
    assert simsuite.load(runs / "deep" / "s" / "members" / "0000").summary["status"] == "complete"
    assert simsuite.load("runs/deep/down/b").summary["status"] == "stopped"
    for wrong in ("runs/nothing", "runs/empty"):
        with pytest.raises(UsageError):
            simsuite.load(wrong)

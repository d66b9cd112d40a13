"""Runs whose terminal or standard streams go away, and names that the system does not take."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from running import call, finish, simsuite, wait_for_step
from sm90 import others_long
from test_resume import HEAT, OFTEN, SHORT, write

from simsuite.io.checkpoint import read_checkpoint
from simsuite.io.reading import open_results

LONG = "a" * 300


@pytest.fixture
def plate(tmp_path: Path) -> Path:
    return write(tmp_path / "plate.toml", HEAT, SHORT)


@pytest.mark.parametrize(
    "closed", others_long(["2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"], {"<&- >&- 2>&-", "2>/dev/full"})
)
def test_a_run_needs_no_standard_streams(tmp_path: Path, plate: Path, closed: str) -> None:
    command = f"exec {sys.executable} -m simsuite run {plate} -o {tmp_path / 'run'} {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True).returncode == 0
    assert json.loads((tmp_path / "run/summary.json").read_text())["status"] == "complete"
    with open_results(tmp_path / "run/results.h5") as file:
        assert len(file["time"]) == 6
    refused = f"exec {sys.executable} -m simsuite run nowhere.toml {closed}"
    assert subprocess.run(["sh", "-c", refused], cwd=tmp_path, capture_output=True).returncode == 2


def test_a_terminal_that_closes_stops_a_run_with_a_checkpoint(tmp_path: Path, plate: Path) -> None:
    ours, theirs = os.openpty()

    def take_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    command = [sys.executable, "-m", "simsuite", "run", plate, "-o", tmp_path / "run"]
    process = subprocess.Popen(
        [*map(str, command), "--set", OFTEN, "--set", "time.end=1e6"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        preexec_fn=take_the_terminal,
        cwd=tmp_path,
        text=True,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    assert wait_for_step(process, tmp_path / "run", 5)
    os.close(ours)
    assert finish(process).returncode == 75
    assert json.loads((tmp_path / "run/summary.json").read_text())["stopped_by"] == signal.SIGHUP.name
    assert read_checkpoint(tmp_path / "run") is not None


@pytest.mark.parametrize(
    "command",
    [
        ("run", f"{LONG}.toml"),
        ("run", "plate.toml", "-o", LONG),
        ("check", "plate.toml", "--set", f'initial.temperature={{file = "{LONG}.npy"}}'),
        *(("info", LONG), ("resume", LONG), ("plot", LONG, "-o", "x.png"), ("new", "heat", "-o", f"{LONG}.toml")),
    ],
    ids=lambda command: command[0],
)
def test_names_that_are_too_long_are_told_of(
    tmp_path: Path, plate: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = call(capsys, *command)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert "too long" in refused.stderr


def test_prices_that_grow_beyond_all_numbers_are_a_mistake(tmp_path: Path) -> None:
    assert simsuite("new", "gbm", cwd=tmp_path).returncode == 0
    refused = simsuite("check", "gbm.toml", "--set", "time.end=1e5", cwd=tmp_path)
    assert refused.returncode == 2
    assert "mean prices at the end are beyond 1.8e308" in refused.stderr
    assert "Traceback" not in refused.stderr
